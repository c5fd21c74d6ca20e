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

// launcher runs process trees: for launches, and for the builds before them.
type launcher struct {
	targets *prepare.Targets
	pool    *task.Pool
	watch   *probe.Watcher
	extract Extract // reads metrics out of what a run has left
	read    ReadResults
	keep    KeepFile
	tell    func(Event)

	comparer comparer
	levels   levels
}

// launched is the result of a launch.
type launched struct {
	outcome  task.Outcome
	volatile map[string]string // facts of the machine while it ran
	changed  bool              // what it is of changed before it or while it ran
	results  []schema.Run      // of the tool that it ran
	leaving  *leaving          // what becomes of its files
}

// launch runs the process tree for a launch of a target.
func (r *launcher) launch(ctx context.Context, l sweep.Launch, t *prepare.Target, observe func(task.Progress)) (launched, error) {
	looked := l.Point.Compared && l.Profile == ""
	var want *computed
	if looked {
		var err error
		if want, err = r.expected(ctx, l); err != nil {
			return launched{}, err
		}
	}
	spec := t.SpecOf(l, r.levels.of(l.Point))
	spec.Watch = r.targets.Watches(subjectOf(l))
	var came leftovers
	spec.Read = r.reader(ctx, t, want, &came)
	leaving := r.newLeaving(t)
	spec.RunDir, spec.Leave = sweep.RunDir, leaving.take
	before := r.watch.Read()
	outcome, err := r.pool.Run(ctx, spec, observe)
	if err != nil {
		return launched{}, fmt.Errorf("running %s: %w", l.Point.Benchmark, err)
	}
	if err := r.targets.NoteFiles(subjectOf(l), &outcome); err != nil {
		return launched{}, &InputError{err}
	}
	r.targets.NoteOutputs(t)
	if t.Check(&outcome); looked {
		r.comparer.judgeOutputs(l, &outcome, came.outputs, want)
	}
	volatile := probe.Between(before, r.watch.ReadAfter())
	return launched{outcome, volatile, r.targets.Fresh(ctx, subjectOf(l)).Changed, came.results, leaving}, nil
}

// target returns the current target of a subject, with a converted model if it needs one.
func (r *launcher) target(ctx context.Context, sub subject) (*prepare.Target, error) {
	t := r.targets.Fresh(ctx, sub)
	err := r.targets.Convert(ctx, r.builder(func(of subject, words []string) {
		r.tell(Event{Launch: sweep.Launch{Point: of.Point, Side: of.Side}, Build: words})
	}), sub, t)
	return t, err
}

// build runs the build commands in the same way as launches. observe is called for each of them.
func (r *launcher) build(ctx context.Context, observe func(of subject, command []string)) error {
	return r.targets.Build(ctx, r.builder(observe))
}

// builder runs preparations in the same way as launches.
func (r *launcher) builder(observe func(of subject, command []string)) prepare.Builder {
	return prepare.Builder{
		Run:     func(ctx context.Context, spec task.Spec) (task.Outcome, error) { return r.pool.Run(ctx, spec, nil) },
		Observe: observe,
	}
}
