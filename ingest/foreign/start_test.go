package foreign

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// TestDateInName: a date in a name is found, with its time of day. Other digits are no dates.
func TestDateInName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"2026-10-01.txt":                  "2026-10-01T00:00:00Z",
		"20261001.txt":                    "2026-10-01T00:00:00Z",
		"bench20261001.txt":               "2026-10-01T00:00:00Z",
		"bench_2026_10_01.json":           "2026-10-01T00:00:00Z",
		"2026.10.01-v2.json":              "2026-10-01T00:00:00Z",
		"2026-10-01T120000.txt":           "2026-10-01T12:00:00Z",
		"2026-10-01T12:34:56Z.txt":        "2026-10-01T12:34:56Z",
		"2026-10-01T12:34:56+02:00.txt":   "2026-10-01T10:34:56Z",
		"2026-10-01 12.34.txt":            "2026-10-01T12:34:00Z",
		"night-20261001-1234.txt":         "2026-10-01T12:34:00Z",
		"night-20261001_123456.txt":       "2026-10-01T12:34:56Z",
		"20261001123456.txt":              "2026-10-01T12:34:56Z",
		"2026-10-01-12-34-56.txt":         "2026-10-01T12:34:56Z",
		"2026-10-01-9999.txt":             "2026-10-01T00:00:00Z", // no time of day
		"2026-10-01-1.txt":                "2026-10-01T00:00:00Z",
		"2026-10-01-1600MHz.txt":          "2026-10-01T00:00:00Z", // an amount
		"20261001_1600MHz.txt":            "2026-10-01T00:00:00Z",
		"2026-10-01-2048.txt":             "2026-10-01T00:00:00Z",
		"2026-10-01_2048.txt":             "2026-10-01T20:48:00Z",
		"2026-10-01_run-2026-10-01.txt":   "2026-10-01T00:00:00Z", // the same one twice
		"bench.txt":                       "no date",
		"v20.10.01.txt":                   "no date",
		"2026-13-01.txt":                  "no date",
		"2026-02-30.txt":                  "no date",
		"120261001.txt":                   "no date",
		"202610011.txt":                   "no date",
		"a20261001f.txt":                  "no date", // a hash
		"12345678.txt":                    "no date",
		"2026-10-01_2026-10-02.txt":       "two dates",
		"2026-10-01-2026-10-02.txt":       "two dates",
		"20261001-20261002.txt":           "two dates",
		"2026-10-01T10:00_2026-10-01.txt": "two dates",
	} {
		at, err := dateIn(name, nil)
		got := at.UTC().Format(time.RFC3339)
		switch {
		case errors.Is(err, errNoDate):
			got = "no date"
		case err != nil && strings.HasPrefix(err.Error(), "two dates in "):
			got = "two dates"
		case err != nil:
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	zone := time.FixedZone("", 3600)
	if at, err := dateIn("2026-10-01.txt", zone); err != nil || at.UTC().Format(time.RFC3339) != "2026-09-30T23:00:00Z" {
		t.Errorf("in a zone: %v, %v", at, err)
	}
}

// TestStartOfPath: the date of the closest folder counts, if the name has none.
func TestStartOfPath(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"2026-10-01/bench.txt":                   "2026-10-01T00:00:00Z",
		"2025-01-01/2026-10-01/bench.txt":        "2026-10-01T00:00:00Z",
		"2025-01-01/20261001T1200.txt":           "2026-10-01T12:00:00Z",
		"nights/2026/10/01/a/b.txt":              "2026-10-01T00:00:00Z",
		"2026/13/01/b.txt":                       `no date in the path "2026/13/01/b.txt", such as 2026-10-01 or 2026/10/01`,
		"2026-01-01/2026-10-01_2026-10-02/b.txt": `two dates in "2026-10-01_2026-10-02": 2026-10-01 and 2026-10-02`,
	} {
		at, err := StartOfPath(&Input{Name: name})(nil)
		got := at.Format(time.RFC3339)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// FuzzDateIn: a date that is found is in the name, and a year of files.
func FuzzDateIn(f *testing.F) {
	for _, seed := range []string{"2026-10-01", "20261001T120000Z", "2026-10-01-2026-10-02", "x", "2026_10_0120261001"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		for _, d := range datesIn(name) {
			if !strings.Contains(name, d.text) || d.at.Year() < 1970 || d.at.Year() > 2200 {
				t.Fatalf("%q: %+v", name, d)
			}
		}
		_ = stem(name)
	})
}

// TestStem: a log keeps it when it is rotated, and other files have others.
func TestStem(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"bench.log", "bench.log.1", "old/bench.log.2.gz", "bench.log-20261001", "bench.log.old", "bench.log.bak"},
		{"log-2026-10-01.txt", "log-2026-10-02.txt"},
		{"run1.log"},
		{"run2.log"},
		{"run.log"},
		{"summary.txt"},
		{"2026"},
	} {
		for _, name := range same {
			if stem(name) != stem(same[0]) || stem(name) == stem("other.log") {
				t.Errorf("%s: %q, and %s: %q", name, stem(name), same[0], stem(same[0]))
			}
		}
	}
	if stem("run1.log") == stem("run2.log") || stem("run1.log") == stem("run.log") {
		t.Error("numbers of files are no rotation")
	}
}

// namedFile is a file of letters, each of which is a record.
type namedFile struct{ name, text string }

// addNamed reads files of a folder, one after the other, each with a start or none.
func (s runsOf) addNamed(t *testing.T, start Start, changed time.Time, files ...namedFile) (reports []Report) {
	t.Helper()
	reader := NewReader(Added{Start: start}, s)
	var all []schema.Run
	for _, f := range files {
		in, err := Open(t.Context(), fstest.MapFS{f.name: {Data: []byte(f.text), ModTime: changed}}, f.name, nil)
		if err != nil {
			t.Fatal(err)
		}
		in.Given = f.name
		report, err := reader.Read(in, lettered(false)(f.text), func(valid schema.Valid) bool { all = append(all, valid.Run()); return true })
		if err = errors.Join(err, in.Close()); err != nil {
			t.Fatal(err)
		}
		reports = append(reports, report)
	}
	for _, r := range all {
		id, err := schema.ParseULID(r.RunID)
		if err != nil {
			t.Fatal(err)
		}
		s[id] = r
	}
	return reports
}

// TestConcatenations: equal records of two files are two runs. So files and their concatenations, under names of their own, all count,
// in whatever order they come and however many at once; and nothing is added the second time.
func TestConcatenations(t *testing.T) {
	t.Parallel()
	rounds := 60
	if os.Getenv("NEUROLENS_LONG") != "" {
		rounds = 2_000
	}
	for seed := range uint64(rounds) {
		random := rand.New(rand.NewPCG(seed, 44))
		known, files, records := map[string]bool{}, []namedFile(nil), 0
		add := func(text string) {
			if text == "" || known[text] {
				return // equal files are one
			}
			known[text] = true
			files, records = append(files, namedFile{string(rune('a'+len(files))) + ".log", text}), records+len(text)
		}
		for range 2 + random.IntN(3) {
			text := ""
			for range 1 + random.IntN(3) {
				text += string("bcdf"[random.IntN(4)])
			}
			add(text)
		}
		for range 1 + random.IntN(3) {
			text := ""
			for _, i := range random.Perm(len(files)) {
				text += files[i].text
			}
			add(text)
		}
		random.Shuffle(len(files), func(i, k int) { files[i], files[k] = files[k], files[i] })
		store := runsOf{}
		for range 2 {
			for rest := files; len(rest) > 0; {
				n := 1 + random.IntN(len(rest))
				store.addNamed(t, nil, time.Time{}, rest[:n]...)
				rest = rest[n:]
			}
			if len(store) != records {
				t.Fatalf("seed %d, %v: %d runs, want %d", seed, files, len(store), records)
			}
		}
	}
}

// TestRotated: a log that has grown adds its new runs alone, also under the name that it has after its rotation.
func TestRotated(t *testing.T) {
	t.Parallel()
	store := runsOf{}
	for _, f := range []namedFile{{"bench.log", "bc"}, {"bench.log", "bcd"}, {"bench.log.1", "bcdf"}, {"old/bench.log.2", "bcdfg"}, {"bench.log", "bcdf"}} {
		store.addNamed(t, nil, time.Time{}, f)
	}
	if len(store) != 5 {
		t.Errorf("%d runs, want 5", len(store))
	}
}

// TestFormerStart: a file that was read without a start, or with another one while it was as it is now, says which runs are the same. A
// file that was changed since, and one with another name, is another measurement.
func TestFormerStart(t *testing.T) {
	t.Parallel()
	file, changed := namedFile{"f.txt", "bcb"}, time.Unix(1_800_000_000, 5)
	monday, tuesday := StartAt(time.Unix(1_700_000_000, 0)), StartAt(time.Unix(1_700_090_000, 0))
	ofCommit := func(*Input) RunStart {
		return func(r *schema.Run) (time.Time, error) {
			return time.Unix(1_600_000_000+int64(strings.Index("zyx", r.Env.GitCommit)), 0), nil
		}
	}
	commits := namedFile{"f.txt", "xyzbx"}
	for _, c := range []struct {
		name     string
		file     namedFile
		first    Start
		second   Start
		changed  time.Time
		replaced int
	}{
		{"none, then one", file, nil, monday, changed, 3},
		{"none under another name", namedFile{"g.txt", "bcb"}, nil, monday, changed, 3},
		{"none, and changed since", file, nil, monday, changed.Add(1), 3},
		{"another one", file, monday, tuesday, changed, 3},
		{"another one, and changed since", file, monday, tuesday, changed.Add(1), 0},
		{"another one under another name", namedFile{"g.txt", "bcb"}, monday, tuesday, changed, 0},
		{"the same one", file, monday, monday, changed, 0},
		{"one, then none", file, monday, nil, changed, 0},
		{"other content", namedFile{"f.txt", "cbb"}, nil, monday, changed, 0},
		{"grown", namedFile{"f.txt", "bcbd"}, nil, monday, changed, 3},
		{"runs with a start of their own", namedFile{"f.txt", "aei"}, nil, monday, changed, 0},
		{"those of commits, then one", commits, ofCommit, monday, changed, 5},
		{"one, then those of commits", commits, monday, ofCommit, changed, 5},
		{"those of commits, then none", commits, ofCommit, nil, changed, 0},
		{"none, then those of commits", commits, nil, ofCommit, changed, 5},
	} {
		store := runsOf{}
		before := namedFile{file.name, file.text}
		if c.name == "runs with a start of their own" || c.file == commits {
			before = c.file
		}
		store.addNamed(t, c.first, changed, before)
		had := len(store)
		report := store.addNamed(t, c.second, c.changed, c.file)[0]
		if len(report.Replaced) != c.replaced {
			t.Errorf("%s: %d replaced, want %d", c.name, len(report.Replaced), c.replaced)
		}
		for _, one := range report.Replaced {
			old, err := schema.ParseULID(one.Old)
			now, err2 := schema.ParseULID(one.New)
			if err != nil || err2 != nil || store[old].Benchmark != store[now].Benchmark || store[old].StartedAt.Equal(store[now].StartedAt) {
				t.Errorf("%s: %s is replaced by %s", c.name, store[old].RunID, store[now].RunID)
			}
		}
		if again := store.addNamed(t, c.second, c.changed, c.file)[0]; again.Known != again.Runs || len(again.Replaced) != c.replaced {
			t.Errorf("%s, again: %+v", c.name, again)
		}
		if c.replaced > 0 && len(store) < had+c.replaced {
			t.Errorf("%s: %d runs", c.name, len(store))
		}
	}
}

// TestEqualFiles: files with equal content are one without a start, and the report names the file that has it; with a start of their own each
// counts.
func TestEqualFiles(t *testing.T) {
	t.Parallel()
	var nights []namedFile
	for day := range 3 {
		nights = append(nights, namedFile{fmt.Sprintf("2026-10-%02d.txt", day+1), "bc"})
	}
	store := runsOf{}
	reports := store.addNamed(t, nil, time.Time{}, nights...)
	if len(store) != 2 || reports[2].Known != 2 || !reports[2].AllKnown() || reports[2].KnownName != nights[0].name || reports[0].Undated != 2 {
		t.Errorf("%d runs, %+v", len(store), reports)
	}
	reports = store.addNamed(t, StartOfName, time.Time{}, nights...)
	if len(store) != 2+6 || reports[2].Known != 0 || reports[0].Undated != 0 {
		t.Errorf("%d runs, %+v", len(store), reports)
	}
	var starts []string
	for _, r := range store {
		if !r.StartedAt.IsZero() && r.Benchmark == "b" {
			starts = append(starts, r.StartedAt.Format("01-02"))
		}
	}
	if slices.Sort(starts); !slices.Equal(starts, []string{"10-01", "10-02", "10-03"}) {
		t.Errorf("starts %v", starts)
	}
}

// TestNoStart: a run for which the user's choice gives no start is refused, and one with a start of its own is not.
func TestNoStart(t *testing.T) {
	t.Parallel()
	store := runsOf{}
	report := store.addNamed(t, StartOfName, time.Time{}, namedFile{"f.txt", "bac"})[0]
	want := `1 and 1 more: no date in the name "f.txt", such as 2026-10-01 or 20261001T120000`
	if len(store) != 1 || report.Refused != 2 || len(report.Refusals) != 1 || !strings.HasSuffix(report.Refusals[0].String(), want[len("1"):]) {
		t.Errorf("%d runs, %+v", len(store), report)
	}
}
