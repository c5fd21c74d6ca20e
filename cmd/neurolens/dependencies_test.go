package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
)

// direct is a line of go.mod that requires a module which the code itself imports.
var direct = regexp.MustCompile(`(?m)^\t(\S+) v\S+$`)

// TestPeersApart: what NeuroLens is compared with is required by the module benchmarks alone. One of them is 9 MB of C.
func TestPeersApart(t *testing.T) {
	own, apart := programtest.RepositoryFile(t, "go.mod"), programtest.RepositoryFile(t, "benchmarks/go.mod")
	for _, peer := range []string{"github.com/mattn/go-sqlite3 ", "golang.org/x/perf "} {
		if !strings.Contains(apart, peer) {
			t.Errorf("benchmarks/go.mod does not require %s", peer)
		}
		if strings.Contains(own, peer) {
			t.Errorf("go.mod requires %s", peer)
		}
	}
}

// TestDependenciesExplained: docs/dependencies.md says what every module that the code imports is for.
func TestDependenciesExplained(t *testing.T) {
	page := programtest.RepositoryFile(t, "docs/dependencies.md")
	lines := direct.FindAllStringSubmatch(programtest.RepositoryFile(t, "go.mod"), -1)
	if len(lines) == 0 {
		t.Fatal("go.mod requires nothing")
	}
	for _, line := range lines {
		if name := strings.TrimPrefix(line[1], "github.com/"); !strings.Contains(page, "\n| "+name+" ") {
			t.Errorf("docs/dependencies.md has no row for %s", name)
		}
	}
}
