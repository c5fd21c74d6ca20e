package ingest

import (
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/neurolens/neurolens/schema"
)

// known are those of the runs, ascending, that are in the store, on disk. It fails with errMoved where one of them is
// being sealed.
func (b *bulk) known(ids []schema.ULID) (map[schema.ULID]bool, error) {
	// Live runs first: a run goes from there to a sealed file. Of the sealed files, the listing is not used.
	listing, err := schema.List(b.files, schema.Scope{Newest: 1})
	if err != nil {
		return nil, err
	}
	known := map[schema.ULID]bool{}
	for _, f := range listing.Live {
		if _, found := slices.BinarySearchFunc(ids, f.Run, compareULIDs); found {
			known[f.Run] = true
			if err := b.sync(path.Dir(f.Path())); err != nil {
				return nil, moved(err)
			}
		}
	}
	sealed, err := sealedDigests(b.files, ids)
	if err != nil {
		return nil, err
	}
	if len(sealed) > 0 {
		if err := b.syncSealed(schema.MonthOf(ids[0].Time())); err != nil {
			return nil, err
		}
	}
	for id := range sealed {
		known[id] = true
	}
	return known, nil
}

// syncSealed fsyncs the folders of sealed files that can hold a run of that month.
func (b *bulk) syncSealed(oldest string) error {
	for _, t := range sealedTables {
		zone := schema.TableZones[t]
		folders, err := fs.ReadDir(b.files, zone)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, folder := range folders {
			if folder.Name() < oldest || folder.Type().IsRegular() {
				continue
			}
			if err := b.sync(path.Join(zone, folder.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// sync fsyncs a directory, once.
func (b *bulk) sync(dir string) error {
	if b.synced[dir] {
		return nil
	}
	err := syncDir(b.files, dir)
	b.synced[dir] = err == nil
	return err
}
