package formats_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/ingest/foreign/formats"
	"github.com/neurolens/neurolens/schema"
)

// stored is a store that holds runs in memory.
type stored map[schema.ULID]schema.Run

func (s stored) Has(id schema.ULID) (bool, error) { _, ok := s[id]; return ok, nil }

func (s stored) Run(id schema.ULID) (foreign.ImportedRun, error) {
	r := s[id]
	found := foreign.ImportedRun{Session: r.SessionID, Point: r.PointID}
	if m := r.Metric(r.Primary); m != nil {
		found.Samples = int64(max(len(m.Ticks), len(m.Reals)))
	}
	return found, nil
}

func (s stored) After(begin [5]byte) (found []schema.ULID, err error) {
	for id := range s {
		if [5]byte(id[6:]) == begin {
			found = append(found, id)
		}
	}
	return found, nil
}

// add appends what is read of files at once.
func (s stored) add(all []foreign.Format, files []file) {
	reader, runs := foreign.NewReader(foreign.Added{}, s), []schema.Run{}
	for _, f := range files {
		in, err := foreign.Open(fstest.MapFS{f.name: {Data: f.content}}, f.name, nil)
		if err != nil {
			continue
		}
		if format, err := foreign.FormatOf(all, in.Head); err == nil && format.Read != nil {
			_, _ = reader.Read(in, format, func(r schema.Run) bool { runs = append(runs, r); return true })
		}
		in.Close()
	}
	for _, r := range runs {
		if id, err := schema.ParseULID(r.RunID); err == nil {
			if _, there := s[id]; !there {
				s[id] = r
			}
		}
	}
}

// records are what the runs say, without their ids, in ascending order.
func (s stored) records() []string {
	var all []string
	for _, r := range s {
		r.RunID, r.SessionID = "", ""
		all = append(all, schema.DigestOf(&r))
	}
	slices.Sort(all)
	return all
}

type file struct {
	name    string
	content []byte
}

// TestAgain: whatever is read of a file, of copies of it by other names, of what it was while it was shorter, and of others
// that differ from it in a digit, in whatever order and however often: the same runs are in the store.
func TestAgain(t *testing.T) {
	t.Parallel()
	rounds, largest, every := 2, 3<<10, 4 // of the files
	if os.Getenv("NEUROLENS_LONG") != "" {
		rounds, largest, every = 8, 32<<10, 1
	}
	roots := []string{fixtures}
	if samples := os.Getenv("NEUROLENS_SAMPLES"); samples != "" {
		roots = append(roots, samples)
	}
	all, tried, seen := formats.All(), 0, 0
	for _, root := range roots {
		err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			if seen++; seen%every != 0 {
				return nil
			}
			content, err := os.ReadFile(name)
			if err != nil || len(content) > largest || bytes.IndexByte(content, 0) >= 0 {
				return err
			}
			if inAnyOrder(t, all, file{filepath.Base(name), content}, rounds) {
				tried++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if tried < 40/every {
		t.Errorf("%d files", tried)
	}
}

// inAnyOrder tries a file; false where it has no runs.
func inAnyOrder(t *testing.T, all []foreign.Format, whole file, rounds int) bool {
	t.Helper()
	alone, copied := stored{}, stored{}
	alone.add(all, []file{whole})
	if len(alone) == 0 {
		return false
	}
	copied.add(all, []file{{"copy-of-" + whole.name, whole.content}})
	if got, want := slices.Sorted(maps.Keys(ulids(copied))), slices.Sorted(maps.Keys(ulids(alone))); !slices.Equal(got, want) {
		return true // the name says what it is, or what to read
	}
	variants := []file{whole, {"copy-of-" + whole.name, whole.content}, otherDigit(whole)}
	if at := bytes.IndexByte(bytes.TrimLeft(whole.content, " \r\n"), '{'); at != 0 || bytes.Count(whole.content, []byte("\n{")) > 0 {
		variants = append(variants, lines(whole, 1, 2), lines(whole, 4, 5))
	}
	var want []string
	for n := range rounds {
		random := rand.New(rand.NewPCG(uint64(n), 4))
		order := slices.Concat(variants, variants)
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		store := stored{}
		for rest := order; len(rest) > 0; {
			some := 1 + random.IntN(len(rest))
			store.add(all, rest[:some])
			rest = rest[some:]
		}
		got := store.records()
		if n == 0 {
			want = got
		} else if !slices.Equal(got, want) {
			t.Errorf("%s: %d runs in one order, %d in another", whole.name, len(want), len(got))
			break
		}
	}
	return true
}

func ulids(s stored) map[string]bool {
	ids := map[string]bool{}
	for id := range s {
		ids[id.String()] = true
	}
	return ids
}

// lines are the first of the lines of a file.
func lines(whole file, part, of int) file {
	all := bytes.SplitAfter(whole.content, []byte("\n"))
	return file{whole.name, bytes.Join(all[:len(all)*part/of], nil)}
}

// otherDigit is a file that differs in the last digit behind a point.
func otherDigit(whole file) file {
	content := bytes.Clone(whole.content)
	for i := len(content) - 1; i > 0; i-- {
		if content[i] >= '1' && content[i] <= '8' && bytes.IndexByte(content[max(0, i-6):i], '.') >= 0 {
			content[i]++
			break
		}
	}
	return file{fmt.Sprintf("other-%s", whole.name), content}
}
