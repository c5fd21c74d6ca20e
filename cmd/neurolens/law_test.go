package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

const module = "github.com/neurolens/neurolens/"

// law names the packages of this module that a package may import in its own code, tests apart. The rule with the longest path holds for a
// package.
var law = []struct {
	path string
	may  []string
}{
	{"schema", []string{"schema"}},
	{"ingest", []string{"schema", "ingest"}},
	{"ingest/foreign", []string{"schema", "ingest/foreign"}}, // readers know no store
	{"query", []string{"schema", "query"}},
	{"query/judge", []string{"schema", "query/answer"}}, // decisions are functions of numbers
	{"query/layout", []string{"schema", "query/answer", "query/files"}},
	{"runner", []string{"schema", "runner"}},
	{"cmd", []string{"schema", "ingest", "query", "runner", "cmd/neurolens/internal", "docs"}},
	{"cmd/neurolens/internal/term", []string{"schema", "query/answer", "runner/shellwords", "cmd/neurolens/internal/term"}},
	{"docs", nil},
	{"release", []string{"release"}},
}

// homes names the only packages whose own code may import some modules.
var homes = []struct {
	module string
	paths  []string
}{
	{"github.com/duckdb", []string{"query"}},
	{"github.com/apache/arrow-go", []string{"query"}},
	{"github.com/apache/iceberg-go", nil}, // the module iceberg/ has it
	{"github.com/parquet-go", []string{"schema/table"}},
	{"github.com/NVIDIA/go-nvml", []string{"runner/probe"}},
	{"github.com/minio", []string{"ingest/bucket"}},
	{"github.com/spf13", []string{"cmd"}},
	{"gonum.org/v1/plot", []string{"cmd/neurolens/internal/chart"}},
}

// TestImportLaw: data flows one way, and only the command joins the rooms. Packages whose names end with test are for tests alone.
func TestImportLaw(t *testing.T) {
	eachSource(t, ".", func(path, pkg string) {
		rule := -1
		for i, r := range law {
			if under(pkg, r.path) && (rule < 0 || len(r.path) > len(law[rule].path)) {
				rule = i
			}
		}
		if rule < 0 {
			t.Fatalf("%s: no rule of the law is about package %s", path, pkg)
		}
		for _, name := range importsOf(t, path) {
			own, ours := strings.CutPrefix(name, module)
			switch {
			case strings.HasSuffix(pkg, "test"):
			case !ours && !atHome(name, pkg), ours && !slices.ContainsFunc(law[rule].may, func(p string) bool { return under(own, p) }):
				t.Errorf("%s: package %s may not import %s", path, pkg, name)
			case ours && strings.HasSuffix(own, "test"):
				t.Errorf("%s: package %s imports %s, which is for tests", path, pkg, name)
			}
		}
	})
}

// atHome reports whether a package may import a package of another module.
func atHome(name, pkg string) bool {
	for _, h := range homes {
		if under(name, h.module) && !slices.ContainsFunc(h.paths, func(p string) bool { return under(pkg, p) }) {
			return false
		}
	}
	return true
}

// importsOf returns the packages that a file of code imports.
func importsOf(t *testing.T, path string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(file.Imports))
	for i, spec := range file.Imports {
		if names[i], err = strconv.Unquote(spec.Path.Value); err != nil {
			t.Fatal(err)
		}
	}
	return names
}

func under(name, prefix string) bool {
	return name == prefix || strings.HasPrefix(name, prefix+"/")
}

// eachSource calls do with each file of code, tests apart, under a folder of the repository, and with the package it is of.
// Modules of their own are left out.
func eachSource(t *testing.T, under string, do func(path, pkg string)) {
	t.Helper()
	root := filepath.Join("..", "..")
	valuetest.OK(t, filepath.WalkDir(filepath.Join(root, under), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() && rel != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || rel == "benchmarks" || rel == "iceberg") {
			return filepath.SkipDir
		}
		if !d.IsDir() && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			do(path, filepath.ToSlash(filepath.Dir(rel)))
		}
		return nil
	}))
}

// TestStoreLaw: a store is opened by schema.Dir alone, which follows no links and opens nothing but files and directories.
// Whatever else opens a directory as a file system has no store there.
func TestStoreLaw(t *testing.T) {
	// Readers are given a folder that is no store.
	others := []string{"ingest/foreign", "ingest/internal/storetest", "query/sandbox", "query/files", "query/layout", "query/internal/querytest"}
	for _, tree := range []string{"ingest", "query", "cmd"} {
		eachSource(t, tree, func(path, pkg string) {
			if slices.ContainsFunc(others, func(other string) bool { return under(pkg, other) }) {
				return
			}
			text := valuetest.Must(os.ReadFile(path))
			if strings.Contains(string(text), "os.DirFS(") {
				t.Errorf("%s opens a directory with os.DirFS; a store is a schema.Dir", path)
			}
		})
	}
}
