package check

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"unicode/utf8"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/schema"
)

// headerError is what is wrong with the header of a store. If a single changed byte makes it look like another format,
// that is damage too.
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

// restoredHeader undoes the change of a single byte in the header: it tries all values of each byte until the hash
// matches. It returns nil if more than one byte is wrong. The error is one of reading.
func restoredHeader(f fs.FS) ([]byte, error) {
	const maxHeader = 512 // bytes of a header that this version writes
	content, err := schema.ReadSmall(f, schema.HeaderFile)
	switch {
	case errors.Is(err, schema.ErrDamaged) || len(content) > maxHeader:
		return nil, nil
	case err != nil:
		return nil, err
	}
	for at, was := range content {
		for b := range utf8.RuneSelf { // a header is ASCII
			content[at] = byte(b)
			if _, err := schema.DecodeHeader(content); err == nil {
				return content, nil
			}
		}
		content[at] = was
	}
	return nil, nil
}

// header replaces a damaged header: by the original one if it can be restored, otherwise by a new one. Readers need only
// the format from it, and that is known. If the store has files of a later format, the header stays as it is.
func (r *repairer) header(f Finding, newer int) error {
	if !isFile(r.files, schema.HeaderFile) { // a directory may contain anything
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
		if content, err = disk.NewHeader(); err != nil {
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

// exchange links a file into quarantine/ and renames a temporary file over it.
func (r *repairer) exchange(name, temp string) error {
	to := path.Join(disk.QuarantineDir, name)
	if !disk.SameFile(r.files, name, to) { // an interrupted repair may have linked it already
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
