package progress

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// Progress says on standard error what a sweep is doing: a live view on a terminal, JSON lines where the result is
// JSON lines, else one line a run.
type Progress struct {
	reporter reporter
	now      func() time.Time
	started  time.Time
	begun    bool
}

// reporter is one way to show a session. Its methods are called one after another.
type reporter interface {
	begin(e runner.Event)    // the first event, whatever it is
	prepare(e runner.Event)  // Plan, Waiting, Build, Reference or Unread is set
	looked(e runner.Event)   // Look is set
	stage(e runner.Event)    // Progress is set
	finished(e runner.Event) // Run is set
	end(result runner.Result, elapsed time.Duration)
}

// Console is where progress is said, and how.
type Console struct {
	W      io.Writer
	Screen *term.Screen // what of w can be drawn over; nil: nobody watches
	Color  bool
	JSON   bool // in lines of JSON
	Now    func() time.Time
}

// Session is what is known of a session before it begins.
type Session struct {
	Sweep   *sweep.Sweep
	Against bool               // two commits are compared
	Known   compare.Prediction // of what it can find
	Metrics []string           // that were asked for, in place of the primary one of each run
}

// NewProgress is told what a session runs.
func NewProgress(c Console, s Session) *Progress {
	p := &Progress{now: c.Now, started: c.Now()}
	d := describe(s.Sweep)
	d.against, d.foresight, d.metrics = s.Against, s.Known, s.Metrics
	switch {
	case c.JSON:
		p.reporter = &jsonReporter{w: c.W, description: d}
	case c.Screen != nil:
		p.reporter = newLiveReporter(c, d)
	default:
		p.reporter = &plainReporter{w: c.W, description: d}
	}
	return p
}

// Elapsed returns how long it has been since the beginning.
func (p *Progress) Elapsed() time.Duration { return p.now().Sub(p.started) }

// Observe is told every event of the session.
func (p *Progress) Observe(e runner.Event) {
	if !p.begun {
		p.begun = true
		p.reporter.begin(e)
	}
	switch {
	case e.Run != nil:
		p.reporter.finished(e)
	case e.Progress != nil:
		p.reporter.stage(e)
	case e.Look != nil:
		p.reporter.looked(e)
	case e.Unread != nil && e.Index+1 == e.Launches: // there is nothing left to stop
	default:
		p.reporter.prepare(e)
	}
}

// Close leaves the terminal ready for the summary.
func (p *Progress) Close(result runner.Result) {
	if p.begun {
		p.reporter.end(result, p.Elapsed())
	}
}

// CommandLine returns a command line of bench as it was typed. It is empty if the sweep came on standard input.
func CommandLine(args []string) string { return again(args, nil) }

// WithRepeats returns a command line of bench with another number of repeats, to be typed again. args are its words, without the
// name of the program; what stands behind -- is a program's own. It is empty where the sweep came on standard input.
func WithRepeats(args []string, repeats int) string {
	return again(args, []string{"--repeats", "-r"}, "--repeats", strconv.Itoa(repeats))
}

// WithMaxRepeats returns a command line of bench with --rel-error and another limit of repeats. It is empty where the sweep came on standard
// input.
func WithMaxRepeats(args []string, repeats int) string {
	return again(args, []string{"--max-repeats"}, "--max-repeats", strconv.Itoa(repeats))
}

// WithResults returns a command line of bench that stores the results in a format which its program prints. It is empty where the sweep came
// on standard input.
func WithResults(args []string, format string) string {
	return again(args, nil, "--set", readsResults(format))
}

// readsResults returns the setting of a sweep that stores the results in a format which its program prints.
func readsResults(format string) string {
	return "metrics.results={from: " + sweep.Stdout + ", read: " + format + "}"
}

// campaignOptions are the options with a value that say which part of a campaign a session is, or print a script for all of it.
var campaignOptions = []string{"--shard", "--print-sbatch", "--print-k8s", "--format"}

// WithShard returns a command line of bench that measures a shard. It is empty where the sweep came on standard input.
func WithShard(args []string, shard string) string {
	return again(args, campaignOptions, "--shard", shard)
}

// InShard returns the words of a command line of bench that measures a shard, which they name in place of auto, so that it is the same shard
// outside of the array.
func InShard(args []string, shard string) []string {
	named := slices.Clone(args)
	for i, word := range named {
		switch {
		case word == "--":
			return named
		case strings.HasPrefix(word, "--shard=auto"):
			named[i] = "--shard=" + shard
		case i > 0 && named[i-1] == "--shard" && strings.HasPrefix(word, "auto"):
			named[i] = shard
		}
	}
	return named
}

// WithStatus returns a command line of bench that says how far a campaign is. It is empty where the sweep came on standard input.
func WithStatus(args []string) string { return again(args, campaignOptions, "--status") }

// WithScript returns a command line of bench that prints the script of a Slurm array. It is empty where the sweep came on standard input.
func WithScript(args []string, shards int) string {
	return again(args, campaignOptions, "--print-sbatch", strconv.Itoa(shards))
}

// WithFailedScript returns what WithScript does, with tasks that measure failed runs again.
func WithFailedScript(args []string, shards int) string {
	return again(args, append([]string{"--rerun"}, campaignOptions...), "--rerun", "failed", "--print-sbatch", strconv.Itoa(shards))
}

// again returns a command line of bench without some options that have a value, and with further words.
func again(args, without []string, with ...string) string {
	own := len(args)
	if dash := slices.Index(args, "--"); dash >= 0 {
		own = dash
	}
	if slices.Contains(args[:own], "-") {
		return ""
	}
	words := []string{"neurolens"}
	for i := 0; i < own; i++ {
		name, _, joined := strings.Cut(args[i], "=")
		switch {
		case slices.Contains(without, name) && !joined:
			i++ // its value
		case slices.Contains(without, name), args[i] == "--no-pager", args[i] == "--status":
		default:
			words = append(words, args[i])
		}
	}
	return term.ShellLine(slices.Concat(words, with, args[own:])...)
}

// muchOfStart is how many starts of a process a program has to take so that they are not worth a word.
const muchOfStart = 5

// startLine says what starting a process takes, where that is much of what a program of the session took; empty elsewhere. A program whose
// shell is subtracted has no such part.
func startLine(start time.Duration, sw *sweep.Sweep, points []query.SessionPoint) string {
	limit := muchOfStart * start
	started := map[string]bool{}
	for i := range sw.Points {
		p := &sw.Points[i]
		started[p.PointID] = p.Executor == schema.ExecutorCommand && p.Start == nil
	}
	for i := range points {
		p := &points[i]
		if started[p.PointID] && p.Metric == schema.PrimaryMetric && p.Median != nil && *p.Median < float64(limit) {
			return fmt.Sprintf("starting a process takes %s here; this is part of each median, and a large part of those below %s",
				schema.ForPeople(float64(start), "ns"), schema.ForPeople(float64(limit), "ns"))
		}
	}
	return ""
}

// Earlier returns the runs of earlier sessions that a session goes on from.
func Earlier(plan *runner.Plan) (earlier []schema.Run) {
	for _, p := range plan.Launches {
		if p.Done != nil {
			earlier = append(earlier, *p.Done)
		}
	}
	return earlier
}

// Discovered says which files a sweep runs, and why it leaves others that discover looked at.
func Discovered(w io.Writer, s *sweep.Sweep) {
	said := map[string]bool{}
	for _, points := range [][]sweep.Point{s.Points, s.Skipped} {
		for i := range points {
			p := &points[i]
			line := fmt.Sprintf("runs %s", p.Benchmark)
			if p.Variant != "" {
				line += " " + p.Variant
			}
			if p.File != "" {
				line += ": " + p.File
			} else if len(p.Command) > 0 {
				line += ": " + p.Command[0]
			}
			if p.Fault != "" {
				line += ": " + p.Fault
			}
			if !said[line] {
				said[line] = true
				fmt.Fprintln(w, term.OneLine(line))
			}
		}
	}
	for _, left := range s.Left {
		fmt.Fprintln(w, term.OneLine(fmt.Sprintf("left %s: %s", left.File, left.Reason)))
	}
}

// Note writes what is worth a word before a session; an empty text is nothing.
func Note(w io.Writer, text string) {
	if text != "" {
		fmt.Fprintln(w, term.OneLine("neurolens: "+text))
	}
}

// LeastRepeats returns the smallest number of repeats that a point has, apart from controls.
func LeastRepeats(s *sweep.Sweep) int {
	least := s.Repeats
	for i := range s.Points {
		if p := &s.Points[i]; !p.Control {
			least = min(least, p.Repeats)
		}
	}
	return least
}

// lostText says that discover has left files that are named like benchmarks; empty: none.
func lostText(s *sweep.Sweep) string {
	var files []string
	for _, left := range s.Left {
		if left.Near {
			files = append(files, left.File)
		}
	}
	switch len(files) {
	case 0:
		return ""
	case 1:
		return term.OneLine("not run, though named like a benchmark: " + files[0] + "; --verbose says why")
	}
	return term.OneLine(fmt.Sprintf("not run, though named like benchmarks: %s and %s more; --verbose says why", files[0], term.Thousands(len(files)-1)))
}
