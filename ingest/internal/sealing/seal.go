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
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
)

// Rules determine when runs are sealed.
type Rules struct {
	Runs     int           // number of runs at which the own segment is sealed
	Age      time.Duration // age at which the own segment is sealed
	Together int           // number of runs in own and abandoned segments at which Close seals them
	Stale    time.Duration // time without a change after which a segment or claim counts as abandoned
	Grace    time.Duration // time that a claim stays after its commit
	Dead     func(Owner) bool
}

// StandardRules returns the rules of every program. Tests use others.
func StandardRules() Rules {
	return Rules{
		Runs:     256,
		Age:      5 * time.Minute,
		Together: 8,
		Stale:    24 * time.Hour,
		Grace:    10 * time.Minute, // longer than a network file system caches a listing
		Dead:     Owner.dead,
	}
}

// Sealer seals live files, for one Store. It has no lock on the store: each sealer has its own claims, and if one dies,
// another one finishes its work.
type Sealer struct {
	Files   disk.Files
	Version string // of this program
	Rules   Rules
	HostID  string         // id of this machine; empty if it is not known yet
	Own     []schema.ULID  // segments that the Store has finished
	claims  []schema.Claim // claims of this process that are not removed yet
	Made    int            // sealed files since the last packing
	problem error          // the first problem; it does not prevent appends
	memory  memory
}

// Note keeps an error for the end. A claim that was taken over is no error.
func (s *Sealer) Note(err error) {
	if err != nil && !errors.Is(err, ErrFenced) && s.problem == nil {
		s.problem = err
	}
}

// Seal seals the segments that no process adds to any more, finished ones of the Store and abandoned ones, if together they have at
// least the given number of runs. It returns the number of newly sealed runs.
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
	defer s.memory.forget()
	return s.finish(ctx, c)
}

// SealAll continues claims, seals all runs that may be sealed if there are at least the given number, and returns the problem that
// prevented it.
func (s *Sealer) SealAll(ctx context.Context, least int) (int, error) {
	s.problem = nil
	runs := s.Tidy(ctx)
	n, err := s.Seal(ctx, least)
	s.Note(err)
	return runs + n, cmp.Or(s.problem, ctx.Err())
}

// End seals at the end of a Store that appended something, and returns the first problem.
func (s *Sealer) End(ctx context.Context) error {
	if len(s.Own) > 0 {
		_, err := s.Seal(ctx, s.Rules.Together)
		s.Note(err)
	}
	return s.problem
}

// resting lists the segments in LiveDir that no process adds to any more, and removes those without runs.
func (s *Sealer) resting() ([]disk.Segment, error) {
	all, err := disk.ListSegments(s.Files, schema.LiveDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s.Own = slices.DeleteFunc(s.Own, func(id schema.ULID) bool {
		return !slices.ContainsFunc(all, func(segment disk.Segment) bool { return segment.ID == id })
	})
	claims, err := disk.ListClaims(s.Files) // after the segments: see rescue
	if err != nil {
		return nil, err
	}
	var resting []disk.Segment
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

// sealable leaves out segments of others without a run that can be sealed: sealing such a segment would create another
// one with the same runs, again and again.
func (s *Sealer) sealable(segments []disk.Segment) ([]disk.Segment, error) {
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
	return slices.DeleteFunc(segments, func(segment disk.Segment) bool {
		return !slices.Contains(s.Own, segment.ID) && !slices.ContainsFunc(segment.Runs, func(run schema.ULID) bool {
			live, err := runfile.ReadLiveFile(s.Files, schema.LiveFile{Segment: segment.ID, Run: run})
			digest, there := known[run]
			return err == nil && (!there || digest == live.Digest)
		})
	}), nil
}

// finish does the remaining work for a claim of this process, up to the commit, and returns the number of committed runs.
func (s *Sealer) finish(ctx context.Context, c schema.Claim) (int, error) {
	runs, err := s.commit(ctx, c)
	if runs > 0 {
		s.Made++
	}
	if err == nil {
		err = s.removeOuts(c) // this changes the claim, so its grace period begins
	}
	if err = s.fenced(c, err); errors.Is(err, ErrFenced) {
		s.forget(c)
	}
	return runs, err
}

// commit plans a claim and publishes its files, unless that was done before.
func (s *Sealer) commit(ctx context.Context, c schema.Claim) (int, error) {
	var set *runfile.Set
	plan, err := schema.ReadPlan(s.Files, c)
	if errors.Is(err, fs.ErrNotExist) {
		plan, set, err = s.plan(ctx, c)
	}
	if err != nil || plan.File == "" {
		return 0, err
	}
	f, err := disk.PlannedFile(c, plan)
	if err != nil {
		return 0, err
	}
	committed, err := s.Committed(c, plan)
	if err != nil {
		return 0, err
	}
	if committed {
		return 0, runfile.SyncSealed(s.Files, f) // whoever published it may have died before this
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

// Tidy continues the claims of this process, takes over abandoned ones, and removes finished ones. A problem with one
// claim does not affect the others. It returns the number of runs that it sealed.
func (s *Sealer) Tidy(ctx context.Context) int {
	claims, err := disk.ListClaims(s.Files)
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

// goOn performs the next possible steps for a claim, and returns the number of runs that it sealed.
func (s *Sealer) goOn(ctx context.Context, c schema.Claim) (int, error) {
	finished, since, err := s.Finished(c)
	switch {
	case err != nil:
		return 0, s.fenced(c, err)
	case finished && s.over(since):
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
