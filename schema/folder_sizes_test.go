package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// farLater is a time at which the months of all test stores are over.
var farLater = time.Now().AddDate(1000, 0, 0)

// sizedStore is a store on the disk with four sealed files of 10 bytes in each of three months of runs, and their sizes.
type sizedStore struct {
	t     *testing.T
	dir   string
	id    ULID // of the file of sizes
	sizes []FolderSize
}

// sizedDay returns a day of a month of that store. All of them are over.
func sizedDay(n, month int) time.Time { return day(n).AddDate(-4, month, 0) }

// newSizedStore skips the test where the times of folders do not show changes.
func newSizedStore(t *testing.T) *sizedStore {
	t.Helper()
	s := &sizedStore{t: t, dir: t.TempDir(), id: NewULID(day(1))}
	if !timesShowChanges(s.dir) {
		t.Skip("the times of folders do not show changes on this file system")
	}
	for name, file := range newStoreFS(t) {
		s.write(name, file.Data)
	}
	for month := range 3 {
		for i := range 4 {
			s.add(sizedDay(1+i, month))
		}
		// An old time makes every change visible, whatever the steps of the clock are.
		must(0, os.Chtimes(filepath.Join(s.dir, s.folder(month)), time.Time{}, time.Now().Add(-time.Hour)))
	}
	s.sizes, _ = s.stable(farLater)
	if len(s.sizes) != 3 {
		t.Fatalf("the stable folders are %+v", s.sizes)
	}
	s.write(FolderSizesFile(s.id), must(EncodeFolderSizes(s.sizes)))
	return s
}

// stable returns the sizes of stable folders, and the number of files that no file of sizes counts.
func (s *sizedStore) stable(now time.Time) ([]FolderSize, int) {
	s.t.Helper()
	sizes, fresh, err := StableSizes(Dir(s.dir), now)
	if err != nil {
		s.t.Fatal(err)
	}
	return sizes, fresh
}

// folder returns the folder of a month of runs.
func (s *sizedStore) folder(month int) string {
	return path.Join(RunsDir, MonthOf(sizedDay(1, month)))
}

func (s *sizedStore) write(name string, content []byte) {
	s.t.Helper()
	name = filepath.Join(s.dir, name)
	must(0, os.MkdirAll(filepath.Dir(name), 0o777))
	must(0, os.WriteFile(name, content, 0o666))
}

// add adds a sealed file of a time.
func (s *sizedStore) add(at time.Time) {
	s.t.Helper()
	run := NewULID(at)
	s.write(NewSealedFile(NewClaim(at, []ULID{run}), []ULID{run}).Path(RunsDir), bytes.Repeat([]byte("x"), 10))
}

// known returns the bytes of the folders of runs whose sizes are known, by month.
func (s *sizedStore) known() map[int]int64 {
	s.t.Helper()
	bytes, of := map[int]int64{}, KnownSizes(Dir(s.dir))
	for month := range 3 {
		if size, ok := of(s.folder(month)); ok {
			bytes[month] = size.Bytes
		}
	}
	return bytes
}

// TestKnownSizes: the sizes of folders are known until something in the folder changes.
func TestKnownSizes(t *testing.T) {
	t.Parallel()
	first := func(s *sizedStore) string {
		return must(filepath.Glob(filepath.Join(s.dir, s.folder(0), "*")))[0]
	}
	for name, change := range map[string]func(s *sizedStore) error{
		"a new file":     func(s *sizedStore) error { s.add(sizedDay(9, 0)); return nil },
		"a removed file": func(s *sizedStore) error { return os.Remove(first(s)) },
		"a renamed file": func(s *sizedStore) error { return os.Rename(first(s), first(s)+"~") },
		"a replaced file": func(s *sizedStore) error {
			s.write("tmp/1.part", nil)
			return os.Rename(filepath.Join(s.dir, "tmp/1.part"), first(s))
		},
		"a folder in its place": func(s *sizedStore) error {
			folder := filepath.Dir(first(s))
			if err := os.Rename(folder, folder+"~"); err != nil {
				return err
			}
			return os.CopyFS(folder, os.DirFS(folder+"~"))
		},
		"the same times": func(s *sizedStore) error { // only the time of the last change of its status shows it
			s.add(sizedDay(9, 0))
			for { // until the clock of the file system has gone on by a step
				if err := os.Chtimes(filepath.Join(s.dir, s.folder(0)), time.Time{}, time.Unix(0, s.sizes[2].Modified)); err != nil {
					return err
				}
				if now, _ := s.stable(farLater); now[2].Changed != s.sizes[2].Changed {
					return nil
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSizedStore(t)
			if got, want := s.known(), (map[int]int64{0: 40, 1: 40, 2: 40}); !maps.Equal(got, want) {
				t.Fatalf("before the change %v, want %v", got, want)
			}
			valuetest.OK(t, change(s))
			if got, want := s.known(), (map[int]int64{1: 40, 2: 40}); !maps.Equal(got, want) {
				t.Errorf("after the change %v, want %v", got, want)
			}
		})
	}
}

// TestSizesInACopy: the sizes mean nothing in a copy, whose folders are others.
func TestSizesInACopy(t *testing.T) {
	t.Parallel()
	s := newSizedStore(t)
	into := t.TempDir()
	must(0, os.CopyFS(into, os.DirFS(s.dir)))
	if s.dir = into; len(s.known()) > 0 {
		t.Errorf("in a copy %v", s.known())
	}
}

// TestOldFolderNames: a file of an earlier version, which has the names in folders too, has sizes.
func TestOldFolderNames(t *testing.T) {
	t.Parallel()
	s := newSizedStore(t)
	line := must(SignJSON(map[string]any{"folders": []any{map[string]any{"month": "2026-11", "count": 1}}, "sizes": s.sizes}))
	s.write(FolderSizesFile(s.id), append(line, make([]byte, 32)...))
	if got := s.known(); len(got) != 3 {
		t.Errorf("known are %v", got)
	}
}

// TestFolderSizesDamage: whatever byte of the sizes is wrong, or wherever they end, they are damage, and nothing is known.
func TestFolderSizesDamage(t *testing.T) {
	t.Parallel()
	s := newSizedStore(t)
	content := must(os.ReadFile(filepath.Join(s.dir, FolderSizesFile(s.id))))
	check := func(at int, damaged []byte) {
		s.write(FolderSizesFile(s.id), damaged)
		if _, err := ReadFolderSizes(Dir(s.dir), s.id); !errors.Is(err, ErrDamaged) || len(s.known()) > 0 {
			t.Fatalf("byte %d: %v, known are %v", at, err, s.known())
		}
	}
	for at := range content {
		damaged := bytes.Clone(content)
		damaged[at] ^= 1 << (at % 8)
		check(at, damaged)
		check(at, content[:at])
	}
	check(len(content), append(content, '\n'))
}

// TestStableSizes: a folder of this month, or one that changed a moment ago, may change again within a step of the clock. A folder
// with anything but sealed files has no size. Only folders whose sizes are not known count as fresh.
func TestStableSizes(t *testing.T) {
	t.Parallel()
	s := newSizedStore(t)
	now := time.Now()
	old := path.Join(RunsDir, MonthOf(now.AddDate(-1, 0, 0)))
	s.add(now.AddDate(-1, 0, 0))
	s.add(now)
	s.write(path.Join(SamplesDir, MonthOf(day(1)), "notes.txt"), nil)
	later := func(d time.Duration) (folders []string) {
		sizes, _ := s.stable(now.Add(d))
		for _, size := range sizes {
			folders = append(folders, size.Folder)
		}
		return folders
	}
	if got := later(stableAfter / 2); slices.Contains(got, old) {
		t.Errorf("after half the time: %v", got)
	}
	got := later(2 * stableAfter)
	if !slices.Contains(got, old) || slices.Contains(got, path.Join(RunsDir, MonthOf(now))) {
		t.Errorf("after twice the time: %v", got)
	}
	sizes, fresh := s.stable(farLater)
	if slices.ContainsFunc(sizes, func(size FolderSize) bool { return path.Dir(size.Folder) == SamplesDir }) || fresh != 2 {
		t.Errorf("%d files are fresh, of %+v", fresh, sizes)
	}
}

// hugeSizes returns signed lines with numbers that do not fit.
func hugeSizes() (lines [][]byte) {
	for _, size := range []string{`"files":1,"bytes":9223372036854775807`, `"files":9223372036854775807,"bytes":1`, `"files":-1,"bytes":1`, `"files":1,"bytes":-1`} {
		lines = append(lines, must(SignJSON(json.RawMessage(fmt.Sprintf(`{"folders":[],"sizes":[{"folder":"runs/2026-08","inode":"1","changed":1,"modified":1,%s}]}`, size)))))
	}
	return lines
}

// FuzzFolderSizes: whatever a file of sizes has, reading it is refused or gives sizes that can be added up.
func FuzzFolderSizes(f *testing.F) {
	id := NewULID(day(2))
	for _, line := range hugeSizes() {
		f.Add(line)
		if _, err := ReadFolderSizes(fstest.MapFS{FolderSizesFile(id): {Data: line}}, id); !errors.Is(err, ErrDamaged) {
			f.Errorf("%s: %v", line, err)
		}
	}
	f.Add(must(EncodeFolderSizes([]FolderSize{{Folder: "runs/2026-08", Files: 1, Bytes: 9}})))
	f.Fuzz(func(t *testing.T, content []byte) {
		if line, rest, _ := bytes.Cut(content, []byte("\n")); json.Valid(line) {
			if signed, err := SignJSON(json.RawMessage(line)); err == nil { // so mutations get behind the hash
				content = append(signed, rest...)
			}
		}
		sizes, _ := ReadFolderSizes(fstest.MapFS{FolderSizesFile(id): {Data: content}}, id)
		for _, s := range sizes {
			if s.Files < 0 || s.Bytes < 0 || s.Files > maxFolder || s.Bytes > maxFolder {
				t.Errorf("%+v", s)
			}
		}
	})
}
