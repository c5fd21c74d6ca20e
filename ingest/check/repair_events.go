package check

import (
	"errors"
	"io/fs"
	"path"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/schema"
)

// restoreEvents restores events whose own files are gone, from their copies in packs.
func (r *repairer) restoreEvents() error {
	entries, err := fs.ReadDir(r.files, schema.PacksDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		name := path.Join(schema.PacksDir, e.Name())
		if r.moved[name] || !e.Type().IsRegular() {
			continue
		}
		switch s := disk.Classify(name); s.Kind {
		case disk.KindPackedEvents:
			err = schema.ReadPackedEvents(r.files, name, func(line []byte) error { return r.restoreEvent(name, line) })
		case disk.KindWideEvent:
			err = r.restoreWide(s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// restoreWide restores an event from its wide form, unless its own file is there.
func (r *repairer) restoreWide(s disk.StoreFile) error {
	if name := schema.EventFile(s.ID); !r.moved[name] && disk.IsThere(r.files, name) {
		return nil
	}
	e, err := schema.ReadWholeWide(r.files, s.ID)
	if err != nil {
		return nil // for that reason the form itself was set aside
	}
	line, err := e.Encode()
	if err != nil {
		return err
	}
	return r.restoreEvent(s.Path, line)
}

func (r *repairer) restoreEvent(pack string, line []byte) error {
	e, err := schema.DecodeEvent(line)
	if err != nil {
		return nil // for that reason the pack itself was set aside
	}
	id, err := schema.ParseULID(e.EventID)
	name := schema.EventFile(id)
	if err != nil || !r.moved[name] && disk.IsThere(r.files, name) {
		return nil
	}
	if !r.dryRun {
		if err := disk.MakeDirs(r.files, schema.EventsDir); err != nil {
			return err
		}
		if err := disk.Publish(r.files, name, line); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := disk.SyncDir(r.files, schema.EventsDir); err != nil {
			return err
		}
	}
	r.moved[name] = false
	r.did(Repair{Action: ActionRestore, Path: name, Reason: "from " + pack})
	return nil
}
