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
	"github.com/neurolens/neurolens/ingest/internal/eventlog"
	"github.com/neurolens/neurolens/ingest/internal/layout"
	"github.com/neurolens/neurolens/schema"
)

// Pruning says which artifacts are to go.
type Pruning struct {
	Keep   map[string]bool // by SHA-256: those that runs name which are to keep them
	Before time.Time       // what was put into the store since then stays
	DryRun bool            // count, and remove nothing
}

// Pruned counts what a PruneArtifacts removed, and what is left.
type Pruned struct {
	Files, Left      int
	Bytes, LeftBytes int64 // as stored
	Young            int   // of those left: named by no run that keeps them, but put into the store too short a while ago
}

// hashesOfEvent is how many artifacts one event names at most: 6.5 MB.
const hashesOfEvent = 100_000

// PruneArtifacts removes artifacts: no other bytes of a store ever go. That they are gone is recorded before, in events, so
// that nobody takes it for damage. A run may be appended meanwhile: what it names was put into the store within the last day,
// and that stays. Merges and PruneArtifacts of one store take turns. What an interruption has left is removed the next time.
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

// prunable are the paths of the artifacts that are to go, and what will have been done then.
func (s *Store) prunable(ctx context.Context, p Pruning) (going []string, done Pruned, err error) {
	err = layout.WalkZone(s.files, schema.ArtifactsDir, func(f layout.File) error {
		if f.Kind != layout.KindArtifact {
			return ctx.Err()
		}
		info, err := f.Entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		kept, young := p.Keep[layout.ArtifactHash(f.Path)], !info.ModTime().Before(p.Before)
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

// pruneSome records that artifacts are gone, and removes them.
func (s *Store) pruneSome(ctx context.Context, names []string, before time.Time) error {
	hashes := make([]string, len(names))
	for i, name := range names {
		hashes[i] = layout.ArtifactHash(name)
	}
	slices.Sort(hashes)
	gone := schema.Event{Kind: schema.EventPrune, Value: strings.Join(slices.Compact(hashes), " ")}
	if _, err := eventlog.Append(s.files, gone, time.Now()); err != nil {
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

// removeArtifact removes an artifact, unless it was put there again meanwhile. It is out of the way before its time is looked
// at: who wants to rely on it from then on puts it there.
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
