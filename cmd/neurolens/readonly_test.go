//go:build linux

package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// reading returns the commands that read a store of made-up runs; dir is where they may write.
func reading(dir string) [][]string {
	return [][]string{
		{"ls"},
		{"ls", "p99>0ns", "--sort", "-p99", "--format", "table"},
		{"query", "SELECT * FROM samples_long"},
		{"query", "SELECT * FROM ops"},
		{"export", filepath.Join(dir, "nb")},
		{"export", "-", "--format", "csv"},
		{"store", "info"},
		{"store", "verify"},
		{"store", "repair", "--dry-run"},
		{"compare", "precision=fp32", "precision=fp64"},
		{"compare", "--matrix", "precision=fp32", "--format", "csv"},
		{"explain", "precision=fp32", "precision=fp64"},
		{"history"},
		{"report"},
		{"notebook", "--force", "-o", filepath.Join(dir, "nb", "runs.ipynb")},
	}
}

// TestReadOnlyMount has the store on a file system that nobody can write to, root neither: every reading command
// works, and bench says so before it measures anything.
func TestReadOnlyMount(t *testing.T) {
	programtest.NeedsLong(t)
	t.Parallel()
	programtest.Needs(t, "unshare", exec.Command("unshare", "-m", "sh", "-c", "mount --bind /tmp /tmp").Run())
	self := programtest.Binary(t)
	dir := t.TempDir()
	store := filepath.Join(dir, "store")
	programtest.FillStore(t, store, 3, 10)
	sweep := filepath.Join(programtest.Fixtures(t), "sweeps", "quickstart.yaml")
	for _, command := range append(reading(dir), []string{"bench", sweep}) {
		want := exitOK
		if command[0] == "bench" {
			want = exitStore
		}
		script := `mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"`
		args := append([]string{"-m", "sh", "-c", script, store, self}, command...)
		cmd := exec.Command("unshare", append(args, "--store", store)...)
		cmd.Env = programtest.Environ(t)
		out, _ := cmd.CombinedOutput()
		valuetest.Equal(t, cmd.ProcessState.ExitCode(), want, command, "exit", out)
		if want == exitStore && (strings.Count("\n"+string(out), "\nneurolens: ") != 1 || !strings.Contains(string(out), "read-only file system; --store DIR names another store\n")) {
			t.Errorf("%v says\n%s", command, out)
		}
	}
}
