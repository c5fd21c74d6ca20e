package bucket

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
)

// parallel is how many requests are under way at the same time.
const parallel = 8

// Bucket is a bucket that stores are pushed to and pulled from. Its methods must not be called at the same time.
type Bucket struct {
	*remote
	program string
	id      string // of the marker; empty before the first request, and if there is none
	cache   string // directory with the manifests that were read; they only save requests
	pushes  map[int64]entry
	base    int64      // a compacted store replaces the pushes up to it, which may not be known
	last    int64      // the largest number
	mu      sync.Mutex // of pushes and last, for several requests
}

// entry is a manifest of the log.
type entry struct {
	there    bool // it is in the bucket; otherwise only the cache has it
	bytes    int64
	modified time.Time // by the server's clock; zero if only the cache has it
	summary  *manifest // without its ids of runs, of which there may be very many; nil if it was not read
	first    schema.ULID
	last     schema.ULID
}

// Options are the options of Open.
type Options struct {
	Getenv  func(string) string // reads the variables that name the server and the region
	Program string              // version of the program
	Cache   string              // directory for manifests that were read; empty: the directory of the user for caches
}

// Open prepares requests to the bucket with a URL, s3://BUCKET/PREFIX. It sends none. The error wraps ErrLocation.
func Open(address string, o Options) (*Bucket, error) {
	at, err := parseLocation(address)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLocation, err)
	}
	r, err := newRemote(at, o.Getenv)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLocation, err)
	}
	return &Bucket{remote: r, program: o.Program, cache: o.Cache}, nil
}

// URL returns the URL of a key.
func (b *Bucket) URL(key string) string { return b.url(key) }

// Requests returns the number of requests that were sent, repetitions included.
func (b *Bucket) Requests() int { return int(b.requests.Load()) }

// errNoMarker means that nothing was pushed yet.
var errNoMarker = errors.New("nothing was pushed there yet")

// open reads the marker, and the manifests in the cache.
func (b *Bucket) open(ctx context.Context) error {
	line, err := b.get(ctx, markerKey, maxMarker)
	if errors.Is(err, errMissing) {
		return errNoMarker
	}
	if err != nil {
		return err
	}
	m, err := decodeMarker(line)
	if err != nil {
		return fmt.Errorf("%s: %w", b.url(markerKey), err)
	}
	b.id = m.ID
	b.cache = b.cacheDir()
	b.pushes, b.base, b.last = map[int64]entry{}, 0, 0
	return b.recall()
}

// cacheDir returns the directory of this bucket in the cache: of the server, the prefix and the id, so that no other bucket can pretend to
// be it. It is empty if it cannot be created.
func (b *Bucket) cacheDir() string {
	root := b.cache
	if root == "" {
		var err error
		if root, err = os.UserCacheDir(); err != nil {
			root = os.TempDir()
		}
		root = filepath.Join(root, "neurolens", "buckets")
	}
	sum := sha256.Sum256([]byte(b.endpoint.String() + "\n" + b.location.String() + "\n" + b.id))
	dir := filepath.Join(root, hex.EncodeToString(sum[:16]))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return ""
	}
	return dir
}

// recall reads the manifests of the cache. They count only if they are all up to the last one, from the first one or from a compacted
// store on.
func (b *Bucket) recall() error {
	if b.cache == "" {
		return nil
	}
	files, err := os.ReadDir(b.cache)
	if err != nil {
		return nil // it only saves requests
	}
	for _, f := range files {
		n, ok := parseNumber("", f.Name())
		if !ok {
			continue
		}
		if line, err := os.ReadFile(filepath.Join(b.cache, f.Name())); err == nil {
			_ = b.keep(n, line, time.Time{}) // a damaged one is read again
		}
	}
	var numbers []int64
	for n := range b.pushes {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	slices.Reverse(numbers)
	lowest, base, chain := int64(0), int64(0), 0
	for i, n := range numbers {
		if i > 0 && n != lowest-1 {
			break
		}
		lowest, base, chain = n, max(base, b.pushes[n].summary.Replaces), i+1
	}
	if lowest == 1 {
		base = 0
	}
	if lowest == 0 || base < lowest-1 {
		return nil
	}
	b.base, b.last = base, numbers[0]
	for _, n := range numbers[:chain] {
		e := b.pushes[n]
		e.there = true
		b.pushes[n] = e
	}
	return nil
}

// keep adds a manifest to those that are known.
func (b *Bucket) keep(n int64, line []byte, modified time.Time) error {
	m, err := decodeManifest(line)
	if err != nil {
		return fmt.Errorf("%s: %w", b.url(numberKey(n)), err)
	}
	if m.Replaces >= n && m.Replaces > 0 {
		return fmt.Errorf("%s: %w: it replaces later pushes", b.url(numberKey(n)), ErrDamaged)
	}
	e := entry{there: b.pushes[n].there, bytes: int64(len(line)), modified: modified, summary: m}
	if len(m.RunIDs) > 0 {
		e.first, e.last = m.RunIDs[0], m.RunIDs[len(m.RunIDs)-1]
	}
	m.RunIDs = nil
	b.pushes[n] = e
	return nil
}

// refresh lists the manifests after the last known one. If the bucket is not the one that the cache is of, it begins anew.
func (b *Bucket) refresh(ctx context.Context) error {
	if b.last > 0 {
		there, err := b.listAfter(ctx, b.last-1)
		if err != nil || there {
			return err
		}
		clear(b.pushes) // the bucket was restored to an earlier state
		b.base, b.last = 0, 0
	}
	newest := int64(0)
	err := b.list(ctx, compactedDir, "", true, func(l listed) error {
		if n, ok := parseNumber(compactedDir, l.key); ok {
			newest = max(newest, n)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if newest > 0 {
		if err := b.readManifest(ctx, newest); err != nil {
			return err
		}
		b.base = b.pushes[newest].summary.Replaces
	}
	_, err = b.listAfter(ctx, b.base)
	return err
}

// listAfter lists the manifests after a number. there says whether the next number was among them, with the size that is known.
func (b *Bucket) listAfter(ctx context.Context, n int64) (there bool, err error) {
	after := ""
	if n > 0 {
		after = numberKey(n)
	}
	err = b.list(ctx, pushesDir, after, false, func(l listed) error {
		number, ok := parseNumber(pushesDir, l.key)
		if !ok || number <= n {
			return nil
		}
		known, has := b.pushes[number]
		there = there || number == n+1 && (!has || known.bytes == l.bytes)
		if !has || known.bytes != l.bytes {
			known = entry{bytes: l.bytes}
		}
		known.there, known.modified = true, l.modified
		b.pushes[number] = known
		b.last = max(b.last, number)
		return nil
	})
	return there, err
}

// readManifest reads a manifest, unless it is known.
func (b *Bucket) readManifest(ctx context.Context, n int64) error {
	b.mu.Lock()
	known := b.pushes[n].summary != nil
	b.mu.Unlock()
	if known {
		return nil
	}
	line, err := b.get(ctx, numberKey(n), maxManifest)
	if errors.Is(err, errMissing) {
		err = fmt.Errorf("%w: %s is missing", ErrDamaged, b.url(numberKey(n)))
	}
	if err != nil {
		return err
	}
	return b.learn(n, line)
}

// learn adds a manifest that was read or written, also to the cache.
func (b *Bucket) learn(n int64, line []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.keep(n, line, b.pushes[n].modified); err != nil {
		return err
	}
	e := b.pushes[n]
	e.there = true
	b.pushes[n], b.last = e, max(b.last, n)
	if b.cache == "" {
		return nil
	}
	name := filepath.Join(b.cache, numberText(n)+numberSuffix)
	if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, line) {
		return nil
	}
	temp, err := os.CreateTemp(b.cache, "*.part")
	if err != nil {
		return nil // a cache that cannot be written costs requests
	}
	_, err = temp.Write(line)
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), name)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	return nil
}

// readAll reads the manifests with these numbers. refused is called for damaged ones; nil: they are errors.
func (b *Bucket) readAll(ctx context.Context, numbers []int64, refused func(n int64, err error)) error {
	var mu sync.Mutex
	return inParallel(ctx, len(numbers), func(i int) error {
		err := b.readManifest(ctx, numbers[i])
		if errors.Is(err, ErrDamaged) && refused != nil {
			mu.Lock()
			defer mu.Unlock()
			refused(numbers[i], err)
			return nil
		}
		return err
	})
}

// numbers returns the numbers of the manifests after base that are in the bucket, ascending.
func (b *Bucket) numbers() []int64 {
	var all []int64
	for n, e := range b.pushes {
		if n > b.base && e.there {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all
}

// compacted returns the number of the newest compacted store whose manifest was read; 0 if there is none.
func (b *Bucket) compacted() (newest int64) {
	for n, e := range b.pushes {
		if e.there && e.summary != nil && e.summary.Replaces > 0 {
			newest = max(newest, n)
		}
	}
	return newest
}

// runIDs returns the ids of the runs of a push whose manifest was read.
func (b *Bucket) runIDs(ctx context.Context, n int64) (idList, error) {
	if b.pushes[n].summary.Runs == 0 {
		return nil, nil
	}
	line, err := os.ReadFile(filepath.Join(b.cache, numberText(n)+numberSuffix))
	if err != nil {
		if line, err = b.get(ctx, numberKey(n), maxManifest); err != nil {
			return nil, err
		}
	}
	m, err := decodeManifest(line)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.url(numberKey(n)), err)
	}
	return m.RunIDs, nil
}

// inParallel calls do for 0 to n-1, several at the same time, and returns the first error. After an error it begins no more.
func inParallel(ctx context.Context, n int, do func(i int) error) error {
	var mu sync.Mutex
	var failed error
	next := 0
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		if failed == nil {
			failed = ctx.Err()
		}
		if failed != nil || next == n {
			return 0, false
		}
		next++
		return next - 1, true
	}
	var working sync.WaitGroup
	for range min(parallel, n) {
		working.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				if err := do(i); err != nil {
					mu.Lock()
					if failed == nil {
						failed = err
					}
					mu.Unlock()
				}
			}
		})
	}
	working.Wait()
	return failed
}

// problem returns the text of an error without the words that every damage has.
func problem(err error) string { return runfile.ProblemText(err) }
