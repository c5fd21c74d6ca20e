package formats

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// TestCorpus reads every file of the collection of real result files, folder by folder, and compares what comes of it
// with testdata/corpus/FOLDER.txt: format, counts, and the first and the last run with values and units; or why the file
// is refused.
func TestCorpus(t *testing.T) {
	samples := os.Getenv("NEUROLENS_SAMPLES")
	if samples == "" {
		t.Skip("NEUROLENS_SAMPLES is not set: there are no real result files to read")
	}
	entries, err := os.ReadDir(samples)
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		t.Run(e.Name(), func(t *testing.T) {
			got, n := condensed(t, filepath.Join(samples, e.Name()))
			files += n
			Compare(t, filepath.Join("testdata", "corpus", e.Name()+".txt"), got)
		})
	}
	t.Logf("%d files", files)
}

// condensed describes the result of reading each file of a folder.
func condensed(t *testing.T, dir string) (text string, files int) {
	t.Helper()
	var b strings.Builder
	folder, all := os.DirFS(dir), All()
	err := fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		fmt.Fprintf(&b, "# %s\n", name)
		format, report, runs, err := One(all, folder, name)
		switch {
		case format == nil:
			fmt.Fprintf(&b, "refused: %v\n", err)
		case format.Read == nil:
			fmt.Fprintf(&b, "%s: %s\n", format.Name, format.Side)
		default:
			b.WriteString(Report(report, err))
			b.WriteString(ends(runs))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), files
}

// ends returns the first and the last of runs.
func ends(runs []schema.Run) string {
	var b strings.Builder
	for i := range runs {
		if i > 0 && i < len(runs)-1 {
			continue
		}
		r := &runs[i]
		fmt.Fprintf(&b, "run %d: %s: %s %s\n", i, Point(r), r.Status, r.Error)
		for j := range r.Metrics {
			b.WriteString("  " + Metric(&r.Metrics[j]) + "\n")
		}
		if len(r.Ops) > 0 {
			fmt.Fprintf(&b, "  %d ops\n", len(r.Ops))
		}
	}
	return b.String()
}

// root is that of the repository. The folders of fixtures/results in it have small files of every format, the README.md of
// each says how they were made, and want.txt what is read of them.
const root = "../../.."

// unrecognised is the folder of files of no format: a mapping says what they are.
const unrecognised = "mapping"

// TestFixtures: every fixture is read as want.txt says with all formats side by side, so no other one takes it for its
// own, and every format has one of which runs come. A format that only goes with others has a file that it knows.
func TestFixtures(t *testing.T) {
	folders, err := os.ReadDir(filepath.Join(root, "fixtures", "results"))
	if err != nil {
		t.Fatal(err)
	}
	all, read := All(), map[string]int{}
	for _, folder := range folders {
		if folder.Name() == unrecognised {
			continue
		}
		t.Run(folder.Name(), func(t *testing.T) {
			if _, err := os.Stat(filepath.Join(root, "fixtures", "results", folder.Name(), "README.md")); err != nil {
				t.Errorf("nothing says how the files were made: %v", err)
			}
			for format, n := range Golden(t, all, root, folder.Name()) {
				read[format] += n
			}
		})
	}
	for _, format := range all {
		if read[format.Name] == 0 {
			t.Errorf("no file of fixtures/results is read as %s", format.Name)
		}
	}
}

// TestStopped: no reader yields another run after one that nobody wanted.
func TestStopped(t *testing.T) {
	folder, all := os.DirFS(filepath.Join(root, "fixtures", "results")), All()
	err := fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		in, err := foreign.Open(context.Background(), folder, name, nil)
		if err != nil {
			return err
		}
		defer in.Close()
		format, err := in.Format(all)
		if err != nil || format.Read == nil {
			return nil // what is no result
		}
		n := 0
		if _, err := foreign.NewReader(foreign.Added{}, nil).Read(in, format, func(schema.Valid) bool { n++; return false }); n > 1 || n == 1 && err != nil {
			t.Errorf("%s (%s): %d runs and error %v, want to end with the first run", name, format.Name, n, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
