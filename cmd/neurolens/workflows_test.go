//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
	t.Run("an example", func(t *testing.T) {
		example := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(ofRepository(t, "docs/install.md"))
		if example == nil || strings.Count(example[1], "neurolens/neurolens@main") != 1 {
			t.Fatalf("docs/install.md has no workflow: %v", example)
		}
		dir := t.TempDir() // of a repository with the action in it, whose inputs are then checked
		git(t, dir, "init", "-q", "--template=")
		write(t, dir, "action.yml", ofRepository(t, "action.yml"))
		workflow := strings.Replace(example[1], "neurolens/neurolens@main", "./", 1)
		for input, wrong := range map[string]bool{"sweep:": false, "swep:": true} {
			if err := os.MkdirAll(filepath.Join(dir, ".github", "workflows"), 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, dir, ".github/workflows/x.yml", strings.Replace(workflow, "sweep:", input, 1))
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
