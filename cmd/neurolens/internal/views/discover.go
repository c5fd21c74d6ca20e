package views

import (
	"cmp"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/runner/discover"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// Search is a search for benchmarks with its results.
type Search struct {
	Dir     string
	Rules   []discover.Rule
	Folders []string // that were asked for
	All     bool     // whether every file is shown that was not taken
	Found   *discover.Found
}

// nothing describes the search if it found nothing, and is empty otherwise.
func (s *Search) nothing() string {
	if len(s.Found.Benchmarks)+len(s.Found.Tools) > 0 {
		return ""
	}
	var looked []string
	for _, r := range s.Rules {
		in := cmp.Or(strings.Join(s.Folders, " "), strings.Join(r.In, " "), "the folder itself")
		looked = append(looked, fmt.Sprintf("the rule %s takes %s in %s", r.Name, strings.Join(r.Files, " "), in))
	}
	return fmt.Sprintf("no benchmarks found in %s: %s", s.Dir, strings.Join(looked, "; "))
}

// View shows the benchmarks, then what was not taken and the trees of tools.
func (s *Search) View() term.View {
	v := term.View{Columns: []term.Column{{Header: "BENCHMARK"}, {Header: "VARIANT", Drop: 1}, {Header: "BACKEND", Drop: 2}, {Header: "FILE"}}}
	for _, b := range s.Found.Benchmarks {
		for _, variant := range b.Variants {
			file := variant.File
			if variant.Object != "" {
				file += ":" + variant.Object
			}
			v.Rows = append(v.Rows, term.Cells(b.Name, OrUnknown(variant.Name), OrUnknown(variant.Backend), file))
		}
	}
	if nothing := s.nothing(); nothing != "" {
		v.Below = append(v.Below, nothing)
	} else {
		v.Below = append(v.Below, term.Count(len(s.Found.Benchmarks), "benchmark")+" in "+term.Count(len(v.Rows), "file"))
	}
	v.Below = append(v.Below, s.broken()...)
	v.Below = append(v.Below, s.left()...)
	for _, tool := range s.Found.Tools {
		v.Commands = append(v.Commands, s.tool(tool)...)
	}
	return v
}

// broken returns lines about benchmarks whose runs will probably be errors.
func (s *Search) broken() []string {
	var lines []string
	for _, b := range s.Found.Benchmarks {
		for _, variant := range b.Variants {
			if variant.Problem != "" {
				lines = append(lines, variant.File+": "+variant.Problem)
			}
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return append([]string{"will probably fail: " + term.Count(len(lines), "file")}, lines...)
}

// left returns lines about what was not taken: files that the rule takes by their names, and with all of them every other one.
func (s *Search) left() []string {
	var near, others []string
	for _, l := range s.Found.Left {
		line := l.File + ": " + l.Reason
		if l.Near {
			near = append(near, line)
		} else {
			others = append(others, line)
		}
	}
	var lines []string
	if len(near) > 0 {
		lines = append(lines, "skipped although named like a benchmark, or unreadable: "+term.Thousands(len(near)))
		lines = append(lines, near...)
	}
	switch {
	case len(others) > 0 && s.All:
		lines = append(lines, "skipped: "+term.Thousands(len(others)))
		lines = append(lines, others...)
	case len(others) > 0:
		lines = append(lines, "skipped: "+term.Count(len(others), "other file")+"; -v lists each with the reason")
	}
	return lines
}

// tool returns lines for a sweep file that runs a tree of a tool, or for a shell where its results are a folder.
func (s *Search) tool(t discover.Tool) []string {
	dir := path.Join(s.Dir, t.Dir)
	lines := []string{"", "# " + t.Name + " in " + dir}
	switch {
	case len(t.Command) == 0:
		return append(lines, "# run the program of its build with --benchmark_out="+t.Results+" --benchmark_out_format=json; read: "+t.Read)
	case strings.HasSuffix(t.Results, "/"):
		return append(lines, "(cd "+term.ShellWord(dir)+" && "+term.ShellLine(t.Command...)+")", "neurolens ingest "+term.ShellWord(path.Join(dir, t.Results)))
	}
	lines = append(lines, "cwd: "+yamlWords(dir)[0])
	if len(t.Build) > 0 {
		lines = append(lines, "build:")
	}
	for _, command := range t.Build {
		lines = append(lines, "  - ["+strings.Join(yamlWords(command...), ", ")+"]")
	}
	return append(lines, "command: ["+strings.Join(yamlWords(t.Command...), ", ")+"]", fmt.Sprintf("metrics: {results: {from: %s, read: %s}}", t.Results, t.Read))
}

// yamlWords returns words as YAML reads them back: in quotes where it could take them for something else.
func yamlWords(words ...string) []string {
	quoted := make([]string, len(words))
	for i, word := range words {
		if quoted[i] = word; !plainWord.MatchString(word) {
			quoted[i] = strconv.Quote(word)
		}
	}
	return quoted
}

// plainWord are texts that are nothing but text in YAML, in a list too.
var plainWord = regexp.MustCompile(`^(?:[./]?[A-Za-z_][\w./+=-]*|--?[A-Za-z][\w./+=-]*|\.)$`)

// The kinds of rows of a manifest.
const (
	manifestBenchmark = "benchmark"
	manifestTool      = "tool"
	manifestLeft      = "left"
)

// ManifestRow is a variant of a benchmark, a tree of a tool, or a file that was not taken.
type ManifestRow struct {
	kind      string
	benchmark discover.Benchmark
	variant   discover.Variant
	config    map[string]any
	problem   string
	tool      discover.Tool
	left      discover.Left
}

// Manifest returns the rows of a search; files that were not taken are among them where all are asked for. settings reads those of a
// benchmark.
func (s *Search) Manifest(settings func(*discover.Benchmark) (map[string]any, error)) []ManifestRow {
	var rows []ManifestRow
	for _, b := range s.Found.Benchmarks {
		config, err := settings(&b)
		problem := ""
		if err != nil {
			problem = err.Error()
		}
		for _, v := range b.Variants {
			rows = append(rows, ManifestRow{kind: manifestBenchmark, benchmark: b, variant: v, config: config, problem: problem})
		}
	}
	for _, t := range s.Found.Tools {
		rows = append(rows, ManifestRow{kind: manifestTool, tool: t})
	}
	for _, l := range s.Found.Left {
		if s.All {
			rows = append(rows, ManifestRow{kind: manifestLeft, left: l})
		}
	}
	return rows
}

// Remarks returns what is wrong with the settings of benchmarks, each once, and that nothing was found, where no screen says it.
func (s *Search) Remarks(rows []ManifestRow, onScreen bool) []string {
	var remarks []string
	seen := map[string]bool{"": true}
	for _, r := range rows {
		if !seen[r.problem] {
			remarks = append(remarks, r.problem)
		}
		seen[r.problem] = true
	}
	if nothing := s.nothing(); nothing != "" && !onScreen {
		remarks = append(remarks, nothing)
	}
	return remarks
}

// ManifestFields returns the columns of a manifest: those of kernel_manifest.json of QuASIM first, under the same names.
func ManifestFields() []answer.Field[ManifestRow] {
	field, text := answer.NewField[ManifestRow], answer.TextField[ManifestRow]
	return []answer.Field[ManifestRow]{
		text("name", "the benchmark, or the tool", func(r *ManifestRow) string { return r.benchmark.Name + r.tool.Name }),
		text("path", "the file; for a tool, the folder to run it in", func(r *ManifestRow) string { return r.variant.File + r.tool.Dir + r.left.File }),
		text("backend", "the backend, as in results", func(r *ManifestRow) string { return r.variant.Backend }),
		text("module_name", "the Python file as a module name", func(r *ManifestRow) string { return moduleName(r.variant.File) }),
		text("function_name", "the function or class in the Python file; NULL if it is known only when the file is loaded", func(r *ManifestRow) string { return r.variant.Object }),
		field("test_command", answer.TypeList, "the command that runs a tool", func(r *ManifestRow) any { return answer.List(r.tool.Command) }),
		field("dependencies", answer.TypeList, "the packages that a Python file imports", func(r *ManifestRow) any {
			if r.kind != manifestBenchmark {
				return nil
			}
			return answer.List(append([]string{}, r.variant.Imports...))
		}),
		field("config", answer.TypeMap, "the settings of its folder; empty if there are none", func(r *ManifestRow) any { return answer.Map(r.config) }),
		text("kind", "`benchmark`, `tool`, or with -v `left`: a file that was skipped", func(r *ManifestRow) string { return r.kind }),
		text("suite", "the suite of the benchmark", func(r *ManifestRow) string { return r.benchmark.Suite }),
		text("variant", "the variant of the benchmark", func(r *ManifestRow) string { return r.variant.Name }),
		text("rule", "the rule that found it", func(r *ManifestRow) string { return r.benchmark.Rule }),
		text("config_path", "the file with the settings", func(r *ManifestRow) string { return r.benchmark.Config }),
		field("build", answer.TypeList, "commands before that of a tool, each a list of words", func(r *ManifestRow) any {
			commands := make([]any, len(r.tool.Build))
			for i, command := range r.tool.Build {
				commands[i] = answer.List(command)
			}
			if len(commands) == 0 {
				return nil
			}
			return commands
		}),
		text("results", "the file or folder with the results of a tool, below its folder", func(r *ManifestRow) string { return r.tool.Results }),
		text("read", "the format that reads them", func(r *ManifestRow) string { return r.tool.Read }),
		text("reason", "why a file was skipped, or what is wrong with it or with the settings", func(r *ManifestRow) string {
			return cmp.Or(r.left.Reason, r.variant.Problem, r.problem)
		}),
	}
}

// moduleName returns a Python file as Python imports it from the root of the tree.
func moduleName(file string) string {
	module, is := strings.CutSuffix(file, ".py")
	if !is {
		return ""
	}
	return strings.ReplaceAll(path.Clean(module), "/", ".")
}
