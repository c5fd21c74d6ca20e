package sweep

import (
	"testing"
	"time"
)

// TestCommandCounts: a command has 10 runs of as many processes as fit in 300 ms, and one warm-up process for all of them.
func TestCommandCounts(t *testing.T) {
	t.Parallel()
	for text, c := range map[string]struct {
		overrides           Overrides
		repeats, iterations int
		budget              time.Duration
		warmup              int
		once                bool
	}{
		"command: [a]":                                    {repeats: 10, budget: 300 * time.Millisecond, warmup: 1, once: true},
		"command: [a]\niterations: 7":                     {repeats: 10, iterations: 7, budget: 300 * time.Millisecond, warmup: 1, once: true},
		"command: [a]\nrepeats: 3\nbudget: 2s":            {repeats: 3, budget: 2 * time.Second, warmup: 1, once: true},
		"command: [a]\nwarmup: 1":                         {repeats: 10, budget: 300 * time.Millisecond, warmup: 1},
		"command: [a]\nwarmup: 0":                         {repeats: 10, budget: 300 * time.Millisecond},
		"command: [a]\ncold_start: true":                  {repeats: 10, budget: 300 * time.Millisecond},
		"command: [a]\nrel_error: 1%":                     {repeats: 10, budget: 300 * time.Millisecond, warmup: 1, once: true},
		"command: [a]\nsuite: flags":                      {Overrides{Given: map[string]string{"repeats": "2", "warmup": "2"}}, 2, 0, 300 * time.Millisecond, 2, false},
		"command: [a]\nsuite: against":                    {Overrides{Against: true}, 6, 0, 300 * time.Millisecond, 1, true},
		"backend: builtin\nmodel: builtin:tiny_linear":    {repeats: 1, budget: 10 * time.Second, warmup: 10},
		"file: bench.py\nsuite: against":                  {Overrides{Against: true}, 6, 0, 10 * time.Second, 10, false},
		"command: [a]\ngrid: {repeats: 4}\nbudget: 300ms": {repeats: 4, budget: 300 * time.Millisecond, warmup: 1, once: true},
	} {
		s := parse(t, text, c.overrides)
		p := s.Points[0]
		if s.Repeats != c.repeats || p.Iterations != c.iterations || p.Budget != c.budget || p.Warmup != c.warmup || p.WarmupOnce != c.once {
			t.Errorf("%q: %d repeats, %d iterations, budget %s, warm-up %d (once %v): want %+v",
				text, s.Repeats, p.Iterations, p.Budget, p.Warmup, p.WarmupOnce, c)
		}
	}
	if s := parse(t, "command: [a]\nrel_error: 1%", Overrides{}); s.MaxRepeats != 20 {
		t.Errorf("at most %d repeats, want 20", s.MaxRepeats)
	}
}
