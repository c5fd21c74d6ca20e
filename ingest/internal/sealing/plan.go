package sealing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
)

// newOuts creates the files of a claim, after it has removed the files of an earlier attempt.
func (s *Sealer) newOuts(c schema.Claim) (*runfile.Set, error) {
	if err := s.removeOuts(c); err != nil {
		return nil, err
	}
	return runfile.NewSet(s.Files, s.Version, func(t *schema.Table) string { return path.Join(c.Path(), disk.OutName(t, c.Attempt)) }), nil
}

// removeOuts removes the files that a claim wrote, including files of earlier attempts.
func (s *Sealer) removeOuts(c schema.Claim) error {
	outs, err := s.outs(c)
	if err != nil {
		return err
	}
	for _, name := range outs {
		if err := s.Files.Remove(path.Join(c.Path(), name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// outs lists the files that a claim wrote.
func (s *Sealer) outs(c schema.Claim) ([]string, error) {
	entries, err := fs.ReadDir(s.Files, c.Path())
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if disk.IsOut(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// plan decides where each run of a claim goes. It writes the files of the runs to be sealed at the same time, so that every run is read
// once. If another plan exists, it returns that one, and no files.
func (s *Sealer) plan(ctx context.Context, c schema.Claim) (schema.Plan, *runfile.Set, error) {
	files, err := s.claimedFiles(c)
	if err != nil {
		return schema.Plan{}, nil, err
	}
	set, err := s.newOuts(c)
	if err != nil {
		return schema.Plan{}, nil, err
	}
	plan, err := s.writePlanned(ctx, c, files, set)
	if err == nil {
		err = set.Finish()
	}
	if err == nil {
		err = s.publishPlan(c, plan)
	}
	if errors.Is(err, fs.ErrExist) {
		set.Remove()
		plan, err = schema.ReadPlan(s.Files, c)
		return plan, nil, err
	}
	if err != nil {
		set.Remove()
		return plan, nil, err
	}
	return plan, set, disk.SyncDir(s.Files, c.Path())
}

// claimedFiles lists the runs of a claim, ascending, after it has made their names durable: a plan must not name a run
// that a power cut can remove.
func (s *Sealer) claimedFiles(c schema.Claim) ([]schema.LiveFile, error) {
	segments, err := disk.ListSegments(s.Files, c.Path())
	if err != nil {
		return nil, err
	}
	var files []schema.LiveFile
	for _, segment := range segments {
		for _, run := range segment.Runs {
			files = append(files, schema.LiveFile{Claim: &c, Segment: segment.ID, Run: run})
		}
		if err := disk.SyncDir(s.Files, path.Join(c.Path(), segment.ID.String())); err != nil {
			return nil, err
		}
	}
	if err := disk.SyncDir(s.Files, c.Path()); err != nil {
		return nil, err
	}
	if err := disk.SyncDir(s.Files, schema.LiveDir); err != nil && !errors.Is(err, fs.ErrNotExist) { // a copied store may lack empty directories
		return nil, err
	}
	slices.SortFunc(files, func(a, b schema.LiveFile) int {
		return cmp.Or(a.Run.Compare(b.Run), a.Segment.Compare(b.Segment))
	})
	return files, nil
}

// writePlanned makes the plan for files of runs, ascending, and writes the rows of the runs to be sealed.
func (s *Sealer) writePlanned(ctx context.Context, c schema.Claim, files []schema.LiveFile, set *runfile.Set) (schema.Plan, error) {
	plan := schema.Plan{Runs: []string{}, Dropped: []string{}}
	known, err := runfile.Digests(s.Files, runsOf(files))
	if err != nil {
		return plan, err
	}
	var sealed []schema.ULID
	for len(files) > 0 {
		if err := ctx.Err(); err != nil {
			return plan, err
		}
		same := alike(files)
		files = files[len(same):]
		live, err := s.readAlike(same)
		if errors.Is(err, fs.ErrNotExist) {
			return plan, err
		}
		run := same[0].Run
		digest, dropped := known[run]
		if err != nil || run.Time().After(c.ID.Time()) || dropped && digest != live.Digest {
			continue // it stays a live file
		}
		if dropped {
			plan.Dropped = append(plan.Dropped, live.RunID)
			continue
		}
		if err := set.WriteRun(live); err != nil {
			return plan, err
		}
		plan.Runs, sealed = append(plan.Runs, live.RunID), append(sealed, run)
	}
	if len(sealed) > 0 {
		plan.File = schema.NewSealedFile(c.ID, sealed).Name()
	}
	return plan, nil
}

// runsOf returns the runs of files, ascending.
func runsOf(files []schema.LiveFile) []schema.ULID {
	runs := make([]schema.ULID, len(files))
	for i, f := range files {
		runs[i] = f.Run
	}
	return runs
}

// alike returns the first of the files, which ascend, and the following ones of the same run.
func alike(files []schema.LiveFile) []schema.LiveFile {
	n := 1
	for n < len(files) && files[n].Run == files[0].Run {
		n++
	}
	return files[:n]
}

// readAlike reads files of the same run, which must have equal digests.
func (s *Sealer) readAlike(files []schema.LiveFile) (*table.Live, error) {
	first, err := s.readLive(files[0])
	if err != nil {
		return nil, err
	}
	for _, f := range files[1:] {
		live, err := runfile.ReadLiveFile(s.Files, f)
		if err != nil {
			return nil, err
		}
		if live.Digest != first.Digest {
			return nil, fmt.Errorf("%w: %s and %s differ", schema.ErrDamaged, files[0].Path(), f.Path())
		}
	}
	return first, nil
}

// publishPlan writes the plan into the claim. It fails with fs.ErrExist if there is one.
func (s *Sealer) publishPlan(c schema.Claim, plan schema.Plan) error {
	text, err := plan.Encode()
	if err != nil {
		return err
	}
	return disk.Publish(s.Files, path.Join(c.Path(), schema.PlanFile), text)
}

// writeAgain writes the files of a claim that already has a plan.
func (s *Sealer) writeAgain(ctx context.Context, c schema.Claim, plan schema.Plan) (*runfile.Set, error) {
	files, err := s.claimedFiles(c)
	if err != nil {
		return nil, err
	}
	set, err := s.newOuts(c)
	if err != nil {
		return nil, err
	}
	for _, id := range plan.Runs {
		if err = ctx.Err(); err == nil {
			err = s.writePlannedRun(set, files, id)
		}
		if err != nil {
			set.Remove()
			return nil, err
		}
	}
	if err := set.Finish(); err != nil {
		set.Remove()
		return nil, err
	}
	return set, nil
}

// writePlannedRun adds a run of the plan, from the first of the ascending files that has it intact.
func (s *Sealer) writePlannedRun(set *runfile.Set, files []schema.LiveFile, id string) error {
	at, found := slices.BinarySearchFunc(files, id, func(f schema.LiveFile, id string) int { return cmp.Compare(f.Run.String(), id) })
	if !found {
		return fmt.Errorf("%w: run %s is in the plan, but not in the claim", schema.ErrDamaged, id)
	}
	var damage error
	for _, f := range alike(files[at:]) {
		live, err := runfile.ReadLiveFile(s.Files, f)
		if err == nil {
			return set.WriteRun(live)
		}
		damage = err
	}
	return damage
}
