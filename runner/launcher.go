package runner

import (
	"context"
	"fmt"

	"github.com/neurolens/neurolens/runner/prepare"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
)

// launcher runs process trees: of what launches are of, and of the builds before them.
type launcher struct {
	targets *prepare.Targets
	pool    *task.Pool
	watch   *probe.Watcher
	extract Extract // reads metrics out of what a run has left
	read    ReadResults
	keep    KeepFile
	tell    func(Event)

	comparer comparer
}

// launched is what came out of a launch.
type launched struct {
	outcome  task.Outcome
	volatile map[string]string // facts of the machine while it ran
	changed  bool              // what it is of changed before it or while it ran
	results  []schema.Run      // of the tool that it ran
	leaving  *leaving          // what becomes of its files
}

// launch runs the process tree of a launch of a target.
func (r *launcher) launch(ctx context.Context, l sweep.Launch, t *prepare.Target, observe func(task.Progress)) (launched, error) {
	looked := l.Point.Compared && l.Profile == ""
	var want *computed
	if looked {
		var err error
		if want, err = r.expected(ctx, l); err != nil {
			return launched{}, err
		}
	}
	spec := t.SpecOf(l)
	var came found
	spec.Read = r.reader(ctx, t, want, &came)
	leaving := r.newLeaving(t)
	spec.RunDir, spec.Leave = sweep.RunDir, leaving.take
	before := r.watch.Read()
	outcome, err := r.pool.Run(ctx, spec, observe)
	if err != nil {
		return launched{}, fmt.Errorf("running %s: %w", l.Point.Benchmark, err)
	}
	r.targets.NoteOutputs(t)
	if t.Check(&outcome); looked {
		r.comparer.judgeOutputs(l, &outcome, came.outputs, want)
	}
	volatile := probe.Between(before, r.watch.Read())
	return launched{outcome, volatile, r.targets.Fresh(ctx, subjectOf(l)).Changed, came.results, leaving}, nil
}

// build runs the commands of builds as launches are run. observe is told each of them.
func (r *launcher) build(ctx context.Context, observe func(of subject, command []string)) error {
	return r.targets.Build(ctx, prepare.Builder{
		Run:     func(ctx context.Context, spec task.Spec) (task.Outcome, error) { return r.pool.Run(ctx, spec, nil) },
		Observe: observe,
	})
}
