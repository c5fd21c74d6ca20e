package progress

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/runner"
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
