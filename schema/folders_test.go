package schema

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"testing/fstest"
	"time"
)

// namedStore is a store on the disk with four sealed files in each of three months, and the names in their folders.
type namedStore struct {
	t      *testing.T
	dir    string
	names  string        // path of the names in folders
	states []FolderState // of the folders, latest first
}

// newNamedStore skips the test where the times of folders do not show changes. The kept names are wrong by one run each, so that a
// listing shows where it comes from.
func newNamedStore(t *testing.T) *namedStore {
	t.Helper()
	s := &namedStore{t: t, dir: t.TempDir()}
	if !timesShowChanges(s.dir) {
		t.Skip("the times of folders do not show changes on this file system")
	}
	for name, file := range newStoreFS(t) {
		s.write(name, file.Data)
	}
	for month := range 3 {
		for i := range 4 {
			s.add(day(1+i).AddDate(0, month, 0))
		}
	}
	for month := range 3 { // so that a change is one whatever the steps of the clock are
		folder := filepath.Join(s.dir, RunsDir, MonthOf(day(1).AddDate(0, month, 0)))
		if err := os.Chtimes(folder, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	s.states = s.stable(time.Now().AddDate(1000, 0, 0))
	if len(s.states) != 3 {
		t.Fatalf("the stable folders are %+v", s.states)
	}
	kept := listed(t, os.DirFS(s.dir))
	for i := range kept {
		kept[i].Rows++
	}
	content, err := EncodeFolderNames(s.states, nil, kept)
	if err != nil {
		t.Fatal(err)
	}
	s.names = FolderNames(NewULID(day(1)))
	s.write(s.names, content)
	return s
}

func (s *namedStore) stable(now time.Time) []FolderState {
	s.t.Helper()
	states, err := StableFolders(Dir(s.dir), now)
	if err != nil {
		s.t.Fatal(err)
	}
	return states
}

func (s *namedStore) write(name string, content []byte) {
	s.t.Helper()
	name = filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(name, content, 0o666); err != nil {
		s.t.Fatal(err)
	}
}

// add adds a sealed file of a time.
func (s *namedStore) add(at time.Time) string {
	s.t.Helper()
	run := NewULID(at)
	name := NewSealedFile(NewClaim(at, []ULID{run}), []ULID{run}).Path(RunsDir)
	s.write(name, nil)
	return name
}

// listed are the sealed files of a store.
func listed(t *testing.T, store fs.FS) []SealedFile {
	t.Helper()
	return slices.Clone(mustList(t, store, Scope{}).Sealed)
}

// known counts the files of a month whose names come from the names in folders.
func (s *namedStore) known(month time.Time) int {
	s.t.Helper()
	n := 0
	for _, f := range ofMonth(listed(s.t, Dir(s.dir)), MonthOf(month)) {
		if f.Rows == 2 {
			n++
		}
	}
	return n
}

// TestFolderNames: folders whose names are known are not listed, until something in them changes.
func TestFolderNames(t *testing.T) {
	t.Parallel()
	first := func(s *namedStore) string {
		names, err := filepath.Glob(filepath.Join(s.dir, RunsDir, MonthOf(day(1)), "*"))
		if err != nil || len(names) == 0 {
			s.t.Fatal(names, err)
		}
		return names[0]
	}
	for name, change := range map[string]func(s *namedStore) error{
		"a new file":     func(s *namedStore) error { s.add(day(9)); return nil },
		"a removed file": func(s *namedStore) error { return os.Remove(first(s)) },
		"a renamed file": func(s *namedStore) error { return os.Rename(first(s), first(s)+"~") },
		"a replaced file": func(s *namedStore) error {
			s.write("tmp/1.part", nil)
			return os.Rename(filepath.Join(s.dir, "tmp/1.part"), first(s))
		},
		"a folder in its place": func(s *namedStore) error {
			folder := filepath.Dir(first(s))
			if err := os.Rename(folder, folder+"~"); err != nil {
				return err
			}
			return os.CopyFS(folder, os.DirFS(folder+"~"))
		},
		"the same times": func(s *namedStore) error { // only the time of the last change of its status shows it
			s.add(day(9))
			for { // until the clock of the file system has gone on by a step
				if err := os.Chtimes(filepath.Dir(first(s)), time.Time{}, time.Unix(0, s.states[2].Modified)); err != nil {
					return err
				}
				if now := s.stable(time.Now().AddDate(1000, 0, 0)); now[2].Changed != s.states[2].Changed {
					return nil
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newNamedStore(t)
			if s.known(day(1)) != 4 || s.known(day(1).AddDate(0, 1, 0)) != 4 {
				t.Fatal("the folders are listed, although their names are known")
			}
			if err := change(s); err != nil {
				t.Fatal(err)
			}
			if s.known(day(1)) != 0 || s.known(day(1).AddDate(0, 1, 0)) != 4 {
				t.Error("want the changed folder listed, and the names of the other used")
			}
			in := func(all []SealedFile) []SealedFile { return ofMonth(all, MonthOf(day(1))) }
			if got, want := in(listed(t, Dir(s.dir))), in(listed(t, os.DirFS(s.dir))); !slices.Equal(got, want) {
				t.Errorf("listed %v, want %v", got, want)
			}
		})
	}
}

// TestFolderNamesLink: a link in place of a file is found although the names are known.
func TestFolderNamesLink(t *testing.T) {
	t.Parallel()
	s := newNamedStore(t)
	link := filepath.Join(s.dir, s.add(day(9)))
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("elsewhere", link); err != nil {
		t.Fatal(err)
	}
	if l, err := List(Dir(s.dir), Scope{}); err == nil {
		t.Errorf("listed %+v", l.Sealed)
	}
}

// TestFolderNamesCopy: the names mean nothing in a copy.
func TestFolderNamesCopy(t *testing.T) {
	t.Parallel()
	s := newNamedStore(t)
	into := copied(t, s.dir)
	if got, want := listed(t, Dir(into)), listed(t, os.DirFS(s.dir)); !slices.Equal(got, want) {
		t.Errorf("listed %v, want %v", got, want)
	}
}

// TestFolderNamesDamage: whatever byte of the names is wrong, or wherever they end, the names are those in the folder or in the
// intact file.
func TestFolderNamesDamage(t *testing.T) {
	t.Parallel()
	s := newNamedStore(t)
	want, intact := listed(t, os.DirFS(s.dir)), listed(t, Dir(s.dir))
	content, err := os.ReadFile(filepath.Join(s.dir, s.names))
	if err != nil {
		t.Fatal(err)
	}
	check := func(at int) {
		got := listed(t, Dir(s.dir))
		for i, f := range got {
			if len(got) != len(want) || f != want[i] && f != intact[i] {
				t.Fatalf("byte %d: listed %v", at, got)
			}
		}
	}
	for at := range content {
		damaged := bytes.Clone(content)
		damaged[at] ^= 1 << (at % 8)
		s.write(s.names, damaged)
		check(at)
		s.write(s.names, content[:at])
		check(at)
	}
}

// TestStableFolders: a folder of this month, or one that changed a moment ago, may change again within a step of the clock.
func TestStableFolders(t *testing.T) {
	t.Parallel()
	s := newNamedStore(t)
	now := time.Now()
	s.add(now.AddDate(-1, 0, 0))
	later := func(d time.Duration) (months []string) {
		for _, state := range s.stable(now.Add(d)) {
			months = append(months, state.Month)
		}
		return months
	}
	year := MonthOf(now.AddDate(-1, 0, 0))
	if got := later(stableAfter / 2); slices.Contains(got, year) {
		t.Errorf("after half the time: %v", got)
	}
	if got := later(2 * stableAfter); !slices.Contains(got, year) {
		t.Errorf("after twice the time: %v", got)
	}
	s.add(now)
	for _, month := range later(2 * stableAfter) {
		if month >= MonthOf(now) {
			t.Errorf("the folder of this month, %s, is stable", month)
		}
	}
}

// TestUnknownNames counts the names that are to be written.
func TestUnknownNames(t *testing.T) {
	t.Parallel()
	s := newNamedStore(t)
	states := s.stable(time.Now().AddDate(1000, 0, 0))
	if n := UnknownNames(Dir(s.dir), states, listed(t, Dir(s.dir))); n != 0 {
		t.Errorf("%d are unknown, want none", n)
	}
	s.add(day(9))
	states = s.stable(time.Now().AddDate(1000, 0, 0))
	if n := UnknownNames(Dir(s.dir), states, listed(t, Dir(s.dir))); n != 5 {
		t.Errorf("%d are unknown after one was added to four, want 5", n)
	}
	id, err := ParseFolderNames(path.Base(s.names))
	if err != nil {
		t.Fatal(err)
	}
	if err := CheckFolderNames(Dir(s.dir), id); err == nil {
		t.Error("names that are not those of the folders pass")
	}
}

// retotal changes the totals of all folders, and leaves their names as they are.
func (s *namedStore) retotal(change func(*folderTotal)) {
	s.t.Helper()
	content, err := os.ReadFile(filepath.Join(s.dir, s.names))
	if err != nil {
		s.t.Fatal(err)
	}
	line, names, _ := bytes.Cut(content, []byte("\n"))
	var head namesHead
	if err := ReadSignedJSON(append(line, '\n'), &head); err != nil {
		s.t.Fatal(err)
	}
	for i := range head.Folders {
		change(&head.Folders[i].folderTotal)
	}
	signed, err := SignJSON(head)
	if err != nil {
		s.t.Fatal(err)
	}
	s.write(s.names, append(signed, names...))
}

// TestFolderTotals: instead of all files of a folder whose names are known a listing may have one, until something in the folder changes, as
// long as no claim asks for its own file, and unless an earlier writer left the totals out.
func TestFolderTotals(t *testing.T) {
	t.Parallel()
	byMonth := func(s *namedStore) (files, rows [3]int) {
		for _, f := range mustList(t, Dir(s.dir), Scope{Totals: true}).Sealed {
			first, last := MonthOf(time.UnixMilli(f.First)), MonthOf(time.UnixMilli(f.Last))
			month := slices.IndexFunc([]int{0, 1, 2}, func(m int) bool { return MonthOf(day(1).AddDate(0, m, 0)) == first })
			if month < 0 || first != last {
				t.Fatalf("a file reaches from %s to %s", first, last)
			}
			files[month]++
			rows[month] += f.Rows
		}
		return files, rows
	}
	for _, c := range []struct {
		name        string
		change      func(s *namedStore)
		files, rows [3]int
	}{
		{"as they are", func(*namedStore) {}, [3]int{1, 1, 1}, [3]int{8, 8, 8}},
		{"a new file", func(s *namedStore) { s.add(day(9)) }, [3]int{5, 1, 1}, [3]int{5, 8, 8}},
		{"a claim", func(s *namedStore) {
			run := NewULID(day(3))
			claim := Claim{ID: NewClaim(day(3), []ULID{run})}
			s.write(LiveFile{Claim: &claim, Segment: NewULID(day(2)), Run: run}.Path(), nil)
		}, [3]int{4, 4, 4}, [3]int{8, 8, 8}},
		{"no totals", func(s *namedStore) { s.retotal(func(t *folderTotal) { *t = folderTotal{} }) }, [3]int{4, 4, 4}, [3]int{8, 8, 8}},
		{"a copy", func(s *namedStore) { s.dir = copied(t, s.dir) }, [3]int{4, 4, 4}, [3]int{4, 4, 4}},
	} {
		s := newNamedStore(t)
		c.change(s)
		if files, rows := byMonth(s); files != c.files || rows != c.rows {
			t.Errorf("%s: %d files with %d rows, want %d and %d", c.name, files, rows, c.files, c.rows)
		}
	}
}

// TestFolderTotalsChecked: totals that are not those of the names do not pass.
func TestFolderTotalsChecked(t *testing.T) {
	t.Parallel()
	s := newNamedStore(t)
	content, err := EncodeFolderNames(s.states, nil, listed(t, os.DirFS(s.dir)))
	if err != nil {
		t.Fatal(err)
	}
	s.write(s.names, content)
	id, err := ParseFolderNames(filepath.Base(s.names))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(*folderTotal)
		passes bool
	}{
		{"as written", func(*folderTotal) {}, true},
		{"fewer than none", func(t *folderTotal) { t.Rows = -8 }, false},
		{"as it was", func(t *folderTotal) { t.Rows = 4 }, true},
		{"a row too few", func(t *folderTotal) { t.Rows-- }, false},
		{"too late", func(t *folderTotal) { t.Rows++; t.First++ }, false},
		{"left out", func(t *folderTotal) { *t = folderTotal{} }, true},
	} {
		s.retotal(c.change)
		if err := CheckFolderNames(Dir(s.dir), id); err == nil != c.passes || err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestBinaryName: a name in 32 bytes is the name.
func TestBinaryName(t *testing.T) {
	t.Parallel()
	for _, f := range []SealedFile{
		NewSealedFile(NewULID(day(1)), []ULID{NewULID(day(0)), NewULID(day(1))}),
		{ID: ULID{0: 0xff, 15: 0xff}, First: 0, Last: 1<<48 - 1, Rows: 1<<32 - 1},
	} {
		if b := appendBinaryName(nil, f); len(b) != nameBytes || binaryName(b) != f {
			t.Errorf("%+v becomes %+v", f, binaryName(b))
		}
	}
}

// BenchmarkFolderNames lists the names of 42,000 sealed files of two years, as a million runs in sweeps of 24 have them, with and
// without the names in folders, by turns, and reports the ratio of the processor times.
func BenchmarkFolderNames(b *testing.B) {
	const files = 42_000
	dir := b.TempDir()
	write := func(name string, content []byte) {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, content, 0o666)); err != nil {
			b.Fatal(err)
		}
	}
	for i := range files {
		at := day(1).Add(2 * 365 * 24 * time.Hour / files * time.Duration(i))
		run := NewULID(at)
		write(NewSealedFile(NewClaim(at, []ULID{run}), []ULID{run}).Path(RunsDir), nil)
	}
	states, err := StableFolders(Dir(dir), time.Now().AddDate(1000, 0, 0))
	if err != nil || len(states) == 0 {
		b.Skip("the times of folders do not show changes on this file system")
	}
	list := func(store fs.FS) (sealed []SealedFile, took time.Duration) {
		before := processorTime(b)
		sealed, err := ListZone(store, RunsDir)
		if err != nil || len(sealed) != files {
			b.Fatal(len(sealed), err)
		}
		return sealed, processorTime(b) - before
	}
	sealed, _ := list(Dir(dir))
	content, err := EncodeFolderNames(states, nil, sealed)
	if err != nil {
		b.Fatal(err)
	}
	write(FolderNames(NewULID(day(1))), content)
	var known, listed time.Duration
	for b.Loop() {
		_, took := list(Dir(dir))
		known += took
		if err := os.Rename(filepath.Join(dir, PacksDir), filepath.Join(dir, TrashDir)); err != nil {
			b.Fatal(err)
		}
		_, took = list(Dir(dir))
		listed += took
		if err := os.Rename(filepath.Join(dir, TrashDir), filepath.Join(dir, PacksDir)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(known)/float64(b.N), "known-ns")
	b.ReportMetric(float64(listed)/float64(b.N), "listed-ns")
	b.ReportMetric(float64(known)/float64(listed), "ratio")
}

// processorTime is the time that this process has used.
func processorTime(tb testing.TB) time.Duration {
	tb.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// TestFolderSizes: the files of folders whose sizes are known need not be looked at, until something in the folder changes. A folder with
// anything but sealed files is not known.
func TestFolderSizes(t *testing.T) {
	t.Parallel()
	s := newNamedStore(t)
	later := time.Now().AddDate(1000, 0, 0)
	months := []string{MonthOf(day(1)), MonthOf(day(1).AddDate(0, 1, 0)), MonthOf(day(1).AddDate(0, 2, 0))}
	for i, month := range months {
		for n, f := range ofMonth(listed(t, Dir(s.dir)), month) {
			s.write(f.Path(SamplesDir), bytes.Repeat([]byte("x"), 100*i+n))
		}
	}
	s.write(path.Join(SamplesDir, months[2], "notes.txt"), nil)
	sizes, err := StableSizes(Dir(s.dir), later)
	if err != nil {
		t.Fatal(err)
	}
	content, err := EncodeFolderNames(s.states, sizes, listed(t, os.DirFS(s.dir)))
	if err != nil {
		t.Fatal(err)
	}
	s.write(s.names, content)
	check := func(when string, want map[string]int64) {
		t.Helper()
		got, of := map[string]int64{}, KnownSizes(Dir(s.dir))
		for _, zone := range []string{RunsDir, SamplesDir, OpsDir} {
			for _, month := range months {
				folder := path.Join(zone, month)
				if size, ok := of(folder); ok {
					got[folder] = size.Bytes
					if size.Files != 4 {
						t.Errorf("%s: %s has %d files", when, folder, size.Files)
					}
				}
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", when, got, want)
		}
	}
	folder := func(zone string, month int) string { return path.Join(zone, months[month]) }
	all := map[string]int64{
		folder(RunsDir, 0): 0, folder(RunsDir, 1): 0, folder(RunsDir, 2): 0, folder(SamplesDir, 0): 6, folder(SamplesDir, 1): 406,
	}
	check("measured", all)
	s.add(day(9))
	delete(all, folder(RunsDir, 0))
	check("a new file", all)
	s.dir = copied(t, s.dir)
	check("a copy", nil)
	if sizes, err := StableSizes(Dir(s.dir), time.Now()); err != nil || len(sizes) > 0 {
		t.Errorf("folders that have just changed have the sizes %+v, %v", sizes, err)
	}
}

// copied is a copy of a directory.
func copied(t *testing.T, dir string) string {
	t.Helper()
	into := t.TempDir()
	if err := os.CopyFS(into, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return into
}

// hugeNames are first lines of names in folders with counts that do not fit, for a folder in this state.
func hugeNames(state FolderState) (lines [][]byte) {
	sum := sha256.Sum256(nil)
	folder := func(month string, count any, total string) string {
		return fmt.Sprintf(`{"month":%q,"inode":"%d","changed":%d,"modified":%d,"count":%v,"sum":%q%s}`,
			month, state.Inode, state.Changed, state.Modified, count, base64.StdEncoding.EncodeToString(sum[:namesSum]), total)
	}
	for _, folders := range []string{
		folder(state.Month, uint64(1<<59), ""),
		folder(state.Month, uint64(1<<58), "") + "," + folder("2026-07", uint64(1<<58), ""),
		folder(state.Month, uint64(1<<59+3), ""),
		folder(state.Month, math.MaxInt64, ""),
		folder(state.Month, -1, "") + "," + folder("2026-07", 1, ""),
		folder(state.Month, 0, fmt.Sprintf(`,"rows":%d,"last":1`, math.MaxInt64)),
		folder(state.Month, 0, `,"rows":1,"first":-1`),
		folder(state.Month, 0, `,"rows":1,"last":281474976710656`),
		folder("../../2026-08", 0, ""),
	} {
		lines = append(lines, must(SignJSON(json.RawMessage(`{"folders":[`+folders+`]}`))))
	}
	for _, size := range []string{`"files":1,"bytes":9223372036854775807`, `"files":9223372036854775807,"bytes":1`} {
		lines = append(lines, must(SignJSON(json.RawMessage(`{"folders":[],"sizes":[{"folder":"runs/2026-08","inode":"1","changed":1,"modified":1,`+size+`}]}`))))
	}
	return lines
}

// TestHugeFolderNames: counts that do not fit are damage, and the folders are listed.
func TestHugeFolderNames(t *testing.T) {
	s := newNamedStore(t)
	want := len(listed(t, Dir(s.dir)))
	for _, line := range hugeNames(s.states[0]) {
		s.write(s.names, line)
		id := must(ParseFolderNames(s.names[len(PacksDir)+1:]))
		if err := CheckFolderNames(Dir(s.dir), id); err == nil || !errors.Is(err, ErrDamaged) && !bytes.Contains(line, []byte("../")) {
			t.Errorf("%s: %v", line, err)
		}
		if got := listed(t, Dir(s.dir)); len(got) != want {
			t.Errorf("%s: %d of %d files are listed", line, len(got), want)
		}
	}
}

// FuzzFolderNames: whatever the names in folders are, reading them is refused or gives names of the size of the file.
func FuzzFolderNames(f *testing.F) {
	for _, line := range hugeNames(FolderState{Month: "2026-08"}) {
		f.Add(line)
	}
	sealed := []SealedFile{{ID: NewULID(day(1)), First: 1, Last: day(1).UnixMilli(), Rows: 7}}
	state := FolderState{Month: MonthOf(day(1)), FolderTimes: FolderTimes{Inode: 1, Changed: 2, Modified: 3}}
	f.Add(must(EncodeFolderNames([]FolderState{state}, []FolderSize{{Folder: "runs/2026-08", Files: 1, Bytes: 9}}, sealed)))
	id := NewULID(day(2))
	f.Fuzz(func(t *testing.T, content []byte) {
		if line, names, _ := bytes.Cut(content, []byte("\n")); json.Valid(line) {
			if signed, err := SignJSON(json.RawMessage(line)); err == nil { // so mutations get behind the hash
				content = append(signed, names...)
			}
		}
		store := fstest.MapFS{FolderNames(id): {Data: content}}
		_ = CheckFolderNames(store, id)
		known, err := readNames(store, id)
		if err != nil {
			return
		}
		defer known.close()
		total := 0
		for _, folder := range known.folders {
			files, err := known.read(folder)
			if err == nil && len(files) != folder.Count || folder.Rows < 0 {
				t.Errorf("%d names, and %d are counted in %+v", len(files), folder.Count, folder)
			}
			total += folder.Count
		}
		if total*nameBytes > len(content) {
			t.Errorf("%d names in %d bytes", total, len(content))
		}
		if slices.ContainsFunc([]FolderSize{known.sizes["runs/2026-08"]}, func(s FolderSize) bool { return s.Bytes < 0 || s.Files < 0 }) {
			t.Errorf("%+v", known.sizes)
		}
	})
}
