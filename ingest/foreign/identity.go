package foreign

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// halfBits is the number of bytes that an id has from the hash of all records before its own, and again from the hash
// that includes its own.
const halfBits = 5

// timeBytes is the number of bytes of the time, which come before the halves.
const timeBytes = 6

// chain is the hash of the records of a file up to one of them. It determines their ids; see the package comment.
type chain struct {
	before, with [sha256.Size]byte
	first        bool // with is of one record
}

// newChain begins a file. seed is not empty if the file begins like another file and then differs.
func newChain(seed string) chain {
	return chain{with: sha256.Sum256([]byte("file " + seed))}
}

// next continues with the digest of the next record.
func (c *chain) next(digest [16]byte, first bool) {
	var both [sha256.Size + 16]byte
	copy(both[:], c.with[:])
	copy(both[sha256.Size:], digest[:])
	c.before, c.with, c.first = c.with, sha256.Sum256(both[:]), first
}

// id returns the id of the record, which began at a time.
func (c *chain) id(began time.Time) schema.ULID { return schema.ULIDFrom(began, c.bits()) }

// bits returns the bytes after the time in the record's id.
func (c *chain) bits() (bits [2 * halfBits]byte) {
	copy(bits[:halfBits], c.before[:])
	copy(bits[halfBits:], c.with[:])
	return bits
}

// other returns the seed of a file that differs here, for the first time, from a known one.
func (c *chain) other(seed string) string { return seed + hex.EncodeToString(c.with[:8]) }

// standing is how a file relates to the known files, as far as it was read.
type standing int

const (
	standsNew   standing = iota // it is new from the first record
	standsKnown                 // all its records are known
	standsOld                   // all its records are known by the ids of earlier versions
	standsGrown                 // it is known, and has new records at its end
)

// errOther ends the reading of a file that begins like a known one and then differs. It is then read again with a seed.
var errOther = errors.New("another file")

// maxSeeds limits how often a file is read again, which happens if it begins like one file, then like another.
const maxSeeds = 100

// place is the position in a file.
type place struct {
	chain   chain
	records int
}

// identity gives the runs of a file their ids.
type identity struct {
	place

	// The file.
	known *known
	name  string // empty if it has none
	log   bool   // Format.Log
	keyed bool   // Format.Keyed
	again bool   // it can be read again from its beginning
	seed  string // of its chain
	noOld bool   // no earlier version has read it

	// The records so far.
	standing standing
	old      oldIDs
	latest   latest
	inFile   chain       // of a keyed file: the records so far, by which earlier versions stored them
	earlier  time.Time   // start of the current record as earlier versions read it
	part     schema.ULID // id of a record that was cut off in an earlier import
	unless   string      // if it is not empty, the current record is the last, or the file is another one, with this seed
	failed   error       // an error of the store
}

// latest is the last record of the file that was known.
type latest struct {
	id   schema.ULID
	read bool   // this Reader has read a file with the record
	name string // the name of that file
}

// otherwiseNamed reports whether the last known record is in a file with an unrelated name. Then this file is not a later state of that
// file: it only begins with the same records, as a concatenation does.
func (i *identity) otherwiseNamed() (bool, error) {
	name := i.latest.name
	if !i.latest.read && i.known.store != nil {
		run, err := i.known.store.Run(i.latest.id)
		if err != nil {
			return false, err
		}
		name = run.Path
	}
	return i.name != "" && name != "" && stem(name) != stem(i.name), nil
}

// end is called at the end of the file. If the file is the beginning of a file with an unrelated name, it is a separate file.
func (i *identity) end() error {
	if i.standing != standsKnown || i.failed != nil {
		return nil
	}
	others, err := i.known.after([halfBits]byte(i.chain.with[:]))
	if err == nil && len(others) > 0 {
		var otherwise bool
		if otherwise, err = i.otherwiseNamed(); otherwise {
			return i.other(i.chain.other(i.seed))
		}
	}
	i.failed = wrapLookup(err)
	return i.failed
}

// wrapLookup wraps an error of the store.
func wrapLookup(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("looking up stored runs: %w", err)
}

// of sets the id of a run. digest and earlier are the digest and the start of the record as earlier versions read it: see
// Output.RunWith. there means that the run is already stored; of then sets its start to the stored one. An error ends the reading.
func (i *identity) of(r *schema.Run, digest string, earlier time.Time) (id schema.ULID, there bool, err error) {
	if i.keyed && i.records > 0 {
		i.chain = i.inFile
	}
	i.chain.next(keyOf(digest), i.records == 0)
	i.records++
	i.earlier = earlier
	switch {
	case i.keyed:
		id, there, err = i.alone(r, digest)
	case i.records == 1:
		id, there, err = i.begin(r, digest)
	default:
		id, there, err = i.goOn(r, digest)
	}
	if err != nil && !errors.Is(err, errOther) {
		i.failed = wrapLookup(err)
		err = i.failed
	}
	if there {
		i.latest = latest{id: id}
		if file, read := i.known.read(&i.chain); read {
			i.latest.read, i.latest.name = true, i.known.names[file]
		}
	}
	return id, there, err
}

// alone returns the id of a record with an id of its own: that of a file which has nothing else. Earlier versions stored it by the records
// before it.
func (i *identity) alone(r *schema.Run, digest string) (id schema.ULID, there bool, err error) {
	i.inFile = i.chain
	if id, there, err = i.stored(r); there || err != nil {
		return id, there, err
	}
	i.chain = newChain("")
	i.chain.next(keyOf(digest), true)
	return i.stored(r)
}

// goOn returns the id of a record that is not the first.
func (i *identity) goOn(r *schema.Run, digest string) (id schema.ULID, there bool, err error) {
	id = i.chain.id(r.StartedAt)
	if i.unless != "" {
		return id, false, i.other(i.unless)
	}
	if i.standing == standsOld {
		old := i.old.id(r, digest, i.earlier)
		if there, err = i.known.store.Has(old); there || err != nil {
			r.StartedAt = i.earlier
			return old, there, err
		}
		if !i.log { // a file of one invocation does not grow, so it only has the same beginning
			i.noOld = true
			return id, false, i.other(i.seed)
		}
		i.standing = standsGrown
	}
	if i.standing == standsNew {
		return id, false, nil
	}
	if id, there, err = i.stored(r); there || err != nil || i.standing == standsGrown {
		return id, there, err
	}
	if otherwise, err := i.otherwiseNamed(); otherwise || err != nil {
		if otherwise {
			err = i.other(i.chain.other(i.seed))
		}
		return id, false, err
	}
	how, part, err := i.known.diverges(&i.chain, r)
	i.part, i.standing = part, standsGrown
	another := i.chain.other(i.seed)
	switch {
	case err != nil:
	case how == diverges:
		err = i.other(another)
	case how == divergesUnlessAt && i.again:
		i.unless = another
	}
	return id, false, err
}

// begin finds out, from the first record, how the file relates to the known files.
func (i *identity) begin(r *schema.Run, digest string) (id schema.ULID, there bool, err error) {
	if id, there, err = i.stored(r); err != nil {
		return id, false, err
	}
	if there {
		i.standing = standsKnown
		return id, true, nil
	}
	if i.noOld || i.known.store == nil {
		return id, false, nil
	}
	old := i.old.id(r, digest, i.earlier)
	there, err = i.known.store.Has(old)
	if there && err == nil {
		var run ImportedRun
		run, err = i.known.store.Run(old)
		there = run.Session == "" || run.Session == oldSession(i.earlier, digest)
	}
	if !there || err != nil {
		return id, false, err
	}
	i.standing, r.StartedAt = standsOld, i.earlier
	return old, true, nil
}

// stored gives the id of the record, and reports whether the record was read before or is in the store. An earlier version may have stored
// it with another start, and so with another id: then stored gives that id, and sets the start.
func (i *identity) stored(r *schema.Run) (id schema.ULID, there bool, err error) {
	id = i.chain.id(r.StartedAt)
	if there, err = i.known.has(&i.chain, id); there || err != nil || i.earlier.Equal(r.StartedAt) {
		return id, there, err
	}
	was := i.chain.id(i.earlier)
	if there, err = i.known.has(&i.chain, was); there {
		id, r.StartedAt = was, i.earlier
	}
	return id, there, err
}

// other starts the file again with a seed, if that is possible.
func (i *identity) other(seed string) error {
	i.part = schema.ULID{}
	if !i.again {
		i.standing = standsGrown
		return nil
	}
	i.seed = seed
	return errOther
}

// keyOf returns the bytes of a digest.
func keyOf(digest string) (key [16]byte) {
	_, _ = hex.Decode(key[:], []byte(digest))
	return key
}

// oldIDs computes the ids of earlier versions: from the record, the number of equal records before it in the file and, for a record
// without samples and start, the first record.
type oldIDs struct {
	first string
	times map[[16]byte]uint32
}

func (o *oldIDs) id(r *schema.Run, digest string, began time.Time) schema.ULID {
	if o.times == nil {
		o.first, o.times = digest, map[[16]byte]uint32{}
	}
	key := keyOf(digest)
	record := fmt.Sprintf("%s %d", digest, o.times[key])
	o.times[key]++
	if began.IsZero() && samplesOf(r) == 0 {
		record += " " + o.first
	}
	return schema.ULIDFrom(began, bits(record))
}

// oldSession returns the session that earlier versions gave the first run of a file that does not name one.
func oldSession(began time.Time, digest string) string {
	return schema.ULIDFrom(began, bits("session", digest)).String()
}
