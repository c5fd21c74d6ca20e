package check

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"unicode/utf8"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/layout"
	"github.com/neurolens/neurolens/schema"
)

// headerError is what is wrong with the header of a store: damage, too, where a byte of it changed that says the format.
func headerError(f fs.FS) error {
	_, err := schema.ReadHeader(f)
	if !errors.Is(err, schema.ErrFormat) {
		return err
	}
	restored, unread := restoredHeader(f)
	switch {
	case unread != nil:
		return unread
	case restored != nil:
		return fmt.Errorf("%w: its content does not match its SHA-256", schema.ErrDamaged)
	}
	return err
}

// restoredHeader is the header as it was before one byte of it changed: its hash tells that. nil where more than that is
// wrong with it. The error is one of reading.
func restoredHeader(f fs.FS) ([]byte, error) {
	const longest = 512 // of a header that this version writes
	content, err := schema.ReadSmall(f, schema.HeaderFile)
	switch {
	case errors.Is(err, schema.ErrDamaged) || len(content) > longest:
		return nil, nil
	case err != nil:
		return nil, err
	}
	for at, was := range content {
		for b := range utf8.RuneSelf { // it is ASCII
			content[at] = byte(b)
			if _, err := schema.DecodeHeader(content); err == nil {
				return content, nil
			}
		}
		content[at] = was
	}
	return nil, nil
}

// header puts a whole header in the place of one that is damaged: the one that was there, where that can be told, else
// another one. It says no more than the format, and that is known: of a store that has files of a later one it stays.
func (r *repairer) header(f Finding, newer int) error {
	if !isFile(r.files, schema.HeaderFile) { // a directory may hold anything
		r.leave(f.Path, f.Problem)
		return nil
	}
	content, err := restoredHeader(r.files)
	if err != nil {
		return err
	}
	done := "one byte is restored, so that its SHA-256 matches again"
	if content == nil {
		if newer > 0 {
			r.leave(f.Path, f.Problem+"; it is not replaced, because the store has files of a later format")
			return nil
		}
		if content, err = layout.NewHeader(); err != nil {
			return err
		}
		done = "a new header replaces it, with a new store_id"
	}
	if !r.dryRun {
		if err := r.exchangeHeader(content); err != nil {
			return err
		}
	}
	r.did(Repair{Action: ActionAside, Path: f.Path, Reason: f.Problem})
	r.did(Repair{Action: ActionKeep, Path: f.Path, Reason: done})
	return nil
}

func (r *repairer) exchangeHeader(content []byte) error {
	t, err := disk.CreateTemp(r.files)
	if err != nil {
		return err
	}
	defer t.Remove()
	if err := t.Fill(content); err != nil {
		return err
	}
	return r.exchange(schema.HeaderFile, t.Name)
}

// exchange gives a file another name, in QuarantineDir, and a temporary one its own.
func (r *repairer) exchange(name, temp string) error {
	to := path.Join(layout.QuarantineDir, name)
	if !disk.SameFile(r.files, name, to) { // which a repair that was interrupted did
		var err error
		if to, err = r.asideName(name); err != nil {
			return err
		}
		if err := disk.MakeDirs(r.files, path.Dir(to)); err != nil {
			return err
		}
		err = r.files.Link(name, to)
		if err != nil && disk.NoLinks(err) {
			err = disk.CopyAs(r.files, name, r.files, to)
		}
		if err != nil {
			return err
		}
	}
	if err := disk.SyncDir(r.files, path.Dir(to)); err != nil {
		return err
	}
	if err := r.files.Rename(temp, name); err != nil {
		return err
	}
	return disk.SyncDir(r.files, path.Dir(name))
}
