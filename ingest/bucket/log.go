package bucket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// pushLog is what a command knows of the log of pushes, which are the manifests in a bucket.
type pushLog struct {
	*remote
	cache   string  // directory with the manifests that were read; they save requests, and tell what the bucket had
	seen    []int64 // numbers of the manifests in the cache, ascending, before those in the bucket were listed
	pushes  map[int64]entry
	pointer int64      // the number of the newest compacted store that is found without reading all manifests
	base    int64      // a compacted store replaces the pushes up to it, whose manifests need not be read
	mu      sync.Mutex // of pushes, for several requests
}

// last returns the largest number; 0 if there is none.
func (log *pushLog) last() (largest int64) {
	for n := range log.pushes {
		largest = max(largest, n)
	}
	return largest
}

// unknown counts the manifests that were not read.
func (log *pushLog) unknown() (n int) {
	for _, e := range log.pushes {
		if e.summary == nil {
			n++
		}
	}
	return n
}

// entry is a manifest that is in the bucket.
type entry struct {
	etag     string    // of the server; empty if it gives none
	modified time.Time // by the server's clock; zero if this process wrote it
	summary  *manifest // without its ids of runs, of which there may be very many; nil if it was not read
	first    schema.ULID
	last     schema.ULID
}

// replaces returns the number up to which a compacted store replaces pushes; 0 if the manifest is not one's, or was not read.
func (e entry) replaces() int64 {
	if e.summary == nil {
		return 0
	}
	return e.summary.Replaces
}

// cacheFile returns the name of the file of the cache for a manifest: a line with its ETag, and the manifest.
func (log *pushLog) cacheFile(n int64) string {
	return filepath.Join(log.cache, numberText(n)+numberSuffix)
}

// cached returns a manifest of the cache, or nil. It counts only if the bucket lists its number with the same ETag.
func (log *pushLog) cached(n int64) []byte {
	if log.cache == "" {
		return nil
	}
	content, err := os.ReadFile(log.cacheFile(n))
	etag, line, _ := bytes.Cut(content, []byte("\n"))
	if err != nil || len(etag) == 0 || string(etag) != log.pushes[n].etag {
		return nil
	}
	return line
}

// keep adds a manifest to those that are known.
func (log *pushLog) keep(n int64, line []byte) error {
	m, err := decodeManifest(line)
	if err != nil {
		return err
	}
	if m.Replaces >= n && m.Replaces > 0 {
		return fmt.Errorf("%w: it replaces later pushes", ErrDamaged)
	}
	e := log.pushes[n]
	e.summary = m
	if len(m.RunIDs) > 0 {
		e.first, e.last = m.RunIDs[0], m.RunIDs[len(m.RunIDs)-1]
	}
	m.RunIDs = nil
	log.pushes[n] = e
	return nil
}

// refresh lists the manifests, and reads those that the cache has. Manifests are put in order and never replaced. So if the newest one of the
// cache is in the bucket with its ETag, those before it are as the cache has them, and only it and later ones are listed.
func (log *pushLog) refresh(ctx context.Context) error {
	newest := log.readCache()
	if err := log.listAfter(ctx, max(newest-1, 0)); err != nil {
		return err
	}
	if e := log.pushes[newest]; newest > 0 && (e.summary == nil || e.modified.IsZero()) { // the bucket was set back
		clear(log.pushes)
		log.base = 0
		if err := log.listAfter(ctx, 0); err != nil {
			return err
		}
	}
	for n, e := range log.pushes {
		if line := log.cached(n); e.summary == nil && line != nil {
			_ = log.keep(n, line) // a damaged one is read again
		}
	}
	return nil
}

// readCache reads the newest manifests of the cache of which none is missing in between, and returns the number of the newest. It is 0 if
// they leave out pushes which none of them replaces.
func (log *pushLog) readCache() int64 {
	log.look()
	newest, next := int64(0), int64(0)
	for _, n := range slices.Backward(log.seen) {
		content, err := os.ReadFile(log.cacheFile(n))
		etag, line, _ := bytes.Cut(content, []byte("\n"))
		if err != nil || len(etag) == 0 || newest > 0 && n != next || log.keep(n, line) != nil {
			break
		}
		log.pushes[n] = entry{etag: string(etag), summary: log.pushes[n].summary, first: log.pushes[n].first, last: log.pushes[n].last}
		newest, next = max(newest, n), n-1
	}
	if c := log.compacted(); c > 0 && next > 0 && log.pushes[c].replaces() >= next {
		log.base = log.pushes[c].replaces()
	} else if next > 0 {
		clear(log.pushes)
		return 0
	}
	return newest
}

// look lists the manifests of the cache.
func (log *pushLog) look() {
	entries, _ := os.ReadDir(log.cache)
	for _, e := range entries {
		if n, ok := parseNumber("", e.Name()); ok {
			log.seen = append(log.seen, n)
		}
	}
}

// eachGone calls do for each manifest of the cache after the last one of the bucket: it is lost, or the bucket was set back.
func (log *pushLog) eachGone(last int64, do func(n int64, err error)) {
	for _, n := range log.seen {
		if n > last {
			do(n, fmt.Errorf("%w: it is missing, and this machine has read it before; push again from the machines that have its runs", ErrDamaged))
		}
	}
}

// fewPushes is the number of manifests that are read without asking for a compacted store that replaces them.
const fewPushes = 2

// skipReplaced reads the manifest of the newest compacted store. If some manifests are unknown that it replaces, the pushes begin after them.
func (log *pushLog) skipReplaced(ctx context.Context) error {
	newest := int64(0)
	err := log.list(ctx, compactedDir, "", true, func(l listed) error {
		if n, ok := parseNumber(compactedDir, l.key); ok {
			newest = max(newest, n)
		}
		return nil
	})
	log.pointer = newest
	if err != nil || newest == 0 {
		return err
	}
	if last := log.last(); newest > last { // it was put meanwhile
		if err := log.listAfter(ctx, last); err != nil {
			return err
		}
	}
	switch err := log.readManifest(ctx, newest); {
	case errors.Is(err, ErrDamaged):
		return nil // the pushes themselves are read
	case err != nil:
		return log.inManifest(newest, err)
	}
	replaces, known := log.pushes[newest].summary.Replaces, int64(0)
	for n, e := range log.pushes {
		if n <= replaces && e.summary != nil {
			known++
		}
	}
	if known < replaces {
		log.base = max(log.base, replaces)
	}
	return nil
}

// listAfter lists the manifests after a number.
func (log *pushLog) listAfter(ctx context.Context, n int64) error {
	after := ""
	if n > 0 {
		after = numberKey(n)
	}
	return log.list(ctx, pushesDir, after, false, func(l listed) error {
		number, ok := parseNumber(pushesDir, l.key)
		if !ok || number <= n {
			return nil
		}
		e := log.pushes[number]
		if e.etag != l.etag {
			e = entry{etag: l.etag}
		}
		e.modified = l.modified
		log.pushes[number] = e
		return nil
	})
}

// inManifest names the manifest that an error is about.
func (log *pushLog) inManifest(n int64, err error) error {
	switch {
	case errors.Is(err, ErrDamaged):
		return fmt.Errorf("%s: %w; %s", log.url(numberKey(n)), err, wayOut)
	case errors.Is(err, ErrFormat):
		return fmt.Errorf("%s: %w", log.url(numberKey(n)), err)
	}
	return err
}

// errGone means that a manifest is missing whose number is taken.
var errGone = fmt.Errorf("%w: it is missing, and later pushes are there", ErrDamaged)

// readManifest reads a manifest, unless it is known. An error about its content does not name it.
func (log *pushLog) readManifest(ctx context.Context, n int64) error {
	log.mu.Lock()
	known := log.pushes[n].summary != nil
	log.mu.Unlock()
	if known {
		return nil
	}
	line, etag, err := log.get(ctx, numberKey(n), maxManifest)
	if errors.Is(err, errMissing) {
		err = errGone
	}
	if err != nil {
		return err
	}
	return log.learn(n, line, etag)
}

// partSuffix ends the names of files of the cache that are being written.
const partSuffix = ".part"

// learn adds a manifest that was read or written, also to the cache.
func (log *pushLog) learn(n int64, line []byte, etag string) error {
	log.mu.Lock()
	defer log.mu.Unlock()
	if err := log.keep(n, line); err != nil {
		return err
	}
	e := log.pushes[n]
	e.etag = etag
	log.pushes[n] = e
	if log.cache == "" || etag == "" || log.cached(n) != nil {
		return nil
	}
	temp, err := os.CreateTemp(log.cache, "*"+partSuffix)
	if err != nil {
		return nil // a cache that cannot be written costs requests
	}
	_, err = temp.Write(append([]byte(etag+"\n"), line...))
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), log.cacheFile(n))
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	return nil
}

// readAll reads the manifests with these numbers. refused is called for damaged and missing ones; nil: they are errors.
func (log *pushLog) readAll(ctx context.Context, numbers []int64, refused func(n int64, err error)) error {
	var mu sync.Mutex
	return inParallel(ctx, len(numbers), func(i int) error {
		err := log.readManifest(ctx, numbers[i])
		if errors.Is(err, ErrDamaged) && refused != nil {
			mu.Lock()
			defer mu.Unlock()
			refused(numbers[i], err)
			return nil
		}
		return log.inManifest(numbers[i], err)
	})
}

// numbers returns the numbers of the manifests after base, ascending, with the first number of each gap: to read it tells whether it is
// one.
func (log *pushLog) numbers() []int64 {
	all := slices.DeleteFunc(slices.Sorted(maps.Keys(log.pushes)), func(n int64) bool { return n <= log.base })
	var gaps []int64
	next := log.base + 1
	for _, n := range all {
		if n > next {
			gaps = append(gaps, next)
		}
		next = n + 1
	}
	all = append(all, gaps...)
	slices.Sort(all)
	return all
}

// compacted returns the number of the newest compacted store whose manifest was read; 0 if there is none.
func (log *pushLog) compacted() (newest int64) {
	for n, e := range log.pushes {
		if e.replaces() > 0 {
			newest = max(newest, n)
		}
	}
	return newest
}

// runIDs returns the ids of the runs of a push whose manifest was read.
func (log *pushLog) runIDs(ctx context.Context, n int64) (idList, error) {
	if log.pushes[n].summary.Runs == 0 {
		return nil, nil
	}
	line := log.cached(n)
	if line == nil {
		var err error
		if line, _, err = log.get(ctx, numberKey(n), maxManifest); err != nil {
			return nil, err
		}
	}
	m, err := decodeManifest(line)
	if err == nil && m.Push != log.pushes[n].summary.Push {
		err = fmt.Errorf("%w: another push took its place", ErrDamaged)
	}
	if err != nil {
		return nil, log.inManifest(n, err)
	}
	return m.RunIDs, nil
}
