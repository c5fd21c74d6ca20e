package main

import (
	"cmp"
	"context"
	"errors"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/screens/measuring"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/bisect"
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
func (b *bisector) measure(ctx context.Context, t bisect.Trial) (*bisect.Session, error) {
	s := b.sweep
	if t.Point != "" {
		s = s.Only(func(p *sweep.Point) bool { return p.PointID == t.Point })
	}
	session := bisect.NewSession(b.points(s, t.Scale), b.flags.metric)
	inner, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	options := b.options(b.progress.Observe)
	options.Keep = b.store.KeepArtifact
	options.Done, options.Against, options.Head = nil, b.history.Good.ID, t.Commit.ID
	options.Open = func([]schema.Run) map[string]string {
		open := map[string]string{}
		for _, id := range t.Open(session) {
			open[id] = "not decided"
		}
		b.progress.Looked(session.Blocks(), len(open))
		return open
	}
	b.progress.Test(t.Commit)
	ran := map[string]bool{} // sides
	result, err := runner.Run(inner, s, options, func(run schema.Run) error {
		if err := b.store.Append(run); err != nil {
			return storeError{err}
		}
		if ran[run.Side] = true; len(ran) > 1 { // both sides were launched, in either order, and are to be compared
			if err := b.createLog(); err != nil {
				return err
			}
		}
		session.Add(&run)
		if session.Useless() {
			stop(errNoUse)
		}
		return nil
	})
	if _, bad := errors.AsType[storeError](err); ctx.Err() != nil && !bad {
		return nil, errInterrupted
	}
	session.ID = result.Session
	return session, b.excused(err, t.Commit, session)
}

// createLog creates the log and announces it, unless it is there.
func (b *bisector) createLog() error {
	if b.log.Exists() {
		return nil
	}
	b.progress.Log(b.log.Path, 0)
	return b.log.Create()
}

// points are the points of a sweep with their names in the whole sweep and their scale of comparison. If the scale is not known yet, a
// threshold that is an amount makes it the difference.
func (b *bisector) points(s *sweep.Sweep, scale schema.Scale) []bisect.Point {
	names := measuring.PointNames(b.sweep)
	all := make([]bisect.Point, len(s.Points))
	for i := range s.Points {
		p := &s.Points[i]
		all[i] = bisect.Point{ID: p.PointID, Name: names[p.PointID], Scale: scale}
		if metric := cmp.Or(b.flags.metric, p.Primary); scale == "" && schema.ScaleOf(metric) == schema.ScaleRatio && b.thresholdOf(p, metric).Absolute {
			all[i].Scale = schema.ScaleDifference
		}
	}
	return all
}

// excused makes what keeps a single commit from being measured the reason why it is skipped. What keeps the ends from it,
// or any commit, stays an error.
func (b *bisector) excused(err error, commit worktree.Commit, session *bisect.Session) error {
	_, busy := errors.AsType[*device.BusyError](err)
	_, input := errors.AsType[*runner.InputError](err)
	switch {
	case err == nil:
	case !input || busy || commit.ID == b.history.Bad.ID:
		return explained(err)
	default:
		session.Excuse(term.OneLine(err.Error()))
	}
	return nil
}
