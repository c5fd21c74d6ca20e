package bucket_test

import (
	"context"
	"io"
	"io/fs"
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
	"github.com/neurolens/neurolens/ingest/internal/storetest"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// mark records an event about a run.
func mark(t testing.TB, dir string, kind schema.EventKind, run string) {
	t.Helper()
	with(t, dir, func(s *ingest.Store) { valuetest.Must(s.Annotate(ingest.Annotation{Kind: kind, Runs: []string{run}})) })
}

// compact pushes a store with a compacted store, and returns the key of the latter.
func compact(t testing.TB, o *bucket.Options, dir string) (key string, err error) {
	t.Helper()
	with(t, dir, func(s *ingest.Store) { _, key, err = opened(t, o).PushCompacted(t.Context(), dir, s) })
	return key, err
}

// pullSome pulls some runs into a store.
func pullSome(t testing.TB, o *bucket.Options, dir string, runs ...string) (done bucket.Pulled) {
	t.Helper()
	with(t, dir, func(s *ingest.Store) {
		done = valuetest.Must(opened(t, o).Pull(t.Context(), dir, s, bucket.Pulling{
			Choose:  func(context.Context, string) ([]string, error) { return runs, nil },
			Refused: func(f ingest.LeftOut) { t.Errorf("refused: %+v", f) },
		}))
	})
	return done
}

// refusals pulls into a store, and returns the paths of what was refused.
func refusals(t testing.TB, o *bucket.Options, dir string) (paths []string) {
	t.Helper()
	with(t, dir, func(s *ingest.Store) {
		done := valuetest.Must(opened(t, o).Pull(t.Context(), dir, s, bucket.Pulling{Refused: func(f ingest.LeftOut) { paths = append(paths, f.Path) }}))
		valuetest.Equal(t, done.Refused, len(paths))
	})
	return paths
}

// printing makes a run that left a file with some content.
func printing(t testing.TB, dir, content string) (r schema.Run) {
	t.Helper()
	with(t, dir, func(s *ingest.Store) {
		hash, size, err := s.KeepArtifact(strings.NewReader(content))
		valuetest.OK(t, err)
		r = runtest.Small()
		r.Artifacts = []schema.Artifact{{Kind: schema.ArtifactStdout, Path: "stdout", SHA256: hash, Bytes: &size}}
		valuetest.OK(t, s.Append(r))
	})
	return r
}

// hasFile reports whether a store has the file that a run left.
func hasFile(dir string, r schema.Run) bool {
	_, err := schema.FindArtifact(schema.Dir(dir), r.Artifacts[0].SHA256)
	return err == nil
}

// TestRestored: a run that was removed when a compacted store was made, and restored later, comes to new readers, and into the next compacted
// store. A store that does not have it makes none.
func TestRestored(t *testing.T) {
	_, o := newServer(t)
	runs := few(2)
	from := newStore(t, runs...)
	valuetest.Must(push(t, o, from))
	mark(t, from, schema.EventRemove, runs[0].RunID)
	valuetest.Must(compact(t, o, from))

	without := filepath.Join(t.TempDir(), "without")
	valuetest.Must(ingest.Compact(t.Context(), from, without, "test", func(f ingest.LeftOut) { t.Errorf("left out: %+v", f) }))
	valuetest.Equal(t, len(storetest.States(t, without)), 1)
	valuetest.Equal(t, valuetest.Must(pull(t, uncached(t, o), without)), bucket.Pulled{}, "a removed run that a compaction left out is not missing")
	valuetest.Fails(t, valuetest.Error(compact(t, uncached(t, o), without)), "which a compaction left out; pull into a new store and push that")

	mark(t, from, schema.EventRestore, runs[0].RunID)
	valuetest.Must(push(t, o, from))
	for what, into := range map[string]string{"new": newStore(t), "compacted": without} {
		reader := uncached(t, o)
		valuetest.Must(pull(t, reader, into))
		valuetest.DeepEqual(t, storetest.States(t, into), storetest.States(t, from), what)
		storetest.Whole(t, into)
	}
	fresh := newStore(t)
	reader := uncached(t, o)
	valuetest.Must(pull(t, reader, fresh))
	valuetest.Contains(t, valuetest.Must(compact(t, reader, fresh)), "compacted/000000000004-")
	again := newStore(t)
	valuetest.Must(pull(t, uncached(t, o), again))
	same(t, from, again)
	_, found := verify(t, o, true)
	valuetest.Equal(t, len(found), 0)
}

// TestRestoredLater: one pull brings a run that an earlier pull of other runs had left out, and that was removed and restored meanwhile.
func TestRestoredLater(t *testing.T) {
	_, o := newServer(t)
	runs := few(2)
	from, into := newStore(t, runs...), newStore(t)
	mark(t, from, schema.EventRemove, runs[0].RunID)
	valuetest.Must(push(t, o, from))
	pullSome(t, o, into, runs[1].RunID)
	mark(t, from, schema.EventRestore, runs[0].RunID)
	valuetest.Must(push(t, o, from))
	valuetest.Equal(t, valuetest.Must(pull(t, o, into)).Added, 1)
	valuetest.DeepEqual(t, storetest.States(t, into), storetest.States(t, from))
	storetest.Whole(t, into)
}

// TestCompactedLacks: verify says that a compacted store lacks runs and events of the pushes that it replaces.
func TestCompactedLacks(t *testing.T) {
	server, o := newServer(t)
	valuetest.Must(push(t, o, annotated(t)))
	server.objects["team/pushes/000000000002.json"] = object{bucket.EmptyCompacted(t, 1), time.Now()}
	_, found := verify(t, o, false)
	valuetest.Equal(t, len(found), 2)
	for i, says := range []string{"its compacted store lacks 5 runs of the pushes", "its compacted store lacks 2 events of the pushes"} {
		valuetest.Equal(t, found[i].Path, "pushes/000000000002.json")
		valuetest.Contains(t, found[i].Problem, says)
	}
}

// TestSetBack: a bucket that was set back to an earlier state, and to which others pushed since, is read as it is, even if nothing but a
// hash differs from what the cache has.
func TestSetBack(t *testing.T) {
	const second = "team/pushes/000000000002.json"
	server, o := newServer(t)
	one, two := newStore(t, few(1)...), newStore(t, few(1)...)
	valuetest.Must(push(t, o, one))
	add(t, one, few(1)...)
	valuetest.Must(push(t, o, one))
	into, reader := newStore(t), uncached(t, o)
	valuetest.Must(pull(t, reader, into))
	was := server.objects[second].content
	for same := false; !same; same = len(server.objects[second].content) == len(was) { // times have up to nine digits
		delete(server.objects, second)
		valuetest.Must(push(t, uncached(t, o), two))
	}
	valuetest.Equal(t, valuetest.Must(pull(t, reader, into)).Added, 1)
	valuetest.Equal(t, valuetest.Must(push(t, o, one)).Runs, 1)
	fresh := newStore(t)
	valuetest.Must(pull(t, uncached(t, o), fresh))
	valuetest.Equal(t, len(storetest.States(t, fresh)), 3)
}

// TestGap: a push refuses a bucket in which a manifest is missing or damaged, and says what helps. A pull names it and takes the others. Who has
// read it before goes on. What helps helps.
func TestGap(t *testing.T) {
	for what, damage := range map[string]func(s *server, key string){
		"is missing, and later pushes are there": func(s *server, key string) { delete(s.objects, key) },
		"its content does not match its SHA-256": func(s *server, key string) {
			content := slices.Clone(s.objects[key].content)
			content[len(content)/2] ^= 1
			s.objects[key] = object{content, time.Now()}
		},
	} {
		server, o := newServer(t)
		from, into, reader := newStore(t), newStore(t), uncached(t, o)
		for range 3 {
			add(t, from, few(1)...)
			valuetest.Must(push(t, o, from))
		}
		valuetest.Must(pull(t, reader, into))
		damage(server, "team/pushes/000000000002.json")
		err := valuetest.Error(push(t, uncached(t, o), from))
		valuetest.Equal(t, strings.Count(err.Error(), "pushes/000000000002.json"), 1, what)
		for _, says := range []string{"pushes/000000000002.json", what, "; put this object back from a copy, or pull "} {
			valuetest.Fails(t, err, says)
		}
		fresh := newStore(t)
		valuetest.DeepEqual(t, refusals(t, uncached(t, o), fresh), []string{"pushes/000000000002.json"}, what)
		valuetest.Equal(t, len(storetest.States(t, fresh)), 2, what)
		add(t, from, few(1)...)
		valuetest.Equal(t, valuetest.Must(push(t, o, from)).Runs, 1, what)
		valuetest.Equal(t, valuetest.Must(pull(t, reader, into)).Added, 1, what)
		_, found := verify(t, o, false)
		valuetest.Equal(t, found[0].Path, "pushes/000000000002.json", what)

		other := valuetest.Must(bucket.Open("s3://bench/other", *o))
		with(t, from, func(s *ingest.Store) {
			valuetest.Equal(t, valuetest.Must(other.Push(t.Context(), from, s)).Runs, 4, what)
		})
	}
}

// TestNewestIsLost: that the newest manifest is missing says verify, pull and --gc on a machine that has read it. Who pushes again mends it.
func TestNewestIsLost(t *testing.T) {
	const newest = "pushes/000000000002.json"
	server, o := newServer(t)
	from, into, reader := newStore(t, few(1)...), newStore(t), uncached(t, o)
	valuetest.Must(push(t, o, from))
	add(t, from, few(1)...)
	valuetest.Must(push(t, o, from))
	valuetest.Must(pull(t, reader, into))
	delete(server.objects, "team/"+newest)
	_, found := verify(t, reader, false)
	valuetest.Equal(t, len(found), 1)
	valuetest.Equal(t, found[0].Path, newest)
	valuetest.Contains(t, found[0].Problem, "it is missing, and this machine has read it before")
	valuetest.DeepEqual(t, refusals(t, reader, into), []string{newest})
	valuetest.Fails(t, valuetest.Error(opened(t, reader).RemoveLeftovers(t.Context())), newest)
	valuetest.Equal(t, valuetest.Must(push(t, o, from)).Runs, 1)
	valuetest.DeepEqual(t, refusals(t, reader, into), nil)
	valuetest.Equal(t, valuetest.Must(pull(t, uncached(t, o), newStore(t))).Added, 2)
	_, found = verify(t, reader, true)
	valuetest.Equal(t, len(found), 0)
}

// TestHugeNumber: one strange key is one gap.
func TestHugeNumber(t *testing.T) {
	server, o := newServer(t)
	valuetest.Must(push(t, o, newStore(t, few(1)...)))
	server.objects["team/pushes/999999999999.json"] = server.objects["team/pushes/000000000001.json"]
	_, found := verify(t, o, false)
	valuetest.Equal(t, len(found), 1)
	valuetest.Equal(t, found[0].Path, "pushes/000000000002.json")
}

// TestCompactedBehind: a store that lacks pushes which came after the compacted store in the bucket makes none, and says what helps.
func TestCompactedBehind(t *testing.T) {
	_, o := newServer(t)
	one, two := newStore(t, few(1)...), newStore(t, few(1)...)
	key := valuetest.Must(compact(t, o, one))
	valuetest.Must(push(t, uncached(t, o), two))
	valuetest.Fails(t, valuetest.Error(compact(t, o, one)), "the store lacks runs or events of push 3; run store pull first")
	valuetest.Must(pull(t, o, one))
	if again := valuetest.Must(compact(t, o, one)); again <= key {
		t.Errorf("the compacted store %s is followed by %s", key, again)
	}
}

// TestCacheOfCompacted: who began with a compacted store lists the names after the newest that it knows.
func TestCacheOfCompacted(t *testing.T) {
	server, o := newServer(t)
	from := newStore(t)
	for range 5 {
		add(t, from, few(1)...)
		valuetest.Must(push(t, o, from))
	}
	valuetest.Must(compact(t, o, from))
	into, reader := newStore(t), uncached(t, o)
	valuetest.Must(pull(t, reader, into))
	add(t, from, few(1)...)
	valuetest.Must(push(t, o, from))
	server.page = 2
	server.sent()
	valuetest.Equal(t, valuetest.Must(pull(t, reader, into)).Added, 1)
	valuetest.Equal(t, server.sent(), 5, "the marker, a listing, a manifest, samples and runs")
	same(t, from, into)
}

// TestFileOfAnotherPush: a file comes with each run that left it, also when only an earlier push put it.
func TestFileOfAnotherPush(t *testing.T) {
	server, o := newServer(t)
	from := newStore(t)
	printing(t, from, "the same")
	valuetest.Must(push(t, o, from))
	second := printing(t, from, "the same")
	valuetest.Must(push(t, o, from))

	into, reader := newStore(t), uncached(t, o)
	valuetest.Equal(t, pullSome(t, reader, into, second.RunID).Artifacts, 1)
	storetest.Whole(t, into)
	valuetest.OK(t, os.RemoveAll(filepath.Join(into, schema.ArtifactsDir)))
	valuetest.Equal(t, pullSome(t, reader, into, second.RunID).Artifacts, 1, "of a run that came without it before")
	valuetest.Equal(t, hasFile(into, second), true)
	valuetest.Equal(t, len(storetest.States(t, into)), 1)

	old(t, into)
	with(t, into, func(s *ingest.Store) {
		valuetest.Equal(t, valuetest.Must(s.PruneArtifacts(t.Context(), ingest.Pruning{Before: time.Now()})).Files, 1)
	})
	valuetest.Equal(t, pullSome(t, reader, into, second.RunID).Objects, 0, "what was pruned is not fetched again")

	for _, key := range server.keys("team/writer=") { // the first push is refused
		if strings.Contains(key, "/runs/") {
			delete(server.objects, key) // keys ascend
			break
		}
	}
	fresh := newStore(t)
	valuetest.DeepEqual(t, refusals(t, uncached(t, o), fresh), []string{"pushes/000000000001.json"})
	valuetest.Equal(t, len(storetest.States(t, fresh)), 1)
	valuetest.Equal(t, hasFile(fresh, second), true)
}

// old makes the files that runs left old enough to be pruned.
func old(t testing.TB, dir string) {
	t.Helper()
	then := time.Now().Add(-48 * time.Hour)
	valuetest.OK(t, filepath.WalkDir(filepath.Join(dir, schema.ArtifactsDir), func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		return os.Chtimes(name, then, then)
	}))
}

// TestCompactedOfPruned: a first pull from a compacted store brings the files of runs that the store, which made it, has pruned.
func TestCompactedOfPruned(t *testing.T) {
	server, o := newServer(t)
	from := newStore(t)
	var runs []schema.Run
	for _, content := range []string{"one", "two", "three"} {
		runs = append(runs, printing(t, from, content))
		valuetest.Must(push(t, o, from))
	}
	two, writer := newStore(t), uncached(t, o)
	valuetest.Must(pull(t, writer, two))
	old(t, two)
	with(t, two, func(s *ingest.Store) {
		valuetest.Equal(t, valuetest.Must(s.PruneArtifacts(t.Context(), ingest.Pruning{Before: time.Now()})).Files, 3)
	})
	key := valuetest.Must(compact(t, writer, two))
	if key == "" || slices.ContainsFunc(server.keys("team/"+key), func(key string) bool { return strings.Contains(key, "/artifacts/") }) {
		t.Errorf("the compacted store is %q, and has %v", key, server.keys("team/"+key))
	}
	_, found := verify(t, o, true)
	valuetest.Equal(t, len(found), 0)
	for _, pushes := range []string{"whole", "damaged"} { // of the pushes, only the files are needed
		if pushes == "damaged" {
			maps.DeleteFunc(server.objects, func(key string, _ object) bool {
				return strings.HasPrefix(key, "team/writer=") && strings.Contains(key, "/runs/")
			})
		}
		fresh := newStore(t)
		valuetest.Equal(t, valuetest.Must(pull(t, uncached(t, o), fresh)).Artifacts, 3, pushes)
		for _, r := range runs {
			valuetest.Equal(t, hasFile(fresh, r), true, pushes)
		}
	}
}

// TestPullMakesStore: where there is no store, the first run that is merged makes it. A pull that fails, or of which no run is wanted, or all
// is refused, makes none.
func TestPullMakesStore(t *testing.T) {
	server, o := newServer(t)
	dir := annotated(t)
	valuetest.Must(push(t, o, dir))
	into := filepath.Join(t.TempDir(), "new")
	pull := func(choose func(context.Context, string) ([]string, error)) (bucket.Pulled, error) {
		var made *ingest.Store
		done, err := opened(t, uncached(t, o)).Pull(t.Context(), into, nil, bucket.Pulling{Choose: choose, Refused: func(ingest.LeftOut) {}, Make: func() (*ingest.Store, error) {
			valuetest.OK(t, ingest.Init(into))
			made = valuetest.Must(ingest.Open(into, "test"))
			return made, nil
		}})
		if made != nil {
			valuetest.OK(t, made.Close())
		}
		return done, err
	}
	none := func(what string) {
		t.Helper()
		_, err := os.Stat(into)
		valuetest.ErrorIs(t, err, fs.ErrNotExist, what)
	}
	_, err := pull(func(context.Context, string) ([]string, error) { return nil, io.ErrUnexpectedEOF })
	valuetest.ErrorIs(t, err, io.ErrUnexpectedEOF)
	none("a choice that fails")
	done := valuetest.Must(pull(func(context.Context, string) ([]string, error) { return nil, nil }))
	valuetest.DeepEqual(t, []int{done.Added, done.Events}, []int{0, 0})
	none("no run that is wanted")
	kept := maps.Clone(server.objects)
	for _, key := range server.keys("team/writer=") {
		server.objects[key] = object{content: []byte("damaged")}
	}
	valuetest.Equal(t, valuetest.Must(pull(nil)).Refused > 0, true)
	none("all is refused")
	server.objects = kept
	valuetest.Must(pull(nil))
	same(t, dir, into)
}

// TestEmpty: a pull of a prefix to which nothing was pushed says so, and one of a bucket that lost its marker does not.
func TestEmpty(t *testing.T) {
	server, o := newServer(t)
	dir := newStore(t, few(1)...)
	_, err := pull(t, o, dir)
	valuetest.ErrorIs(t, err, bucket.ErrEmpty)
	valuetest.Must(push(t, o, dir))
	delete(server.objects, "team/neurolens-bucket.json")
	_, err = pull(t, o, dir)
	valuetest.ErrorIs(t, err, bucket.ErrDamaged)
	_, err = push(t, o, dir)
	valuetest.ErrorIs(t, err, bucket.ErrDamaged)
	valuetest.Fails(t, err, "neurolens-bucket.json is missing, and pushes are there")
	valuetest.Equal(t, len(server.keys("team/neurolens-bucket.json")), 0)
}

// TestTakenBeforeThere: a push goes on although the server first refuses the marker or a number as taken, and then does not find it, because
// another push is putting it.
func TestTakenBeforeThere(t *testing.T) {
	for _, key := range []string{"neurolens-bucket.json", "pushes/"} {
		server, o := newServer(t)
		dir, other := newStore(t, few(2)...), newStore(t, few(3)...)
		asked := 0
		server.set(func(_ int, r *requested) fault {
			if !strings.Contains(r.URL.Path, key) || asked == 0 && r.Method != http.MethodPut {
				return none
			}
			switch asked++; asked {
			case 1:
				fail(r.answer, http.StatusPreconditionFailed, "PreconditionFailed")
				return answered
			case 2, 3:
				fail(r.answer, http.StatusNotFound, "NoSuchKey")
				return answered
			}
			server.set(nil)
			valuetest.Must(push(t, uncached(t, o), other))
			return none
		})
		valuetest.Equal(t, valuetest.Must(push(t, o, dir)).Runs, 2, key)
		valuetest.Equal(t, asked, 4, key)
		valuetest.Equal(t, valuetest.Must(pull(t, o, newStore(t))).Added, 5, key)
	}
}

// TestFirstPushMeanwhile: a push and a pull that find no marker, and then the manifest of another's first push, go on.
func TestFirstPushMeanwhile(t *testing.T) {
	meanwhile := func() (*bucket.Options, string) {
		server, o := newServer(t)
		dir, other := newStore(t, few(2)...), newStore(t, few(3)...)
		server.set(func(_ int, r *requested) fault {
			server.set(nil)
			fail(r.answer, http.StatusNotFound, "NoSuchKey")
			valuetest.Must(push(t, uncached(t, o), other))
			return answered
		})
		return o, dir
	}
	o, dir := meanwhile()
	pulled := valuetest.Must(pull(t, o, dir))
	valuetest.Equal(t, pulled.Added, 3)
	o, dir = meanwhile()
	pushed := valuetest.Must(push(t, o, dir))
	valuetest.Equal(t, pushed.Runs, 2)
	valuetest.Equal(t, valuetest.Must(pull(t, o, newStore(t))).Added, 5)
}
