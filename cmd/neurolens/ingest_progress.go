package main

import (
	"fmt"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// ingestProgress says on a terminal how far a long reading is: one line that is drawn over.
type ingestProgress struct {
	app     *app
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

func newIngestProgress(a *app, sources []foreign.Source) *ingestProgress {
	p := &ingestProgress{app: a, drawn: a.now().Add(progressDelay - progressEvery)}
	for _, s := range sources {
		p.Add(s)
	}
	if a.errTerminal && a.getenv("TERM") != "dumb" {
		p.screen = term.NewScreen(a.stderr, a.errSize)
	}
	return p
}

// Add says that a source will be read.
func (p *ingestProgress) Add(s foreign.Source) {
	p.sources = append(p.sources, s)
	p.total += s.Bytes
}

// File says which source is read now.
func (p *ingestProgress) File(i int) {
	if p.input != nil {
		p.before += p.sources[p.current].Bytes
	}
	p.current, p.input = i, nil
	p.draw()
}

// Reading says how much of the source is read.
func (p *ingestProgress) Reading(input *foreign.Input) { p.input = input }

// Run counts a run.
func (p *ingestProgress) Run() {
	p.runs++
	p.draw()
}

func (p *ingestProgress) draw() {
	if p.screen == nil || p.app.now().Sub(p.drawn) < progressEvery {
		return
	}
	p.drawn = p.app.now()
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

// end leaves the terminal ready for the result.
func (p *ingestProgress) end() {
	if p.screen != nil {
		p.screen.Clear()
	}
}
