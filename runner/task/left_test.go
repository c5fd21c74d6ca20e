package task

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/neurolens/neurolens/schema"
)

// TestLeave: a run has a directory of its own, which its processes find by the word and by the variable. What is in it, and what
// was printed, can be read when all has ended, and is gone after that.
func TestLeave(t *testing.T) {
	var dir, made, printed string
	spec := shell(`echo $NEUROLENS_RUN_DIR; echo "$1" >> {run_dir}/made; ls {run_dir} >&2`)
	spec.Command = append(spec.Command, "sh", "{run_dir}")
	spec.RunDir, spec.Iterations, spec.Warmup = "{run_dir}", 2, 0
	spec.Leave = func(l Left) {
		dir = l.Dir
		text, err := os.ReadFile(filepath.Join(l.Dir, "made"))
		if err != nil || l.Outcome.Status != schema.StatusOK {
			t.Errorf("%s: %v, %s", l.Outcome.Status, err, l.Outcome.Error)
		}
		made = string(text)
		out, err := io.ReadAll(io.NewSectionReader(l.Stdout, 0, 1<<20))
		if err != nil {
			t.Error(err)
		}
		printed = string(out)
	}
	o := runSpec(t, t.Context(), spec, nil)
	if made != dir+"\n"+dir+"\n" || printed != dir+"\n" || o.StderrTail != "made\n" {
		t.Errorf("in %s: made %q, printed %q, listed %q", dir, made, printed, o.StderrTail)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is still there: %v", dir, err)
	}
}
