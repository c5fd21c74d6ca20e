package sealing

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/schema"
)

// ErrFenced means that a claim was taken over or is finished. Its new owner does the rest.
var ErrFenced = errors.New("another process has taken over or finished the claim")

// claim moves segments out of LiveDir, so that only this process may seal their runs. It fails with fs.ErrNotExist if
// other processes took all of them.
func (s *Sealer) claim(segments []disk.Segment) (schema.Claim, error) {
	var runs []schema.ULID
	for _, segment := range segments {
		runs = append(runs, segment.Runs...)
	}
	c := schema.Claim{ID: schema.NewClaim(time.Now(), runs)}
	if err := s.makeClaim(c); err != nil {
		_ = s.Files.Remove(path.Join(c.Path(), schema.OwnerFile))
		_ = s.Files.Remove(c.Path()) // works only while it is empty
		return c, err
	}
	s.claims = append(s.claims, c)
	moved := 0
	for _, segment := range segments {
		from, to := path.Join(schema.LiveDir, segment.ID.String()), path.Join(c.Path(), segment.ID.String())
		err := s.Files.Rename(from, to)
		gone := errors.Is(err, fs.ErrNotExist) && !disk.IsThere(s.Files, from)
		if gone && !disk.IsThere(s.Files, to) { // if it is there, a network file system lost the answer to the rename
			continue // another sealer was faster
		}
		if err != nil && !gone {
			return c, s.fenced(c, err)
		}
		moved++
	}
	if moved == 0 {
		s.forget(c)
		_ = s.Files.Remove(path.Join(c.Path(), schema.OwnerFile))
		_ = s.Files.Remove(c.Path())
		return c, &fs.PathError{Op: "claim", Path: schema.LiveDir, Err: fs.ErrNotExist}
	}
	return c, nil
}

// makeClaim creates an empty claim, durably, before anything is moved into it.
func (s *Sealer) makeClaim(c schema.Claim) error {
	if err := disk.MakeDirs(s.Files, c.Path()); err != nil {
		return err
	}
	return s.sign(c)
}

// sign records that this process owns the claim. The name need not be durable, because after a power cut it has no meaning.
func (s *Sealer) sign(c schema.Claim) error {
	text, err := Self(s.HostID, time.Now()).Encode()
	if err != nil {
		return err
	}
	name := path.Join(c.Path(), schema.OwnerFile)
	err = disk.Publish(s.Files, name, text)
	if errors.Is(err, fs.ErrExist) { // the name of the former owner
		if err = s.Files.Remove(name); err == nil {
			err = disk.Publish(s.Files, name, text)
		}
	}
	return err
}

// TakeOver gives an abandoned claim to this process. It renames the claim, so operations of the former owner under the
// old name fail.
func (s *Sealer) TakeOver(c schema.Claim) (schema.Claim, error) {
	next := schema.Claim{ID: c.ID, Attempt: c.Attempt + 1}
	if err := s.Files.Rename(c.Path(), next.Path()); err != nil {
		return next, s.fenced(c, err)
	}
	if err := disk.SyncDir(s.Files, schema.ClaimsDir); err != nil {
		return next, err
	}
	s.claims = append(s.claims, next)
	return next, s.fenced(next, s.sign(next))
}

// fenced turns an error into ErrFenced if it occurred because the claim is gone.
func (s *Sealer) fenced(c schema.Claim, err error) error {
	if errors.Is(err, fs.ErrNotExist) && !disk.IsThere(s.Files, c.Path()) {
		return ErrFenced
	}
	return err
}

// forget ends the work of this process on a claim.
func (s *Sealer) forget(c schema.Claim) {
	s.claims = slices.DeleteFunc(s.claims, func(mine schema.Claim) bool { return mine == c })
}

// Abandoned reports whether no process works on a segment or a claim any more: its owner is dead, or nothing in it changed for a long
// time.
func (s *Sealer) Abandoned(dir string) (bool, error) {
	if o, err := ReadOwner(s.Files, dir); err == nil && s.Rules.Dead(o) {
		return true, nil
	}
	changed, err := lastChange(s.Files, dir)
	if err != nil {
		return false, err
	}
	return time.Since(changed) >= s.Rules.Stale, nil
}
