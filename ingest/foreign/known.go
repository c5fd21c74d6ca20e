package foreign

import (
	"slices"

	"github.com/neurolens/neurolens/schema"
)

// ImportedRuns are the runs of files that a store has.
type ImportedRuns interface {
	// Has tells whether a run of this id is there.
	Has(id schema.ULID) (bool, error)
	// After are the runs whose ids have these first five bytes of their ten behind the time.
	After(before [halfBits]byte) ([]schema.ULID, error)
	// Run is what a run is that is there.
	Run(id schema.ULID) (ImportedRun, error)
}

// ImportedRun is what tells how a run stands to one that is read.
type ImportedRun struct {
	Session string // empty where it is not known
	Point   string
	Samples int64 // of its primary metric
}

// known are the runs that need not be read again: those of files that were read before, and of a store.
type known struct {
	store  ImportedRuns // nil: nothing is known of any
	begins map[[2 * halfBits]byte]struct{}
	goesOn map[[halfBits]byte]follower // by what stands before
}

// follower is a record that follows others.
type follower struct {
	began   [timeBytes]byte
	with    [halfBits]byte
	point   [3]byte // the beginning of its point
	samples uint32
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

// id is the one of what follows that.
func (f *follower) id(before [halfBits]byte) schema.ULID {
	return schema.ULID(slices.Concat(f.began[:], before[:], f.with[:]))
}

func newKnown(store ImportedRuns) *known {
	return &known{store, map[[2 * halfBits]byte]struct{}{}, map[[halfBits]byte]follower{}}
}

// note remembers a record that was read.
func (k *known) note(c *chain, r *schema.Run) {
	if c.first {
		k.begins[c.bits()] = struct{}{}
		return
	}
	k.goesOn[[halfBits]byte(c.before[:])] = followerOf(c, r)
}

// has tells whether the record was read, or is in the store.
func (k *known) has(c *chain, id schema.ULID) (bool, error) {
	if c.first {
		if _, ok := k.begins[c.bits()]; ok {
			return true, nil
		}
	} else if f, ok := k.goesOn[[halfBits]byte(c.before[:])]; ok && f.with == [halfBits]byte(c.with[:]) {
		return true, nil
	}
	if k.store == nil {
		return false, nil
	}
	return k.store.Has(id)
}

// divergence is how a record stands to others that follow what stands before it.
type divergence int

const (
	divergesNot      divergence = iota // there is none, or the record goes on with what the other began
	divergesUnlessAt                   // one goes on with it: the file is an older one if it ends here
	diverges                           // it is another one
)

// diverges tells how a record that is not known stands to those that follow the same as it. One that broke off, as a file
// was read while it was written, has the same point and fewer samples, and is the last of its file. part is the id of such a
// one.
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

// after are the records that follow what is known.
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
