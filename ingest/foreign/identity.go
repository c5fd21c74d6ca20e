package foreign

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// halfBits are the bytes that an id has of the hash of all records before its own, and again of the hash with its own.
const halfBits = 5

// timeBytes are the bytes of an id before those.
const timeBytes = 6

// chain is the hash of the records of a file up to one of them. It makes their ids: see the package comment.
type chain struct {
	before, with [sha256.Size]byte
	first        bool // with is of one record
}

// newChain begins a file; seed is of those that begin as another file does, and then differ from it.
func newChain(seed string) chain {
	return chain{with: sha256.Sum256([]byte("file " + seed))}
}

// next goes on to a record with a digest.
func (c *chain) next(digest [16]byte, first bool) {
	var both [sha256.Size + 16]byte
	copy(both[:], c.with[:])
	copy(both[sha256.Size:], digest[:])
	c.before, c.with, c.first = c.with, sha256.Sum256(both[:]), first
}

// id is that of the record, which began at a time.
func (c *chain) id(began time.Time) schema.ULID { return schema.ULIDFrom(began, c.bits()) }

// bits are what is behind the time of the record's id.
func (c *chain) bits() (bits [2 * halfBits]byte) {
	copy(bits[:halfBits], c.before[:])
	copy(bits[halfBits:], c.with[:])
	return bits
}

// other is the seed of a file that differs here, for the first time, from one that is known.
func (c *chain) other(seed string) string { return seed + hex.EncodeToString(c.with[:8]) }

// standing is how a file stands to those that are known, as far as it was read.
type standing int

const (
	standsNew   standing = iota // it goes its own way
	standsKnown                 // all of it is known
	standsOld                   // all of it is known by the ids of versions before
	standsGrown                 // it was known, and more was appended
)

// errOther ends the reading of a file that begins as one that is known, and is another one: it is read again, as that.
var errOther = errors.New("another file")

// maxSeeds bounds how often a file is begun again: files of which each begins as the one before, and goes on otherwise.
const maxSeeds = 100

// place is where in a file its identity is.
type place struct {
	chain   chain
	records int
}

// identity gives the runs of a file their ids.
type identity struct {
	place
	known    *known
	standing standing
	seed     string
	again    bool // the file can be read from its beginning once more
	log      bool
	old      oldIDs
	noOld    bool        // it is not what a version before read
	last     bool        // the record is the last of the file, or the file is another one:
	another  string      // its seed
	part     schema.ULID // of a record that had broken off, and is known whole, too
	failed   error       // of the store
}

// of gives a run its id. there tells whether there is such a run already. An error ends the reading.
func (i *identity) of(r *schema.Run, digest string) (id schema.ULID, there bool, err error) {
	i.chain.next(keyOf(digest), i.records == 0)
	i.records++
	if i.records == 1 {
		id, there, err = i.begin(r, digest)
	} else {
		id, there, err = i.goOn(r, digest)
	}
	if err != nil && !errors.Is(err, errOther) {
		i.failed = fmt.Errorf("looking up stored runs: %w", err)
		err = i.failed
	}
	return id, there, err
}

// goOn is the id of a record that is not the first.
func (i *identity) goOn(r *schema.Run, digest string) (id schema.ULID, there bool, err error) {
	id = i.chain.id(r.StartedAt)
	if i.last {
		return id, false, i.other(i.another)
	}
	if i.standing == standsOld {
		old := i.old.id(r, digest)
		if there, err = i.known.store.Has(old); there || err != nil {
			return old, there, err
		}
		if !i.log { // a file of one invocation has not grown: it only begins as the other one
			i.noOld = true
			return id, false, i.other(i.seed)
		}
		i.standing = standsGrown
	}
	if i.standing == standsNew {
		return id, false, nil
	}
	if there, err = i.known.has(&i.chain, id); there || err != nil || i.standing == standsGrown {
		return id, there, err
	}
	how, part, err := i.known.diverges(&i.chain, r)
	i.part = part
	i.standing, i.another = standsGrown, i.chain.other(i.seed)
	switch {
	case err != nil:
	case how == diverges:
		err = i.other(i.another)
	case how == divergesUnlessAt:
		i.last = i.again
	}
	return id, false, err
}

// begin finds out of the first record how the file stands to those that are known.
func (i *identity) begin(r *schema.Run, digest string) (id schema.ULID, there bool, err error) {
	id = i.chain.id(r.StartedAt)
	if there, err = i.known.has(&i.chain, id); err != nil {
		return id, false, err
	}
	if there {
		i.standing = standsKnown
		return id, true, nil
	}
	if i.noOld || i.known.store == nil {
		return id, false, nil
	}
	old := i.old.id(r, digest)
	there, err = i.known.store.Has(old)
	if there && err == nil {
		var run ImportedRun
		run, err = i.known.store.Run(old)
		there = run.Session == "" || run.Session == oldSession(r, digest)
	}
	if !there || err != nil {
		return id, false, err
	}
	i.standing = standsOld
	return old, true, nil
}

// other begins the file again with a seed, if that can be done.
func (i *identity) other(seed string) error {
	i.part = schema.ULID{}
	if !i.again {
		i.standing = standsGrown
		return nil
	}
	i.seed = seed
	return errOther
}

// keyOf are the bytes of a digest.
func keyOf(digest string) (key [16]byte) {
	_, _ = hex.Decode(key[:], []byte(digest))
	return key
}

// oldIDs are the ids that versions before gave: of the record, of how many of the same came before it in the file, and, of
// one with neither a sample nor a start, of the first record.
type oldIDs struct {
	first string
	times map[[16]byte]uint32
}

func (o *oldIDs) id(r *schema.Run, digest string) schema.ULID {
	if o.times == nil {
		o.first, o.times = digest, map[[16]byte]uint32{}
	}
	key := keyOf(digest)
	record := fmt.Sprintf("%s %d", digest, o.times[key])
	o.times[key]++
	if r.StartedAt.IsZero() && samplesOf(r) == 0 {
		record += " " + o.first
	}
	return schema.ULIDFrom(r.StartedAt, bits(record))
}

// oldSession is the session that versions before gave the first run of a file that does not name it.
func oldSession(r *schema.Run, digest string) string {
	return schema.ULIDFrom(r.StartedAt, bits("session", digest)).String()
}
