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
)

const module = "github.com/neurolens/neurolens/"

// law names, for every package, the packages of this module and the parts of the standard library's surroundings that
// its own code (tests apart) may import. A package under one of these follows the longest match. The module benchmarks has
// no rule: whatever is no test there is refused.
var law = []struct {
	pkg      string
	internal []string // prefixes of packages of this module
	external []string // prefixes of modules; nil is the standard library alone
}{
	{"schema", nil, nil},
	{"schema/jsontext", nil, []string{"github.com/go-json-experiment/json"}},
	{"schema/stat", []string{"schema"}, []string{"gonum.org/v1/gonum"}},
	{"ingest", []string{"schema", "ingest/internal", "ingest/table"}, nil},
	{"ingest/check", []string{"schema", "ingest/internal", "ingest/table"}, nil},
	{"ingest/table", []string{"schema"}, []string{"github.com/parquet-go/parquet-go"}},
	{"ingest/runtest", []string{"schema"}, nil},
	{"ingest/internal/disk", []string{"schema"}, nil},
	{"ingest/internal/layout", []string{"schema", "ingest/internal/disk"}, nil},
	{"ingest/internal/eventlog", []string{"schema", "ingest/internal/disk", "ingest/internal/runfile"}, nil},
	{"ingest/internal/runfile", []string{"schema", "ingest/internal/disk", "ingest/internal/layout", "ingest/table"}, nil},
	{"ingest/internal/packing", []string{"schema", "ingest/internal/disk", "ingest/internal/runfile", "ingest/table"}, nil},
	{"ingest/internal/sealing", []string{"schema", "ingest/internal/disk", "ingest/internal/layout", "ingest/internal/runfile", "ingest/table"}, nil},
	{"ingest/foreign", []string{"schema", "ingest/foreign"}, []string{
		"golang.org/x/text", "go.yaml.in/yaml", "modernc.org/sqlite",
	}},
	{"query", []string{"schema", "query/answer", "query/facts", "query/judge", "query/filter", "query/internal"}, []string{"github.com/duckdb/duckdb-go"}},
	{"query/judge", []string{"schema"}, nil},
	{"query/filter", []string{"schema", "query/internal/duck", "query/internal/fault"}, nil},
	{"query/answer", []string{"schema"}, nil},
	{"query/internal/duck", []string{"query/answer", "query/internal/fault", "schema"}, []string{"github.com/duckdb/duckdb-go"}},
	{"query/internal/fault", nil, nil},
	{"query/internal/scan", []string{"query/answer", "query/filter", "query/internal/duck", "query/internal/fault", "schema"}, []string{"github.com/duckdb/duckdb-go"}},
	{"query/facts", []string{"query/internal", "schema"}, nil},
	{"query/internal/arrowio", []string{"query/answer", "query/internal/duck", "query/internal/fault", "schema"}, []string{"github.com/duckdb/duckdb-go", "github.com/apache/arrow-go"}},
	{"query/sql", []string{"query", "schema"}, []string{"github.com/duckdb/duckdb-go", "github.com/apache/arrow-go"}},
	{"query/export", []string{"query", "schema"}, []string{"github.com/duckdb/duckdb-go"}},
	{"query/guard", []string{"query/scratch"}, nil},
	{"query/scratch", nil, nil},
	{"query/report", []string{"schema"}, nil},
	{"runner", []string{"schema", "runner"}, []string{
		"go.yaml.in/yaml", "golang.org/x/sys", "github.com/NVIDIA/go-nvml",
	}},
	{"cmd/neurolens", []string{"schema", "ingest", "query", "runner"}, []string{
		"github.com/spf13/cobra", "golang.org/x/term", "github.com/charmbracelet/x/ansi", "go.yaml.in/yaml",
	}},
}

// TestImportLaw: data flows one way, and only the command joins the packages.
func TestImportLaw(t *testing.T) {
	root := filepath.Join("..", "..")
	found := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		pkg, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		found[filepath.ToSlash(pkg)] = true
		checkFile(t, path, filepath.ToSlash(pkg))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range law {
		if !found[rule.pkg] {
			t.Errorf("the law has a rule for %s, which does not exist", rule.pkg)
		}
	}
}

func checkFile(t *testing.T, path, pkg string) {
	t.Helper()
	rule := -1
	for i, r := range law {
		if under(pkg, r.pkg) && (rule < 0 || len(r.pkg) > len(law[rule].pkg)) {
			rule = i
		}
	}
	if rule < 0 {
		t.Errorf("%s: package %s is not in the law", path, pkg)
		return
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range file.Imports {
		name, _ := strconv.Unquote(spec.Path.Value)
		if !allowed(name, law[rule].internal, law[rule].external) {
			t.Errorf("%s: package %s may not import %s", path, pkg, name)
		}
	}
}

func allowed(name string, internal, external []string) bool {
	if own, ok := strings.CutPrefix(name, module); ok {
		return slices.ContainsFunc(internal, func(p string) bool { return under(own, p) })
	}
	if first, _, _ := strings.Cut(name, "/"); !strings.Contains(first, ".") {
		return true // the standard library
	}
	return slices.ContainsFunc(external, func(p string) bool { return under(name, p) })
}

func under(name, prefix string) bool {
	return name == prefix || strings.HasPrefix(name, prefix+"/")
}

// TestTopLevel: nothing stands at the top of the repository that the README does not explain, or has its reader make: that
// git ignores.
func TestTopLevel(t *testing.T) {
	ignored, err := os.ReadFile(filepath.Join("..", "..", ".gitignore"))
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	known := []string{"benchmarks", "cmd", "fixtures", "ingest", "query", "runner", "schema", "go.mod", "go.sum", "LICENSE", "README.md"}
	for line := range strings.Lines(string(ignored)) {
		known = append(known, strings.Trim(line, "/\n"))
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && !slices.Contains(known, e.Name()) {
			t.Errorf("%s stands at the top level", e.Name())
		}
	}
}

// TestStoreLaw: a store is opened by schema.Dir alone, which follows no links and opens nothing but files and directories.
// Whatever else opens a directory as a file system has no store there.
func TestStoreLaw(t *testing.T) {
	for _, pkg := range []string{"ingest", "ingest/check", "ingest/internal/*", "query", "cmd/neurolens"} {
		files, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(pkg), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(file, "_test.go") && strings.Contains(string(text), "os.DirFS(") {
				t.Errorf("%s opens a directory with os.DirFS; a store is a schema.Dir", file)
			}
		}
	}
}

// TestPeersApart: what NeuroLens is compared with is required by the module benchmarks alone. One of them is 9 MB of C.
func TestPeersApart(t *testing.T) {
	required := func(file ...string) string {
		text, err := os.ReadFile(filepath.Join(append([]string{"..", ".."}, file...)...))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, peer := range []string{"github.com/mattn/go-sqlite3 ", "golang.org/x/perf "} {
		if !strings.Contains(required("benchmarks", "go.mod"), peer) {
			t.Errorf("benchmarks/go.mod does not require %s", peer)
		}
		if strings.Contains(required("go.mod"), peer) {
			t.Errorf("go.mod requires %s", peer)
		}
	}
}
