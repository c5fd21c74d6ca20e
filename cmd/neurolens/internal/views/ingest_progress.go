package views

import (
	"fmt"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// IngestProgress says on a terminal how far a long reading is: one line that is drawn over.
type IngestProgress struct {
	now     func() time.Time
	screen  *term.Screen // nil where nobody watches
	sources []foreign.Source
	total   int64 // bytes of all sources
	before  int64 // bytes of the sources that are done
	current int
	input   *foreign.Input
	runs    int
	drawn   time.Time
}

// Nothing is drawn before progressDelay, for most readings are done then; and again after progressEvery.
const (
	progressDelay = 500 * time.Millisecond
	progressEvery = 200 * time.Millisecond
)

// NewIngestProgress is shown on a screen; nil: nobody watches.
func NewIngestProgress(sources []foreign.Source, screen *term.Screen, now func() time.Time) *IngestProgress {
	p := &IngestProgress{screen: screen, now: now, drawn: now().Add(progressDelay - progressEvery)}
	for _, s := range sources {
		p.Add(s)
	}
	return p
}

// Add says that a source will be read.
func (p *IngestProgress) Add(s foreign.Source) {
	p.sources = append(p.sources, s)
	p.total += s.Bytes
}

// File says which source is read now.
func (p *IngestProgress) File(i int) {
	if p.input != nil {
		p.before += p.sources[p.current].Bytes
	}
	p.current, p.input = i, nil
	p.draw()
}

// Reading says how much of the source is read.
func (p *IngestProgress) Reading(input *foreign.Input) { p.input = input }

// Run counts a run.
func (p *IngestProgress) Run() {
	p.runs++
	p.draw()
}

func (p *IngestProgress) draw() {
	if p.screen == nil || p.now().Sub(p.drawn) < progressEvery {
		return
	}
	p.drawn = p.now()
	p.screen.Draw(nil, func(columns int) []string {
		done := p.before
		if p.input != nil {
			done += p.input.Consumed()
		}
		line := fmt.Sprintf("file %s of %s · %s", term.Thousands(p.current+1), term.Thousands(len(p.sources)), schema.ForPeople(float64(done), "B"))
		if p.total > 0 {
			line += " of " + schema.ForPeople(float64(p.total), "B")
		}
		return []string{term.Cut(line+" · "+term.Count(p.runs, "run")+" · "+p.sources[p.current].Name, columns)}
	})
}

// End leaves the terminal ready for the result.
func (p *IngestProgress) End() {
	if p.screen != nil {
		p.screen.Clear()
	}
}
