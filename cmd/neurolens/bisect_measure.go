package main

import (
	"context"
	"errors"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/device"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/worktree"
	"github.com/neurolens/neurolens/schema"
)

// errNoUse ends a session in which a commit turned out to be of no use.
var errNoUse = errors.New("the commit cannot be measured")

// errInterrupted ends a search before its answer.
var errInterrupted = errors.New("interrupted")

// measure runs one session of the good commit against another. A commit that git cannot check out has no session.
func (b *bisector) measure(ctx context.Context, t trial) (session string, all []*bisectSeries, err error) {
	s, names := b.sweep, describe(b.sweep).names
	if t.point != "" {
		s = s.Only(func(p *sweep.Point) bool { return p.PointID == t.point })
	}
	for i := range s.Points {
		id := s.Points[i].PointID
		all = append(all, &bisectSeries{id: id, name: names[id], metric: b.flags.metric})
	}
	inner, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	options := b.options(b.progress.observe)
	options.Done, options.Against, options.Head = nil, b.history.Good.ID, t.commit.ID
	options.Open = func([]schema.Run) map[string]string {
		open := map[string]string{}
		for _, i := range t.open(all) {
			open[all[i].id] = "not decided"
		}
		b.progress.looked(all, len(open))
		return open
	}
	b.progress.test(t.commit)
	result, err := runner.Run(inner, s, options, func(run schema.Run) error {
		if err := b.store.Append(run); err != nil {
			return storeError{err}
		}
		for _, series := range all {
			series.add(&run)
		}
		if noUse(all) {
			stop(errNoUse)
		}
		return nil
	})
	if _, bad := errors.AsType[storeError](err); ctx.Err() != nil && !bad {
		return "", nil, errInterrupted
	}
	return result.Session, all, b.excused(err, t.commit, all)
}

// noUse tells that no point of a session can be measured: on one side none is built, or there.
func noUse(all []*bisectSeries) bool {
	for _, s := range all {
		if !s.unusable {
			return false
		}
	}
	return true
}

// excused makes what keeps a single commit from being measured the reason why it is skipped. What keeps the ends from it,
// or any commit, stays an error.
func (b *bisector) excused(err error, commit worktree.Commit, all []*bisectSeries) error {
	_, busy := errors.AsType[*device.BusyError](err)
	_, input := errors.AsType[*runner.InputError](err)
	switch {
	case err == nil:
	case !input || busy || commit.ID == b.history.Bad.ID:
		return explained(err)
	default:
		for _, s := range all {
			s.failure[1] = term.OneLine(err.Error())
		}
	}
	return nil
}
