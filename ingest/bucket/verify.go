package bucket

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/neurolens/neurolens/ingest/check"
	"github.com/neurolens/neurolens/schema"
)

// Verified counts what is in a bucket.
type Verified struct {
	Pushes    int
	Runs      int // each once
	Repeated  int // runs that several pushes have
	Events    int // each once
	Objects   int // that manifests name
	Bytes     int64
	Leftovers int // objects that no manifest names
	Damage    int // findings
}

// Verify compares the objects of the bucket with the manifests: that they are there, with the sizes that the manifests say; with full
// also that their bytes match their SHA-256, for which all are read. It calls found for each problem. Manifests are read from the bucket,
// not from the cache.
func (b *Bucket) Verify(ctx context.Context, full bool, found func(check.Finding)) (Verified, error) {
	v := &verifying{found: found}
	if err := v.verify(ctx, b, full); err != nil {
		return v.done, fmt.Errorf("verifying %s: %w", b.location, err)
	}
	return v.done, nil
}

// verifying is the state of Verify.
type verifying struct {
	log     *pushLog
	found   func(check.Finding)
	done    Verified
	objects map[string]listed
	saying  sync.Mutex // of done, while objects are read
}

func (v *verifying) damage(key, format string, args ...any) {
	v.saying.Lock()
	defer v.saying.Unlock()
	v.done.Damage++
	v.found(check.Finding{Severity: check.SeverityDamage, Path: key, Problem: fmt.Sprintf(format, args...)})
}

func (v *verifying) verify(ctx context.Context, b *Bucket, full bool) (err error) {
	if v.log, err = b.open(ctx); err != nil {
		return err
	}
	objects, last, err := v.log.readWhole(ctx, func(n int64, err error) { v.damage(numberKey(n), "%s", problem(err)) })
	if err != nil {
		return err
	}
	v.objects = objects
	v.done.Leftovers = len(leftovers(v.objects, v.log.named()))
	maps.DeleteFunc(v.log.pushes, func(n int64, _ entry) bool { return n > last }) // they came meanwhile
	for _, e := range v.log.pushes {
		if e.summary != nil {
			v.done.Pushes++
		}
	}
	named := v.log.named()
	slices.SortFunc(named, func(a, b Object) int {
		return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.SHA256, b.SHA256), cmp.Compare(a.Bytes, b.Bytes))
	})
	named = slices.Compact(named) // a compacted store names artifacts of pushes
	v.done.Objects = len(named)
	for _, o := range named {
		v.done.Bytes += o.Bytes
		there, ok := v.objects[o.Key]
		switch {
		case !ok:
			v.damage(o.Key, "it is missing, and a manifest names it")
		case there.bytes != o.Bytes:
			v.damage(o.Key, "it has %d bytes, and its manifest says %d", there.bytes, o.Bytes)
		}
	}
	if full {
		if err := v.readObjects(ctx, named); err != nil {
			return err
		}
	}
	return v.count(ctx)
}

// readObjects reads objects and compares their hashes.
func (v *verifying) readObjects(ctx context.Context, objects []Object) error {
	return inParallel(ctx, len(objects), func(i int) error {
		o := objects[i]
		if there, ok := v.objects[o.Key]; !ok || there.bytes != o.Bytes {
			return nil // it was said
		}
		hash := sha256.New()
		var size int64
		_, err := v.log.read(ctx, o.Key, func(body io.Reader) (err error) {
			hash.Reset()
			size, err = io.Copy(hash, io.LimitReader(body, o.Bytes+1))
			return err
		})
		switch {
		case errors.Is(err, errMissing):
			v.damage(o.Key, "it is missing, and a manifest names it")
		case err != nil:
			return err
		case o.check(size, hex.EncodeToString(hash.Sum(nil))) != nil:
			v.damage(o.Key, "it does not match the SHA-256 of its manifest")
		}
		return nil
	})
}

// count counts runs and events, and those that several pushes have, and compares compacted stores with the pushes that they replace.
func (v *verifying) count(ctx context.Context) error {
	var runs, events, inCompacted []schema.ULID
	ascending := func(ids []schema.ULID) []schema.ULID {
		ids = slices.Clone(ids)
		slices.SortFunc(ids, schema.ULID.Compare)
		return slices.Compact(ids)
	}
	until := map[int64][2][]schema.ULID{} // the runs and events of the pushes up to a number
	replaced := map[int64]bool{}
	for _, e := range v.log.pushes {
		replaced[e.replaces()] = true
	}
	whole := true
	for _, n := range v.log.numbers() {
		m := v.log.pushes[n].summary
		if m == nil {
			whole = false // what it has, nobody knows
			continue
		}
		ids, err := v.log.runIDs(ctx, n)
		if err != nil {
			return err
		}
		if m.Replaces == 0 {
			runs, events = append(runs, ids...), append(events, m.EventIDs...)
		} else {
			inCompacted = append(inCompacted, ids...)
			pushed := until[m.Replaces]
			for i, has := range [][]schema.ULID{ids, m.EventIDs} {
				if lacks := countLacking(has, pushed[i]); whole && lacks > 0 {
					v.damage(numberKey(n), "its compacted store lacks %d %s of the pushes that it replaces", lacks, []string{"runs", "events"}[i])
				}
			}
		}
		if replaced[n] {
			until[n] = [2][]schema.ULID{ascending(runs), ascending(events)}
		}
	}
	all := len(runs)
	runs = ascending(runs)
	v.done.Runs, v.done.Repeated, v.done.Events = len(runs), all-len(runs), len(ascending(events))
	if strange := countLacking(runs, inCompacted); strange > 0 {
		v.damage(compactedDir, "it has %d runs that no push has", strange)
	}
	return nil
}

// countLacking counts the ids that are not among others, which ascend.
func countLacking(others, ids []schema.ULID) (n int) {
	for _, id := range ids {
		if _, found := slices.BinarySearchFunc(others, id, schema.ULID.Compare); !found {
			n++
		}
	}
	return n
}

// readWhole lists the manifests, then all objects, then the manifests that came meanwhile, and reads all manifests. Objects are put before
// their manifest. So those of the manifests up to last are in the list of objects, and an object there that no manifest names was put by a
// push that has not ended.
func (log *pushLog) readWhole(ctx context.Context, refused func(n int64, err error)) (objects map[string]listed, last int64, err error) {
	log.look()
	if err := log.listAfter(ctx, 0); err != nil {
		return nil, 0, err
	}
	last = log.last()
	log.eachGone(last, func(n int64, gone error) {
		if refused != nil {
			refused(n, gone)
		} else {
			err = log.inManifest(n, gone)
		}
	})
	if err != nil {
		return nil, 0, err
	}
	objects = map[string]listed{}
	err = log.list(ctx, "", "", false, func(l listed) error {
		objects[l.key] = l
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	if err := log.listAfter(ctx, last); err != nil {
		return nil, 0, err
	}
	return objects, last, log.readAll(ctx, log.numbers(), refused)
}

// named lists the objects that the manifests name which were read.
func (log *pushLog) named() (objects []Object) {
	for _, e := range log.pushes {
		if e.summary != nil {
			objects = append(objects, e.summary.Objects...)
		}
	}
	return objects
}

// leftovers lists the objects that no manifest names and that a push may have left, ascending.
func leftovers(objects map[string]listed, named []Object) (keys []string) {
	known := map[string]bool{}
	for _, o := range named {
		known[o.Key] = true
	}
	for _, key := range slices.Sorted(maps.Keys(objects)) {
		_, pointer := parseNumber(compactedDir, key)
		if !known[key] && !pointer && (strings.HasPrefix(key, writerDir) || strings.HasPrefix(key, compactedDir)) {
			keys = append(keys, key)
		}
	}
	return keys
}

// leftoverAge is the age from which on an object without a manifest is a leftover. A push takes no such time.
const leftoverAge = 7 * 24 * time.Hour

// RemoveLeftovers removes objects that no manifest names and that are older than seven days. Only the server's clock counts: that of this
// machine may be ahead. If a manifest cannot be read, it removes nothing.
func (b *Bucket) RemoveLeftovers(ctx context.Context) (removed int, err error) {
	fail := func(err error) (int, error) {
		return removed, fmt.Errorf("removing leftovers of %s: %w", b.location, err)
	}
	log, err := b.open(ctx)
	if err != nil {
		return fail(err)
	}
	objects, _, err := log.readWhole(ctx, nil)
	if err != nil {
		return fail(err)
	}
	now := time.Unix(b.clock.Load(), 0)
	for _, key := range leftovers(objects, log.named()) {
		if now.Sub(objects[key].modified) < leftoverAge {
			continue
		}
		if err := b.remove(ctx, key); err != nil {
			return fail(err)
		}
		removed++
	}
	return removed, nil
}
