package bucket

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
)

// PushCompacted pushes a store, then compacts a copy of it and puts this too, for stores that pull for the first time and for engines.
// The compacted store replaces all pushes up to the first one of which the store lacks something: pull before. If there is a compacted store
// already that replaces as many, nothing is put. It returns the key of the newest compacted store, which is empty if the bucket has no runs and
// no events. Removed runs are in it too: who restores one must find it. Files of runs are not: its manifest names them where the pushes put them.
func (b *Bucket) PushCompacted(ctx context.Context, dir string, s *ingest.Store) (done Pushed, key string, err error) {
	p := &pushing{program: b.program}
	if err = p.push(ctx, b, dir, s); err == nil {
		key, err = p.compact(ctx, dir)
	}
	if err != nil {
		err = fmt.Errorf("pushing store %s, compacted, to %s: %w", dir, b.location, err)
	}
	return p.done, key, err
}

func (p *pushing) compact(ctx context.Context, dir string) (string, error) {
	until, lacking, err := p.hasUntil(ctx)
	if err != nil {
		return "", err
	}
	newest := p.log.compacted()
	if newest > p.log.pointer { // who made it was interrupted
		if err := p.point(ctx, newest); err != nil {
			return "", err
		}
	}
	if done := until <= p.log.pushes[newest].replaces(); done && lacking > 0 {
		return "", p.pullFirst(ctx, lacking)
	} else if done && newest > 0 {
		return p.log.pushes[newest].summary.place(), nil
	} else if done {
		return "", nil
	}
	// Only what was pushed is copied. Other runs and events that the store has by now would count as pushed, and come to nobody but those
	// who read the compacted store.
	sealed, pushed := p.store.listing.Sealed, p.store.listing.Events.Files
	stage, err := newStage(p.log.cache)
	if err != nil {
		return "", err
	}
	defer stage.remove()
	into := stage.path("compacted")
	var left error
	_, err = ingest.CompactTables(ctx, dir, into, p.program, sealed, func(f ingest.LeftOut) {
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
	m.Objects = p.artifactsUntil(until)
	files, err := p.compactedFiles(ctx, m)
	if err != nil {
		return "", err
	}
	if err := p.putFiles(ctx, m, files); err != nil {
		return "", err
	}
	events, err := p.sharedEvents(pushed)
	if err != nil {
		return "", err
	}
	if err := p.putEvents(ctx, m, events); err != nil {
		return "", err
	}
	size, err := p.log.commit(ctx, m)
	if err != nil {
		return "", err
	}
	p.done.Objects, p.done.Bytes, p.done.Pushes = p.done.Objects+1, p.done.Bytes+size, p.done.Pushes+1
	for _, o := range m.Objects {
		if o.Kind != kindArtifacts {
			p.done.Objects, p.done.Bytes = p.done.Objects+1, p.done.Bytes+o.Bytes
		}
	}
	return m.place(), p.point(ctx, p.log.compacted())
}

// point says in the bucket that a push is a compacted store.
func (p *pushing) point(ctx context.Context, n int64) error {
	_, err := p.log.putBytes(ctx, pointerKey(n), []byte(p.log.pushes[n].summary.Push+"\n"), false)
	return err
}

// pointerKey is the key that says that a push is a compacted store.
func pointerKey(n int64) string { return compactedDir + numberText(n) + numberSuffix }

// hasUntil returns the number up to which the store has all runs, removed ones too, and events of all pushes, and the first push of which it
// lacks some, which came after the pull; 0 if it has all.
func (p *pushing) hasUntil(ctx context.Context) (until, lacking int64, err error) {
	if err := p.log.skipReplaced(ctx); err != nil {
		return 0, 0, err
	}
	numbers := p.log.numbers()
	if err := p.log.readAll(ctx, numbers, nil); err != nil {
		return 0, 0, err
	}
	replaces := func(n int64) int64 { return p.log.pushes[n].summary.Replaces }
	numbers = slices.DeleteFunc(numbers, func(n int64) bool { return replaces(n) > 0 && replaces(n) != p.log.base })
	slices.SortStableFunc(numbers, func(a, b int64) int { return cmp.Compare(cmp.Or(replaces(a), a), cmp.Or(replaces(b), b)) })
	for _, n := range numbers {
		runs, events, err := p.store.lacks(ctx, p.log, n, nil)
		if err != nil || runs || events {
			return until, n, err
		}
		until = cmp.Or(replaces(n), n)
	}
	return until, 0, nil
}

// pullFirst returns the error that the store lacks something of a push.
func (p *pushing) pullFirst(ctx context.Context, n int64) error {
	runs, events, err := p.store.lacks(ctx, p.log, n, p.store.isRemoved)
	if err == nil && !runs && !events {
		return fmt.Errorf("the store lacks removed runs of push %d, which a compaction left out; pull into a new store and push that", n)
	}
	return cmp.Or(err, fmt.Errorf("the store lacks runs or events of push %d; run store pull first", n))
}

// artifactsUntil lists the artifacts of the pushes up to a number, each once.
func (p *pushing) artifactsUntil(until int64) (objects []Object) {
	seen := map[string]bool{}
	for _, n := range p.log.numbers() {
		m := p.log.pushes[n].summary
		if m == nil || cmp.Or(m.Replaces, n) > until {
			continue
		}
		for _, o := range m.Objects {
			if o.Kind == kindArtifacts && !seen[o.SHA256] {
				seen[o.SHA256] = true
				objects = append(objects, o)
			}
		}
	}
	return objects
}

// compactedFiles lists the files of a compacted store, and adds the ids of its runs to the manifest.
func (p *pushing) compactedFiles(ctx context.Context, m *manifest) (files []localObject, err error) {
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
