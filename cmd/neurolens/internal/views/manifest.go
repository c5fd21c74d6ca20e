package views

import (
	"cmp"
	"path"
	"strings"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/runner/discover"
)

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

// Manifest are the rows of a search; files that were not taken are among them where all are asked for. settings reads those of a
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

// Remarks are what is wrong with the settings of benchmarks, each once, and that nothing was found, where no screen says it.
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

// ManifestFields are the columns of a manifest: those of kernel_manifest.json of QuASIM first, under the same names.
func ManifestFields() []answer.Field[ManifestRow] {
	field := answer.NewField[ManifestRow]
	text := func(name, meaning string, of func(*ManifestRow) string) answer.Field[ManifestRow] {
		return field(name, answer.TypeText, meaning, func(r *ManifestRow) any { return answer.Text(of(r)) })
	}
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

// moduleName is a Python file as Python imports it from the root of the tree.
func moduleName(file string) string {
	module, is := strings.CutSuffix(file, ".py")
	if !is {
		return ""
	}
	return strings.ReplaceAll(path.Clean(module), "/", ".")
}
