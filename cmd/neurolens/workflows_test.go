//go:build linux

package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// TestWorkflows: the steps of the workflows run files that are there, and get no text but through their environment: what is
// put into a command could be a command itself.
func TestWorkflows(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", ".github", "workflows", "*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	code := readCode(t)
	for _, file := range files {
		var w parsedWorkflow
		if err := yaml.Unmarshal([]byte(ofRepository(t, ".github/workflows/"+filepath.Base(file))), &w); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if len(w.Jobs) == 0 {
			t.Errorf("%s has no jobs", file)
		}
		for _, job := range w.Jobs {
			for _, step := range job.Steps {
				if strings.Contains(step.Run, "${{") {
					t.Errorf("%s: a step has an expression in its command: %s", file, step.Run)
				}
				for _, word := range strings.Fields(step.Run) {
					if strings.Contains(word, "/") && !code.knows(strings.TrimPrefix(word, "./"), "") {
						t.Errorf("%s runs %s, which does not exist", file, word)
					}
				}
			}
		}
	}
}

// TestWorkflowsLint: the linters of workflows and of the shell find nothing in the workflows of this repository, one of which uses its
// action, in the action's steps, and in the script of a release.
func TestWorkflowsLint(t *testing.T) {
	lint := func(t *testing.T, stdin, tool string, args ...string) {
		t.Helper()
		cmd := exec.Command(linter(t, tool), args...)
		cmd.Dir, cmd.Stdin = filepath.Join("..", ".."), strings.NewReader(stdin)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s\n%s", err, out, stdin)
		}
	}
	t.Run("actionlint", func(t *testing.T) { lint(t, "", "actionlint") })
	t.Run("shellcheck", func(t *testing.T) {
		lint(t, "", "shellcheck", ".ci/release")
		for _, s := range readAction(t).Runs.Steps {
			lint(t, "set -e\n"+s.Run, "shellcheck", "-s", "bash", "-")
		}
	})
}
