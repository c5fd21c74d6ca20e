package schema

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// day is noon of a day of November 2026, or of the months after it.
func day(n int) time.Time { return time.Date(2026, 11, n, 12, 0, 0, 0, time.UTC) }

// newStoreFS returns an empty store.
func newStoreFS(t *testing.T) fstest.MapFS {
	t.Helper()
	header := valuetest.Must(Header{Format, NewULID(day(1)).String(), day(1)}.Encode())
	return fstest.MapFS{HeaderFile: {Data: header}}
}

// seal adds a sealed file of runs, made at a time.
func seal(store fstest.MapFS, now time.Time, runs ...ULID) SealedFile {
	f := NewSealedFile(NewClaim(now, runs), runs)
	store[f.Path(RunsDir)] = &fstest.MapFile{}
	return f
}

func mustList(t *testing.T, store fs.FS, scope Scope) *Listing {
	t.Helper()
	l := valuetest.Must(List(store, scope))
	return l
}

func TestList(t *testing.T) {
	store := newStoreFS(t)
	segment := NewULID(day(1))
	old, young := NewULID(day(2)), NewULID(day(3))
	for _, run := range []ULID{old, young} {
		store[LiveFile{Segment: segment, Run: run}.Path()] = &fstest.MapFile{}
	}
	for _, other := range []string{"live/x", "live/" + segment.String() + "/owner.json", "tmp/x.part", "claims/x/y", "runs/2026-11/x.parquet", "runs/y", "events/x"} {
		store[other] = &fstest.MapFile{}
	}
	l := mustList(t, store, Scope{})
	if len(l.Live) != 2 || l.Live[0].Run != young || l.Live[1].Run != old || len(l.Sealed)+len(l.Packs)+len(l.Events.Files) > 0 {
		t.Errorf("%+v", l)
	}
	for name, want := range map[string]error{`{"format": 7}`: ErrFormat, `{}`: ErrDamaged, "": ErrDamaged} {
		store[HeaderFile] = &fstest.MapFile{Data: []byte(name)}
		if _, err := List(store, Scope{}); !errors.Is(err, want) {
			t.Errorf("header %q: %v, want %v", name, err, want)
		}
	}
	if _, err := List(fstest.MapFS{}, Scope{}); err != ErrNoStore {
		t.Errorf("an empty directory gives %v", err)
	}
}

// TestListTwice: a run in two live segments is damage; one that is being moved is not.
func TestListTwice(t *testing.T) {
	store := newStoreFS(t)
	run, a, b := NewULID(day(1)), NewULID(day(1)), NewULID(day(1))
	claim := Claim{ID: NewULID(day(1)), Attempt: 3}
	store[LiveFile{Segment: a, Run: run}.Path()] = &fstest.MapFile{}
	store[LiveFile{Claim: &claim, Segment: a, Run: run}.Path()] = &fstest.MapFile{}
	l := mustList(t, store, Scope{})
	if len(l.Live) != 1 || l.Live[0].Claim == nil || *l.Live[0].Claim != claim {
		t.Errorf("%+v", l.Live)
	}
	delete(store, LiveFile{Claim: &claim, Segment: a, Run: run}.Path())
	store[LiveFile{Segment: b, Run: run}.Path()] = &fstest.MapFile{}
	if _, err := List(store, Scope{}); !errors.Is(err, ErrDamaged) {
		t.Errorf("a run in two segments: %v", err)
	}
}

// TestListCommitted: of a claim that is committed, only what its plan does not name is listed beside the sealed file.
func TestListCommitted(t *testing.T) {
	store := newStoreFS(t)
	segment, sealedRun, straggler, dropped := NewULID(day(1)), NewULID(day(2)), NewULID(day(3)), NewULID(day(4))
	claim := Claim{ID: NewClaim(day(5), nil)}
	for _, run := range []ULID{sealedRun, straggler, dropped} {
		store[LiveFile{Claim: &claim, Segment: segment, Run: run}.Path()] = &fstest.MapFile{}
	}
	if l := mustList(t, store, Scope{}); len(l.Live) != 3 {
		t.Errorf("before the commit %+v", l.Live)
	}
	f := NewSealedFile(claim.ID, []ULID{sealedRun})
	store[f.Path(RunsDir)] = &fstest.MapFile{}
	plan := valuetest.Must(Plan{File: f.Name(), Runs: []string{sealedRun.String()}, Dropped: []string{dropped.String()}}.Encode())
	store[path.Join(claim.Path(), PlanFile)] = &fstest.MapFile{Data: plan}
	for _, scope := range []Scope{{}, {Newest: 1}, {Since: day(20)}} {
		l := mustList(t, store, scope)
		if len(l.Live) != 1 || l.Live[0].Run != straggler {
			t.Errorf("%+v: %+v", scope, l)
		}
	}
	delete(store, path.Join(claim.Path(), PlanFile)) // as an interrupted copy leaves it
	if l := mustList(t, store, Scope{}); len(l.Live) != 3 || len(l.Sealed) != 1 {
		t.Errorf("without a plan: %+v", l)
	}
	store[path.Join(claim.Path(), PlanFile)] = &fstest.MapFile{Data: plan}
	plan[len(plan)/2] ^= 1
	if _, err := List(store, Scope{}); !errors.Is(err, ErrDamaged) {
		t.Errorf("a damaged plan: %v", err)
	}
}

// movingFS does something to a store when a directory is opened, as another process would.
type movingFS struct {
	fstest.MapFS
	at string
	do func()
}

func (m *movingFS) Open(name string) (fs.File, error) {
	if name == m.at && m.do != nil {
		m.do()
		m.do = nil
	}
	return m.MapFS.Open(name)
}

// TestListWhileSealing: whatever is moved between two of the directories, each run is met once.
func TestListWhileSealing(t *testing.T) {
	segment, other, run := NewULID(day(1)), NewULID(day(1)), NewULID(day(2))
	claim := Claim{ID: NewClaim(day(3), nil)}
	live, claimed := LiveFile{Segment: segment, Run: run}.Path(), LiveFile{Claim: &claim, Segment: segment, Run: run}.Path()
	rescued := LiveFile{Segment: other, Run: run}.Path()
	sealedFile := NewSealedFile(claim.ID, []ULID{run}).Path(RunsDir)
	for name, c := range map[string]struct{ first, then, at string }{
		"claimed while live is listed":        {live, claimed, "live/" + segment.String()},
		"claimed before claims are listed":    {live, claimed, ClaimsDir},
		"sealed before claims are listed":     {live, sealedFile, ClaimsDir},
		"sealed before runs are listed":       {live, sealedFile, RunsDir},
		"rescued before claims are listed":    {claimed, rescued, claim.Path()},
		"rescued before runs are listed":      {claimed, rescued, RunsDir},
		"committed and gone after claims are": {claimed, sealedFile, RunsDir},
	} {
		store := newStoreFS(t)
		store[c.first] = &fstest.MapFile{}
		m := &movingFS{store, c.at, func() { delete(store, c.first); store[c.then] = &fstest.MapFile{} }}
		l := mustList(t, m, Scope{})
		rows := len(l.Live)
		for _, f := range l.Sealed {
			rows += f.Rows
		}
		if rows != 1 {
			t.Errorf("%s: %+v", name, l)
		}
	}
}

// TestListRescued: a run that went back into live/ while claims were listed is found.
func TestListRescued(t *testing.T) {
	run, segment, other := NewULID(day(2)), NewULID(day(1)), NewULID(day(1))
	claim := Claim{ID: NewULID(day(3))}
	claimed, rescued := LiveFile{Claim: &claim, Segment: segment, Run: run}.Path(), LiveFile{Segment: other, Run: run}.Path()
	store := newStoreFS(t)
	store[claimed] = &fstest.MapFile{}
	m := &secondOpen{MapFS: store, name: ClaimsDir, do: func() { delete(store, claimed); store[rescued] = &fstest.MapFile{} }}
	if l := mustList(t, m, Scope{}); len(l.Live) != 1 || l.Live[0].Claim != nil {
		t.Errorf("rescued between live/ and claims/: %+v", l.Live)
	}
}

// secondOpen does something before a directory is opened for the second time.
type secondOpen struct {
	fstest.MapFS
	name  string
	do    func()
	times int
}

func (s *secondOpen) Open(name string) (fs.File, error) {
	if name == s.name {
		if s.times++; s.times == 2 {
			s.do()
		}
	}
	return s.MapFS.Open(name)
}

// TestScope compares what a scope opens with what it may leave out: any file that can hold one of the newest runs, or a
// run since a time, is there.
func TestScope(t *testing.T) {
	store := newStoreFS(t)
	var all []SealedFile
	for month := range 6 {
		for n := range 4 {
			begin := day(1 + 30*month + 3*n)
			runs := []ULID{NewULID(begin.AddDate(0, 0, -n*20)), NewULID(begin)}
			all = append(all, seal(store, begin.AddDate(0, 0, month%2), runs...))
		}
	}
	for n := 1; n <= 50; n += 3 {
		got := mustList(t, store, Scope{Newest: n}).Sealed
		var lasts []int64
		for _, f := range all {
			lasts = append(lasts, f.First, f.Last)
		}
		slices.Sort(lasts)
		since := lasts[max(0, len(lasts)-n)]
		for _, f := range all {
			if f.Last >= since && !slices.Contains(got, f) {
				t.Errorf("newest %d: %s can hold one and is left out", n, f.Name())
			}
		}
		if n == 1 && len(got) == len(all) {
			t.Errorf("newest 1: all %d files", len(got))
		}
	}
	since := day(70)
	got := mustList(t, store, Scope{Since: since}).Sealed
	for _, f := range all {
		if slices.Contains(got, f) != (f.Last >= since.UnixMilli()) {
			t.Errorf("since %v: %s", since, f.Name())
		}
	}
	if zone, err := ListZone(store, RunsDir); err != nil || len(zone) != len(all) {
		t.Errorf("%d files, %v, want %d", len(zone), err, len(all))
	}
}

func TestHasFewFiles(t *testing.T) {
	t.Parallel()
	store := newStoreFS(t)
	for month := range 3 {
		for n := range 4 {
			begin := day(1 + 30*month + 3*n)
			seal(store, begin, NewULID(begin))
		}
	}
	for n, few := range map[int]bool{0: false, 3: false, 11: false, 12: true, 100: true} {
		if got := HasFewFiles(store, RunsDir, n); got != few {
			t.Errorf("at most %d of 12 files: %t", n, got)
		}
	}
	if !HasFewFiles(store, LiveDir, 0) {
		t.Error("a directory that is not there has many files")
	}
	if HasFewFiles(failingDirs{}, RunsDir, 100) {
		t.Error("a directory that cannot be read has few files")
	}
}

// failingDirs is a store of which no directory can be read.
type failingDirs struct{}

func (failingDirs) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EACCES}
}

// leavingFS is a store of which a directory is removed between its being opened and its being listed.
type leavingFS struct {
	fstest.MapFS
	dir string
}

func (l leavingFS) Open(name string) (fs.File, error) {
	f, err := l.MapFS.Open(name)
	if d, ok := f.(fs.ReadDirFile); ok && err == nil && name == l.dir {
		return leavingDir{d, name}, nil
	}
	return f, err
}

type leavingDir struct {
	fs.ReadDirFile
	name string
}

func (d leavingDir) ReadDir(int) ([]fs.DirEntry, error) {
	return nil, &fs.PathError{Op: "readdirent", Path: d.name, Err: syscall.ENOENT}
}

// TestListLeaving: a directory that goes away while it is listed is one that is not there.
func TestListLeaving(t *testing.T) {
	t.Parallel()
	store := newStoreFS(t)
	claim := Claim{ID: NewClaim(day(3), nil)}
	file := LiveFile{Claim: &claim, Segment: NewULID(day(1)), Run: NewULID(day(2))}.Path()
	dir := path.Dir(file)
	store[file] = &fstest.MapFile{}
	if l, err := List(store, Scope{}); err != nil || len(l.Live) != 1 {
		t.Fatalf("%+v, %v", l, err)
	}
	if l, err := List(leavingFS{store, dir}, Scope{}); err != nil || len(l.Live) != 0 {
		t.Errorf("%+v, %v", l, err)
	}
}
