package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/table"
	"github.com/neurolens/neurolens/schema/valuetest"
)

func TestInitTwice(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	mustAppend(t, store, smallRun())
	before := snapshot(t, dir)
	mustDo(t, Init(dir))
	valuetest.Equal(t, snapshot(t, dir), before, "a second Init changed the store")
}

func TestInitMakesParents(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b", "store")
	mustDo(t, Init(dir))
	valuetest.NoError(t, valuetest.Error(schema.List(os.DirFS(dir), schema.Scope{})))
}

// TestInitAgain finishes what a process that died in Init began.
func TestInitAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustDo(t, os.MkdirAll(filepath.Join(dir, schema.TmpDir), 0o777))
	valuetest.NoError(t, Init(dir))
}

// TestRefused opens and creates stores where that must not work, and finds everything as it was.
func TestRefused(t *testing.T) {
	t.Parallel()
	later := `{"format":7,"store_id":"x","planets":9}`
	_, good := newStore(t)
	header := must(os.ReadFile(filepath.Join(good, schema.HeaderFile)))
	changed := bytes.Replace(header, []byte(`"store_id":"0`), []byte(`"store_id":"1`), 1)

	for name, test := range map[string]struct {
		file, content    string
		initErr, openErr error
	}{
		"later version": {schema.HeaderFile, later, schema.ErrFormat, schema.ErrFormat},
		"empty header":  {schema.HeaderFile, "", schema.ErrDamaged, schema.ErrDamaged},
		"torn header":   {schema.HeaderFile, string(header[:len(header)/2]), schema.ErrDamaged, schema.ErrDamaged},
		"changed":       {schema.HeaderFile, string(changed), schema.ErrDamaged, schema.ErrDamaged},
		"no store":      {"thesis.tex", "text", nil, schema.ErrNoStore},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			mustDo(t, os.WriteFile(filepath.Join(dir, test.file), []byte(test.content), 0o666))
			before := snapshot(t, dir)
			if err := Init(dir); err == nil || test.initErr != nil && !errors.Is(err, test.initErr) {
				t.Errorf("Init: %v, want %v", err, test.initErr)
			}
			valuetest.ErrorIs(t, valuetest.Error(Open(dir, "test")), test.openErr, "Open")
			valuetest.Equal(t, snapshot(t, dir), before, "something changed")
		})
	}
}

func TestErrorTexts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	mustDo(t, os.WriteFile(file, nil, 0o666))
	store, _ := newStore(t)
	store.files = &faultyFiles{OS: store.files.(disk.OS), Fault: syscall.ENOSPC}
	run := smallRun()
	invalid := smallRun()
	invalid.Status = "fine"
	_, openErr := Open(dir, "test")

	for _, test := range []struct {
		err  error
		want []string
	}{
		{Init(filepath.Join(file, "store")), []string{"creating store " + file, "not a directory"}},
		{Init(dir), []string{"creating store " + dir, "not empty", "is not a store"}},
		{openErr, []string{"opening store " + dir, "no store found"}},
		{store.Append(run), []string{"appending run " + run.RunID + " to store " + store.dir, "no space left on device"}},
		{store.Append(invalid), []string{"appending to store " + store.dir, invalid.RunID, `status "fine"`}},
	} {
		if test.err == nil {
			t.Errorf("no error, want %q", test.want)
			continue
		}
		for _, part := range test.want {
			if text := test.err.Error(); !strings.Contains(text, part) || strings.Contains(text, "\n") {
				t.Errorf("error %q, want one line with %q", text, part)
			}
		}
	}
}

func TestUnwritable(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		if slices.Contains(strings.Split(os.Getenv("NEUROLENS_TEST_REQUIRE"), ","), "unprivileged") {
			t.Fatal("unprivileged: required, and this is root")
		}
		t.Skip("unprivileged: root writes everywhere (TestFaults has EACCES for every operation)")
	}
	store, dir := newStore(t)
	mustDo(t, os.Chmod(dir, 0o555))
	defer os.Chmod(dir, 0o777)
	before := snapshot(t, dir)
	valuetest.ErrorIs(t, store.Append(smallRun()), syscall.EACCES, "Append")
	valuetest.Equal(t, snapshot(t, dir), before, "something changed")
}

func TestOpenWritesNothing(t *testing.T) {
	t.Parallel()
	_, dir := newStore(t)
	before := snapshot(t, dir)
	store := must(Open(dir, "test"))
	mustDo(t, store.Close())
	valuetest.NoError(t, store.Close(), "second Close")
	valuetest.Fails(t, store.Append(smallRun()), "", "Append to a closed store worked")
	valuetest.Equal(t, snapshot(t, dir), before, "something changed")
}

// TestRelativeLink writes through a symbolic link with a relative path, and goes on when the working directory changes.
func TestRelativeLink(t *testing.T) {
	_, dir := newStore(t)
	t.Chdir(t.TempDir())
	mustDo(t, os.Symlink(dir, "link"))
	mustDo(t, Init("link"))
	store := must(Open("link", "test"))
	defer store.Close()
	t.Chdir(t.TempDir())
	mustAppend(t, store, smallRun())
	if there := checkStore(t, dir); len(there) != 1 {
		t.Errorf("the store has %v", there)
	}
}

// TestAppendAgain appends what is there: the same run is acknowledged again, another one of its id is refused.
func TestAppendAgain(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	run := smallRun()
	mustAppend(t, store, run, run)
	other := run
	other.Error = "another"
	valuetest.Fails(t, store.Append(other), "contains a different run", "another run with the same id")
	if there := checkStore(t, dir); len(there) != 1 {
		t.Errorf("the store has %v", there)
	}
	valuetest.Equal(t, run.Metrics[0].Summary, (schema.Summary{}), "Append changed the caller's run")
}

// TestSegmentGone takes the segment away between two runs, as sealing does.
func TestSegmentGone(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	mustAppend(t, store, smallRun())
	away := filepath.Join(dir, "trash")
	mustDo(t, os.Rename(filepath.Join(dir, filepath.FromSlash(store.segment.path())), away))
	mustAppend(t, store, smallRun(), smallRun())
	mustDo(t, os.RemoveAll(away))
	if there := checkStore(t, dir); len(there) != 2 {
		t.Errorf("the store has %v", there)
	}
}

func TestOldTemps(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	tmp := filepath.Join(dir, schema.TmpDir)
	name := func() string { return schema.NewULID(time.Now()).String() }
	dead, young, other := name()+disk.TempSuffix, name()+disk.TempSuffix, name()
	ages := map[string]time.Duration{
		dead: 25 * time.Hour, young: 23 * time.Hour, other: 48 * time.Hour, "notes.part": 48 * time.Hour,
	}
	for name, age := range ages {
		mustDo(t, os.WriteFile(filepath.Join(tmp, name), nil, 0o666))
		old := time.Now().Add(-age)
		mustDo(t, os.Chtimes(filepath.Join(tmp, name), old, old))
	}
	mustAppend(t, store, smallRun())
	for name := range ages {
		if _, err := os.Stat(filepath.Join(tmp, name)); (err == nil) == (name == dead) {
			t.Errorf("%s after an append: %v", name, err)
		}
	}
	valuetest.Equal(t, len(must(os.ReadDir(tmp))), len(ages)-1)
}

// TestAppendCompleted: a run whose summaries were computed before it is appended is stored as any other.
func TestAppendCompleted(t *testing.T) {
	t.Parallel()
	run := fullRun()
	completed := run
	completed.Metrics = slices.Clone(run.Metrics)
	stat.Complete(&completed)
	var stored []*table.Live
	for _, r := range []schema.Run{run, completed} {
		store, dir := newStore(t)
		mustAppend(t, store, r)
		files := must(disk.NewOS(dir))
		stored = append(stored, must(runfile.ReadLiveFile(files, must(schema.List(files, schema.Scope{})).Live[0])))
	}
	if one, other := fmt.Sprint(*stored[0]), fmt.Sprint(*stored[1]); one != other { // with NaN, which equals nothing
		t.Errorf("stored as %s and %s", one, other)
	}
}
