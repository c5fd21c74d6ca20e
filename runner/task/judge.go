package task

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// The most of the end of standard error, and of a stack, that an Outcome carries, in B.
const (
	tailSize      = 4 << 10
	stackTailSize = 64 << 10
)

// outcome returns the outcome of an ended run.
func (r *run) outcome() Outcome {
	o := Outcome{
		StartedAt: stamp(r.launched), Stages: r.stages, Facts: r.facts, Missing: r.missing, Files: r.files, StderrTail: tail(r.stderr, tailSize),
		BackendVersion: r.reports.version, Warnings: r.reports.warnings,
	}
	if stack := tail(r.stack, stackTailSize); stack != "" {
		o.Facts[FactStack] = stack
	}
	r.judge(&o)
	if o.ErrorKind == kindExit || o.ErrorKind == kindSignal {
		o.Error = withErrorLine(o.Error, r.stderr, r.stdout)
	}
	if o.Status == schema.StatusOutputLimit && r.spec.perProcess() && sizeOf(r.stdout) > r.job.OutputLimit {
		o.Error += "; --output null (in a sweep file output: {to: null}) discards standard output"
	}
	if r.left > 0 {
		o.Status, o.ErrorKind = schema.StatusUnkillable, string(schema.StatusUnkillable)
		o.Error = fmt.Sprintf("%d processes survived SIGKILL", r.left)
	}
	switch {
	case o.Status == schema.StatusOK:
		o.Stage = ""
		if r.done.Killed > 0 && r.spec.Profiler == nil { // else they may be the profiler's own
			o.Warnings = append(o.Warnings, WarnLeftRunning)
			o.Facts["runner.left_running"] = strconv.Itoa(r.done.Killed)
		}
	case o.ErrorKind == "":
		o.ErrorKind = string(o.Status)
	}
	if r.result != nil {
		o.Applied = r.result.Applied
		o.Work = schema.Work{Bytes: r.result.Bytes, Flops: r.result.Flops, Items: r.result.Items}
	} else if o.Status == schema.StatusOK {
		o.Warnings = append(o.Warnings, WarnAppliedUnknown)
	}
	if o.Status != schema.StatusUnsupported && o.Status != schema.StatusSkipped { // samples taken before the worker reported so do not measure the point
		o.Ops = r.reports.ops
		r.metrics(&o)
	}
	return o
}

// Limits, in B: the part of standard error that is searched for the line with the error, and the part of that line that an error quotes.
const (
	errorTailSize = 64 << 10
	maxErrorLine  = 200
)

// withErrorLine appends the error line of standard error to an error that only describes how a process ended. Test programs and many
// scripts report on standard output, whose error line it appends if standard error has none.
func withErrorLine(text string, stderr, stdout *os.File) string {
	line := cmp.Or(ErrorLine(tail(stderr, errorTailSize)), ErrorLine(tail(stdout, errorTailSize)))
	if line == "" {
		return text
	}
	if len(line) > maxErrorLine {
		line = strings.ToValidUTF8(line[:maxErrorLine], "") + "…"
	}
	return text + ": " + line
}

// stamp returns a time with the precision and zone of stored times.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// judge sets the status and the fields that depend on it.
func (r *run) judge(o *Outcome) {
	o.Stage = r.stage
	switch {
	case r.cause != nil:
		o.Status, o.Stage, o.ErrorKind, o.Error = r.cause.status, r.cause.stage, r.cause.kind, r.cause.text
	case r.done == nil:
		o.Status = schema.StatusLost
		o.Error = fmt.Sprintf("the supervisor ended: %s", describe(endOf(r.death)))
	case r.protocolErr != nil: // read when all had ended
		o.Status, o.ErrorKind, o.Error = schema.StatusError, kindProtocol, r.protocolErr.Error()
	case r.failed != nil:
		r.judgeFailure(o, r.failed)
	default:
		r.judgeEnd(o)
	}
	if !killed(o) {
		return
	}
	if n, ok := oomKills(r.pool.root); ok && n > r.oomKills {
		o.Status, o.ErrorKind = schema.StatusOOM, string(schema.StatusOOM)
		o.Error = "out of memory, the kernel killed a process: " + o.Error
	}
}

// killed reports whether another process killed the benchmark or, by the exit status of a shell, a part of it.
func killed(o *Outcome) bool {
	switch o.ErrorKind {
	case kindSignal:
		return o.Signal == unix.SignalName(unix.SIGKILL)
	case kindExit:
		return o.ExitCode != nil && *o.ExitCode == exitKilled
	}
	return false
}

// judgeFailure judges a run in which the worker or the supervisor reported a failure.
func (r *run) judgeFailure(o *Outcome, e *event) {
	o.Status, o.ErrorKind, o.Error = schema.StatusError, e.Kind, e.Message
	if e.Stage != "" {
		o.Stage = e.Stage
	}
	o.ExitCode, o.Signal = e.ExitCode, e.Signal
	switch {
	case e.Event == eventUnsupported:
		o.Status = schema.StatusUnsupported
	case e.Event == eventSkipped:
		o.Status, o.Error = schema.StatusSkipped, cmp.Or(r.skipReason(), e.Message)
	case e.Kind == kindExit && r.skipOfFailure() != "":
		o.Status, o.ErrorKind, o.Error = schema.StatusSkipped, kindSkip, r.skipOfFailure()
	case e.Kind == kindOutputLimit:
		o.Status = schema.StatusOutputLimit
	case e.Kind == kindTimeout: // of the cleanup
		o.Status = schema.StatusTimeout
		o.Facts[factTimeoutLimit] = nanoseconds(r.job.CleanupWait)
	case e.Kind == kindOOM:
		o.Status = schema.StatusOOM
	case e.Signal != "":
		o.Status, o.ErrorKind = schema.StatusCrashed, kindSignal
	}
	if e.ExitCode == nil && r.exit != nil {
		o.ExitCode = r.exit.ExitCode
	}
}

// judgeEnd judges a run by how its worker ended. If events of the worker were lost, the header of the samples has the essential ones.
func (r *run) judgeEnd(o *Outcome) {
	end := r.samples.end()
	failed := map[int]schema.Status{
		stateError: schema.StatusError, stateUnsupported: schema.StatusUnsupported, stateSkipped: schema.StatusSkipped,
	}[end.state]
	if r.exit != nil {
		o.ExitCode, o.Signal = r.exit.ExitCode, r.exit.Signal
	}
	clean := r.exit == nil && r.spec.perProcess() || o.ExitCode != nil && *o.ExitCode == 0
	if r.spec.Profiler != nil && (r.result != nil || end.state == stateResult) { // the exit status is the profiler's
		clean, o.ExitCode, o.Signal = true, nil, ""
	}
	switch {
	case o.Signal != "":
		o.Status, o.ErrorKind, o.Error = schema.StatusCrashed, kindSignal, "killed by "+o.Signal
	case failed != "" && r.result == nil:
		o.Status, o.ErrorKind, o.Error = failed, end.kind, end.message
		o.Stage = cmp.Or(end.stage, o.Stage)
	case clean && r.output() > r.job.OutputLimit:
		o.Status, o.ErrorKind = schema.StatusOutputLimit, kindOutputLimit
		o.Error = fmt.Sprintf("wrote %d B, more than the limit of %d B", r.output(), r.job.OutputLimit)
	case clean && (r.result != nil || end.state == stateResult):
		o.Status = schema.StatusOK
	case clean && r.skipReason() != "":
		o.Status, o.ErrorKind, o.Error = schema.StatusSkipped, kindSkip, r.skipReason()
	default:
		o.Status, o.ErrorKind = schema.StatusCrashed, kindExit
		o.Error = fmt.Sprintf("ended without a result: %s", describe(o.ExitCode, o.Signal))
		if r.result != nil {
			o.Error = fmt.Sprintf("failed after its result: %s", describe(o.ExitCode, o.Signal))
		}
	}
}

// describe returns a text with the exit status or the signal that ended a process.
func describe(code *int64, signal string) string {
	switch {
	case signal != "":
		return "killed by " + signal
	case code != nil:
		return fmt.Sprintf("exit status %d", *code)
	}
	return "for an unknown reason"
}

// tail returns the end of a file, at most limit B; empty if there is no file.
func tail(f *os.File, limit int) string {
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	b := make([]byte, min(info.Size(), int64(limit)))
	n, _ := f.ReadAt(b, info.Size()-int64(len(b)))
	return cutFront(strings.ToValidUTF8(string(b[:n]), "\ufffd"), limit)
}

// cutFront keeps the end of a text.
func cutFront(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	text = text[len(text)-limit:]
	for text != "" && text[0]&0xc0 == 0x80 {
		text = text[1:]
	}
	return text
}

// Classes of lines of standard error, by the habits of compilers, runtimes and option parsers.
var (
	// saysError announces an error: "sort: error: ", "ValueError: ", "Exception in thread main ...: ", "panic: ".
	saysError = regexp.MustCompile(`(?i)(error|exception|panic|fatal)(\b[^:]{0,40})?: `)
	// isHelp matches the beginning of usage help, which continues to the end.
	isHelp = regexp.MustCompile(`(?i)^usage\b|-help\b`)
	// isNote matches a line that adds to another message, or refers to documentation.
	isNote = regexp.MustCompile(`(?i)(^|: )(note|hint|help|tip|warning): |^(\S+: )?(for|see|more)\b.*(\b(help|information|details|documentation)\b|https?://)`)
	// saysExit matches a line that only reports the end of the program or of a child. The reason is in an earlier line.
	saysExit = regexp.MustCompile(`(?i)(exit (status|code):? [0-9]+|[0-9]+ exit status|returned status [0-9]+|\*\*\* .*Error [0-9]+|(^|: )exiting\b[^:]*|^compilation (terminated|aborted)\.?)$`)
	// isTraceback matches the beginning of a Python stack trace, whose exception is below it; in other stack traces it is above.
	isTraceback = regexp.MustCompile(`^Traceback \(most recent call last\):$`)
	// isEscape matches what colours a text on a terminal, or moves its cursor.
	isEscape = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`)
	// namesTest matches a failed test of pytest, go test, GoogleTest, TAP, libtest or CTest. Summaries follow it.
	namesTest = regexp.MustCompile(`^(FAILED |--- FAIL: |not ok |\[  FAILED  \] )|\.\.\. FAILED$|\*\*\*Failed\b`)
)

// ErrorLine returns the line of an output with the reason why a program failed; empty: it has none. Programs print it last, except for its
// details: stacks and excerpts, which are indented or introduced by a colon, help about options, notes, and exit statuses of children. An
// error that is announced is above such a stack, in which some lines are not indented. The message of an exception of Python may have
// several lines, of which the first is returned. Of a test program it is the first failed test. A single indented line below completes the
// line above it.
func ErrorLine(text string) string {
	lines := strings.Split(strings.TrimRight(isEscape.ReplaceAllString(text, ""), " \t\r\n"), "\n")
	for i, line := range lines {
		line = strings.TrimRight(line, " \t\r")
		lines[i] = line[strings.LastIndexByte(line, '\r')+1:] // a progress bar overwrites its line
	}
	last, announced, other, help, apart := -1, -1, len(lines)-1, false, false
	stack, message := false, false // of Python
	for i, line := range lines {
		if line == "" || isIndented(line) {
			apart, message = true, false
			continue
		}
		says := saysError.MatchString(line)
		other = i
		switch {
		case isTraceback.MatchString(line):
			announced, stack, message = -1, true, false
		case stack: // the exception is below it
			last, announced, apart, stack, message = i, i, false, false, true
		case message:
		case isHelp.MatchString(line):
			help = last >= 0
		case isNote.MatchString(line), saysExit.MatchString(line), help && !says:
		case !says && strings.HasSuffix(line, ":") && i+1 < len(lines) && isIndented(lines[i+1]):
		case says:
			last, announced, apart = i, i, false
		default:
			if last = i; !apart {
				announced = -1
			}
		}
	}
	test := slices.IndexFunc(lines, namesTest.MatchString)
	switch {
	case announced >= 0:
		last = announced
	case test >= 0:
		last = test
	case last < 0:
		last = other
	}
	return told(lines[last:])
}

// told returns the first line, completed by a single indented line below it.
func told(lines []string) string {
	line := strings.TrimSpace(lines[0])
	if len(lines) > 1 && isIndented(lines[1]) && (len(lines) == 2 || !isIndented(lines[2])) {
		line = strings.TrimSuffix(line, ":") + ": " + strings.TrimSpace(lines[1])
	}
	return line
}

func isIndented(line string) bool { return line != "" && (line[0] == ' ' || line[0] == '\t') }

// skipWords begin the line in which a benchmark reports that it cannot run here. worker.py of package python has the same words.
var skipWords = []string{"SKIPPED:", "HARDWARE/SOFTWARE LIMITATION:"}

// skipReason returns the reason why a benchmark cannot run here, from the last line of standard output or of standard error; empty: it gave
// none.
func (r *run) skipReason() string {
	return cmp.Or(skipOf(lastLine(r.stdout)), skipOf(lastLine(r.stderr)))
}

// skipOfFailure returns the skip reason of a process that failed: standard error, unless it is empty, takes precedence.
func (r *run) skipOfFailure() string {
	return skipOf(cmp.Or(lastLine(r.stderr), lastLine(r.stdout)))
}

func lastLine(f *os.File) string {
	text := strings.TrimSpace(tail(f, tailSize))
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}

// skipOf returns the reason in a line that marks a run as skipped; empty: the line has no such mark.
func skipOf(line string) string {
	for _, word := range skipWords {
		if reason, is := strings.CutPrefix(line, word); is {
			return strings.ToValidUTF8(cut(cmp.Or(strings.TrimSpace(reason), word), 2*maxErrorLine), "")
		}
	}
	return ""
}

// oomKills returns the number of processes of this process's cgroup, or below it, that the kernel killed because memory ran out. The
// host-wide count in /proc/vmstat would include other containers.
func oomKills(root fs.FS) (int64, bool) {
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(groups) {
		// 0::/path, or 4:memory:/path
		_, rest, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), ":")
		controllers, group, ok := strings.Cut(rest, ":")
		if !ok {
			continue
		}
		for _, file := range oomFiles(controllers, group) {
			if text, err := fs.ReadFile(root, file); err == nil {
				if n, ok := oomCount(text); ok {
					return n, true
				}
			}
		}
	}
	return 0, false
}

// oomFiles returns where a cgroup's count may be; in a container the group is often the root of the mount.
func oomFiles(controllers, group string) []string {
	mounts, name := []string{"sys/fs/cgroup", "sys/fs/cgroup/unified"}, "memory.events"
	if controllers != "" {
		mounts, name = []string{"sys/fs/cgroup/memory"}, "memory.oom_control"
		if controllers != "memory" {
			return nil
		}
	}
	var files []string
	for _, mount := range mounts {
		files = append(files, path.Join(mount, group, name), path.Join(mount, name))
	}
	return files
}

// oomCount finds the line `oom_kill 3`.
func oomCount(text []byte) (int64, bool) {
	for line := range bytes.Lines(text) {
		if number, ok := strings.CutPrefix(string(line), "oom_kill "); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
			return n, err == nil && n >= 0
		}
	}
	return 0, false
}
