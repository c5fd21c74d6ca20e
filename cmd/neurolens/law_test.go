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
// a rule for its command alone: whatever else is no test there is refused.
var law = []struct {
	pkg      string
	internal []string // prefixes of packages of this module
	external []string // prefixes of modules; nil is the standard library alone
}{
	{"schema", []string{"schema/lazyregexp"}, nil},
	{"schema/baseline", []string{"schema"}, nil},
	{"schema/jsontext", nil, []string{"github.com/go-json-experiment/json"}},
	{"schema/lazyregexp", nil, nil},
	{"schema/table", []string{"schema"}, []string{"github.com/parquet-go/parquet-go"}},
	{"schema/stat", []string{"schema"}, []string{"gonum.org/v1/gonum"}},
	{"ingest", []string{"schema", "ingest/internal", "schema/table"}, []string{"github.com/klauspost/compress/zstd"}},
	{"ingest/check", []string{"schema", "ingest/internal", "schema/table"}, nil},
	{"ingest/imports", []string{"schema", "ingest", "ingest/foreign"}, nil},
	{"ingest/runtest", []string{"schema"}, nil},
	{"ingest/internal/disk", []string{"schema"}, []string{"golang.org/x/sys"}},
	{"ingest/internal/layout", []string{"schema", "ingest/internal/disk"}, nil},
	{"ingest/internal/eventlog", []string{"schema", "ingest/internal/disk", "ingest/internal/runfile"}, nil},
	{"ingest/internal/runfile", []string{"schema", "ingest/internal/disk", "ingest/internal/layout", "schema/table"}, []string{"github.com/klauspost/compress/zstd"}},
	{"ingest/internal/packing", []string{"schema", "ingest/internal/disk", "ingest/internal/eventlog", "ingest/internal/runfile", "schema/table"}, nil},
	{"ingest/internal/storetest", []string{"schema", "ingest/check", "ingest/internal", "ingest/runtest", "schema/table"}, nil}, // for tests alone
	{"ingest/internal/sealing", []string{"schema", "ingest/internal/disk", "ingest/internal/layout", "ingest/internal/runfile", "schema/table"}, nil},
	{"ingest/foreign", []string{"schema", "ingest/foreign"}, []string{
		"github.com/ncruces/go-strftime", "golang.org/x/text", "go.yaml.in/yaml", "modernc.org/sqlite",
	}},
	{"query", []string{"schema", "query"}, []string{"github.com/duckdb/duckdb-go", "github.com/duckdb/duckdb-go-bindings"}},
	{"query/answer", []string{"schema"}, nil},
	{"query/artifacts", []string{"schema", "query"}, []string{"github.com/klauspost/compress/zstd"}},
	{"query/operators", []string{"schema", "query"}, nil},
	{"query/judge", []string{"schema"}, nil},
	{"query/files", []string{"schema"}, nil},
	{"query/layout", []string{"schema", "query/files"}, nil},
	{"query/layout/check", []string{"schema/lazyregexp"}, nil},
	{"query/report", []string{"schema", "query/files"}, nil},
	{"query/internal/arrowio", []string{"schema", "query"}, []string{"github.com/duckdb/duckdb-go", "github.com/apache/arrow-go"}},
	{"query/sql", []string{"schema", "query"}, []string{"github.com/duckdb/duckdb-go", "github.com/apache/arrow-go"}},
	{"query/internal/querytest", []string{"schema", "query", "ingest"}, []string{"github.com/apache/arrow-go"}}, // for tests alone
	{"runner", []string{"schema", "runner"}, nil},
	{"runner/prepare", []string{
		"schema", "runner/artifact", "runner/builtin", "runner/onnx", "runner/probe", "runner/python", "runner/sweep", "runner/task", "runner/words", "runner/worktree",
	}, nil},
	{"runner/python", []string{"schema", "runner/sweep", "runner/task"}, nil},
	{"runner/sweep", []string{"schema", "runner/builtin", "runner/discover", "runner/expression", "runner/extract", "runner/fact", "runner/output", "runner/words"}, []string{"go.yaml.in/yaml"}},
	{"runner/discover", []string{"schema/lazyregexp"}, []string{"go.yaml.in/yaml"}},
	{"runner/output", []string{"schema/lazyregexp"}, nil},
	{"runner/artifact", []string{"schema"}, nil},
	{"runner/line", []string{"runner/discover", "runner/sweep", "runner/words", "schema"}, []string{"go.yaml.in/yaml"}},
	{"runner/words", nil, []string{"mvdan.cc/sh"}},
	{"runner/extract", []string{"schema"}, []string{"github.com/itchyny/gojq"}},
	{"runner/probe", []string{"schema", "runner/device", "runner/probe/nvmlcall"}, []string{"github.com/NVIDIA/go-nvml"}},
	{"runner/probe/nvmlcall", nil, nil},
	{"runner/bisect", []string{"schema", "runner/worktree"}, nil},
	{"runner/task", []string{"schema", "runner/words"}, []string{"golang.org/x/sys"}},
	{"runner/device", []string{"schema"}, []string{"golang.org/x/sys"}},
	{"runner/worktree", nil, []string{"golang.org/x/sys"}},
	{"runner/builtin", []string{"schema"}, nil},
	{"runner/expression", []string{"schema"}, []string{"github.com/expr-lang/expr"}},
	{"runner/fact", []string{"schema", "runner/expression", "runner/device"}, nil},
	{"runner/onnx", []string{"schema"}, nil},
	{"cmd/neurolens/internal/output", []string{"schema", "query/answer", "cmd/neurolens/internal/term"}, nil},
	{"cmd/neurolens/internal/figure", nil, nil},
	{"cmd/neurolens/internal/figure/scale", []string{"schema", "cmd/neurolens/internal/figure"}, nil},
	{"cmd/neurolens/internal/figure/vegalite", []string{"cmd/neurolens/internal/figure", "cmd/neurolens/internal/term"}, nil},
	{"cmd/neurolens/internal/figure/cells", []string{"schema", "cmd/neurolens/internal/figure", "cmd/neurolens/internal/term", "cmd/neurolens/internal/wording"}, nil},
	{"cmd/neurolens/internal/screens", []string{
		"schema", "query", "cmd/neurolens/internal", "ingest/imports", "ingest/foreign", "runner/discover", "runner/expression", "runner/fact", "runner/probe", "runner/sweep",
	}, nil}, // nothing that writes a store or launches
	{"cmd/neurolens/internal/figure/draw", []string{"schema", "cmd/neurolens/internal/figure", "cmd/neurolens/internal/term"}, []string{
		"gonum.org/v1/plot", "codeberg.org/go-fonts/liberation", "golang.org/x/image",
	}},
	{"cmd/neurolens/internal/htmlreport", []string{"cmd/neurolens/internal/figure", "cmd/neurolens/internal/term"}, nil},
	{"cmd/neurolens/internal/apart", []string{"query/guard", "runner/extract"}, nil},
	{"cmd/neurolens/internal/layouts", []string{"schema", "query", "cmd/neurolens/internal"}, []string{"github.com/spf13/cobra"}},
	{"cmd/neurolens/internal/screens/measuring", []string{"schema", "query", "runner", "cmd/neurolens/internal"}, []string{"github.com/charmbracelet/x/ansi"}},
	{"cmd/neurolens/internal/screens/verdicts", []string{"schema", "query", "cmd/neurolens/internal"}, nil},
	{"cmd/neurolens/internal/fileside", []string{"ingest", "ingest/foreign", "ingest/imports", "query", "query/compare", "runner/worktree"}, nil},
	{"cmd/neurolens/internal/damage", []string{"ingest/check", "query/answer", "cmd/neurolens/internal/term"}, nil},
	{"cmd/neurolens/internal/care", []string{"ingest", "ingest/check", "query/answer", "cmd/neurolens/internal/damage"}, nil},
	{"cmd/neurolens/internal/workflow", []string{"schema"}, nil},
	{"cmd/neurolens/internal/gate", []string{"query/compare", "query/history", "cmd/neurolens/internal"}, []string{"github.com/spf13/cobra"}},
	{"cmd/neurolens/internal/system", nil, nil},
	{"cmd/neurolens/internal/project", []string{"schema", "query/threshold", "runner/sweep", "cmd/neurolens/internal/slip"}, []string{"github.com/spf13/cobra", "github.com/spf13/pflag", "go.yaml.in/yaml"}},
	{"cmd/neurolens/internal/settings", []string{"query/answer", "runner/device", "cmd/neurolens/internal"}, []string{"github.com/spf13/cobra", "github.com/spf13/pflag"}},
	{"cmd/neurolens/internal/complete", []string{"schema", "query", "cmd/neurolens/internal", "ingest/foreign", "runner/onnx", "runner/sweep"}, []string{"github.com/spf13/cobra", "github.com/spf13/pflag"}},
	{"cmd/neurolens/internal/pager", []string{"schema/lazyregexp"}, []string{"github.com/spf13/cobra", "golang.org/x/term"}},
	{"cmd/neurolens/internal/slip", []string{"schema"}, []string{"github.com/spf13/cobra", "github.com/spf13/pflag"}},
	{"cmd/neurolens/internal/completion", nil, []string{"github.com/spf13/cobra"}},
	{"cmd/neurolens/internal/streams", nil, []string{"golang.org/x/sys", "golang.org/x/term"}},
	{"docs", nil, nil},
	{"release", []string{"release/bundle"}, nil},
	{"release/bundle", nil, nil},
	{"cmd/neurolens/internal/topics", []string{"schema", "docs", "query", "runner", "cmd/neurolens/internal"}, []string{"github.com/spf13/cobra", "github.com/spf13/pflag", "github.com/cpuguy83/go-md2man"}},
	{"cmd/neurolens/internal/comparing", []string{"query/compare", "query/filter", "query/threshold"}, []string{"github.com/spf13/cobra"}},
	{"cmd/neurolens/internal/illustrating", []string{"schema", "query", "cmd/neurolens/internal"}, nil},
	{"cmd/neurolens/internal/figures", []string{"schema", "query", "cmd/neurolens/internal"}, nil},
	{"cmd/neurolens/internal/plotting", []string{"schema", "query", "cmd/neurolens/internal"}, []string{"github.com/spf13/cobra", "github.com/spf13/pflag"}},
	{"cmd/neurolens/internal/models", []string{"schema", "query", "runner/onnx", "cmd/neurolens/internal"}, []string{"github.com/spf13/cobra"}},
	{"cmd/neurolens/internal/views", []string{"query/sql", "cmd/neurolens/internal"}, []string{"github.com/spf13/cobra"}},
	{"cmd/neurolens/internal/notebook", []string{"schema", "query", "cmd/neurolens/internal"}, []string{"github.com/spf13/cobra"}},
	{"cmd/neurolens/internal/term", []string{"schema/lazyregexp", "runner/words"}, []string{"github.com/charmbracelet/x/ansi"}},
	{"cmd/neurolens/internal/wording", []string{
		"schema", "query/facts", "query/filter", "cmd/neurolens/internal/output", "cmd/neurolens/internal/term",
		"ingest/foreign", "runner", // the words of warnings
	}, nil},
	{"benchmarks/table", nil, []string{"golang.org/x/perf/benchfmt"}},
	{"cmd/neurolens", []string{"schema", "ingest", "query", "runner", "cmd/neurolens/internal"}, []string{
		"github.com/spf13/cobra", "github.com/charmbracelet/x/ansi",
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
	for _, name := range importsOf(t, path) {
		if !allowed(name, law[rule].internal, law[rule].external) {
			t.Errorf("%s: package %s may not import %s", path, pkg, name)
		}
	}
}

// importsOf are the packages that a file of code imports.
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
	known := []string{"benchmarks", "cmd", "docs", "fixtures", "ingest", "python", "query", "release", "runner", "schema", "go.mod", "go.sum", "LICENSE", "README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "Containerfile", "action.yml"}
	for line := range strings.Lines(string(ignored)) {
		known = append(known, strings.Trim(line, "/\n"))
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && !slices.Contains(known, e.Name()) {
			t.Errorf("%s stands at the top level", e.Name())
		}
	}
}

// helpers are packages for tests alone.
var helpers = []string{
	"ingest/runtest", "ingest/internal/storetest", "ingest/foreign/foreigntest", "query/internal/querytest", "cmd/neurolens/internal/term/termtest",
}

// TestHelpersAreForTests: what tests share is part of no program.
func TestHelpersAreForTests(t *testing.T) {
	eachSource(t, ".", func(path, pkg string) {
		if slices.Contains(helpers, pkg) {
			return
		}
		for _, name := range importsOf(t, path) {
			if other, ours := strings.CutPrefix(name, module); ours && slices.Contains(helpers, other) {
				t.Errorf("%s: package %s imports %s, which is for tests", path, pkg, other)
			}
		}
	})
}

// eachSource calls do with each file of code, tests apart, under a folder of the repository, and with the package it is of.
// Modules of their own are left out.
func eachSource(t *testing.T, under string, do func(path, pkg string)) {
	t.Helper()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(filepath.Join(root, under), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() && rel != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || rel == "benchmarks") {
			return filepath.SkipDir
		}
		if !d.IsDir() && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			do(path, filepath.ToSlash(filepath.Dir(rel)))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestStoreLaw: a store is opened by schema.Dir alone, which follows no links and opens nothing but files and directories.
// Whatever else opens a directory as a file system has no store there.
func TestStoreLaw(t *testing.T) {
	// Readers are given a folder that is no store.
	others := []string{"ingest/foreign", "ingest/internal/storetest", "query/guard", "query/scratch", "query/report", "query/internal/querytest"}
	for _, tree := range []string{"ingest", "query", "cmd"} {
		eachSource(t, tree, func(path, pkg string) {
			if slices.ContainsFunc(others, func(other string) bool { return under(pkg, other) }) {
				return
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), "os.DirFS(") {
				t.Errorf("%s opens a directory with os.DirFS; a store is a schema.Dir", path)
			}
		})
	}
}
