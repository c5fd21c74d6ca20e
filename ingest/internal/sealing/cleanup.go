package sealing

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
)

// Finished reports whether a claim needs no more work, only time before it is removed, and since when: the runs that its
// plan names are in sealed files, and its own files are removed.
func (s *Sealer) Finished(c schema.Claim) (bool, time.Time, error) {
	plan, err := schema.ReadPlan(s.Files, c)
	if errors.Is(err, fs.ErrNotExist) {
		return false, time.Time{}, nil
	}
	if err != nil {
		return false, time.Time{}, err
	}
	committed, err := s.Committed(c, plan)
	if err != nil || !committed {
		return false, time.Time{}, err
	}
	outs, err := s.outs(c)
	if err != nil || len(outs) > 0 {
		return false, time.Time{}, err
	}
	info, err := fs.Stat(s.Files, c.Path())
	if err != nil {
		return false, time.Time{}, err
	}
	return true, info.ModTime(), nil
}

// RemoveFinished removes the claims whose grace period is over. Unlike Tidy it seals nothing. Failures are left to the next writer that
// appends runs, which reports them.
func (s *Sealer) RemoveFinished() {
	claims, err := disk.ListClaims(s.Files)
	if err != nil {
		return
	}
	for _, c := range claims {
		if finished, since, err := s.Finished(c); err == nil && finished && s.over(since) {
			_ = s.removeFinished(c)
		}
	}
	_ = s.emptyTrash()
}

// over reports whether the grace period of a claim that was finished at a time is over.
func (s *Sealer) over(since time.Time) bool { return time.Since(since) >= s.Rules.Grace }

// Committed reports whether the sealed file of a plan exists, or none is planned.
func (s *Sealer) Committed(c schema.Claim, plan schema.Plan) (bool, error) {
	if plan.File == "" {
		return true, nil
	}
	f, err := disk.PlannedFile(c, plan)
	if err != nil {
		return false, err
	}
	_, err = fs.Stat(s.Files, f.Path(schema.RunsDir))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// removeFinished removes a claim that has been finished for long enough. Runs that its plan does not name move back to
// LiveDir; the others are sealed. Several processes may do this at the same time.
func (s *Sealer) removeFinished(c schema.Claim) error {
	if err := s.rescue(c); err != nil {
		return s.fenced(c, err)
	}
	if err := disk.MakeDirs(s.Files, schema.TrashDir); err != nil {
		return err
	}
	if err := s.Files.Rename(c.Path(), path.Join(schema.TrashDir, path.Base(c.Path()))); err != nil {
		return s.fenced(c, err)
	}
	s.forget(c)
	return nil
}

// rescue links the runs that the plan of a claim does not name back into LiveDir. These are runs that are damaged or have a later
// format, and runs that came into the claim after it was listed, because their writer had looked up the segment just before it was
// moved. The new segment has the id of the claim, so that a second attempt finds the runs already rescued. As long as the claim exists,
// no process seals that segment.
func (s *Sealer) rescue(c schema.Claim) error {
	plan, err := schema.ReadPlan(s.Files, c)
	if err != nil {
		return err
	}
	segments, err := disk.ListSegments(s.Files, c.Path())
	if err != nil {
		return err
	}
	segment := ""
	for _, from := range segments {
		for _, run := range from.Runs {
			if plan.Has(run) {
				continue
			}
			if segment == "" {
				if segment, err = s.makeRescued(c); err != nil {
					return err
				}
			}
			if err := s.rescueRun(schema.LiveFile{Claim: &c, Segment: from.ID, Run: run}); err != nil {
				return err
			}
		}
	}
	if segment == "" {
		return nil
	}
	return disk.SyncDir(s.Files, segment)
}

// makeRescued creates the segment for the rescued runs of a claim.
func (s *Sealer) makeRescued(c schema.Claim) (string, error) {
	segment := path.Join(schema.LiveDir, c.ID.String())
	if err := disk.MakeDirs(s.Files, segment); err != nil {
		return "", err
	}
	text, err := Self(s.HostID, time.Now()).Encode()
	if err == nil {
		err = disk.Publish(s.Files, path.Join(segment, schema.OwnerFile), text)
	}
	if errors.Is(err, fs.ErrExist) { // another process has begun this
		err = nil
	}
	return segment, err
}

// rescueRun links a run of a claim into that segment.
func (s *Sealer) rescueRun(f schema.LiveFile) error {
	to := schema.LiveFile{Segment: f.Claim.ID, Run: f.Run}.Path()
	err := s.Files.Link(f.Path(), to)
	if err != nil && disk.NoLinks(err) { // copy it: it must stay in the claim, where readers may be listing it
		var content []byte
		if content, err = fs.ReadFile(s.Files, f.Path()); err == nil {
			err = disk.Publish(s.Files, to, content)
		}
	}
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	one, err := runfile.ReadRunFile(s.Files, f.Path())
	if err != nil {
		return err
	}
	other, err := runfile.ReadRunFile(s.Files, to)
	if err != nil {
		return err
	}
	if !bytes.Equal(one, other) {
		return fmt.Errorf("%w: %s and %s differ", schema.ErrDamaged, f.Path(), to)
	}
	return nil
}

// emptyTrash deletes the content of TrashDir, once a power cut can no longer bring it back elsewhere.
func (s *Sealer) emptyTrash() error {
	entries, err := fs.ReadDir(s.Files, schema.TrashDir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	for _, dir := range []string{schema.TrashDir, schema.ClaimsDir} {
		if err := disk.SyncDir(s.Files, dir); err != nil {
			return err
		}
	}
	for _, e := range entries {
		if err := disk.RemoveTree(s.Files, path.Join(schema.TrashDir, e.Name()), e.IsDir()); err != nil {
			return err
		}
	}
	return nil
}
