package progress

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/schema"
)

// plainReporter writes one line a run.
type plainReporter struct {
	w io.Writer
	description
}

func (p *plainReporter) begin(e runner.Event) {
	fmt.Fprintln(p.w, p.headline(e))
	for _, line := range p.known(e) {
		fmt.Fprintln(p.w, line)
	}
}

func (p *plainReporter) prepare(e runner.Event) {
	if e.Plan == nil {
		fmt.Fprintln(p.w, p.preparation(e))
		return
	}
	for _, line := range planLines(e.Plan) {
		fmt.Fprintln(p.w, line)
	}
}

func (p *plainReporter) stage(runner.Event) {}

func (p *plainReporter) looked(e runner.Event) {
	fmt.Fprintln(p.w, lookText(e.Look))
	if l := e.Look; l.Number == l.Planned || l.Conclusive() == l.Points { // the last one
		fmt.Fprintln(p.w, verdictsText(l))
	}
}

func (p *plainReporter) finished(e runner.Event) {
	name := p.launch(e.Launch)
	if e.Launch.Profile == "" {
		name += fmt.Sprintf("  repeat %d", e.Launch.Repeat+1)
	}
	fmt.Fprintf(p.w, "%*d/%d  %s  %s  %s\n", len(strconv.Itoa(e.Launches)), e.Index+1, e.Launches, views.ShortRun(e.Run.RunID), name, resultText(e.Run, p.metrics))
}

func (p *plainReporter) end(runner.Result, time.Duration) {}

// redraw is how often the live view is looked at, and rewritten if it has changed. Drawing takes time from the machine
// that measures.
const redraw = 250 * time.Millisecond

// lastResults is how many results the live view shows.
const lastResults = 3

// liveReporter is the view on a terminal. Failures are written above it and stay; the view itself is removed at the
// end. It redraws on a clock of its own, so that a run from which nothing is heard is seen to take time.
type liveReporter struct {
	description
	screen *term.Screen
	color  bool
	now    func() time.Time

	mu      sync.Mutex // over what is below: the clock's goroutine draws too
	state   liveState
	since   time.Time // when the stage that is shown began
	heard   time.Time // when the estimate of the time left was made
	left    time.Duration
	stopped chan struct{}
	clock   sync.WaitGroup
}

func newLiveReporter(c Console, d description) *liveReporter {
	return &liveReporter{
		description: d, screen: c.Screen, color: c.Color, now: c.Now,
		state: liveState{repeats: d.sweep.Repeats, statuses: map[schema.Status]int{}}, stopped: make(chan struct{}),
	}
}

func (l *liveReporter) begin(e runner.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hear(e)
	l.draw(l.wrapped(append([]string{l.headline(e)}, l.known(e)...)...))
	l.clock.Go(l.run)
}

// wrapped breaks lines at the width of the screen.
func (l *liveReporter) wrapped(lines ...string) (broken []string) {
	columns := l.screen.Width()
	for _, line := range lines {
		broken = append(broken, term.Wrapped(line, columns)...)
	}
	return broken
}

// run draws until the end of the session.
func (l *liveReporter) run() {
	ticker := time.NewTicker(redraw)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			l.mu.Lock()
			l.draw(nil)
			l.mu.Unlock()
		case <-l.stopped:
			return
		}
	}
}

func (l *liveReporter) prepare(e runner.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hear(e)
	if e.Plan == nil {
		l.since, l.state.preparing = l.heard, l.preparation(e)
		if e.Unread != nil || e.Reference != nil && e.Reference.Problem != "" {
			l.state.preparing = ""
			l.draw(l.wrapped(term.Gap + l.preparation(e)))
		}
		return
	}
	l.draw(l.wrapped(planLines(e.Plan)...))
}

func (l *liveReporter) looked(e runner.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hear(e)
	l.draw(l.wrapped(term.Gap + lookText(e.Look)))
}

func (l *liveReporter) stage(e runner.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hear(e)
}

// hear takes in where the session stands.
func (l *liveReporter) hear(e runner.Event) {
	l.left, l.heard = e.Remaining, l.now()
	s := &l.state
	s.preparing, s.done, s.launches = "", e.Index, e.Launches
	if e.Progress == nil {
		return
	}
	if s.name == "" || s.stage != e.Progress.Stage {
		l.since = l.heard
	}
	s.name, s.repeat = l.launch(e.Launch), e.Launch.Repeat+1
	if e.Launch.Profile != "" {
		s.repeat = 0
	}
	s.stage, s.iterations, s.total = e.Progress.Stage, e.Progress.Done, e.Progress.Total
}

func (l *liveReporter) finished(e runner.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hear(e)
	name, text := l.launch(e.Launch), resultText(e.Run, l.metrics)
	s := &l.state
	s.done, s.name = e.Index+1, ""
	s.statuses[e.Run.Status]++
	s.last = append([]liveResult{{name, text}}, s.last[:min(len(s.last), lastResults-1)]...)
	if !e.Run.Status.Failed() {
		return
	}
	l.draw(l.wrapped(strings.Join([]string{"  fail", views.ShortRun(e.Run.RunID), name, text}, term.Gap)))
}

// draw shows the view as it is now, below lines that stay.
func (l *liveReporter) draw(stays []string) {
	l.state.elapsed, l.state.left = l.now().Sub(l.since), 0
	if l.left > 0 {
		l.state.left = l.left - l.now().Sub(l.heard)
	}
	l.screen.Draw(stays, func(columns int) []string { return append([]string{""}, l.state.view(columns, l.color)...) })
}

func (l *liveReporter) end(runner.Result, time.Duration) {
	close(l.stopped)
	l.clock.Wait()
	l.screen.Draw([]string{""}, func(int) []string { return nil })
}

// liveState is what the live view shows.
type liveState struct {
	done, launches int
	statuses       map[schema.Status]int
	left           time.Duration // of the session; not positive where it is not known

	preparing         string // what is done before something can run; empty where something does
	name              string // of what runs now; empty between two runs
	repeat            int    // from 1; 0 where it is none
	repeats           int
	stage             schema.Stage
	iterations, total int           // of the stage; total is 0 where that is not known
	elapsed           time.Duration // in the stage

	last []liveResult // the newest first
}

type liveResult struct{ name, text string }

// view shows the state in at most so many columns.
func (s liveState) view(columns int, color bool) []string {
	paint := func(code, text string) string {
		if !color {
			return text
		}
		return code + text + term.Plain
	}
	width := 0
	names := []string{s.name}
	for _, r := range s.last {
		names = append(names, r.name)
	}
	for _, name := range names {
		width = max(width, ansi.StringWidth(name))
	}
	lines := []string{s.barLine(columns, paint)}
	if s.preparing != "" {
		lines = append(lines, term.Gap+paint(term.Cyan, "now ")+term.Gap+s.preparing+s.elapsedText())
	} else if s.name != "" {
		lines = append(lines, term.Gap+paint(term.Cyan, "now ")+term.Gap+s.nowText(columns-len("  now   "), width))
	}
	for i, r := range s.last {
		label := "last"
		if i > 0 {
			label = "    "
		}
		lines = append(lines, term.Gap+label+term.Gap+term.Pad(r.name, width, false)+term.Gap+r.text)
	}
	for i, line := range lines {
		lines[i] = ansi.Truncate(line, columns, "…")
	}
	return lines
}

// barLine returns the bar with the counts of the session. Where there is little room, words go from the end; what is left
// over is the bar's.
func (s liveState) barLine(columns int, paint func(code, text string) string) string {
	parts := []string{fmt.Sprintf("%s/%s", term.Thousands(s.done), term.Thousands(s.launches))}
	if s.left > 0 {
		parts = append(parts, clockText(s.left)+" left")
	}
	failed := 0
	for status, n := range s.statuses {
		if status.Failed() {
			failed += n
		}
	}
	if failed > 0 {
		parts = append(parts, paint(term.Red, term.Thousands(failed)+" failed"))
	}
	for _, status := range []schema.Status{schema.StatusUnsupported, schema.StatusSkipped} {
		if n := s.statuses[status]; n > 0 {
			parts = append(parts, term.Thousands(n)+" "+string(status))
		}
	}
	words := strings.Join(parts, term.Gap)
	for ; len(parts) > 1 && ansi.StringWidth(term.Gap+words) > columns; words = strings.Join(parts, term.Gap) {
		parts = parts[:len(parts)-1]
	}
	const least, most = 8, 33
	room := columns - 2*len(term.Gap) - ansi.StringWidth(words)
	if room < least {
		return term.Gap + words
	}
	done := float64(s.done) // with the iterations of the run that is being measured
	if s.name != "" && s.stage == schema.StageMeasure && s.total > 0 {
		done += float64(s.iterations) / float64(s.total)
	}
	return term.Gap + bar(done/float64(max(s.launches, 1)), min(room, most)) + term.Gap + words
}

// bar returns a bar of so many columns, filled to an eighth of a column.
func bar(fraction float64, width int) string {
	eighths := min(max(int(fraction*float64(width)*8), 0), 8*width)
	text := strings.Repeat("█", eighths/8)
	if part := eighths % 8; part > 0 {
		text += string([]rune("▏▎▍▌▋▊▉")[part-1])
	}
	return text + strings.Repeat("░", width-ansi.StringWidth(text))
}

// nowText returns what runs now. Where there is little room the repeat goes first, then the time it takes.
func (s liveState) nowText(columns, width int) string {
	name, repeat, stage, elapsed := term.Pad(s.name, width, false), "", term.Gap+string(s.stage), s.elapsedText()
	switch {
	case s.repeat > 0 && s.repeat <= s.repeats:
		repeat = fmt.Sprintf("%srepeat %d/%d", term.Gap, s.repeat, s.repeats)
	case s.repeat > 0:
		repeat = fmt.Sprintf("%srepeat %d", term.Gap, s.repeat)
	}
	switch {
	case s.total > 0:
		stage += fmt.Sprintf(" %s/%s", term.Thousands(s.iterations), term.Thousands(s.total))
	case s.iterations > 0:
		stage += " " + term.Thousands(s.iterations)
	}
	for _, text := range []string{name + repeat + stage + elapsed, name + stage + elapsed} {
		if ansi.StringWidth(text) <= columns {
			return text
		}
	}
	return name + stage
}

// elapsedText returns the time in the stage, after a gap; empty at its beginning.
func (s liveState) elapsedText() string {
	if s.elapsed < time.Second {
		return ""
	}
	return term.Gap + clockText(s.elapsed)
}

// clockText returns a time that passes, to the second: 14 s, 3 min 20 s, 1 h 05 min.
func clockText(d time.Duration) string {
	seconds := int(d.Round(time.Second) / time.Second)
	switch {
	case seconds < 60:
		return fmt.Sprintf("%d s", max(seconds, 1))
	case seconds < 3600:
		return fmt.Sprintf("%d min %02d s", seconds/60, seconds%60)
	}
	return fmt.Sprintf("%s h %02d min", term.Thousands(seconds/3600), seconds%3600/60)
}
