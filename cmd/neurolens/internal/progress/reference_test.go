package progress

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// TestReferenceProgress: a reference is named while it runs, and why there is none stays to be read.
func TestReferenceProgress(t *testing.T) {
	s := parsed(t, "suite: s\ncommand: [a, '{n}', '{precision}']\noutput: {}\ngrid: {n: [1, 2], precision: [fp32, fp16]}\nreference: {precision: fp64}\nrepeats: 1\n")
	reference := s.References()[0]
	own := s.Points[0]
	var now time.Time
	play := func(c Console) (live *liveReporter) {
		c.Now = func() time.Time { return now }
		p := NewProgress(c, Session{Sweep: s})
		live, _ = p.reporter.(*liveReporter)
		send := func(e runner.Event) {
			e.Env = &schema.Env{}
			p.Observe(e)
		}
		send(runner.Event{Plan: &runner.Plan{}})
		send(runner.Event{Launch: sweep.Launch{Point: reference}, Reference: &runner.Reference{}})
		if live != nil {
			now = now.Add(3 * time.Second)
			live.mu.Lock()
			live.draw(nil)
			if lines := live.state.view(80, false); !slices.Contains(lines, "  now   reference  benchmark=a precision=fp64 n=1  3 s") {
				t.Errorf("while it runs: %q", lines)
			}
			live.mu.Unlock()
		}
		send(runner.Event{Launch: sweep.Launch{Point: reference}, Reference: &runner.Reference{Problem: "the reference is timeout: measure took more than 15 s"}})
		if live != nil && live.state.preparing != "" {
			t.Errorf("after it has run: %s", live.state.preparing)
		}
		send(runner.Event{Launch: sweep.Launch{Point: &own}, Reference: &runner.Reference{File: "want.npy", Problem: "the reference want.npy: no such file"}})
		p.Close(runner.Result{})
		return live
	}
	const failed = "reference  benchmark=a precision=fp64 n=1  the reference is timeout: measure took more than 15 s; results that need it are unchecked"
	var plain, json, live bytes.Buffer
	play(Console{W: &plain})
	want := []string{
		"reference  benchmark=a precision=fp64 n=1", failed,
		"reference  want.npy  the reference want.npy: no such file; results that need it are unchecked", "",
	}
	if got := strings.Split(plain.String(), "\n"); !slices.Equal(got[1:], want) {
		t.Errorf("got %q, want %q", got[1:], want)
	}
	play(Console{W: &json, JSON: true})
	lines := strings.Split(json.String(), "\n")
	for i, part := range []string{
		`{"event": "reference", "point_id": "` + reference.PointID + `", "point": {"backend":null,"batch_size":null,"benchmark":"a",`,
		`"file": null, "function": null, "problem": "the reference is timeout: measure took more than 15 s"}`,
		`{"event": "reference", "point_id": null, "point": null, "file": "want.npy", "function": null, "problem": "the reference want.npy: no such file"}`,
	} {
		if !strings.Contains(lines[2+i], part) {
			t.Errorf("line %d is %s, want %s", 2+i, lines[2+i], part)
		}
	}
	play(Console{Screen: term.NewScreen(&live, func() (int, int) { return 200, 24 })})
	if !strings.Contains(live.String(), "  "+failed) {
		t.Errorf("the view says %q", live.String())
	}
}
