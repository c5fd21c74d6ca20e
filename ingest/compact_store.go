package ingest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/layout"
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

// begin creates the directory.
func (c *compacter) begin() error {
	if err := c.into.MakeRoot(); err != nil {
		return err
	}
	entries, err := fs.ReadDir(c.into, ".")
	if err != nil {
		return err
	}
	if err := c.clear(entries); err != nil {
		return err
	}
	if err := disk.MakeDirs(c.into, schema.TmpDir); err != nil {
		return err
	}
	if err := disk.Publish(c.into, compactMark, []byte("{}\n")); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return disk.SyncDir(c.into, ".")
}

// compactMark is a file in the new directory that exists until the directory is a store.
const compactMark = "compacting.json"

// clear removes the files of an interrupted Compact: only files that Compact makes, and only if its mark is there.
func (c *compacter) clear(entries []fs.DirEntry) error {
	names := map[string]bool{}
	for _, e := range entries {
		names[e.Name()] = true
	}
	for _, e := range entries {
		ours := names[compactMark] && !names[schema.HeaderFile] && slices.Contains(compactZones, e.Name()) || e.Name() == compactMark
		if e.Name() == schema.TmpDir && len(entries) == 1 { // before it came to its mark
			ours = true
		}
		if !ours || names[schema.HeaderFile] {
			return fmt.Errorf("the new directory is not empty (it has %s)", e.Name())
		}
	}
	for _, e := range entries {
		if e.Name() == compactMark {
			continue
		}
		if err := disk.RemoveTree(c.into, e.Name(), e.IsDir()); err != nil {
			return err
		}
	}
	return nil
}

// compactZones are the directories that Compact creates.
var compactZones = []string{schema.TmpDir, schema.RunsDir, schema.SamplesDir, schema.OpsDir, schema.EventsDir, schema.PacksDir, schema.ArtifactsDir}

// end turns the directory into a store.
func (c *compacter) end() error {
	header, err := layout.NewHeader()
	if err != nil {
		return err
	}
	if err := disk.Publish(c.into, schema.HeaderFile, header); err != nil {
		return err
	}
	if err := ignoreAll(c.into); err != nil {
		return err
	}
	if err := disk.SyncDir(c.into, "."); err != nil {
		return err
	}
	return c.into.Remove(compactMark)
}
