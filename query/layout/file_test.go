package layout

import (
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// limitFiles makes every write beyond size bytes of a file fail after a part of it.
func limitFiles(t *testing.T, size uint64) (lift func()) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	var old syscall.Rlimit
	valuetest.OK(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old))
	lift = func() {
		valuetest.OK(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old))
	}
	valuetest.OK(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: old.Max}))
	return lift
}

// filesIn returns the paths of all files below dir.
func filesIn(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	valuetest.OK(t, filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			found = append(found, strings.TrimPrefix(path, dir+"/"))
		}
		return err
	}))
	return found
}

// TestFullDisk: at whichever file the space runs out, existing files stay complete, there is no partial file, and once there is
// space again everything is written.
func TestFullDisk(t *testing.T) {
	const size = 1 << 20 // more than the log of the test itself, which has the same limit
	large := strings.Repeat("x", 2*size)
	for _, at := range []string{".json", "summary.csv"} {
		dir := t.TempDir()
		b := open(t, dir)
		first, run := measured(1), measured(2)
		if run.Tags = map[string]string{"large": large}; at == "summary.csv" { // the row is large, of a run that has no document
			first.Backend, run.Backend, run.Model = "cpu", "cpu", large
		}
		add(t, b, first)
		before := filesIn(t, dir)
		summary := string(read(t, dir, "summary.csv"))

		lift := limitFiles(t, size)
		err := b.Add(run)
		lift()
		if !errors.Is(err, syscall.EFBIG) || !strings.Contains(err.Error(), at+": ") {
			t.Errorf("at %d B the error is %v, want one about %s", size, err, at)
		}
		valuetest.Equal(t, strings.Join(filesIn(t, dir), " "), strings.Join(before, " "), size, "B the files", before)
		valuetest.Equal(t, string(read(t, dir, "summary.csv")), summary, size, "B summary.csv")

		add(t, b, measured(3))
		found := rows(t, dir)
		valuetest.Equal(t, found[len(found)-1]["run_id"], measured(3).RunID, size, "B the last row")
		valuetest.Equal(t, len(found) == 3, (at == "summary.csv"), size, "B the rows", found)
	}
}

func TestUnwritable(t *testing.T) {
	dir := t.TempDir()
	taken := filepath.Join(dir, "taken")
	valuetest.OK(t, os.WriteFile(taken, nil, 0o666))
	if _, err := OpenBenchRuns(taken); err == nil || !strings.HasPrefix(err.Error(), "making "+taken+": ") {
		t.Errorf("a file in place of the directory gives %v", err)
	}
	valuetest.OK(t, os.MkdirAll(filepath.Join(dir, "out", "summary.csv"), 0o777))
	out := valuetest.Must(OpenBenchRuns(filepath.Join(dir, "out")))
	valuetest.Fails(t, out.Begin(nil, nil), "summary.csv: ", "a directory in place of summary.csv")
	valuetest.DeepEqual(t, filesIn(t, filepath.Join(dir, "out")), nil, "files")

	b := open(t, filepath.Join(dir, "in"))
	valuetest.OK(t, b.Add(measured(1)))
	valuetest.OK(t, os.RemoveAll(filepath.Join(dir, "in", "fp")))
	valuetest.OK(t, os.WriteFile(filepath.Join(dir, "in", "fp"), nil, 0o666))
	if err := b.Add(onGPU(2)); !errors.Is(err, syscall.ENOTDIR) || len(rows(t, b.dir)) != 1 {
		t.Errorf("a file in place of the folder for fingerprints: %v, %d rows", err, len(rows(t, b.dir)))
	}
	run := measured(3)
	run.RunID = "../../evil"
	valuetest.Fails(t, b.Add(run), `"../../evil" is not a ULID`, "a run_id that is a path")
}
