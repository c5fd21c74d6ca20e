package ingest

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path"
	"slices"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/ingest/internal/sealing"
	"github.com/neurolens/neurolens/schema"
)

// cutSession is what processes do in a copy of a store.
type cutSession struct {
	before  string
	session func(f *cutFiles) error
}

func (c cutSession) begin(t *testing.T) *cutFiles {
	dir := copied(t, c.before)
	mustDo(t, os.MkdirAll(dir, 0o777))
	f := cutOf(t, dir)
	f.acked = slices.Collect(maps.Keys(said(t, dir)))
	return f
}

func cutSessions(t *testing.T) map[string]cutSession {
	nothing := t.TempDir()
	_, empty := newStore(t)
	store, small := newStore(t)
	runs := append(sweep(1, 8, 1), fullRun(), smallRun(), smallRun())
	fresh := sweep(2, 3, 1)
	bulkFiles(t, store, 2, runs[:8])
	note := func(f *cutFiles) error {
		e, err := runfile.AppendEvent(f, schema.Event{Kind: schema.EventNote, Runs: ids(runs[0]), Value: "x"}, time.Now())
		return f.did(err, path.Join(schema.EventsDir, e.EventID+".json"))
	}
	for range 3 {
		mustDo(t, note(cutOf(t, small)))
	}
	store, resting := newStore(t)
	late := smallRun()
	mustAppend(t, store, append(runs[8:], startedAt(late, late.StartedAt.AddDate(0, 2, 0)))...)
	p := newPair(t)
	other := must(Open(p.b, "test"))
	bulkFiles(t, other, 3, fresh) // a sealed file that is copied as it is
	mustAppend(t, other, runs[8:]...)
	merged, from := copied(t, p.a), must(disk.NewOS(p.b))
	mustMerge(t, p.b, merged)
	all, ofB := slices.Collect(maps.Keys(said(t, merged))), slices.Collect(maps.Keys(said(t, p.b)))
	return map[string]cutSession{
		"init":     {nothing, func(f *cutFiles) error { return f.did(initStore(f), schema.HeaderFile) }},
		"annotate": {empty, func(f *cutFiles) error { return cmp.Or(note(f), note(f)) }},
		"pack":     {small, func(f *cutFiles) error { return f.did(newPacker(f).Pack()) }},
		"append":   {empty, func(f *cutFiles) error { return cmp.Or(f.append(runs[8:]...), f.seal()) }},
		"seal":     {resting, (*cutFiles).seal},
		"append all": {small, func(f *cutFiles) error {
			if err := f.append(runs[8:]...); err != nil {
				return err
			}
			b := newBulk(f, "test", bulkBytes)
			return f.did(b.all(each(append(fresh, runs...)...)), ids(append(fresh, runs...)...)...)
		}},
		"merge": {p.a, func(f *cutFiles) error {
			if err := f.append(runs[8:]...); err != nil {
				return err
			}
			_, err := mergeFrom(from, f, func(found LeftOut) { t.Errorf("refused %+v", found) })
			return f.did(err, all...)
		}},
		"compact": {nothing, func(f *cutFiles) error {
			if f.Hit {
				return nil // another process does not go on with it
			}
			c := &compacter{from: from, into: f, version: "test", memory: compactMemory}
			return f.did(c.all(t.Context()), ofB...)
		}},
	}
}

// append has the first process append runs, sealing two at a time, and bury at once what is settled.
func (f *cutFiles) append(runs ...schema.Run) error {
	if f.Hit {
		return nil
	}
	store, err := openStore(string(f.Dir), "test", f)
	if err != nil {
		return err
	}
	store.sealer.Rules = heirRules()
	store.sealer.Rules.Runs = 2
	for _, run := range runs {
		if err := f.did(store.Append(run), run.RunID); err != nil {
			return err
		}
	}
	return nil
}

// seal seals all, takes over what was begun, and buries. The first process has a run that came too late for its claim.
func (f *cutFiles) seal() error {
	s := sealing.Sealer{Files: f, Version: "test", Rules: heirRules()}
	if segments, err := disk.ListSegments(f, schema.LiveDir); err == nil && len(segments) == 1 && len(segments[0].Runs) == 4 && !f.Hit {
		s.Files = lateFiles{f, segments[0].Runs[3].String()}
		if _, err := s.Seal(context.Background(), 1); err != nil {
			return err
		}
		s.Files = f
	}
	for range 3 {
		if _, err := s.SealAll(context.Background(), 1); err != nil {
			return err
		}
	}
	return nil
}
