package bucket_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/bucket"
	"github.com/neurolens/neurolens/ingest/internal/storetest"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// newStore makes a store with runs.
func newStore(t testing.TB, runs ...schema.Run) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	valuetest.OK(t, ingest.Init(dir))
	add(t, dir, runs...)
	return dir
}

// add appends runs to a store.
func add(t testing.TB, dir string, runs ...schema.Run) {
	t.Helper()
	with(t, dir, func(s *ingest.Store) {
		for _, r := range runs {
			valuetest.OK(t, s.Append(r))
		}
	})
}

// with opens a store, and seals what do appends: as long as this process lives, no other Store does it.
func with(t testing.TB, dir string, do func(s *ingest.Store)) {
	t.Helper()
	s := valuetest.Must(ingest.Open(dir, "test"))
	do(s)
	valuetest.Must(s.Seal(context.Background()))
	valuetest.OK(t, s.Close())
}

// few returns n new runs.
func few(n int) []schema.Run {
	runs := make([]schema.Run, n)
	for i := range runs {
		runs[i] = runtest.Small()
	}
	return runs
}

// push pushes a store.
func push(t testing.TB, o *bucket.Options, dir string) (done bucket.Pushed, err error) {
	t.Helper()
	with(t, dir, func(s *ingest.Store) { done, err = opened(t, o).Push(t.Context(), dir, s) })
	return done, err
}

// pull pulls into a store. A refusal fails the test.
func pull(t testing.TB, o *bucket.Options, dir string) (done bucket.Pulled, err error) {
	t.Helper()
	with(t, dir, func(s *ingest.Store) {
		done, err = opened(t, o).Pull(t.Context(), dir, s, bucket.Pulling{Refused: func(f ingest.LeftOut) { t.Errorf("refused: %+v", f) }})
	})
	return done, err
}

// uncached returns the options of another machine.
func uncached(t testing.TB, o *bucket.Options) *bucket.Options {
	t.Helper()
	other := *o
	other.Cache = t.TempDir()
	return &other
}

// same fails the test unless stores have the same runs and events.
func same(t testing.TB, want, got string, context ...any) {
	t.Helper()
	valuetest.DeepEqual(t, storetest.States(t, got), storetest.States(t, want), context...)
	valuetest.DeepEqual(t, events(t, got), events(t, want), context...)
	storetest.Whole(t, got)
}

func events(t testing.TB, dir string) []schema.ULID {
	t.Helper()
	return valuetest.Must(schema.List(schema.Dir(dir), schema.Scope{})).Events.Files
}

// annotated makes a store with runs of every column, an event of each of two kinds, and an artifact.
func annotated(t testing.TB) string {
	t.Helper()
	dir := newStore(t, append(few(3), runtest.Full())...)
	with(t, dir, func(s *ingest.Store) {
		hash, size, err := s.KeepArtifact(strings.NewReader("what the run printed"))
		valuetest.OK(t, err)
		r := runtest.Small()
		r.Artifacts = []schema.Artifact{{Kind: schema.ArtifactStdout, Path: "stdout", SHA256: hash, Bytes: &size}}
		valuetest.OK(t, s.Append(r))
		valuetest.Must(s.Annotate(ingest.Annotation{Kind: schema.EventTag, Runs: []string{r.RunID}, Key: "a", Value: "b"}))
		valuetest.Must(s.Annotate(ingest.Annotation{Kind: schema.EventRemove, Runs: []string{r.RunID}}))
	})
	return dir
}

// TestPushPull: what one store has is in another one after a push and a pull, in few requests, and again is nothing.
func TestPushPull(t *testing.T) {
	server, o := newServer(t)
	from, into := annotated(t), newStore(t)
	done := valuetest.Must(push(t, o, from))
	valuetest.Equal(t, done.Runs, 5)
	valuetest.Equal(t, done.Events, 2)
	valuetest.Equal(t, done.Objects, 6, "samples, ops, runs, events, an artifact and the manifest")
	server.sent()

	got := valuetest.Must(pull(t, uncached(t, o), into))
	valuetest.Equal(t, got.Added, 5)
	valuetest.Equal(t, got.Events, 2)
	valuetest.Equal(t, got.Artifacts, 1)
	same(t, from, into)

	before := server.keys("")
	done = valuetest.Must(push(t, o, from))
	valuetest.Equal(t, done, bucket.Pushed{})
	done = valuetest.Must(push(t, uncached(t, o), into))
	valuetest.Equal(t, done, bucket.Pushed{}, "what was pulled is not pushed")
	valuetest.DeepEqual(t, server.keys(""), before, "keys")
	got = valuetest.Must(pull(t, uncached(t, o), into))
	valuetest.Equal(t, got, bucket.Pulled{})

	server.sent()
	add(t, from, few(2)...)
	valuetest.Must(push(t, o, from))
	if n := server.sent(); n > 8 {
		t.Errorf("the push of a session sent %d requests", n)
	}
	valuetest.Must(pull(t, o, into))
	if n := server.sent(); n > 8 {
		t.Errorf("the pull of a session sent %d requests", n)
	}
	same(t, from, into)
}

// TestFaults: whatever goes wrong with a request, once, a push and a pull end as without it.
func TestFaults(t *testing.T) {
	from := annotated(t)
	for _, kind := range faults {
		for at := 0; ; at++ {
			server, o := newServer(t)
			hit := false
			once := func(n int, _ *requested) fault {
				if n != at {
					return none
				}
				hit = true
				return kind
			}
			into := newStore(t)
			server.set(once)
			valuetest.Equal(t, valuetest.Must(push(t, o, from)).Runs, 5, "acknowledged runs; fault", kind, "at", at)
			server.set(once)
			valuetest.Must(pull(t, uncached(t, o), into))
			same(t, from, into, "fault", kind, "at", at)
			server.set(nil)
			valuetest.Equal(t, len(server.keys("team/pushes/")), 1, "manifests; fault", kind, "at", at)
			if !hit {
				break
			}
		}
	}
}

// TestCrash: a process that dies, or a network that is gone, at any request leaves a bucket that reads as before or with the whole push,
// and the next push and pull end as without it.
func TestCrash(t *testing.T) {
	from := annotated(t)
	for _, last := range []fault{none, answerCut, late} { // of the last request
		for at := 0; ; at++ {
			server, o := newServer(t)
			into, reader := newStore(t), newStore(t)
			crash := func(end context.CancelFunc) func(n int, _ *requested) fault {
				return func(n int, _ *requested) fault {
					switch {
					case n < at:
						return none
					case n == at && last != none:
						end()
						return last
					}
					end()
					return cut
				}
			}
			ctx, end := context.WithCancel(t.Context())
			server.set(crash(end))
			with(t, from, func(s *ingest.Store) { _, _ = opened(t, o).Push(ctx, from, s) })
			pushed := ctx.Err() == nil
			end()
			server.set(nil)
			_, err := pull(t, uncached(t, o), reader)
			if n := len(storetest.States(t, reader)); n != 0 && n != 5 || pushed && err != nil {
				t.Fatalf("after %d requests a reader has %d of 5 runs, %v", at, n, err)
			}
			valuetest.Must(push(t, o, from))

			ctx, end = context.WithCancel(t.Context())
			server.set(crash(end))
			with(t, into, func(s *ingest.Store) {
				_, _ = opened(t, uncached(t, o)).Pull(ctx, into, s, bucket.Pulling{Refused: func(f ingest.LeftOut) { t.Errorf("refused: %+v", f) }})
			})
			pulled := ctx.Err() == nil
			end()
			server.set(nil)
			storetest.Whole(t, into)
			valuetest.Must(pull(t, uncached(t, o), into))
			same(t, from, into, "crash after", at, "requests")
			if pushed && pulled {
				break
			}
		}
	}
}

// TestWriters: 16 stores are pushed at the same time. Each run is acknowledged once, and a reader sees whole pushes.
func TestWriters(t *testing.T) {
	const writers, rounds, runs = 16, 3, 4
	_, o := newServer(t)
	dirs, want := make([]string, writers), map[string]bool{}
	for i := range dirs {
		dirs[i] = newStore(t)
	}
	valuetest.Must(push(t, o, newStore(t, few(runs)...)))
	var ended atomic.Bool
	reading := make(chan error, 1)
	go func() {
		for !ended.Load() {
			into := newStore(t)
			if _, err := pull(t, uncached(t, o), into); err != nil {
				reading <- err
				return
			}
			if n := len(storetest.States(t, into)); n%runs != 0 {
				t.Errorf("a reader has %d runs, which is half a push", n)
			}
		}
		reading <- nil
	}()
	for range rounds {
		var pushing sync.WaitGroup
		for _, dir := range dirs {
			fresh := few(runs)
			add(t, dir, fresh...)
			for _, r := range fresh {
				want[r.RunID] = true
			}
			pushing.Go(func() {
				if done, err := push(t, o, dir); err != nil || done.Runs != runs {
					t.Errorf("pushed %+v, %v", done, err)
				}
			})
		}
		pushing.Wait()
	}
	ended.Store(true)
	valuetest.OK(t, <-reading)
	into := newStore(t)
	valuetest.Equal(t, valuetest.Must(pull(t, o, into)).Pushes, writers*rounds+1)
	got := storetest.States(t, into)
	valuetest.Equal(t, len(got), len(want)+runs)
	for id := range want {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(got)), func(run string) bool { return run == id }) {
			t.Errorf("run %s is missing", id)
		}
	}
}

// TestTwice: two processes push the same store at the same time. Each run is in one push.
func TestTwice(t *testing.T) {
	for range 5 {
		_, o := newServer(t)
		dir := newStore(t, few(5)...)
		var total atomic.Int64
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				done, err := push(t, uncached(t, o), dir)
				valuetest.NoError(t, err)
				total.Add(int64(done.Runs))
			})
		}
		both.Wait()
		valuetest.Equal(t, total.Load(), 5)
	}
}

// TestCareless: a server that ignores If-None-Match is refused at the first push, and at the next one.
func TestCareless(t *testing.T) {
	server, o := newServer(t)
	server.careless = true
	dir := newStore(t, few(1)...)
	for range 2 {
		_, err := push(t, o, dir)
		valuetest.Fails(t, err, "the bucket does not keep If-None-Match")
	}
	valuetest.Equal(t, len(server.keys("team/pushes/"))+len(server.keys("team/writer=")), 0)
}

// TestCacheIsNoTruth: a bucket that was emptied, replaced or restored is read as it is, whatever the cache has.
func TestCacheIsNoTruth(t *testing.T) {
	server, o := newServer(t)
	dir := newStore(t, few(2)...)
	valuetest.Must(push(t, o, dir))
	saved := maps.Clone(server.objects)
	add(t, dir, few(2)...)
	valuetest.Must(push(t, o, dir))

	server.objects = saved // of before the second push
	valuetest.Equal(t, valuetest.Must(push(t, o, dir)).Runs, 2, "after a restoration")
	into := newStore(t)
	valuetest.Must(pull(t, o, into))
	same(t, dir, into)

	clear(server.objects)
	valuetest.Equal(t, valuetest.Must(push(t, o, dir)).Runs, 4, "after it was emptied")

	valuetest.OK(t, filepath.WalkDir(o.Cache, func(name string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			err = os.WriteFile(name, []byte("{"), 0o600)
		}
		return err
	}))
	valuetest.Equal(t, valuetest.Must(push(t, o, dir)).Runs, 0, "with a damaged cache")
}
