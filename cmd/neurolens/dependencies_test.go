package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// direct is a line of go.mod that requires a module which the code itself imports.
var direct = regexp.MustCompile(`(?m)^\t(\S+) v\S+$`)

// TestPeersApart: what NeuroLens is compared with is required by the module benchmarks alone. One of them is 9 MB of C.
func TestPeersApart(t *testing.T) {
	own, apart := ofRepository(t, "go.mod"), ofRepository(t, "benchmarks/go.mod")
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
	page := ofRepository(t, "docs/dependencies.md")
	lines := direct.FindAllStringSubmatch(ofRepository(t, "go.mod"), -1)
	if len(lines) == 0 {
		t.Fatal("go.mod requires nothing")
	}
	for _, line := range lines {
		if name := strings.TrimPrefix(line[1], "github.com/"); !strings.Contains(page, "\n| "+name+" ") {
			t.Errorf("docs/dependencies.md has no row for %s", name)
		}
	}
}

func ofRepository(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
