package sweep

import (
	"testing"

	"github.com/neurolens/neurolens/schema"
)

// TestReplaced: what a layer says takes the place of what those below it say of the same thing in another way.
func TestReplaced(t *testing.T) {
	quick := Overrides{Presets: []string{"quick"}}
	s := parse(t, "command: [x]\niterations: 5\npresets: {quick: {budget: 1s}}\n", quick)
	if p := s.Points[0]; p.Iterations != 0 || p.Budget.Seconds() != 1 {
		t.Errorf("a budget over iterations: %d, %v", p.Iterations, p.Budget)
	}
	s = parse(t, "command: [x, '{size}']\nscale: {size: {base: 4096, by: 8, steps: {16: 1, 8: 0.5, 0: 0.1}}}\npresets: {quick: {scale: {size: {base: 100, by: 8, steps: {0: 1}}}}}\n", quick)
	if size := s.Points[0].Params["size"]; size != "100" {
		t.Errorf("an axis of scale over one: size %s", size)
	}
	s = parse(t, "command: [x, '{variant}']\nvariants: {a: , b: {backend: builtin, model: 'builtin:tiny_linear'}}\n", Overrides{})
	if a, b := s.Points[0], s.Points[1]; a.Executor != schema.ExecutorCommand || b.Executor != schema.ExecutorBuiltin || b.Command != nil {
		t.Errorf("a model over a command: %s, then %s of %v", a.Executor, b.Executor, b.Command)
	}
	s = parse(t, "command: [x, '{variant}']\nvariants: {a: , b: {backend: mine, model: m}}\n", Overrides{})
	if b := s.Points[1]; b.Executor != schema.ExecutorCommand || b.Backend != "mine" {
		t.Errorf("labels over a command: %s, %s", b.Executor, b.Backend)
	}
	const output = "command: [x, '{k}']\ngrid: {k: [1, 2]}\noutput: {from: stdout, read: text}\n"
	s = parse(t, output+"reference: {k: 1, rtol: 0.5}\npresets: {quick: {reference: {from: r.txt, read: text}}}\n", quick)
	if r := s.Points[1].Reference; r.Point != nil || r.File != "r.txt" || r.Tolerance.Relative != .5 {
		t.Errorf("a file over a point: %+v", r)
	}
	s = parse(t, output+"reference: {from: r.txt, read: text, atol: 2}\npresets: {quick: {reference: {k: 1}}}\n", quick)
	if r := s.Points[1].Reference; r.Point == nil || r.File != "" || r.Tolerance.Absolute != 2 {
		t.Errorf("a point over a file: %+v", r)
	}
	s = parse(t, output+"reference: {k: 1}\npresets: {quick: {reference: {rtol: 0.25}}}\n", quick)
	if r := s.Points[1].Reference; r.Point == nil || r.Tolerance.Relative != .25 {
		t.Errorf("a tolerance over a point: %+v", r)
	}
}

// TestNamesOfTwoThings: where a name could be two things, the sweep has to say which.
func TestNamesOfTwoThings(t *testing.T) {
	check := refuses(t, "command: [x, '{accuracy}', '{memory}']\ngrid: {accuracy: [0.9], memory: [1]}\n")
	check("check: accuracy >= 0.8", "3: check: 1:1: accuracy is the name of a metric and of something else: write metric.accuracy or param.accuracy")
	check("check: memory > 1", "3: check: 1:1: memory is the name of a parameter and of a fact: write param.memory or fact.memory")
	check("derived: {loss: {expr: '1', unit: s}}\nmetrics: {loss: {regex: x}}", "3: derived.loss: metrics defines a metric with this name: choose another name")
	refuses(t, "command: [x, '{run_dir}']\n")("grid: {run_dir: [1]}", "2: axis run_dir: the name run_dir is reserved for the directory of a run: choose another one")
	refuses(t, "command: [x]\nmetrics: {memory: {regex: x}}\n")("check: memory > 1", "3: check: 1:1: memory is the name of a metric and of something else: write metric.memory or fact.memory")
	parse(t, "command: [x]\nmetrics: {memory: {regex: x}}\ncheck: [metric.memory > 1, fact.memory > 1]\n", Overrides{Facts: here(t, nil)})
	parse(t, "command: [x, '{accuracy}']\ngrid: {accuracy: [0.9]}\ncheck: [metric.accuracy > param.accuracy]\n", Overrides{})
}
