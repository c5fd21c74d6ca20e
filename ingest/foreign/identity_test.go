package foreign

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// runsOf is a store that holds runs in memory.
type runsOf map[schema.ULID]schema.Run

func (s runsOf) Has(id schema.ULID) (bool, error) { _, ok := s[id]; return ok, nil }

func (s runsOf) Starts(path, changed string) (map[string][]time.Time, error) {
	all := map[string][]time.Time{}
	for _, r := range s {
		commit := r.Env.GitCommit
		if f := r.Env.Facts; f[schema.FactPath] == path && f[schema.FactChanged] == changed && !slices.Contains(all[commit], r.StartedAt) {
			all[commit] = append(all[commit], r.StartedAt)
		}
	}
	return all, nil
}

func (s runsOf) Machines(path string) (all []string, err error) {
	for _, r := range s {
		if r.Env.Facts[schema.FactPath] == path && r.Env.Machine != "" && !slices.Contains(all, r.Env.Machine) {
			all = append(all, r.Env.Machine)
		}
	}
	return all, nil
}

func (s runsOf) Run(id schema.ULID) (ImportedRun, error) {
	r := s[id]
	return ImportedRun{r.SessionID, r.PointID, int64(len(r.Metrics[0].Ticks)), r.Env.Facts[schema.FactPath]}, nil
}

func (s runsOf) After(begin [halfBits]byte) (found []schema.ULID, err error) {
	for id := range s {
		if [halfBits]byte(id[timeBytes:]) == begin {
			found = append(found, id)
		}
	}
	return found, nil
}

// add appends the runs of files, all at once.
func (s runsOf) add(t *testing.T, f func(file string) *Format, files ...string) (added, known int) {
	t.Helper()
	reader, all := NewReader(Added{}, s), []schema.Run{}
	for _, file := range files {
		in := opened(t, file)
		report, err := reader.Read(in, f(file), func(valid schema.Valid) bool { all = append(all, valid.Run()); return true })
		if err != nil {
			t.Fatal(err)
		}
		known += report.Known
	}
	for _, r := range all {
		id, err := schema.ParseULID(r.RunID)
		if err != nil {
			t.Fatal(err)
		}
		if _, there := s[id]; there {
			t.Errorf("run %s of %v is yielded, and is there", id, files)
		}
		s[id] = r
	}
	return len(all), known
}

// files lists the benchmarks of the runs, a text for each session, in order.
func (s runsOf) files() []string {
	bySession := map[string][]string{}
	for _, r := range s {
		bySession[r.SessionID] = append(bySession[r.SessionID], r.Benchmark)
	}
	var all []string
	for _, letters := range bySession {
		slices.Sort(letters)
		all = append(all, strings.Join(letters, ""))
	}
	slices.Sort(all)
	return all
}

// lettered reads a record of each letter. Records of vowels have a start.
func lettered(log bool) func(string) *Format {
	return func(file string) *Format {
		return &Format{Name: "letters", Log: log, Read: func(_ *Input, out *Output) error {
			for i, letter := range file {
				r := measured(string(letter), 1)
				if strings.ContainsRune("aeiou", letter) {
					SetStart(&r, time.Unix(int64(1_700_000_000+1000*letter), 0), schema.TimeFile)
				}
				if strings.ContainsRune("xyz", letter) {
					r.Env.GitCommit = string(letter)
				}
				if err := out.Run(fmt.Sprint(i), r); err != nil {
					return err
				}
			}
			return nil
		}}
	}
}

// TestFilesInAnyOrder: whatever files come in whatever order, however often and many at once, of which some are beginnings
// of others and some begin as others do: each that is not the beginning of another is in the store, as one session.
func TestFilesInAnyOrder(t *testing.T) {
	t.Parallel()
	rounds := 100
	if os.Getenv("NEUROLENS_LONG") != "" {
		rounds = 5_000
	}
	for seed := range uint64(rounds) {
		random := rand.New(rand.NewPCG(seed, 16))
		var files []string
		for range 1 + random.IntN(5) {
			file := ""
			for range 1 + random.IntN(5) {
				file += string("abc"[random.IntN(3)])
			}
			for n := range len(file) { // it was read before it grew, or not
				if n > 0 && random.IntN(4) == 0 {
					files = append(files, file[:n])
				}
			}
			files = append(files, file)
			if random.IntN(3) == 0 { // a copy
				files = append(files, file)
			}
		}
		random.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
		store := runsOf{}
		for rest := files; len(rest) > 0; {
			n := 1 + random.IntN(len(rest))
			store.add(t, lettered(false), rest[:n]...)
			rest = rest[n:]
		}
		if got, want := store.files(), whole(files); !slices.Equal(got, want) {
			t.Fatalf("seed %d: files %q: stored %q, want %q", seed, files, got, want)
		}
		before := maps.Clone(store)
		if added, _ := store.add(t, lettered(false), files...); added > 0 || len(store) != len(before) {
			t.Fatalf("seed %d: files %q once more: %d runs added", seed, files, added)
		}
	}
}

// whole returns the files of which none is the beginning of another, each once, their letters in order.
func whole(files []string) []string {
	var all []string
	files = slices.Compact(slices.Sorted(slices.Values(files)))
	for i, file := range files {
		if i+1 == len(files) || !strings.HasPrefix(files[i+1], file) {
			letters := strings.Split(file, "")
			slices.Sort(letters)
			all = append(all, strings.Join(letters, ""))
		}
	}
	slices.Sort(all)
	return all
}

// countedWords reads a record of each word, a letter and how many samples it has.
func countedWords(file string) *Format {
	return &Format{Name: "words", Read: func(_ *Input, out *Output) error {
		for _, word := range strings.Fields(file) {
			if err := out.Run(word, measured(word[:1], make([]int64, word[1]-'0')...)); err != nil {
				return err
			}
		}
		return nil
	}}
}

// TestBrokenOff: of a file that was read while its last record was written, only that record is there besides, in whatever
// order the two come and whether they come at once. A file that goes on behind a shorter or longer record is another one.
func TestBrokenOff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		files []string
		runs  int
		apart bool // two of them are two files: the first to come has the ids without a seed
	}{
		{[]string{"a1 b3", "a1 b5 c1"}, 4, false},
		{[]string{"a1 b3", "a1 b5"}, 3, false},
		{[]string{"a1 b2", "a1 b3", "a1 b5 c1"}, 5, false},
		{[]string{"a1 b3 c1", "a1 b5 c1"}, 6, true},
		{[]string{"a1 b3", "a1 c5"}, 4, true},
		{[]string{"a1 b3", "a1 b5 c1", "a1 b7 d1"}, 7, true},
	} {
		want := map[schema.ULID]bool{}
		for n, order := range orders(c.files) {
			for _, atOnce := range []bool{false, true} {
				store := runsOf{}
				for range 2 {
					if atOnce {
						store.add(t, countedWords, order...)
						continue
					}
					for _, file := range order {
						store.add(t, countedWords, file)
					}
				}
				if len(store) != c.runs {
					t.Errorf("%q, at once %v: %d runs, want %d", order, atOnce, len(store), c.runs)
				}
				for id := range store {
					if n == 0 && !atOnce {
						want[id] = true
					} else if !want[id] && !c.apart {
						t.Errorf("%q, at once %v: another id %s", order, atOnce, id)
					}
				}
			}
		}
	}
}

// TestPartIsNamed: where a record is there whole, and as it was when its file broke off, the report names the part, whichever
// of the files comes first, and whether they come at once.
func TestPartIsNamed(t *testing.T) {
	t.Parallel()
	for _, order := range orders([]string{"a1 b3", "a1 b5 c1"}) {
		for _, atOnce := range []bool{false, true} {
			store, notes := runsOf{}, []string{}
			reader := NewReader(Added{}, store)
			for _, file := range order {
				if !atOnce {
					reader = NewReader(Added{}, store)
				}
				in := opened(t, file)
				report, err := reader.Read(in, countedWords(file), func(valid schema.Valid) bool {
					r := valid.Run()
					id, err := schema.ParseULID(r.RunID)
					store[id] = r
					return err == nil
				})
				if err != nil {
					t.Fatal(err)
				}
				notes = append(notes, report.Noted()...)
			}
			want := ""
			for id, r := range store {
				if r.Benchmark == "b" && len(r.Metrics[0].Ticks) == 3 {
					want = "a record that was cut off in an earlier import is complete now; remove the old one with neurolens rm " + id.String()
				}
			}
			if !slices.Equal(notes, []string{want}) {
				t.Errorf("%q, at once %v: noted %q, want %q", order, atOnce, notes, want)
			}
		}
	}
}

// orders returns all orders of some files.
func orders(files []string) (all [][]string) {
	if len(files) < 2 {
		return [][]string{files}
	}
	for i := range files {
		for _, rest := range orders(slices.Delete(slices.Clone(files), i, i+1)) {
			all = append(all, append([]string{files[i]}, rest...))
		}
	}
	return all
}

// TestKeyed: of files whose records have ids of their own, each record is stored once, whichever are before it. What an earlier version stored
// by the records before it is known while they are there.
func TestKeyed(t *testing.T) {
	t.Parallel()
	keyed := func(file string) *Format {
		f := lettered(false)(file)
		f.Keyed = true
		return f
	}
	store := runsOf{}
	for _, files := range [][]string{{"bcd"}, {"abcde", "ce"}, {"c", "edcba"}} {
		store.add(t, keyed, files...)
	}
	if len(store) != 5 {
		t.Errorf("%d runs of 5 are stored", len(store))
	}
	store = runsOf{}
	store.add(t, lettered(false), "abcd")
	if added, known := store.add(t, keyed, "abcde"); added != 1 || known != 4 {
		t.Errorf("%d runs are added to those of an earlier version and %d known, want 1 and 4", added, known)
	}
}
