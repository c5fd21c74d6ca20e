package runfile

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/schema"
)

// Events are the events of a store, which packs alone have if it has no file of one.
type Events struct {
	IDs    []schema.ULID
	files  fs.FS
	packed map[schema.ULID][]byte // lines; nil if there are files
}

// ListEvents lists the events of a store. The error wraps schema.ErrDamaged if a pack is damaged without which nobody knows them.
func ListEvents(f fs.FS, listed schema.Events) (*Events, error) {
	e := &Events{IDs: listed.Files, files: f}
	if !listed.Packed() {
		return e, nil
	}
	e.packed = map[schema.ULID][]byte{}
	for _, pack := range listed.Packs {
		name := schema.PackedEvents(pack)
		err := schema.ReadPackedEvents(f, name, func(line []byte) error {
			read, err := schema.DecodeEvent(line)
			if err != nil {
				return err
			}
			id, err := schema.ParseULID(read.EventID)
			e.packed[id] = bytes.Clone(line)
			return err
		})
		if err != nil {
			return nil, InFile(name, err)
		}
	}
	e.IDs = slices.SortedFunc(maps.Keys(e.packed), schema.ULID.Compare)
	return e, nil
}

// Read is schema.ReadEvent.
func (e *Events) Read(id schema.ULID) (schema.Event, error) {
	if line := e.packed[id]; line != nil {
		return schema.DecodeEvent(line)
	}
	return schema.ReadEvent(e.files, id)
}

// Copy makes a file of an event in another store, unless it is there. The caller has to fsync the directory.
func (e *Events) Copy(into disk.Files, id schema.ULID) error {
	name := schema.EventFile(id)
	if e.packed == nil {
		return disk.CopyFile(e.files, into, name)
	}
	err := disk.Publish(into, name, e.packed[id])
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// UnpackEvents makes a file of each event if packs alone have them, before a writer adds one. All become visible at once.
func UnpackEvents(f disk.Files) error {
	listed, err := schema.ListEvents(f)
	if err != nil || !listed.Packed() {
		return err
	}
	events, err := ListEvents(f, listed)
	if err != nil {
		return err
	}
	temp := disk.TempName()
	if err := disk.MakeDirs(f, temp); err != nil {
		return err
	}
	defer func() { _ = disk.RemoveTree(f, temp, true) }()
	for _, id := range events.IDs {
		err := disk.WithTemp(f, events.packed[id], func(name string) error { return disk.Place(f, name, path.Join(temp, path.Base(schema.EventFile(id)))) })
		if err != nil {
			return err
		}
	}
	others, err := fs.ReadDir(f, schema.EventsDir) // a compacted store of a bucket has the lines there, for Trino
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range others {
		if _, err := schema.ParseEventFile(e.Name()); err == nil {
			return nil // another process did it
		}
		if err := f.Rename(path.Join(schema.EventsDir, e.Name()), path.Join(temp, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := disk.SyncDir(f, temp); err != nil {
		return err
	}
	err = f.Remove(schema.EventsDir)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = f.Rename(temp, schema.EventsDir)
	}
	if err != nil {
		if now, _ := schema.ListEvents(f); len(now.Files) > 0 { // another process did it
			return nil
		}
		return err
	}
	return disk.SyncDir(f, ".")
}
