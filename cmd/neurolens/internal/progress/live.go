package progress

import (
	"strings"
	"sync"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/schema"
)

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
	columns := l.screen.Width()
	lines := term.Wrapped(l.headline(e), columns)
	for _, line := range l.known(e) {
		lines = append(lines, term.Wrapped(line, columns)...)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hear(e)
	l.draw(lines)
	l.clock.Go(l.run)
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
		if e.Reference != nil && e.Reference.Problem != "" {
			l.state.preparing = ""
			l.draw(term.Wrapped(term.Gap+l.preparation(e), l.screen.Width()))
		}
		return
	}
	columns := l.screen.Width()
	var lines []string
	for _, line := range planLines(e.Plan) {
		lines = append(lines, term.Wrapped(line, columns)...)
	}
	l.draw(lines)
}

func (l *liveReporter) looked(e runner.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hear(e)
	columns := l.screen.Width()
	l.draw(term.Wrapped(term.Gap+lookText(e.Look), columns))
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
	columns := l.screen.Width()
	l.draw(term.Wrapped(strings.Join([]string{"  fail", views.ShortRun(e.Run.RunID), name, text}, term.Gap), columns))
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
