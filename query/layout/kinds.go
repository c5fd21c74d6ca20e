package layout

import (
	"path"
	"strings"

	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// kindOf is a kind of file of a layout.
type kindOf struct {
	layout string
	schema string
	// name reports whether a file may be of this kind, by its path in its directory.
	name func(p string) bool
	// is reports whether a value is of this kind, by its members.
	is func(v any) bool
}

var matrixName = regexp.MustCompile(`_[0-9]{8}_[0-9]{6}\.json$`)

// kinds are the kinds of JSON files. The first match counts.
var kinds = []kindOf{
	{"chapters", "chapters-results.json", base("benchmark_test_results.json"), func(v any) bool {
		return has(v, "results") && (hasIn(v, "results", "chapter") || has(v, "timestamp") && empty(v, "results") && !has(v, "total_kernels"))
	}},
	{"kernels", "kernels-summary.json", base("summary.json"), func(v any) bool { return has(v, "total_kernels", "results") }},
	{"kernels", "kernels-result.json", inKind("kernels"), func(v any) bool { return has(v, "kernel_name", "timing") }},
	{"kernels", "kernels-env.json", base("env.json"), func(v any) bool { return has(v, "os_version", "architecture", "numpy_version") }},
	{"kernels", "kernels-manifest.json", base("kernel_manifest.json"), func(v any) bool { return each(v, "test_command", "module_name") }},
	{"matrix", "matrix-report.json", base("report.json"), func(v any) bool {
		return has(v, "summary", "results") && has(member(v, "summary"), "total_benchmarks")
	}},
	{"matrix", "matrix-run.json", matrixName.MatchString, func(v any) bool { return has(v, "executable", "metrics") }},
	{"grid", "grid-results.json", func(p string) bool {
		return path.Base(p) == "benchmark_results.json" || path.Base(p) == "benchmark_results.failed.json"
	}, func(v any) bool {
		return each(v, "operation", "implementation") || has(v, "operation", "implementation")
	}},
	{"runs", "runs-failed.json", func(p string) bool { return strings.HasSuffix(p, ".failed.json") }, func(v any) bool {
		return has(v, "run_id", "status", "error", "software")
	}},
	{"runs", "runs-run.json", inKind("runs"), func(v any) bool { return has(v, "run_id", "timeline") }},
	{"runs", "runs-fingerprint.json", inKind("fp"), func(v any) bool { return has(v, "run_id", "vector_spec") }},
}

// base and in make conditions on the name of a file and of its directory.
func base(name string) func(string) bool { return func(p string) bool { return path.Base(p) == name } }

func inKind(folder string) func(string) bool {
	return func(p string) bool { return path.Base(path.Dir(p)) == folder && path.Ext(p) == ".json" }
}

// member returns a member of an object, or nil if it has none of that name.
func member(v any, name string) any {
	o, _ := v.(map[string]any)
	return o[name]
}

// has reports whether a value is an object with these members.
func has(v any, names ...string) bool {
	o, ok := v.(map[string]any)
	for _, name := range names {
		if _, there := o[name]; !there {
			return false
		}
	}
	return ok
}

// each reports whether a value is a non-empty array whose first element is an object with these members.
func each(v any, names ...string) bool {
	list, _ := v.([]any)
	return len(list) > 0 && has(list[0], names...)
}

func hasIn(v any, list, name string) bool { return each(member(v, list), name) }

func empty(v any, list string) bool {
	l, ok := member(v, list).([]any)
	return ok && len(l) == 0
}

// table is a kind of table, recognized by its first columns.
type table struct {
	layout  string
	name    func(p string) bool
	columns []string
	numbers []string // numeric columns, whose cells may be empty
}

var tables = []table{
	{
		"runs", base("summary.csv"),
		[]string{"run_id", "backend", "batch_size", "seq_len", "precision", "total_latency_ms", "gpu_utilization"},
		[]string{"batch_size", "seq_len", "total_latency_ms", "gpu_utilization"},
	},
	{
		"grid", func(p string) bool { return strings.HasSuffix(p, "_comparison.csv") },
		[]string{"Implementation", "Avg Time (ms)", "Avg Memory (MB)", "Avg Inference Speed", "Avg GPU Efficiency"},
		[]string{"Avg Time (ms)", "Avg Memory (MB)", "Avg Inference Speed", "Avg GPU Efficiency"},
	},
}
