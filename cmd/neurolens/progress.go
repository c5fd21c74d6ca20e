package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// progress says on standard error what a sweep is doing: one line that is rewritten on a terminal, one line a run
// elsewhere.
type progress struct {
	w        plainWriter
	terminal bool
	width    int
	now      func() time.Time
	sweep    *sweep.Sweep

	started time.Time
	drawn   time.Time
	failed  int
	opened  bool
}

// plainWriter keeps the names of a sweep and the words of a benchmark from steering the terminal. What this program
// itself uses for that goes past it.
type plainWriter struct{ io.Writer }

func (w plainWriter) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.Writer, strings.Map(printable, string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// rewrite goes to the beginning of the line and empties it.
func (w plainWriter) rewrite() { _, _ = io.WriteString(w.Writer, "\r\x1b[K") }

// redraw is how often the line on a terminal is rewritten at most.
const redraw = 100 * time.Millisecond

func newProgress(a *app, s *sweep.Sweep) *progress {
	return &progress{w: plainWriter{a.stderr}, terminal: a.errTerminal, width: a.width, now: a.now, sweep: s, started: a.now()}
}

func (p *progress) elapsed() time.Duration { return p.now().Sub(p.started) }

// observe is told every event of the session.
func (p *progress) observe(e runner.Event) {
	if !p.opened {
		p.opened = true
		p.open(e)
	}
	switch {
	case e.Run != nil:
		p.finished(e)
	case p.terminal && p.now().Sub(p.drawn) >= redraw:
		p.draw(e)
	}
}

// open says what is going to run, and whether the machine is busy.
func (p *progress) open(e runner.Event) {
	points := len(p.sweep.Points)
	fmt.Fprintf(p.w, "%s · %s × %s = %s · %s\n", cut(firstLine(p.sweep.Suite), p.width), count(points, "point"), count(p.sweep.Repeats, "repeat"),
		count(e.Launches, "run"), e.Env.Machine)
	load, err := strconv.ParseFloat(e.Env.Facts["load.1m"], 64)
	if err == nil && e.Env.CPUCount != nil && load > float64(*e.Env.CPUCount)/2 {
		fmt.Fprintf(p.w, "load %.1f on %s: expect noise\n", load, count(int(*e.Env.CPUCount), "core"))
	}
}

// draw rewrites the line on a terminal.
func (p *progress) draw(e runner.Event) {
	p.drawn = p.now()
	parts := []string{
		bar(e.Index, e.Launches) + fmt.Sprintf("  %d/%d", e.Index, e.Launches),
		pointText(p.sweep, e.Launch.Point),
		fmt.Sprintf("repeat %d/%d", e.Launch.Repeat+1, p.sweep.Repeats),
		string(e.Progress.Stage),
	}
	if e.Progress.Total > 0 {
		parts[3] += fmt.Sprintf(" %d/%d", e.Progress.Done, e.Progress.Total)
	}
	if p.failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", p.failed))
	}
	line := runewidth.Truncate(strings.Join(parts, "  "), p.width-1, "…")
	p.w.rewrite()
	fmt.Fprint(p.w, line)
}

// finished reports a run: on a terminal only one that failed stays to be read.
func (p *progress) finished(e runner.Event) {
	failed := e.Run.Status.Failed()
	if failed {
		p.failed++
	}
	if p.terminal && !failed {
		return
	}
	p.clear()
	fmt.Fprintf(p.w, "%*d/%d  %s  %s  repeat %d  %s\n", len(strconv.Itoa(e.Launches)), e.Index+1, e.Launches, shortRun(e.Run.RunID),
		pointText(p.sweep, e.Launch.Point), e.Launch.Repeat+1, resultText(e.Run))
}

// close leaves the terminal ready for the summary.
func (p *progress) close() {
	p.clear()
	if p.terminal && p.opened {
		fmt.Fprintln(p.w)
	}
}

// clear removes the line that is being rewritten.
func (p *progress) clear() {
	if p.terminal && !p.drawn.IsZero() {
		p.w.rewrite()
	}
}

// resultText is how a run ended, in a few words.
func resultText(r *schema.Run) string {
	m := r.Metric(r.Primary)
	if r.Status != schema.StatusOK || m == nil {
		return strings.TrimSuffix(string(r.Status)+" in "+string(r.Stage), " in ") + ": " + firstLine(r.Error)
	}
	s := stat.Summarize(m.Values())
	if s.P50 == nil {
		return string(r.Status)
	}
	return fmt.Sprintf("%s  median of %d", schema.ForPeople(*s.P50, m.Unit), *s.N)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// pointText names the axes of a point in which the sweep's points differ.
func pointText(s *sweep.Sweep, p *sweep.Point) string {
	var parts []string
	for _, name := range identityColumns {
		value := pointField(p, name)
		for i := range s.Points {
			if pointField(&s.Points[i], name) != value {
				parts = appendConstant(parts, name, value)
				break
			}
		}
	}
	for _, name := range sortedNames(p.Params) {
		for i := range s.Points {
			if s.Points[i].Params[name] != p.Params[name] {
				parts = appendConstant(parts, name, p.Params[name])
				break
			}
		}
	}
	if len(parts) == 0 {
		return p.Benchmark
	}
	return strings.Join(parts, " ")
}

func pointField(p *sweep.Point, column string) string {
	number := func(n *int64) string {
		if n == nil {
			return ""
		}
		return strconv.FormatInt(*n, 10)
	}
	switch column {
	case "benchmark":
		return p.Benchmark
	case "variant":
		return p.Variant
	case "backend":
		return p.Backend
	case "model":
		return p.Model
	case "precision":
		return p.Precision
	case "batch_size":
		return number(p.BatchSize)
	case "seq_len":
		return number(p.SeqLen)
	}
	return ""
}

// bar is a bar of 20 columns.
func bar(done, total int) string {
	full := 20 * done / max(total, 1)
	return strings.Repeat("█", full) + strings.Repeat("░", 20-full)
}
