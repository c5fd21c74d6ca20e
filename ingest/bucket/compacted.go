package bucket

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
)

// PushCompacted pushes a store, then compacts a copy of it and puts this too, for stores that pull for the first time and for engines.
// The compacted store replaces all pushes up to the first one of which the store lacks something: pull before. It returns the key of the
// compacted store, which is empty if there is a compacted store already that replaces as many.
func (b *Bucket) PushCompacted(ctx context.Context, dir string, s *ingest.Store) (done Pushed, key string, err error) {
	if done, err = b.Push(ctx, dir, s); err != nil {
		return done, "", err
	}
	p := &pushing{Bucket: b, done: done}
	if p.store, err = openLocal(dir); err == nil {
		key, err = p.compact(ctx, dir)
	}
	if err != nil {
		err = fmt.Errorf("pushing store %s, compacted, to %s: %w", dir, b.location, err)
	}
	return p.done, key, err
}

func (p *pushing) compact(ctx context.Context, dir string) (string, error) {
	until, err := p.hasUntil(ctx)
	if err != nil || until == 0 {
		return "", err
	}
	if newest := p.compacted(); newest > 0 && p.pushes[newest].summary.Replaces >= until {
		return "", nil
	}
	stage, err := newStage(p.cache)
	if err != nil {
		return "", err
	}
	defer stage.remove()
	into := stage.path("compacted")
	var left error
	_, err = ingest.Compact(ctx, dir, into, p.program, func(f ingest.LeftOut) {
		left = errors.Join(left, fmt.Errorf("%s: %s", f.Path, f.Problem))
	})
	if err != nil {
		return "", err
	}
	if left != nil {
		return "", fmt.Errorf("%w; run store repair first", left)
	}
	now := time.Now()
	m := &manifest{Format: Format, Push: schema.NewULID(now).String(), Writer: p.store.header.StoreID, At: now.UTC(), Program: p.program, Replaces: until}
	if p.store, err = openLocal(into); err != nil {
		return "", err
	}
	files, err := p.compactedFiles(ctx, m)
	if err != nil {
		return "", err
	}
	if err := p.putFiles(ctx, m, files); err != nil {
		return "", err
	}
	if err := p.putEvents(ctx, m, p.store.listing.Events.Files); err != nil {
		return "", err
	}
	size, err := p.commit(ctx, m)
	if err != nil {
		return "", err
	}
	p.done.Objects, p.done.Bytes, p.done.Pushes = p.done.Objects+len(m.Objects)+1, p.done.Bytes+size, p.done.Pushes+1
	for _, o := range m.Objects {
		p.done.Bytes += o.Bytes
	}
	return m.place(), p.putBytes(ctx, pointerKey(p.compacted()), []byte(m.Push+"\n"), false)
}

// pointerKey is the key that says that a push is a compacted store.
func pointerKey(n int64) string { return compactedDir + numberText(n) + numberSuffix }

// hasUntil returns the number up to which the store has all runs and events of all pushes.
func (p *pushing) hasUntil(ctx context.Context) (int64, error) {
	if err := p.readAll(ctx, p.numbers(), nil); err != nil {
		return 0, err
	}
	until := p.base
	for _, n := range p.numbers() {
		replaces := p.pushes[n].summary.Replaces
		if replaces > 0 && replaces != p.base {
			continue
		}
		runs, events, err := p.store.lacks(ctx, p.Bucket, n)
		if err != nil {
			return 0, err
		}
		if runs || events { // it was pushed after the pull
			break
		}
		if replaces == 0 {
			until = n
		}
	}
	if until == p.base && len(p.numbers()) > 0 {
		return 0, fmt.Errorf("the store lacks runs or events of push %d; run store pull first", p.numbers()[0])
	}
	return until, nil
}

// compactedFiles lists the files of a compacted store, and adds the ids of its runs to the manifest.
func (p *pushing) compactedFiles(ctx context.Context, m *manifest) (files []localObject, err error) {
	err = disk.WalkZone(p.store, schema.ArtifactsDir, func(f disk.StoreFile) error {
		if f.Kind == disk.KindArtifact {
			files = append(files, localObject{kindArtifacts, m.artifactKey(path.Base(f.Path)), f.Path})
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	files = append(files, localObject{kindStore, m.place() + schema.HeaderFile, schema.HeaderFile})
	for _, t := range runfile.Tables { // runs are last
		folder := schema.TableFolders[t]
		for _, sealed := range p.store.listing.Sealed {
			name := sealed.Path(folder)
			if there, err := disk.Exists(p.store, name); err != nil {
				return nil, err
			} else if there {
				files = append(files, localObject{folder, m.place() + name, name})
			}
		}
	}
	m.RunIDs, err = p.store.sealedRuns(ctx)
	m.Runs = len(m.RunIDs)
	return files, err
}
