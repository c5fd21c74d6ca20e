package ingest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
)

// within reports whether a directory, which may not exist yet, is another directory or inside of it.
func within(dir, other string) bool {
	outer, err := os.Stat(other)
	for err == nil {
		if inner, err := os.Stat(dir); err == nil && os.SameFile(inner, outer) {
			return true
		}
		if filepath.Dir(dir) == dir {
			return false
		}
		dir = filepath.Dir(dir)
	}
	return false
}

// begin creates the directory, or finds the leftovers of an interrupted Compact in it. If only the last step is missing, it completes
// it.
func (c *compacter) begin(ctx context.Context) (complete bool, err error) {
	if err := c.into.MakeRoot(); err != nil {
		return false, err
	}
	source, err := schema.ReadHeader(c.from)
	if err != nil {
		return false, err
	}
	entries, err := fs.ReadDir(c.into, ".")
	if err != nil {
		return false, err
	}
	names := map[string]bool{}
	for _, e := range entries {
		names[e.Name()] = true
	}
	if names[compactMark] {
		if c.state, err = readState(c.into); err != nil {
			return false, err
		}
	}
	if names[compactMark] && names[schema.HeaderFile] && c.state.Result != nil && c.state.Source == source.StoreID {
		return true, c.complete()
	}
	if names[schema.HeaderFile] && !names[compactMark] {
		return true, c.already(ctx)
	}
	if err := c.ours(names); err != nil {
		return false, err
	}
	c.state.Source, c.state.Result = source.StoreID, nil
	if err := disk.MakeDirs(c.into, schema.TmpDir); err != nil {
		return false, err
	}
	return false, c.writeState()
}

// already checks that the directory is the store that an earlier Compact made of this source: except removed runs, and events that
// concern only removed runs, both have the same runs with the same digests, and the same events. It then counts the runs and events.
// Otherwise its error names the store.
func (c *compacter) already(ctx context.Context) error {
	there, err := schema.ReadHeader(c.into)
	if err != nil {
		return err
	}
	source, err := schema.List(c.from, schema.Scope{})
	if err != nil {
		return err
	}
	made, err := schema.List(c.into, schema.Scope{})
	if err != nil {
		return err
	}
	events, err := c.readEvents(source.Events)
	if err != nil {
		return err
	}
	c.removed = c.leftOutBy(events)
	want, wrong := sumOf(ctx, c.from, source, c.removed)
	got, err := sumOf(ctx, c.into, made, nil)
	if err = cmp.Or(wrong, err); err != nil && !errors.Is(err, schema.ErrDamaged) {
		return err
	}
	keep := c.mattering(events)
	if slices.SortFunc(keep, schema.ULID.Compare); err != nil || want.runsSum != got.runsSum || !slices.Equal(keep, made.Events.Files) {
		return fmt.Errorf("the new directory is not empty: it is the store %s, which differs from what would be made now", there.StoreID)
	}
	c.done = Compacted{Runs: got.runs, Removed: want.removed, Files: len(made.Sealed), Events: len(keep), Already: true}
	return nil
}

// runsSum identifies runs with their digests, in any order.
type runsSum struct {
	runs int
	sum  [2]uint64 // of the first halves of hashes, of a run each
}

// storeSum is the sum of the runs of a store that are not removed, and the number of removed runs.
type storeSum struct {
	runsSum
	removed int
}

func sumOf(ctx context.Context, store fs.FS, l *schema.Listing, removed map[string]bool) (s storeSum, err error) {
	add := func(row []any) error {
		run, _ := row[runfile.RunIDPlace].(string)
		digest, _ := row[runfile.DigestPlace].(string)
		if removed[run] {
			s.removed++
			return ctx.Err()
		}
		hash := sha256.Sum256([]byte(run + " " + digest))
		s.runs++
		for i := range s.sum {
			s.sum[i] += binary.BigEndian.Uint64(hash[8*i:])
		}
		return ctx.Err()
	}
	for _, f := range l.Sealed {
		if err := runfile.EachRow(store, f, []string{runfile.RunIDColumn, runfile.DigestColumn}, add); err != nil {
			return s, err
		}
	}
	for _, f := range l.Live {
		live, err := runfile.ReadLiveFile(store, f)
		if err == nil {
			err = add(live.Run)
		}
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// ours refuses a directory that has files other than the ones that Compact makes, or that lacks its mark.
func (c *compacter) ours(names map[string]bool) error {
	for _, name := range slices.Sorted(maps.Keys(names)) {
		ours := name == compactMark || names[compactMark] && slices.Contains(compactZones, name) ||
			name == schema.TmpDir && len(names) == 1 // before it came to its mark
		if !ours || names[schema.HeaderFile] {
			return fmt.Errorf("the new directory is not empty (it has %s)", name)
		}
	}
	return nil
}

// compactZones are the directories that Compact creates.
var compactZones = []string{schema.TmpDir, schema.RunsDir, schema.SamplesDir, schema.OpsDir, schema.EventsDir, schema.PacksDir, schema.ArtifactsDir}

// clear removes the leftovers of an interrupted Compact, except for the files that are kept, the events, which copyRest handles, and
// complete artifacts.
func (c *compacter) clear() error {
	keep := map[string]bool{}
	for _, name := range c.temps {
		keep[name] = true
	}
	for _, f := range c.kept {
		sealed, err := schema.ParseSealedFile(f.Name)
		if err != nil {
			return err
		}
		for _, zone := range f.Zones {
			keep[sealed.Path(zone)] = true
		}
	}
	for _, zone := range compactZones {
		if zone == schema.EventsDir || zone == schema.ArtifactsDir {
			continue
		}
		if _, err := c.clearDir(zone, keep); err != nil {
			return err
		}
	}
	return c.clearArtifacts()
}

// clearDir removes the files below a directory that are not to be kept, and the directories that are then empty, except the directory
// itself. It reports whether something is left.
func (c *compacter) clearDir(dir string, keep map[string]bool) (left bool, err error) {
	entries, err := fs.ReadDir(c.into, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	removed := false
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		stays := keep[name]
		if e.IsDir() {
			if stays, err = c.clearDir(name, keep); err != nil {
				return false, err
			}
		}
		if left = left || stays; stays {
			continue
		}
		if err := c.into.Remove(name); err != nil {
			return false, err
		}
		removed = true
	}
	if removed { // a power cut must not bring a file back
		err = disk.SyncDir(c.into, dir)
	}
	return left, err
}

// clearArtifacts removes artifacts that are damaged, or that the source does not have any more.
func (c *compacter) clearArtifacts() error {
	return disk.WalkZone(c.into, schema.ArtifactsDir, func(s disk.StoreFile) error {
		if s.Kind == disk.KindArtifact {
			there, err := disk.Exists(c.from, s.Path)
			if err != nil {
				return err
			}
			err = runfile.CheckArtifact(c.into, s.Path)
			if there && err == nil {
				return nil
			}
			if err != nil && !errors.Is(err, schema.ErrDamaged) {
				return err
			}
		}
		return disk.RemoveTree(c.into, s.Path, s.Entry.IsDir())
	})
}

// end turns the directory into a store.
func (c *compacter) end() error {
	header, err := disk.NewHeader()
	if err != nil {
		return err
	}
	c.state.Result = &compactResult{c.done, c.leftOut}
	if err := c.writeState(); err != nil {
		return err
	}
	if err := disk.Publish(c.into, schema.HeaderFile, header); err != nil {
		return err
	}
	return c.unmark()
}

// complete ends a Compact that was interrupted after it had written the header.
func (c *compacter) complete() error {
	c.done = c.state.Result.Done
	for _, f := range c.state.Result.Damaged {
		c.damaged(f)
	}
	return c.unmark()
}

// unmark removes the mark from the new store.
func (c *compacter) unmark() error {
	if err := ignoreAll(c.into); err != nil {
		return err
	}
	if err := disk.SyncDir(c.into, "."); err != nil {
		return err
	}
	return c.into.Remove(compactMark)
}
