package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
)

// Pruning selects the artifacts to remove.
type Pruning struct {
	Keep   map[string]bool // by SHA-256: the artifacts of runs that keep theirs
	Before time.Time       // artifacts that were stored since then stay
	DryRun bool            // only count
}

// Pruned counts the removed and the remaining artifacts.
type Pruned struct {
	Files, Left      int
	Bytes, LeftBytes int64 // as stored
	Young            int   // remaining artifacts that no run keeps, but that were stored too recently
}

// hashesOfEvent is the maximum number of artifacts that one event names: 6.5 MB.
const hashesOfEvent = 100_000

// PruneArtifacts removes artifacts; nothing else in a store is ever removed. It records the removal in events before, so that it is not
// mistaken for damage. Runs may be appended in the meantime: their artifacts were stored within the last day, and PruneArtifacts keeps
// those. Merges and PruneArtifacts of one store take turns. If it is interrupted, the next call removes the rest.
func (s *Store) PruneArtifacts(ctx context.Context, p Pruning) (Pruned, error) {
	unlock, err := s.files.Lock(ctx)
	if err != nil {
		return Pruned{}, fmt.Errorf("pruning store %s: %w", s.dir, err)
	}
	defer unlock()
	done, err := s.prune(ctx, p)
	if err != nil {
		return done, fmt.Errorf("pruning store %s: %w", s.dir, err)
	}
	return done, nil
}

func (s *Store) prune(ctx context.Context, p Pruning) (Pruned, error) {
	if young := time.Now().Add(-artifactYoung); p.Before.After(young) {
		p.Before = young
	}
	going, done, err := s.prunable(ctx, p)
	if err != nil || p.DryRun {
		return done, err
	}
	for some := range slices.Chunk(going, hashesOfEvent) {
		if err := s.pruneSome(ctx, some, p.Before); err != nil {
			return done, err
		}
	}
	return done, nil
}

// prunable returns the paths of the artifacts that are to be removed, and the counts after the removal.
func (s *Store) prunable(ctx context.Context, p Pruning) (going []string, done Pruned, err error) {
	err = disk.WalkZone(s.files, schema.ArtifactsDir, func(f disk.StoreFile) error {
		if f.Kind != disk.KindArtifact {
			return ctx.Err()
		}
		info, err := f.Entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		kept, young := p.Keep[disk.ArtifactHash(f.Path)], !info.ModTime().Before(p.Before)
		if kept || young {
			done.Left++
			done.LeftBytes += info.Size()
			if !kept {
				done.Young++
			}
			return nil
		}
		going = append(going, f.Path)
		done.Files++
		done.Bytes += info.Size()
		return nil
	})
	return going, done, err
}

// pruneSome records that artifacts are removed, and removes them.
func (s *Store) pruneSome(ctx context.Context, names []string, before time.Time) error {
	hashes := make([]string, len(names))
	for i, name := range names {
		hashes[i] = disk.ArtifactHash(name)
	}
	slices.Sort(hashes)
	gone := schema.Event{Kind: schema.EventPrune, Value: strings.Join(slices.Compact(hashes), " ")}
	if _, err := runfile.AppendEvent(s.files, gone, time.Now()); err != nil {
		return err
	}
	dirs := map[string]bool{}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.removeArtifact(name, before); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		dirs[path.Dir(name)] = true
	}
	for dir := range dirs {
		if err := disk.SyncDir(s.files, dir); err != nil {
			return err
		}
	}
	return nil
}

// removeArtifact removes an artifact, unless it was stored again in the meantime. It moves the file away before it checks
// the time: a writer that needs the artifact from then on stores it again.
func (s *Store) removeArtifact(name string, before time.Time) error {
	aside := disk.TempName()
	if err := disk.MakeDirs(s.files, path.Dir(aside)); err != nil {
		return err
	}
	if err := s.files.Rename(name, aside); err != nil {
		return err
	}
	info, err := fs.Stat(s.files, aside)
	if err != nil || !info.ModTime().Before(before) {
		return errors.Join(err, s.files.Rename(aside, name))
	}
	return s.files.Remove(aside)
}
