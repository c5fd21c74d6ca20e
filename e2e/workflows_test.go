//go:build linux

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestWorkflowsLint: the linters of workflows and of the shell find nothing in the workflows of this repository, one of which uses its
// action, in the action's steps, and in the script of a release.
func TestWorkflowsLint(t *testing.T) {
	lint := func(t *testing.T, stdin, tool string, args ...string) {
		t.Helper()
		cmd := exec.Command(linter(t, tool), args...)
		cmd.Dir, cmd.Stdin = "..", strings.NewReader(stdin)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s\n%s", err, out, stdin)
		}
	}
	t.Run("actionlint", func(t *testing.T) { lint(t, "", "actionlint") })
	t.Run("an example", func(t *testing.T) {
		example := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(programtest.RepositoryFile(t, "docs/install.md"))
		if example == nil || strings.Count(example[1], "neurolens/neurolens@main") != 1 {
			t.Fatalf("docs/install.md has no workflow: %v", example)
		}
		dir := t.TempDir() // of a repository with the action in it, whose inputs are then checked
		programtest.Git(t, dir, "init", "-q", "--template=")
		programtest.WriteFile(t, dir, "action.yml", programtest.RepositoryFile(t, "action.yml"))
		workflow := strings.Replace(example[1], "neurolens/neurolens@main", "./", 1)
		for input, wrong := range map[string]bool{"sweep:": false, "swep:": true} {
			valuetest.OK(t, os.MkdirAll(filepath.Join(dir, ".github", "workflows"), 0o755))
			programtest.WriteFile(t, dir, ".github/workflows/x.yml", strings.Replace(workflow, "sweep:", input, 1))
			cmd := exec.Command(linter(t, "actionlint"))
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); (err != nil) != wrong {
				t.Errorf("with %s: %v\n%s", input, err, out)
			}
		}
	})
	t.Run("shellcheck", func(t *testing.T) {
		lint(t, "", "shellcheck", ".ci/release")
		for _, s := range readAction(t).Runs.Steps {
			lint(t, "set -e\n"+s.Run, "shellcheck", "-s", "bash", "-")
		}
	})
}
