package layout

import (
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// limitFiles makes every write beyond size bytes of a file fail after a part of it.
func limitFiles(t *testing.T, size uint64) (lift func()) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	lift = func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	return lift
}

// filesIn are the paths of all files below dir.
func filesIn(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	if err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			found = append(found, strings.TrimPrefix(path, dir+"/"))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
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
		if after := filesIn(t, dir); strings.Join(after, " ") != strings.Join(before, " ") {
			t.Errorf("at %d B the files are %q, before they were %q", size, after, before)
		}
		if got := string(read(t, dir, "summary.csv")); got != summary {
			t.Errorf("at %d B summary.csv is %q, before it was %q", size, got, summary)
		}

		add(t, b, measured(3))
		found := rows(t, dir)
		if last := found[len(found)-1]; last["run_id"] != measured(3).RunID {
			t.Errorf("at %d B the last row is %v", size, last)
		}
		if kept := len(found) == 3; kept != (at == "summary.csv") {
			t.Errorf("at %d B the rows are %v", size, found)
		}
	}
}

func TestUnwritable(t *testing.T) {
	dir := t.TempDir()
	taken := filepath.Join(dir, "taken")
	if err := os.WriteFile(taken, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenBenchRuns(taken); err == nil || !strings.HasPrefix(err.Error(), "making "+taken+": ") {
		t.Errorf("a file in place of the directory gives %v", err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "out", "summary.csv"), 0o777); err != nil {
		t.Fatal(err)
	}
	out, err := OpenBenchRuns(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	if err := out.Begin(nil, nil); err == nil || !strings.Contains(err.Error(), "summary.csv: ") {
		t.Errorf("a directory in place of summary.csv gives %v", err)
	}
	if found := filesIn(t, filepath.Join(dir, "out")); len(found) != 0 {
		t.Errorf("files %q are left", found)
	}

	b := open(t, filepath.Join(dir, "in"))
	if err := b.Add(measured(1)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "in", "fp")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "in", "fp"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := b.Add(onGPU(2)); !errors.Is(err, syscall.ENOTDIR) || len(rows(t, b.dir)) != 1 {
		t.Errorf("a file in place of the folder for fingerprints: %v, %d rows", err, len(rows(t, b.dir)))
	}
	run := measured(3)
	run.RunID = "../../evil"
	if err := b.Add(run); err == nil || !strings.Contains(err.Error(), `"../../evil" is not a ULID`) {
		t.Errorf("a run_id that is a path gives %v", err)
	}
}
