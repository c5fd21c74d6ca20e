package sealing

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/layout"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
)

// Rules say when runs are sealed.
type Rules struct {
	Runs     int           // in the own segment, from which on it is sealed
	Age      time.Duration // of the own segment, likewise
	Together int           // in own and abandoned segments, from which on they are sealed at the end
	Stale    time.Duration // after which what nobody touched counts as abandoned
	Grace    time.Duration // for which a claim stays after its commit
	Dead     func(Owner) bool
}

// StandardRules are those of every program; others are for tests.
func StandardRules() Rules {
	return Rules{
		Runs:     256,
		Age:      5 * time.Minute,
		Together: 8,
		Stale:    24 * time.Hour,
		Grace:    10 * time.Minute, // more than a network file system keeps a listing
		Dead:     Owner.dead,
	}
}

// Sealer makes sealed files of live files, for one Store. It holds no lock on the store: of several sealers each has
// claims of its own, and what one leaves behind another one finishes.
type Sealer struct {
	Files   disk.Files
	Version string // of this program
	Rules   Rules
	HostID  string         // of this machine; empty while it is not known
	Own     []schema.ULID  // segments that the Store filled and left
	claims  []schema.Claim // that this process has and that are not removed yet
	Made    int            // files of sealed runs since they were packed
	problem error          // the first; none of them keeps runs from being appended
}

// Note keeps an error for the end. That a claim was taken over is none.
func (s *Sealer) Note(err error) {
	if err != nil && !errors.Is(err, ErrFenced) && s.problem == nil {
		s.problem = err
	}
}

// Seal seals the segments that nobody adds to any more: those that the Store left and the abandoned ones, if they hold
// at least so many runs. It gives the number of runs that are sealed now and were not before.
func (s *Sealer) Seal(ctx context.Context, least int) (int, error) {
	segments, err := s.resting()
	if err != nil {
		return 0, err
	}
	runs := 0
	for _, segment := range segments {
		runs += len(segment.Runs)
	}
	if runs < max(least, 1) {
		return 0, nil
	}
	if segments, err = s.sealable(segments); err != nil || len(segments) == 0 {
		return 0, err
	}
	c, err := s.claim(segments)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil // others were faster
	}
	if err != nil {
		return 0, err
	}
	return s.finish(ctx, c)
}

// SealAll goes on with claims, seals what may be sealed if it is at least so many runs, and tells the problem that kept
// it from that.
func (s *Sealer) SealAll(ctx context.Context, least int) (int, error) {
	s.problem = nil
	runs := s.Tidy(ctx)
	n, err := s.Seal(ctx, least)
	s.Note(err)
	return runs + n, cmp.Or(s.problem, ctx.Err())
}

// End seals at the end of a Store that appended something, and tells the first problem that there was.
func (s *Sealer) End(ctx context.Context) error {
	if len(s.Own) > 0 {
		_, err := s.Seal(ctx, s.Rules.Together)
		s.Note(err)
	}
	return s.problem
}

// resting lists the segments in LiveDir that nobody adds to any more, and removes those without runs.
func (s *Sealer) resting() ([]layout.Segment, error) {
	all, err := layout.ListSegments(s.Files, schema.LiveDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s.Own = slices.DeleteFunc(s.Own, func(id schema.ULID) bool {
		return !slices.ContainsFunc(all, func(segment layout.Segment) bool { return segment.ID == id })
	})
	claims, err := layout.ListClaims(s.Files) // after the segments: see rescue
	if err != nil {
		return nil, err
	}
	var resting []layout.Segment
	for _, segment := range all {
		dir := path.Join(schema.LiveDir, segment.ID.String())
		if slices.ContainsFunc(claims, func(c schema.Claim) bool { return c.ID == segment.ID }) {
			continue
		}
		if !slices.Contains(s.Own, segment.ID) {
			abandoned, err := s.Abandoned(dir)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			if !abandoned {
				continue
			}
		}
		if len(segment.Runs) == 0 {
			_ = s.Files.Remove(path.Join(dir, schema.OwnerFile))
			_ = s.Files.Remove(dir) // works only while it is empty
			continue
		}
		resting = append(resting, segment)
	}
	return resting, nil
}

// sealable leaves out the segments of others that have no run which could be sealed: sealing such a segment would give
// another one of the same runs, again and again.
func (s *Sealer) sealable(segments []layout.Segment) ([]layout.Segment, error) {
	var runs []schema.ULID
	for _, segment := range segments {
		if !slices.Contains(s.Own, segment.ID) {
			runs = append(runs, segment.Runs...)
		}
	}
	slices.SortFunc(runs, schema.ULID.Compare)
	known, err := runfile.Digests(s.Files, runs)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(segments, func(segment layout.Segment) bool {
		return !slices.Contains(s.Own, segment.ID) && !slices.ContainsFunc(segment.Runs, func(run schema.ULID) bool {
			live, err := runfile.ReadLiveFile(s.Files, schema.LiveFile{Segment: segment.ID, Run: run})
			digest, there := known[run]
			return err == nil && (!there || digest == live.Digest)
		})
	}), nil
}

// finish does for a claim of this process what is left to do up to the commit, and gives the number of runs that it
// committed.
func (s *Sealer) finish(ctx context.Context, c schema.Claim) (int, error) {
	runs, err := s.commit(ctx, c)
	if runs > 0 {
		s.Made++
	}
	if err == nil {
		err = s.removeOuts(c) // the claim changes: its grace begins
	}
	if err = s.fenced(c, err); errors.Is(err, ErrFenced) {
		s.forget(c)
	}
	return runs, err
}

// commit plans a claim if that was not done, and makes its files part of the store if that was not done.
func (s *Sealer) commit(ctx context.Context, c schema.Claim) (int, error) {
	var set *runfile.Set
	plan, err := schema.ReadPlan(s.Files, c)
	if errors.Is(err, fs.ErrNotExist) {
		plan, set, err = s.plan(ctx, c)
	}
	if err != nil || plan.File == "" {
		return 0, err
	}
	f, err := layout.PlannedFile(c, plan)
	if err != nil {
		return 0, err
	}
	committed, err := s.Committed(c, plan)
	if err != nil {
		return 0, err
	}
	if committed {
		return 0, runfile.SyncSealed(s.Files, f) // the one who did it may not have come to this
	}
	if set == nil {
		if set, err = s.writeAgain(ctx, c, plan); err != nil {
			return 0, err
		}
	}
	if err := set.Publish(f); err != nil {
		return 0, err
	}
	return f.Rows, nil
}

// Tidy goes on with the claims that this process has, takes over those that were abandoned, and removes those that are
// finished. One that it cannot deal with does not keep it from the others. It gives the number of runs that it sealed.
func (s *Sealer) Tidy(ctx context.Context) int {
	claims, err := layout.ListClaims(s.Files)
	s.Note(err)
	runs := 0
	for _, c := range claims {
		if ctx.Err() != nil {
			return runs
		}
		n, err := s.goOn(ctx, c)
		s.Note(err)
		runs += n
	}
	s.Note(s.emptyTrash())
	return runs
}

// goOn does what can be done for a claim now, and gives the number of runs that it sealed.
func (s *Sealer) goOn(ctx context.Context, c schema.Claim) (int, error) {
	finished, since, err := s.Finished(c)
	switch {
	case err != nil:
		return 0, s.fenced(c, err)
	case finished && time.Since(since) >= s.Rules.Grace:
		return 0, s.removeFinished(c)
	case finished:
		return 0, nil
	}
	if !slices.Contains(s.claims, c) {
		abandoned, err := s.Abandoned(c.Path())
		if err != nil || !abandoned {
			return 0, s.fenced(c, err)
		}
		if c, err = s.TakeOver(c); err != nil {
			return 0, err
		}
	}
	return s.finish(ctx, c)
}
