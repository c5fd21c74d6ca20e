package formats

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

func trtexecLog() foreign.Format {
	return foreign.Format{
		Name:        "trtexec-log",
		About:       "TensorRT's trtexec: its log, which summarizes the queries",
		Level:       "a run is a launch of trtexec; no samples, but min, max, mean and percentiles of the queries",
		OwnHeadings: regexp.MustCompile(`^&&&& `),
		Recognize:   func(h *foreign.Head) bool { return h.JSONAt != 0 && h.Matches(trtMarks) },
		Read:        readLog,
	}
}

var (
	trtMarks   = regexp.MustCompile(`(?m)^[^\[&\n]{0,60}&&&& [A-Z]+ TensorRT\.trtexec|\[I\] === (?:Model|Build|Inference|Reporting) Options ===|\[I\] === Performance summary ===`)
	trtStamp   = regexp.MustCompile(`^[^\[&]{1,60}(&&&& |\[\d\d/\d\d/\d{4}-|\[[VIWEF]\] )`) // by what ran trtexec, before its own
	trtPrefix  = regexp.MustCompile(`^(?:\[(\d\d/\d\d/\d{4}-\d\d:\d\d:\d\d)\] )?\[([VIWEF])\] ?`)
	trtOutcome = regexp.MustCompile(`^&&&& (RUNNING|PASSED|FAILED|WAIVED) TensorRT\.trtexec(?: \[TensorRT v(\d+)\])?.*? # (.*)$`)
	trtSection = regexp.MustCompile(`^=== (.*) ===$`)
	trtPair    = regexp.MustCompile(`([a-z]+)(?:\(([\d.]+)%\))? = (\S+?) (ms|us|s|min)\b`)
	trtOld     = regexp.MustCompile(`^(min|max|mean|median|percentile): (\S+) (ms|us|s)(?: at ([\d.]+)%)?(?: \(end to end (\S+) (ms|us|s))?`)
	trtQPS     = regexp.MustCompile(`(?i)^throughput: (\S+) qps`)
)

// trtLog is the log of one launch.
type trtLog struct {
	line             int
	began            time.Time
	source           schema.TimeSource
	version, outcome string
	command          []string
	options          map[string]string
	shapes           []string
	device, problem  string
	section, metric  string
	metrics          []schema.Metric
	warmUp           *float64 // ms
	measured         *int64   // ns
	averages         int
	warnings         []string
}

// maxTRTWarnings is how many warnings of a launch are kept.
const maxTRTWarnings = 10

func readLog(in *foreign.Input, out *foreign.Output) error {
	var logs []*trtLog
	var ended error
	for n, line := range in.Lines() {
		if line.Err != nil {
			ended = line.Err
			break
		}
		logs = takeLine(in, logs, n, line.Text)
	}
	if len(logs) == 0 && ended == nil {
		out.Refuse("", errors.New("no launch of trtexec found: no line begins as trtexec writes it"))
	}
	averages := 0
	for _, l := range logs {
		averages += l.averages
		r := l.run()
		out.Version(r.BackendVersion)
		if file := path.Base(strings.ReplaceAll(l.flag("exportTimes"), `\`, "/")); file != "." && in.Beside(file) {
			out.LeaveTo(file, "summaries of queries whose times are in a file next to it", 1)
			continue
		}
		if len(l.metrics) == 0 && r.Status == schema.StatusOK {
			out.Refuse(fmt.Sprintf("line %d", l.line), fmt.Errorf("a launch without a summary of its queries"))
			continue
		}
		if err := out.Run(fmt.Sprintf("line %d", l.line), r); err != nil {
			return err
		}
	}
	if averages > 0 {
		out.LeaveOut("averages over several queries", averages)
	}
	return ended
}

// logOf finds the log of the launch that wrote a file with the results of a flag: the log itself, which names the file,
// or what TREx kept of it. It is nil if there is neither.
func logOf(in *foreign.Input, flag string) *trtLog {
	if l := logBeside(in, flag); l != nil {
		return l
	}
	return trexLog(in)
}

func logBeside(in *foreign.Input, flag string) *trtLog {
	if in.Folder == nil {
		return nil
	}
	entries, err := fs.ReadDir(in.Folder, path.Dir(in.Path))
	if err != nil {
		return nil
	}
	const maxLogs, maxBytes = 50, 8 << 20
	read := 0
	for _, e := range entries {
		if ext := path.Ext(e.Name()); ext != ".log" && ext != ".txt" && ext != ".out" {
			continue
		}
		if info, err := e.Info(); err != nil || !info.Mode().IsRegular() || info.Size() > maxBytes {
			continue
		}
		if read++; read > maxLogs {
			return nil
		}
		content, err := in.Side(e.Name())
		if err != nil || !trtMarks.Match(content) {
			continue
		}
		var logs []*trtLog
		scanner := bufio.NewScanner(bytes.NewReader(content))
		for n := 1; scanner.Scan(); n++ {
			logs = takeLine(in, logs, n, strings.ToValidUTF8(scanner.Text(), "�"))
		}
		for _, l := range logs {
			if path.Base(l.flag(flag)) == path.Base(in.Path) {
				return l
			}
		}
	}
	return nil
}

// takeLine reads a line of the current launch, or one that begins a new launch.
func takeLine(in *foreign.Input, logs []*trtLog, n int, line string) []*trtLog {
	if m := trtStamp.FindStringSubmatchIndex(line); m != nil {
		line = line[m[2]:]
	}
	at, body, level := "", strings.TrimSpace(line), ""
	if m := trtPrefix.FindStringSubmatch(line); m != nil {
		at, level, body = m[1], m[2], strings.TrimSpace(line[len(m[0]):])
	}
	outcome := trtOutcome.FindStringSubmatch(body)
	var section []string
	if level != "" { // else a heading of a script
		section = trtSection.FindStringSubmatch(body)
	}
	starts := outcome != nil && outcome[1] == "RUNNING"
	if section != nil && section[1] == "Model Options" {
		starts = len(logs) == 0 || logs[len(logs)-1].section != ""
	}
	if starts || len(logs) == 0 && (outcome != nil || section != nil) {
		logs = append(logs, &trtLog{line: n, options: map[string]string{}})
	}
	if len(logs) == 0 {
		return nil
	}
	l := logs[len(logs)-1]
	if l.began.IsZero() && at != "" {
		if began, source, err := in.Time(at, "01/02/2006-15:04:05"); err == nil {
			l.began, l.source = began, source
		}
	}
	switch {
	case outcome != nil:
		l.outcome, l.command = outcome[1], strings.Fields(outcome[3])
		l.version = cmp.Or(trtVersion(outcome[2]), l.version)
	case section != nil:
		l.section, l.metric = section[1], ""
	case level == "E" || level == "F":
		l.problem = body
	case level == "W" && strings.HasPrefix(body, "* "): // of trtexec, about the measurement
		if text := strings.TrimSuffix(strings.TrimSpace(body[2:]), "."); len(l.warnings) < maxTRTWarnings && !slices.Contains(l.warnings, text) {
			l.warnings = append(l.warnings, text)
		}
	default:
		l.take(body)
	}
	return logs
}

// trtVersion is a version as people write it: 8601 is 8.6.1, 100300 is 10.3.0.
func trtVersion(digits string) string {
	n, err := strconv.Atoi(digits)
	switch {
	case err != nil:
		return ""
	case n >= 10_000:
		return fmt.Sprintf("%d.%d.%d", n/10_000, n/100%100, n%100)
	}
	return fmt.Sprintf("%d.%d.%d", n/1000, n/100%10, n%100)
}

// trtTitles are the metrics by their names in the log, in all layouts.
var trtTitles = map[string]string{
	"latency": "latency", "host latency": "latency", "enqueue time": trtEnqueue, "h2d latency": trtH2D, "d2h latency": trtD2H,
	"gpu compute time": trtCompute, "gpu compute": trtCompute, "end-to-end host latency": trtEndToEnd,
}

// take reads the content of a line.
func (l *trtLog) take(body string) {
	name, value, _ := strings.Cut(body, ":")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if strings.HasSuffix(l.section, " Options") || l.section == "Device Information" {
		l.option(name, value)
	}
	switch title := trtTitles[strings.ToLower(name)]; {
	case title != "" && value == "":
		l.metric = title
	case title != "" && trtPair.MatchString(value):
		for _, m := range trtPair.FindAllStringSubmatch(value, -1) {
			l.set(title, trtValue{m[1], m[2], m[3], m[4]})
		}
	case trtOld.MatchString(body) && l.metric != "":
		m := trtOld.FindStringSubmatch(body)
		l.set(l.metric, trtValue{m[1], m[4], m[2], m[3]})
		if m[5] != "" {
			l.set(trtEndToEnd, trtValue{m[1], m[4], m[5], m[6]})
		}
	case trtQPS.MatchString(body):
		if v := foreign.Number(trtQPS.FindStringSubmatch(body)[1]).Finite(""); v != nil && *v > 0 { // 0 means unknown
			l.metrics = slices.DeleteFunc(l.metrics, func(m schema.Metric) bool { return m.Name == "throughput" })
			l.metrics = append(l.metrics, foreign.Aggregate("throughput", "1/s", schema.Summary{Mean: v}))
		}
	case name == "Total Host Walltime" || name == "walltime":
		if v := foreign.Number(strings.TrimSuffix(value, " s")).Finite("s"); v != nil && *v > 0 && *v < 1e18 {
			l.measured = new(int64(*v))
		}
	case strings.HasPrefix(body, "Average on "):
		l.averages++
	case name == "TensorRT version":
		l.version = cmp.Or(l.version, value)
	}
}

// trtValue is one number of a summary: min, max, mean, median, or a percentile.
type trtValue struct{ kind, percent, number, unit string }

func (l *trtLog) set(name string, v trtValue) {
	number := foreign.Number(v.number).Finite(v.unit)
	if number == nil {
		return
	}
	at := slices.IndexFunc(l.metrics, func(m schema.Metric) bool { return m.Name == name })
	if at < 0 {
		at = len(l.metrics)
		l.metrics = append(l.metrics, schema.Metric{Name: name, Unit: "ns", Better: schema.BetterLower})
	}
	s := &l.metrics[at].Summary
	switch v.kind + v.percent {
	case "min":
		s.Min = number
	case "max":
		s.Max = number
	case "mean":
		s.Mean = number
	case "median":
		s.P50 = number
	case "percentile90":
		s.P90 = number
	case "percentile95":
		s.P95 = number
	case "percentile99":
		s.P99 = number
	}
}
