package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// TestPassAfterFailure: a profiler pass is not launched for a point whose measurement failed, in this session or an earlier one. It is
// for one whose result is wrong, and for one that was measured at least once.
func TestPassAfterFailure(t *testing.T) {
	path := pythonWith(t, "os")
	dir := t.TempDir()
	const text = `
import os
class Bench:
    def __init__(self, case): self.case = case
    def setup(self):
        with open("calls.txt", "a") as f: f.write(self.case + "\n")
        if self.case == "setup" or self.case == "once" and open("calls.txt").read().count("once") == 1: raise ValueError(self.case)
        if self.case == "skip": raise RuntimeError("SKIPPED: no TMA")
    def benchmark_fn(self):
        if self.case == "crash": os.abort()
    def validate_result(self): return self.case != "wrong"
`
	if err := os.WriteFile(filepath.Join(dir, "b.py"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := sweep.Read("s.yaml", strings.NewReader("file: b.py\ncwd: "+dir+"\npython: "+path+
		"\ngrid: {case: [ok, setup, crash, skip, wrong, once]}\nrepeats: 2\nwarmup: 0\niterations: 1\nprofile: torch\norder: sequential\n"), sweep.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	k := &shelf{}
	result := k.bench(t, s, 0, nil)
	passes := map[string]string{}
	for _, r := range k.runs {
		if r.Purpose == schema.PurposeProfile {
			passes[r.Params["case"]] = string(r.Status) + " " + r.ErrorKind + " " + r.Error
		}
	}
	calls, err := os.ReadFile(filepath.Join(dir, "calls.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct {
		calls int
		pass  string
	}{
		"ok": {3, "unsupported not_applied profiler torch"}, "wrong": {3, "unsupported not_applied profiler torch"}, "once": {3, "unsupported not_applied profiler torch"},
		"setup": {2, "skipped after_failure the measurement ended with error: ValueError: setup"}, "skip": {1, "skipped skip no TMA"},
		"crash": {2, "skipped after_failure the measurement ended with crashed: killed by SIGABRT"},
	} {
		if n := strings.Count(string(calls), name+"\n"); n != want.calls || !strings.HasPrefix(passes[name], want.pass) {
			t.Errorf("%s: set up %d times, its pass is %q; want %d, %q", name, n, passes[name], want.calls, want.pass)
		}
	}
	if want := 2 + 2 + 2 + 1; result.Failed() != want {
		t.Errorf("%d failed, want %d: %v", result.Failed(), want, result.Statuses)
	}
	left := k.runs[:0]
	for _, r := range k.runs { // a session that ended before its passes
		if r.Purpose != schema.PurposeProfile {
			left = append(left, r)
		}
	}
	k.runs = left
	if more := k.bench(t, s, 0, nil); more.Plan.Done != 12 || more.Statuses[schema.StatusSkipped] != 3 || more.Failed() != 0 {
		t.Errorf("continued: %d done, %v", more.Plan.Done, more.Statuses)
	}
}
