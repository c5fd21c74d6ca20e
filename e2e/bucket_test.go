package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// objectStore is a server of S3, with a proxy before it in which requests go wrong.
type objectStore struct {
	dir   string // with the bucket bench
	proxy *httptest.Server
	mu    sync.Mutex
	wrong func(w http.ResponseWriter, r *http.Request, forward func(http.ResponseWriter)) // nil: nothing
}

const s3Secret = "not-to-be-shown"

// startObjectStore starts versitygw with an empty bucket. It ends with the test.
func startObjectStore(t *testing.T) *objectStore {
	t.Helper()
	program, err := exec.LookPath("versitygw")
	programtest.Needs(t, "versitygw", err)
	s := &objectStore{dir: t.TempDir()}
	data, meta := filepath.Join(s.dir, "data"), filepath.Join(s.dir, "meta")
	valuetest.OK(t, errors.Join(os.MkdirAll(filepath.Join(data, "bench"), 0o777), os.MkdirAll(meta, 0o777)))
	address := "@" + schema.NewULID(time.Now()).String() // a socket of Linux: another process could take a port that is free
	server := exec.Command(program, "--port", address, "--quiet", "posix", "--sidecar", meta, data)
	server.Env = append(os.Environ(), "ROOT_ACCESS_KEY=AKIDTEST", "ROOT_SECRET_KEY="+s3Secret)
	valuetest.OK(t, server.Start())
	ended := make(chan struct{})
	go func() {
		_ = server.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = server.Process.Kill()
		<-ended
	})
	for {
		conn, err := net.Dial("unix", address)
		if err == nil {
			valuetest.OK(t, conn.Close())
			break
		}
		select {
		case <-ended:
			t.Fatalf("versitygw ended before it answered: %v", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
	to := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "versitygw"})
	to.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", address)
	}}
	to.ErrorLog = log.New(io.Discard, "", 0) // of processes that were killed
	s.proxy = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		wrong := s.wrong
		s.mu.Unlock()
		forward := func(w http.ResponseWriter) { to.ServeHTTP(w, r) }
		if wrong == nil {
			forward(w)
			return
		}
		wrong(w, r, forward)
	}))
	t.Cleanup(s.proxy.Close)
	return s
}

// set says what goes wrong with requests.
func (s *objectStore) set(wrong func(w http.ResponseWriter, r *http.Request, forward func(http.ResponseWriter))) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrong = wrong
}

// team is the URL of the tests.
const team = "s3://bench/team"

// program prepares a call of the program with the server, and with a cache of its own in a directory.
func (s *objectStore) program(t *testing.T, dir string, args ...string) *programtest.Process {
	t.Helper()
	p := programtest.Program(t, dir, args...)
	p.Env = append(p.Env, "AWS_ENDPOINT_URL="+s.proxy.URL, "AWS_ACCESS_KEY_ID=AKIDTEST", "AWS_SECRET_ACCESS_KEY="+s3Secret, "XDG_CACHE_HOME="+filepath.Join(dir, "cache"))
	return p
}

// run runs the program to its end, and returns what it counts.
func (s *objectStore) run(t *testing.T, dir string, args ...string) map[string]any {
	t.Helper()
	p := s.program(t, dir, append(args, "--json")...)
	p.MustRun(t)
	var rows []map[string]any
	valuetest.OK(t, json.Unmarshal([]byte(p.Printed.String()), &rows), p.Printed.String())
	if len(rows) == 0 {
		return nil
	}
	return rows[0]
}

// measured adds a session of n sealed runs to the store of a directory, and returns its id.
func measured(t *testing.T, dir string, n int) string {
	t.Helper()
	session := schema.NewULID(time.Now()).String()
	store := programtest.OpenStore(t, filepath.Join(dir, "runs_store"))
	runs := make([]schema.Run, n)
	for i := range runs {
		runs[i] = runtest.Small()
		runs[i].SessionID = session
	}
	_, err := store.AppendAll(runtest.Each(runs...))
	valuetest.OK(t, err)
	valuetest.OK(t, store.Close())
	return session
}

// sessions counts the runs of each session in the store of a directory, and checks that it is whole.
func sessions(t *testing.T, dir string) map[string]int {
	t.Helper()
	programtest.Output(t, dir, "store", "verify")
	var rows []struct {
		Session string `json:"session_id"`
		N       int    `json:"n"`
	}
	text := programtest.Output(t, dir, "query", "SELECT session_id, count(*) AS n FROM runs GROUP BY 1", "--json")
	valuetest.OK(t, json.Unmarshal([]byte(text), &rows), text)
	all := map[string]int{}
	for _, r := range rows {
		all[r.Session] = r.N
	}
	return all
}

// emptyStore returns a directory with an empty store.
func emptyStore(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	valuetest.OK(t, ingest.Init(filepath.Join(dir, "runs_store")))
	return dir
}

// TestBucket: what one machine pushes, another one pulls, with tags and removals, and asks as its own; a part by a filter; for the first
// time from a compacted store. Processes show no credentials.
func TestBucket(t *testing.T) {
	t.Parallel()
	s := startObjectStore(t)
	a, b := t.TempDir(), t.TempDir()
	first, second := measured(t, a, 5), measured(t, a, 3)
	valuetest.Equal(t, fmt.Sprint(s.run(t, a, "store", "sync", team)["pushed"]), "8", "the first one")
	programtest.Output(t, a, "tag", "session="+first, "cooling=water")
	programtest.Output(t, a, "rm", "session="+second)
	s.run(t, a, "store", "push", team)
	third := measured(t, b, 2)
	got := s.run(t, b, "store", "sync", team)
	valuetest.Equal(t, fmt.Sprint(got["added"], got["events"], got["pushed"]), "8 2 2")
	valuetest.Equal(t, programtest.Output(t, b, "query", "SELECT count(*) AS n FROM runs WHERE tags['cooling'] = 'water'", "--format", "csv"), "n\n5\n")
	valuetest.DeepEqual(t, sessions(t, b), map[string]int{first: 5, third: 2})

	part := t.TempDir()
	for says, args := range map[string][]string{
		"opening s3://bench/tean: nothing was pushed there yet": {"s3://bench/tean"},
		"variant=":                {team, "--filter", "variant="},
		"want s3://BUCKET/PREFIX": {"bench/team"},
	} {
		p := s.program(t, part, append([]string{"store", "pull"}, args...)...)
		valuetest.Equal(t, p.Run() != nil, true, says)
		valuetest.Contains(t, p.Messages.String(), says)
		valuetest.Equal(t, len(valuetest.Must(os.ReadDir(part))), 0, "a pull that fails makes no store", says)
	}
	p := s.program(t, part, "store", "sync", "s3://bench/tean")
	valuetest.Equal(t, p.Run() != nil, true)
	valuetest.Contains(t, p.Messages.String(), "nothing was pushed there yet, and there is no store here to push")
	valuetest.Equal(t, len(valuetest.Must(os.ReadDir(part))), 0, "a sync of a mistyped URL makes no store")
	for expression, fails := range map[string]bool{"suite=nosuch": false, "nosuch=1": true} {
		p := s.program(t, part, "store", "pull", team, "--filter", expression)
		valuetest.Equal(t, p.Run() != nil, fails, expression)
		valuetest.Contains(t, p.Messages.String(), expression)
		_, err := os.Stat(filepath.Join(part, "runs_store"))
		valuetest.ErrorIs(t, err, os.ErrNotExist, "a pull of no run makes no store")
	}
	got = s.run(t, part, "store", "pull", team, "--filter", "session="+third)
	valuetest.Equal(t, fmt.Sprint(got["added"]), "2")
	valuetest.DeepEqual(t, sessions(t, part), map[string]int{third: 2})

	place := fmt.Sprint(s.run(t, b, "store", "push", team, "--compacted")["compacted"])
	valuetest.Equal(t, fmt.Sprint(s.run(t, b, "store", "push", team, "--compacted")["compacted"]), place, "again")
	fresh := t.TempDir()
	got = s.run(t, fresh, "store", "pull", team)
	valuetest.Equal(t, fmt.Sprint(got["added"]), "10", "removed runs too, which may be restored")
	valuetest.DeepEqual(t, sessions(t, fresh), sessions(t, b))
	check := s.program(t, fresh, "store", "verify", team, "--full")
	check.MustRun(t)
	valuetest.Contains(t, check.Messages.String(), "is whole: 10 runs and 2 events in ")

	// A compacted store that was downloaded is a store, with the removals, also for a merge and after a change.
	places := valuetest.Must(filepath.Glob(filepath.Join(s.dir, "data", "bench", "team", "compacted", "*-*")))
	valuetest.Equal(t, len(places), 1)
	valuetest.Equal(t, place, team+"/compacted/"+filepath.Base(places[0])+"/")
	copied, merged := t.TempDir(), emptyStore(t)
	valuetest.OK(t, os.CopyFS(filepath.Join(copied, "runs_store"), os.DirFS(places[0])))
	programtest.Output(t, merged, "store", "merge", filepath.Join(copied, "runs_store"))
	for _, dir := range []string{copied, merged} {
		valuetest.DeepEqual(t, sessions(t, dir), sessions(t, b))
	}
	programtest.Output(t, copied, "rm", "session="+third)
	valuetest.DeepEqual(t, sessions(t, copied), map[string]int{first: 5})

	for _, dir := range []string{a, b, part, fresh, s.dir} {
		valuetest.OK(t, filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			content, err := os.ReadFile(name)
			if strings.Contains(string(content), s3Secret) {
				t.Errorf("%s has the secret", name)
			}
			return err
		}))
	}
}

// TestBucketKills: pushes and pulls are killed at a request, before or after the server does it. Afterwards each run is there once, and no
// reader ever saw a part of a push.
func TestBucketKills(t *testing.T) {
	t.Parallel()
	killBucketProcesses(t, 20)
}

// TestBucketManyKills is TestBucketKills with many.
func TestBucketManyKills(t *testing.T) {
	t.Parallel()
	killBucketProcesses(t, 200)
}

func killBucketProcesses(t *testing.T, kills int) {
	s := startObjectStore(t)
	const runs = 3 // of a session
	random := rand.New(rand.NewPCG(49, uint64(kills)))
	dirs, want := []string{t.TempDir(), t.TempDir(), t.TempDir()}, map[string]int{}
	killed := 0
	for n := 0; killed < kills; n++ {
		if n > 4*kills {
			t.Fatalf("%d of %d processes were killed", killed, n)
		}
		dir := dirs[n%len(dirs)]
		if n%2 == 0 {
			want[measured(t, dir, runs)] = runs
		}
		command := []string{"push", "pull", "sync"}[random.IntN(3)]
		p := s.program(t, dir, "store", command, team)
		at, after := random.IntN(9), random.IntN(2) == 0
		count := 0
		s.set(func(w http.ResponseWriter, _ *http.Request, forward func(http.ResponseWriter)) {
			s.mu.Lock()
			hit := count == at
			count++
			s.mu.Unlock()
			if hit && after {
				forward(httptest.NewRecorder())
			}
			if hit {
				_ = p.Process.Kill()
				panic(http.ErrAbortHandler)
			}
			forward(w)
		})
		err := p.Run()
		s.set(nil)
		exit, ended := errors.AsType[*exec.ExitError](err)
		switch {
		case ended && exit.ExitCode() < 0:
			killed++
		case err != nil && !strings.Contains(p.Messages.String(), "nothing was pushed there yet"):
			t.Fatalf("%s: %v\n%s", command, err, p.Messages.String())
		}
		if n%8 == 7 {
			into := emptyStore(t)
			if p := s.program(t, into, "store", "pull", team); p.Run() == nil {
				for session, n := range sessions(t, into) {
					if n != runs {
						t.Errorf("a reader has %d of %d runs of session %s", n, runs, session)
					}
				}
			}
		}
	}
	for _, dir := range dirs {
		s.run(t, dir, "store", "push", team)
	}
	for _, dir := range append(dirs, emptyStore(t)) {
		s.run(t, dir, "store", "pull", team)
		valuetest.DeepEqual(t, sessions(t, dir), want)
		valuetest.Equal(t, fmt.Sprint(s.run(t, dir, "store", "push", team)["pushed"]), "0")
	}
	check := s.program(t, dirs[0], "store", "verify", team, "--full")
	check.MustRun(t)
	valuetest.Contains(t, strings.ReplaceAll(check.Messages.String(), ",", ""), fmt.Sprintf("is whole: %d runs and 0 events", runs*len(want)))
	if strings.Contains(check.Messages.String(), "in several pushes") {
		t.Errorf("runs were pushed twice: %s", check.Messages.String())
	}
}

// TestBucketWriters: 16 machines push at the same time through a network that loses requests and answers. Every acknowledged run is there
// once.
func TestBucketWriters(t *testing.T) {
	t.Parallel()
	pushAtOnce(t, 16, 25)
}

// TestBucketManyRuns is TestBucketWriters with many runs.
func TestBucketManyRuns(t *testing.T) {
	t.Parallel()
	pushAtOnce(t, 16, 1000)
}

func pushAtOnce(t *testing.T, writers, runs int) {
	s := startObjectStore(t)
	random := rand.New(rand.NewPCG(49, uint64(runs)))
	s.set(func(w http.ResponseWriter, _ *http.Request, forward func(http.ResponseWriter)) {
		s.mu.Lock()
		kind := random.IntN(20)
		s.mu.Unlock()
		switch kind {
		case 0:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 1:
			panic(http.ErrAbortHandler)
		case 2: // the answer is lost
			forward(httptest.NewRecorder())
			panic(http.ErrAbortHandler)
		case 3:
			time.Sleep(300 * time.Millisecond)
			forward(w)
		default:
			forward(w)
		}
	})
	want := map[string]int{}
	var pushing sync.WaitGroup
	processes := make([]*programtest.Process, writers)
	for i := range processes {
		dir := t.TempDir()
		want[measured(t, dir, runs)] = runs
		processes[i] = s.program(t, dir, "store", "push", team)
	}
	for _, p := range processes {
		pushing.Go(func() {
			if err := p.Run(); err != nil {
				t.Errorf("push: %v\n%s", err, p.Messages.String())
			}
		})
	}
	pushing.Wait()
	s.set(nil)
	into := emptyStore(t)
	s.run(t, into, "store", "pull", team)
	valuetest.DeepEqual(t, sessions(t, into), want)
	check := s.program(t, into, "store", "verify", team)
	check.MustRun(t)
	valuetest.Contains(t, strings.ReplaceAll(check.Messages.String(), ",", ""), fmt.Sprintf("is whole: %d runs and 0 events in %d objects of %d manifests", writers*runs, 2*writers, writers))
}
