package bucket_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/bucket"
	"github.com/neurolens/neurolens/ingest/check"
	"github.com/neurolens/neurolens/ingest/internal/storetest"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// team is a bucket with two writers and a reader, each with a cache of its own.
type team struct {
	t       *testing.T
	server  *server
	root    string                     // of a copy
	options map[string]*bucket.Options // by the names of stores
	dirs    map[string]string
	acked   map[string]bool // runs whose push ended without error
	said    []string        // what went wrong
}

// The members of a team.
const (
	one   = "one"
	two   = "two"
	three = "three" // only reads
	four  = "four"  // reads when all is over
)

var members = []string{one, two, three}

// firstTeam returns writers that have not pushed yet.
func firstTeam(t *testing.T) *team {
	server, o := newServer(t)
	w := &team{t: t, server: server, options: map[string]*bucket.Options{}, dirs: map[string]string{}, acked: map[string]bool{}}
	for _, name := range members {
		w.options[name], w.dirs[name] = uncached(t, o), newStore(t)
	}
	for _, name := range []string{one, two} {
		w.measure(name)
	}
	return w
}

// grownTeam returns writers that have pushed, with a compacted store, runs that wait for the next push, and leftovers; all is eight days old.
func grownTeam(t *testing.T) *team {
	w := firstTeam(t)
	for _, step := range []func() error{
		func() error { return w.push(one) },
		func() error { return w.push(two) },
		func() error { return w.compact(two) },
		func() error { w.measure(one); return w.push(one) },
		func() error { return w.pull(three) },
	} {
		valuetest.OK(t, step())
	}
	w.measure(one)
	w.measure(two)
	for key, o := range w.server.objects {
		w.server.objects[key] = object{o.content, time.Now().Add(-8 * 24 * time.Hour)}
	}
	w.server.objects["team/writer=x/leftover"] = object{nil, time.Now().Add(-8 * 24 * time.Hour)}
	return w
}

// measure adds a session: two runs, of which one left a file, a tag, and the removal and restoration of a run.
func (w *team) measure(name string) {
	dir := w.dirs[name]
	with(w.t, dir, func(s *ingest.Store) {
		hash, size, err := s.KeepArtifact(strings.NewReader("what each run prints"))
		valuetest.OK(w.t, err)
		r := runtest.Small()
		r.Artifacts = []schema.Artifact{{Kind: schema.ArtifactStdout, Path: "stdout", SHA256: hash, Bytes: &size}}
		for _, r := range []schema.Run{r, runtest.Small()} {
			valuetest.OK(w.t, s.Append(r))
		}
		for _, kind := range []schema.EventKind{schema.EventRemove, schema.EventRestore} {
			valuetest.Must(s.Annotate(ingest.Annotation{Kind: kind, Runs: []string{r.RunID}}))
		}
	})
}

// copied returns a team whose members go on by themselves from here.
func (w *team) copied() *team {
	c := *w
	c.options, c.dirs, c.acked = maps.Clone(w.options), maps.Clone(w.dirs), maps.Clone(w.acked)
	c.root, c.said = valuetest.Must(os.MkdirTemp("", "team")), nil
	for _, name := range members {
		c.dirs[name] = filepath.Join(c.root, name)
		valuetest.OK(w.t, os.CopyFS(c.dirs[name], os.DirFS(w.dirs[name])))
		o := *w.options[name]
		o.Cache = filepath.Join(c.root, "cache-"+name)
		valuetest.OK(w.t, os.CopyFS(o.Cache, os.DirFS(w.options[name].Cache)))
		c.options[name] = &o
	}
	return &c
}

// open opens the store and the bucket of a member.
func (w *team) open(name string, do func(b *bucket.Bucket, s *ingest.Store) error) error {
	s, err := ingest.Open(w.dirs[name], "test")
	if err != nil {
		return err
	}
	b, err := bucket.Open("s3://bench/team", *w.options[name])
	if err == nil {
		err = do(b, s)
	}
	return errors.Join(err, s.Close())
}

func (w *team) push(name string) error {
	has := storetest.States(w.t, w.dirs[name])
	return w.acknowledge(has, w.open(name, func(b *bucket.Bucket, s *ingest.Store) error {
		_, err := b.Push(w.t.Context(), w.dirs[name], s)
		return err
	}))
}

// refused says that something was not taken.
func (w *team) refused(f ingest.LeftOut) { w.said = append(w.said, fmt.Sprintf("refused: %+v", f)) }

// found says that a bucket is damaged.
func (w *team) found(f check.Finding) { w.said = append(w.said, fmt.Sprintf("found: %+v", f)) }

// nobody is the error of a command, unless it is that nobody has pushed yet.
func nobody(err error) error {
	if errors.Is(err, bucket.ErrEmpty) {
		return nil
	}
	return err
}

func (w *team) pull(name string) error {
	return w.open(name, func(b *bucket.Bucket, s *ingest.Store) error {
		_, err := b.Pull(w.t.Context(), w.dirs[name], s, bucket.Pulling{Refused: w.refused})
		return nobody(err)
	})
}

func (w *team) compact(name string) error {
	if err := w.pull(name); err != nil {
		return err
	}
	has := storetest.States(w.t, w.dirs[name])
	return w.acknowledge(has, w.open(name, func(b *bucket.Bucket, s *ingest.Store) error {
		_, _, err := b.PushCompacted(w.t.Context(), w.dirs[name], s)
		if err != nil && strings.HasSuffix(err.Error(), "run store pull first") { // another one pushed after the pull; the push of this store is done
			return nil
		}
		return err
	}))
}

// acknowledge notes that runs are in the bucket, if their push ended without error.
func (w *team) acknowledge(runs map[string]storetest.RunState, err error) error {
	for run := range runs {
		w.acked[run] = w.acked[run] || err == nil
	}
	return err
}

func (w *team) verify(name string) error {
	return w.open(name, func(b *bucket.Bucket, _ *ingest.Store) error {
		_, err := b.Verify(w.t.Context(), true, w.found)
		return nobody(err)
	})
}

func (w *team) gc(name string) error {
	return w.open(name, func(b *bucket.Bucket, _ *ingest.Store) error {
		_, err := b.RemoveLeftovers(w.t.Context())
		return nobody(err)
	})
}

// TestBetween: whatever another writer does between two requests, each run of a push that ended without error is there once, for new and for
// old readers, and nobody reports damage. Only with NEUROLENS_LONG it is done between all requests, and otherwise between some.
func TestBetween(t *testing.T) {
	commands := map[string]func(w *team) error{
		"push":    func(w *team) error { return w.push(one) },
		"pull":    func(w *team) error { return w.pull(one) },
		"sync":    func(w *team) error { return errors.Join(w.pull(one), w.push(one)) },
		"compact": func(w *team) error { return w.compact(one) },
		"verify":  func(w *team) error { return w.verify(one) },
		"gc":      func(w *team) error { return w.gc(one) },
	}
	others := map[string]func(w *team) error{
		"push":              func(w *team) error { return w.push(two) },
		"push of the store": func(w *team) error { w.measure(one); return w.push(one) },
		"measure":           func(w *team) error { w.measure(one); return nil },
		"compact":           func(w *team) error { return w.compact(two) },
		"gc":                func(w *team) error { return w.gc(two) },
		"verify and pull":   func(w *team) error { return errors.Join(w.verify(two), w.pull(two)) },
	}
	step, at := 11, 0
	if os.Getenv("NEUROLENS_LONG") != "" {
		step = 1
	}
	for state, begin := range map[string]func(*testing.T) *team{"first": firstTeam, "grown": grownTeam} {
		before := begin(t)
		objects := maps.Clone(before.server.objects)
		for _, command := range slices.Sorted(maps.Keys(commands)) {
			for _, other := range slices.Sorted(maps.Keys(others)) {
				for reached := true; reached; at += step {
					w := before.copied()
					w.server.objects = maps.Clone(objects)
					var failed error
					reached = w.between(at, func() error { return others[other](w) }, func() { failed = commands[command](w) })
					w.settled(failed, fmt.Sprintf("%s bucket, %s, at request %d %s", state, command, at, other))
					valuetest.OK(t, os.RemoveAll(w.root))
				}
				at %= step
			}
		}
	}
}

// between runs a command, and another one before its request number at. It reports whether there was such a request.
func (w *team) between(at int, other func() error, command func()) (reached bool) {
	w.server.set(func(n int, _ *requested) fault {
		if n != at || reached {
			return none
		}
		reached = true
		w.server.set(nil)
		defer func() {
			if p := recover(); p != nil {
				w.said = append(w.said, fmt.Sprint(p))
			}
		}()
		if err := other(); err != nil {
			w.said = append(w.said, fmt.Sprintf("the other: %v", err))
		}
		return none
	})
	command()
	w.server.set(nil)
	return reached
}

// settled fails the test unless every acknowledged run is there once, and nothing was said; also after both writers pushed all they have.
func (w *team) settled(failed error, what string) {
	w.t.Helper()
	if failed != nil {
		w.t.Errorf("%s: %v", what, failed)
	}
	for _, last := range []bool{false, true} {
		readers := []string{four}
		if last {
			readers = append(readers, three)
			what += ", after a last push"
			valuetest.NoError(w.t, errors.Join(w.push(one), w.push(two)), what)
		}
		w.dirs[four] = filepath.Join(w.root, fmt.Sprint("new", last))
		w.options[four] = &bucket.Options{Program: "test", Cache: w.dirs[four] + "-cache", Getenv: w.options[three].Getenv}
		valuetest.OK(w.t, ingest.Init(w.dirs[four]))
		for _, name := range readers {
			valuetest.NoError(w.t, w.pull(name), what)
			has := storetest.States(w.t, w.dirs[name])
			for run, acked := range w.acked {
				if _, ok := has[run]; acked && !ok {
					w.t.Errorf("%s: reader %s lacks the acknowledged run %s", what, name, run)
				}
			}
		}
	}
	var done bucket.Verified
	valuetest.NoError(w.t, w.open(four, func(b *bucket.Bucket, _ *ingest.Store) (err error) {
		done, err = b.Verify(w.t.Context(), true, w.found)
		return nobody(err)
	}), what)
	if has := len(storetest.States(w.t, w.dirs[four])); done.Repeated > 0 || done.Runs != has {
		w.t.Errorf("%s: verify counts %+v, and a new reader has %d runs", what, done, has)
	}
	storetest.Whole(w.t, w.dirs[four])
	all := events(w.t, w.dirs[four])
	for _, name := range []string{one, two} {
		for _, id := range events(w.t, w.dirs[name]) {
			if !slices.Contains(all, id) || !slices.Contains(events(w.t, w.dirs[three]), id) {
				w.t.Errorf("%s: a reader lacks event %s of store %s", what, id, name)
			}
		}
	}
	for _, text := range w.said {
		w.t.Errorf("%s: %s", what, text)
	}
}

// TestLatePush: a push whose objects another one's --gc may have removed puts no manifest.
func TestLatePush(t *testing.T) {
	server, o := newServer(t)
	valuetest.Fails(t, bucket.CommitLate(t.Context(), opened(t, o), 4*24*time.Hour), "began more than 4 days ago, and its objects may have been removed: push again")
	valuetest.Equal(t, len(server.keys("team/pushes/")), 0)
	valuetest.OK(t, bucket.CommitLate(t.Context(), opened(t, o), 3*24*time.Hour))
	valuetest.Equal(t, len(server.keys("team/pushes/")), 1)
}

// TestClockAhead: the clock of the machine does not make objects of a push old that is at work.
func TestClockAhead(t *testing.T) {
	server, o := newServer(t)
	valuetest.Must(push(t, o, newStore(t, few(1)...)))
	server.objects["team/writer=x/at-work"] = object{nil, time.Now().Add(-8 * 24 * time.Hour)}
	server.set(func(_ int, r *requested) fault { // whose clock is as far behind
		r.answer.Header().Set("Date", time.Now().Add(-8*24*time.Hour).UTC().Format(http.TimeFormat))
		return none
	})
	valuetest.Equal(t, valuetest.Must(opened(t, o).RemoveLeftovers(t.Context())), 0)
}

// TestPointerIsLost: a compacted store whose making was interrupted before its last request is found again after the next try.
func TestPointerIsLost(t *testing.T) {
	server, o := newServer(t)
	dir := annotated(t)
	key := valuetest.Must(compact(t, o, dir))
	const pointer = "team/compacted/000000000002.json"
	want := server.objects[pointer].content
	delete(server.objects, pointer)
	valuetest.Equal(t, valuetest.Must(compact(t, o, dir)), key)
	valuetest.Equal(t, string(server.objects[pointer].content), string(want))
	server.sent()
	valuetest.Equal(t, valuetest.Must(compact(t, o, dir)), key)
	valuetest.Equal(t, slices.ContainsFunc(server.requests, func(r string) bool { return strings.HasPrefix(r, "PUT") }), false)
}

// TestCompactedOfPart: a store that has the newest push, and not those that the compacted store in the bucket replaces, makes no compacted
// store.
func TestCompactedOfPart(t *testing.T) {
	server, o := newServer(t)
	old, part := newStore(t, few(2)...), newStore(t)
	valuetest.Must(push(t, o, old))
	newest := few(1)
	server.set(func(_ int, r *requested) fault { // the other push gets the number before that of the compacted store
		if r.Method == "PUT" && strings.HasSuffix(r.URL.Path, "/neurolens.json") {
			server.set(nil)
			valuetest.Must(push(t, uncached(t, o), newStore(t, newest...)))
		}
		return none
	})
	valuetest.Contains(t, valuetest.Must(compact(t, o, old)), "compacted/000000000001-")
	valuetest.Equal(t, server.keys("team/compacted/")[len(server.keys("team/compacted/"))-1], "team/compacted/000000000003.json")
	pullSome(t, uncached(t, o), part, newest[0].RunID)
	valuetest.Equal(t, len(storetest.States(t, part)), 1)
	valuetest.Fails(t, valuetest.Error(compact(t, uncached(t, o), part)), "the store lacks runs or events of push 3; run store pull first")
	_, found := verify(t, o, true)
	valuetest.Equal(t, len(found), 0)
}
