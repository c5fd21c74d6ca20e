package bucket

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/neurolens/neurolens/ingest/internal/runfile"
)

// Bucket is a bucket that stores are pushed to and pulled from. Its methods must not be called at the same time.
type Bucket struct {
	*remote
	program string
	caches  string // directory of the caches of all buckets; empty: that of the user
	id      string // of the marker; empty until it was read
}

// Options are the options of Open.
type Options struct {
	Getenv  func(string) string // reads the variables that name the server and the region
	Program string              // version of the program
	Quiet   func(server string) // called once, if a request waits for half a minute in which nothing arrives or leaves
	Cache   string              // directory for manifests that were read; empty: the directory of the user for caches
}

// Open prepares requests to the bucket with a URL, s3://BUCKET/PREFIX. It sends none. The error wraps ErrLocation.
func Open(address string, o Options) (*Bucket, error) {
	at, err := parseLocation(address)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLocation, err)
	}
	r, err := newRemote(at, o.Getenv, o.Quiet)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLocation, err)
	}
	return &Bucket{remote: r, program: o.Program, caches: o.Cache}, nil
}

// URL returns the URL of a key.
func (b *Bucket) URL(key string) string { return b.url(key) }

// Requests returns the number of requests that were sent, repetitions included.
func (b *Bucket) Requests() int { return int(b.requests.Load()) }

// ErrEmpty means that nothing was pushed yet.
var ErrEmpty = errors.New("nothing was pushed there yet")

// Reach reads the marker. The error is ErrEmpty if nothing was pushed.
func (b *Bucket) Reach(ctx context.Context) error {
	_, err := b.open(ctx)
	if err != nil {
		err = fmt.Errorf("opening %s: %w", b.location, err)
	}
	return err
}

// open reads the marker, once, and begins a log without pushes.
func (b *Bucket) open(ctx context.Context) (*pushLog, error) {
	if b.id == "" {
		if err := b.readMarker(ctx); err != nil {
			return nil, err
		}
	}
	return &pushLog{remote: b.remote, cache: b.cacheDir(), pushes: map[int64]entry{}}, nil
}

// readMarker reads the marker. The error is ErrEmpty if nothing was pushed.
func (b *Bucket) readMarker(ctx context.Context) error {
	line, _, err := b.get(ctx, markerKey, maxMarker)
	if errors.Is(err, errMissing) {
		switch pushes, err := b.anyPush(ctx); {
		case err != nil:
			return err
		case !pushes:
			return ErrEmpty
		}
		// The first push made the marker before its manifest, perhaps between the two requests.
		line, _, err = b.get(ctx, markerKey, maxMarker)
	}
	if errors.Is(err, errMissing) {
		return fmt.Errorf("%w: %s is missing, and pushes are there; %s", ErrDamaged, b.url(markerKey), wayOut)
	}
	if err != nil {
		return err
	}
	m, err := decodeMarker(line)
	if err != nil {
		return fmt.Errorf("%s: %w", b.url(markerKey), err)
	}
	b.id = m.ID
	return nil
}

// anyPush reports whether the bucket has manifests.
func (r *remote) anyPush(ctx context.Context) (found bool, err error) {
	err = r.list(ctx, pushesDir, "", true, func(l listed) error {
		_, ok := parseNumber(pushesDir, l.key)
		found = found || ok
		return nil
	})
	return found, err
}

// wayOut says what helps when no push can go on.
const wayOut = "put this object back from a copy, or pull what is whole into a store and push that to another prefix"

// cacheDir returns the directory of this bucket in the cache: of the server, the prefix and the id, so that no other bucket can pretend to
// be it. It is empty if it cannot be created.
func (b *Bucket) cacheDir() string {
	root := b.caches
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

// problem returns the text of an error without the words that every damage has.
func problem(err error) string { return runfile.ProblemText(err) }
