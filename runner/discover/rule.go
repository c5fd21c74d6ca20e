package discover

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Rule defines which files are benchmarks and how these are called. All paths are slash paths relative to the searched folder: for
// the folder src, the file src/ch1/baseline_moe.py is ch1/baseline_moe.py. Files and Benchmark are required. The rule {Files:
// ["**/bench_*.py"], Benchmark: "bench_(.+)\\.py$"} finds perf/bench_sort.py as the benchmark sort.
type Rule struct {
	// Name is the name of the rule: pairs, kernels. A user's own rule needs none.
	Name string
	// In are the folders to search by default, as paths from the root of the tree; none: the root.
	In []string
	// Files are globs of the files that are taken. * and ? stand for characters except /, [ab] for one of them, and ** for any
	// number of folders, including none: "ch*/baseline_*.py", "**/*.py", "**/bench/*.sh".
	Files []string
	// Except are globs of files that are left out, although Files matches: "**/test_*".
	Except []string
	// Benchmark is a regular expression (RE2) for a path. The name of the benchmark is the text of its groups, joined by /; without
	// groups, the whole match. "^(ch[0-9]+)/(?:baseline|optimized)_(.+)\\.py$" calls ch1/baseline_moe.py ch1/moe.
	Benchmark string
	// Variant is a regular expression for a path, read as Benchmark is. Without one, a benchmark has one variant without a
	// name. "/(baseline|optimized)_" calls ch1/baseline_moe.py baseline.
	Variant string
	// Baseline is the variant whose files define which benchmarks exist. A file of another variant belongs to the benchmark with
	// the longest name that its own name begins with, ending there or before a _, among files of its extension. The text after
	// that _ is its variant: with ch1/baseline_moe.py and baseline: baseline, ch1/optimized_moe_sparse.py is
	// the variant sparse of ch1/moe, and ch1/optimized_moe.py the variant optimized. A baseline alone is not a benchmark, nor is
	// a file without a baseline. Empty: every file is a benchmark.
	Baseline string
	// Objects are functions and classes. The first one that a Python file has is its benchmark; {stem} is the file's name without
	// .py. If it has none of them, its only class with a method benchmark_fn counts. Empty: the names that bench looks for.
	Objects []string
	// Config is the name of a file with settings for the benchmarks of its folder: bench.yaml. Empty: there is none.
	Config string
	// Backends are the backends of Python files by their imports; the first match counts. CUDA sources are cuda. Nil: cuda for
	// cupy, jax, torch; empty for others.
	Backends []Backend
}

// Backend is the backend of files that import a module; without a module, of all files.
type Backend struct{ Module, Word string }

const baseline = "baseline"

// Rules returns the predefined rules: pairs of a baseline and its optimizations, and kernels in their usual folders.
func Rules() []Rule {
	return []Rule{
		{
			Name:      "pairs",
			Files:     []string{"ch*/baseline_*.py", "ch*/baseline_*.cu", "ch*/optimized_*.py", "ch*/optimized_*.cu"},
			Benchmark: `^(ch[0-9]+)/(?:baseline|optimized)_(.+)\.(?:py|cu)$`,
			Variant:   `/(baseline|optimized)_`,
			Baseline:  baseline,
			Objects:   []string{"get_benchmark", "run_benchmark"},
			Backends:  []Backend{{"torch", "torch"}},
		},
		{
			Name: "kernels",
			In: []string{
				"kernels", "src/kernels", "quasim/kernels", "integrations/kernels",
				"autonomous_systems_platform/services/backend/quasim/kernels",
			},
			Files:     []string{"**/*.py"},
			Except:    []string{"**/__*", "**/test_*", "**/conftest.py", "**/setup.py"},
			Benchmark: `([^/]+)\.py$`,
			Objects:   []string{"{stem}_kernel", "run_benchmark", "benchmark", "solve"},
			Config:    "bench.yaml",
			Backends:  []Backend{{"cupy", "cuda"}, {"jax", "jax"}, {"torch", "pytorch"}, {"", "cpu"}}, // the words of its results
		},
	}
}

// RuleNamed returns the rule of that name among Rules.
func RuleNamed(name string) (Rule, bool) {
	rules := Rules()
	at := slices.IndexFunc(rules, func(r Rule) bool { return r.Name == name })
	if at < 0 {
		return Rule{}, false
	}
	return rules[at], true
}

// compiled is a rule that can be asked.
type compiled struct {
	Rule
	files, except      []glob
	benchmark, variant *regexp.Regexp
	wants              string // why a file is left that meets no glob
}

// compile refuses a rule that cannot find anything. Its errors name the key in a sweep and the value.
func (r Rule) compile() (*compiled, error) {
	c := &compiled{Rule: r, wants: "its path does not match " + strings.Join(r.Files, " ")}
	if len(r.Files) == 0 {
		return nil, errors.New("files: want globs such as bench/**/*.py, got none")
	}
	var err error
	if c.files, err = globsOf("files", r.Files); err != nil {
		return nil, err
	}
	if c.except, err = globsOf("except", r.Except); err != nil {
		return nil, err
	}
	if r.Benchmark == "" {
		return nil, errors.New("name: want a regular expression for the benchmark's name, got none")
	}
	if c.benchmark, err = regexp.Compile(r.Benchmark); err != nil {
		return nil, fmt.Errorf("name: %w", err)
	}
	if r.Variant != "" {
		if c.variant, err = regexp.Compile(r.Variant); err != nil {
			return nil, fmt.Errorf("variant: %w", err)
		}
	}
	if r.Baseline != "" && r.Variant == "" {
		return nil, fmt.Errorf("baseline: %q is a variant, but there is no expression for variants", r.Baseline)
	}
	return c, nil
}

// nameOf is the name that an expression finds in a path.
func nameOf(expression *regexp.Regexp, below string) (string, bool) {
	groups := expression.FindStringSubmatch(below)
	if len(groups) < 2 {
		return strings.Join(groups, ""), groups != nil
	}
	named := slices.DeleteFunc(groups[1:], func(group string) bool { return group == "" })
	return strings.Join(named, "/"), true
}

// glob is a pattern of a path, by folder.
type glob struct {
	text           string
	parts          []string
	prefix, suffix string // of each name that meets the last part
}

func globsOf(key string, patterns []string) ([]glob, error) {
	var globs []glob
	for _, pattern := range patterns {
		g := glob{text: pattern, parts: strings.Split(pattern, "/")}
		for _, part := range g.parts {
			if _, err := path.Match(part, ""); err != nil || part == "" {
				return nil, fmt.Errorf("%s: %q is not a glob of paths below a folder: %w", key, pattern, cmp.Or(err, errors.New("a name is empty")))
			}
		}
		last := g.parts[len(g.parts)-1]
		if first := strings.IndexAny(last, globMarks); first >= 0 {
			g.prefix, g.suffix = last[:first], last[strings.LastIndexAny(last, globMarks)+1:]
		}
		globs = append(globs, g)
	}
	return globs, nil
}

// globMarks are the characters of a glob that stand for others.
const globMarks = `*?[]\\`

// matches reports whether a path matches patterns of folders and a name.
func matches(patterns []string, below string) bool {
	for i, pattern := range patterns {
		if pattern == "**" {
			return anywhere(patterns[i+1:], below)
		}
		name, rest, more := strings.Cut(below, "/")
		if met, _ := path.Match(pattern, name); !met || name == "" { // the pattern was tried before
			return false
		}
		if below = rest; !more && i < len(patterns)-1 {
			return matches(patterns[i+1:], "")
		}
	}
	return below == ""
}

// anywhere reports whether the end of a path matches patterns.
func anywhere(patterns []string, below string) bool {
	if len(patterns) == 0 {
		return true
	}
	for {
		if matches(patterns, below) {
			return true
		}
		_, rest, more := strings.Cut(below, "/")
		if !more {
			return len(patterns) == 1 && patterns[0] == "**"
		}
		below = rest
	}
}

// met is the first glob that a path matches; empty: none. Most paths match none, as their names show.
func met(globs []glob, below, name string) string {
	for i := range globs {
		g := &globs[i]
		if strings.HasPrefix(name, g.prefix) && strings.HasSuffix(name, g.suffix) && matches(g.parts, below) {
			return g.text
		}
	}
	return ""
}
