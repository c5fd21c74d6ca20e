package foreign

import (
	"slices"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// ImportedRuns looks up imported runs of a store.
type ImportedRuns interface {
	// Has reports whether the store has a run with this id.
	Has(id schema.ULID) (bool, error)
	// After returns the runs whose ids have these first five of the ten bytes after their time.
	After(before [halfBits]byte) ([]schema.ULID, error)
	// Starts gives the starts of the runs that have these values of schema.FactPath and schema.FactChanged, by the commits of the runs.
	Starts(path, changed string) (map[string][]time.Time, error)
	// Machines returns the machines of the runs that have this value of schema.FactPath.
	Machines(path string) ([]string, error)
	// Run describes a stored run.
	Run(id schema.ULID) (ImportedRun, error)
}

// ImportedRun has the values by which a stored run is compared with a run that is read.
type ImportedRun struct {
	Session string // empty if it is not known
	Point   string
	Samples int64  // of its primary metric
	Path    string // schema.FactPath
}

// known has the runs that need not be read again: of files that were read before, and of a store.
type known struct {
	store  ImportedRuns                     // nil if there is no store
	begins map[[2 * halfBits]byte]beginning // by the first record
	goesOn map[[halfBits]byte]follower      // by the hash of the records before
	names  []string                         // of files that were read
}

// fileNumber is a place in known.names.
type fileNumber int32

// beginning is the first record of a file.
type beginning struct {
	file fileNumber
	id   schema.ULID
}

// follower is a record that follows others.
type follower struct {
	began   [timeBytes]byte
	with    [halfBits]byte
	point   [3]byte // the beginning of its point
	samples uint32
	file    fileNumber
}

func followerOf(c *chain, r *schema.Run) follower {
	id := c.id(r.StartedAt)
	f := follower{began: [timeBytes]byte(id[:]), with: [halfBits]byte(c.with[:])}
	copy(f.point[:], r.PointID)
	if m := r.Metric(r.Primary); m != nil {
		f.samples = uint32(max(len(m.Ticks), len(m.Reals)))
	}
	return f
}

// id returns the id of the record after that one.
func (f *follower) id(before [halfBits]byte) schema.ULID {
	return schema.ULID(slices.Concat(f.began[:], before[:], f.with[:]))
}

func newKnown(store ImportedRuns) *known {
	return &known{store: store, begins: map[[2 * halfBits]byte]beginning{}, goesOn: map[[halfBits]byte]follower{}}
}

// note records that a record was read.
func (k *known) note(c *chain, r *schema.Run) {
	file := fileNumber(len(k.names) - 1)
	if before, ok := k.read(c); ok {
		file = before
	}
	if c.first {
		k.begins[c.bits()] = beginning{file, c.id(r.StartedAt)}
		return
	}
	f := followerOf(c, r)
	f.file = file
	k.goesOn[[halfBits]byte(c.before[:])] = f
}

// read returns the file with the record, among the files that were read.
func (k *known) read(c *chain) (file fileNumber, ok bool) {
	if c.first {
		first, ok := k.begins[c.bits()]
		return first.file, ok
	}
	f, ok := k.goesOn[[halfBits]byte(c.before[:])]
	return f.file, ok && f.with == [halfBits]byte(c.with[:])
}

// has reports whether the record was read, or is in the store.
func (k *known) has(c *chain, id schema.ULID) (bool, error) {
	if c.first {
		if first, ok := k.begins[c.bits()]; ok && first.id == id {
			return true, nil
		}
	} else if f, ok := k.goesOn[[halfBits]byte(c.before[:])]; ok && f.id([halfBits]byte(c.before[:])) == id {
		return true, nil
	}
	if k.store == nil {
		return false, nil
	}
	return k.store.Has(id)
}

// divergence is how a record relates to others that follow the same records.
type divergence int

const (
	divergesNot      divergence = iota // there are no others, or the record completes a cut-off one
	divergesUnlessAt                   // another one completes it: if the file ends here, it is an older version of a known file
	diverges                           // it is a different record
)

// diverges determines how an unknown record relates to others that follow the same records. A record that was cut off, because its file
// was read while it was being written, has the same point and fewer samples, and is the last of its file. part is the id of such a
// record.
func (k *known) diverges(c *chain, r *schema.Run) (worst divergence, part schema.ULID, err error) {
	own, before := followerOf(c, r), [halfBits]byte(c.before[:])
	others, err := k.after(before)
	for _, other := range others {
		if err != nil || other.with == own.with {
			continue
		}
		found := diverges
		switch {
		case other.point != own.point:
		case other.samples > own.samples:
			found, part = divergesUnlessAt, own.id(before)
		case other.samples < own.samples:
			var behind []follower
			if behind, err = k.after(other.with); len(behind) == 0 {
				found, part = divergesNot, other.id(before)
			}
		}
		worst = max(worst, found)
	}
	return worst, part, err
}

// after returns the records that follow known ones.
func (k *known) after(before [halfBits]byte) (all []follower, err error) {
	if f, ok := k.goesOn[before]; ok {
		all = append(all, f)
	}
	if k.store == nil {
		return all, nil
	}
	ids, err := k.store.After(before)
	for _, id := range ids {
		if err != nil {
			break
		}
		var r ImportedRun
		r, err = k.store.Run(id)
		f := follower{began: [timeBytes]byte(id[:]), with: [halfBits]byte(id[timeBytes+halfBits:]), samples: uint32(r.Samples)}
		copy(f.point[:], r.Point)
		all = append(all, f)
	}
	return all, err
}
