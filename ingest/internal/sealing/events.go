package sealing

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
)

// eventPack is a pack of events: its lines, by the ids of the events.
type eventPack struct {
	id    schema.ULID
	lines map[schema.ULID][]byte // without events that have run sets
	wide  bool                   // it has events that have run sets, as earlier versions packed them
}

// events packs files of events, and writes the run sets that are missing. If there are many packs already, it merges them into one. A
// pack with events that have run sets is replaced by one without.
func (p *Packer) events() error {
	files, err := listed(p.Files, schema.EventsDir, schema.ParseEventFile)
	if err != nil {
		return err
	}
	packs, err := p.eventPacks()
	if err != nil {
		return err
	}
	fresh, err := p.freshEvents(files, packs)
	if err != nil {
		return err
	}
	current := slices.DeleteFunc(slices.Clone(packs), func(pack eventPack) bool { return covering(packs, pack) != nil })
	heavy := slices.ContainsFunc(current, func(pack eventPack) bool { return pack.wide })
	if len(fresh) >= p.Rules.MinFiles || heavy {
		for _, pack := range current {
			if pack.wide || len(current)+1 >= packFan {
				maps.Copy(fresh, pack.lines)
			}
		}
		if len(fresh) > 0 {
			if err := p.writeEvents(fresh); err != nil {
				return err
			}
		}
	}
	return p.removeOldEvents(packs)
}

// covering returns a later pack that has all events of another one, or nil if there is none.
func covering(packs []eventPack, pack eventPack) *eventPack {
	for i := range packs {
		if packs[i].id.Compare(pack.id) > 0 && holdsAll(packs[i].lines, pack.lines) {
			return &packs[i]
		}
	}
	return nil
}

// listed returns the ids of the names in a directory that can be parsed, ascending.
func listed(f fs.FS, dir string, parse func(string) (schema.ULID, error)) ([]schema.ULID, error) {
	entries, err := fs.ReadDir(f, dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var ids []schema.ULID
	for _, e := range entries {
		if id, err := parse(e.Name()); err == nil {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// eventPacks reads the packs of events. A damaged one is ignored.
func (p *Packer) eventPacks() ([]eventPack, error) {
	ids, err := listed(p.Files, schema.PacksDir, schema.ParsePackedEvents)
	if err != nil {
		return nil, err
	}
	var packs []eventPack
	for _, id := range ids {
		pack, err := p.readEventPack(id)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, schema.ErrDamaged) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if len(pack.lines) > 0 || pack.wide {
			packs = append(packs, pack)
		}
	}
	return packs, nil
}

// readEventPack splits packed events into lines, and writes the run sets that are missing: the pack may be the last copy of an event.
// The error wraps schema.ErrDamaged if one of them is damaged.
func (p *Packer) readEventPack(id schema.ULID) (eventPack, error) {
	pack := eventPack{id: id, lines: map[schema.ULID][]byte{}}
	err := schema.ReadPackedEvents(p.Files, schema.PackedEvents(id), func(line []byte) error {
		e, err := schema.DecodeEvent(line)
		if err != nil {
			return err
		}
		id, err := schema.ParseULID(e.EventID)
		if err != nil {
			return fmt.Errorf("%w: %w", schema.ErrDamaged, err)
		}
		if e.HasRunSet() {
			pack.wide = true
			return p.writeRunSet(id, e)
		}
		pack.lines[id] = bytes.Clone(line)
		return nil
	})
	return pack, err
}

// writeRunSet writes the run set of an event, unless it is there.
func (p *Packer) writeRunSet(id schema.ULID, e schema.Event) error {
	if disk.IsThere(p.Files, schema.RunSetFile(id)) {
		return nil
	}
	if err := runfile.WriteRunSet(p.Files, e); err != nil {
		return err
	}
	p.Written++
	return nil
}

// freshEvents reads the events that no pack has, and writes the missing run sets of events, which no pack gets. A damaged one is not
// packed, so readers can report it.
func (p *Packer) freshEvents(files []schema.ULID, packs []eventPack) (map[schema.ULID][]byte, error) {
	wide, err := listed(p.Files, schema.PacksDir, schema.ParseRunSetFile)
	if err != nil {
		return nil, err
	}
	fresh := map[schema.ULID][]byte{}
	for _, id := range files {
		if _, is := slices.BinarySearchFunc(wide, id, schema.ULID.Compare); is {
			continue
		}
		if slices.ContainsFunc(packs, func(pack eventPack) bool { return pack.lines[id] != nil }) {
			continue
		}
		line, err := schema.ReadNames(p.Files, schema.EventFile(id))
		if err != nil {
			return nil, err
		}
		e, err := schema.DecodeEvent(line)
		if err != nil || e.EventID != id.String() || bytes.Count(line, []byte("\n")) != 1 {
			continue
		}
		if !e.HasRunSet() {
			fresh[id] = line
			continue
		}
		if err := p.writeRunSet(id, e); err != nil {
			return nil, err
		}
	}
	return fresh, nil
}

// writeEvents writes a pack of events.
func (p *Packer) writeEvents(lines map[schema.ULID][]byte) error {
	var content bytes.Buffer
	ids := slices.SortedFunc(maps.Keys(lines), schema.ULID.Compare)
	for _, id := range ids {
		content.Write(lines[id])
	}
	return p.writePack(content.Bytes(), schema.PackedEvents(schema.NewClaim(p.Now, ids)))
}

// removeOldEvents removes packs whose events are all in a later pack that has existed for a while.
func (p *Packer) removeOldEvents(packs []eventPack) error {
	for _, pack := range packs {
		later := covering(packs, pack)
		if len(pack.lines) == 0 { // all of its events have run sets
			later = &pack
		}
		if later == nil || p.Now.Sub(later.id.Time()) < packGrace {
			continue
		}
		if err := p.Files.Remove(schema.PackedEvents(pack.id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func holdsAll(a, b map[schema.ULID][]byte) bool {
	for id := range b {
		if a[id] == nil {
			return false
		}
	}
	return true
}
