//go:build linux

package main

import (
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
