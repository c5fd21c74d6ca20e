package discover

import (
	"path"
	"slices"
	"strings"

	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// Tool is a tree of a benchmark tool, which measures by itself: one command runs, and its results are read.
type Tool struct {
	Name    string
	Dir     string     // folder to run in, from the root of the tree
	Build   [][]string // commands before it, if it needs any
	Command []string   // empty where only its build knows the program
	Results string     // the file, or with a / at its end the folder, that Command leaves results in, below Dir
	Read    string     // the format that reads them
}

// toolFiles are files that identify tools by their names.
type toolFiles struct {
	asv, cmake, tests, sources []string
	projects                   map[string]bool // folders that pytest takes for the root of its tests
}

const (
	results  = "results.json"
	maxTests = 1000 // tests of one project that are read to see whether they measure
)

// note records a file whose name may identify a tool.
func (f *toolFiles) note(file, name string) {
	switch path.Ext(name) {
	case ".json":
		if name == "asv.conf.json" {
			f.asv = append(f.asv, file)
		}
	case ".txt":
		if name == "CMakeLists.txt" {
			f.cmake = append(f.cmake, file)
		}
	case ".py":
		if name == "conftest.py" || strings.HasPrefix(name, "test_") || strings.HasSuffix(name, "_test.py") {
			f.tests = append(f.tests, file)
		} else if name == "setup.py" {
			f.project(file)
		}
	case ".ini", ".toml", ".cfg":
		if name == "pytest.ini" || name == "pyproject.toml" || name == "tox.ini" || name == "setup.cfg" {
			f.project(file)
		}
	case ".cc", ".cpp", ".cxx", ".c++":
		if strings.Contains(strings.ToLower(file), "bench") {
			f.sources = append(f.sources, file)
		}
	}
}

func (f *toolFiles) project(file string) {
	if f.projects == nil {
		f.projects = map[string]bool{}
	}
	f.projects[path.Dir(file)] = true
}

// findTools reads the files that may identify tools. A file that cannot be read is ignored here.
func (s *search) findTools() {
	for _, file := range s.tools.asv {
		s.asv(file)
	}
	s.pytest()
	s.googleBenchmark()
}

// resultsDir is the folder that a settings file of asv names. // begins a comment in it.
var resultsDir = regexp.MustCompile(`(?m)^[^\n"/]*"results_dir"\s*:\s*"([^"\n]+)"`)

func (s *search) asv(file string) {
	text, err := readText(s.tree, file, &s.buffer)
	if err != nil {
		return
	}
	folder := "results"
	if m := resultsDir.FindStringSubmatch(text); m != nil {
		folder = m[1]
	}
	s.found.Tools = append(s.found.Tools, Tool{
		Name: "asv", Dir: path.Dir(file), Command: []string{"asv", "run", "--record-samples"}, Results: folder + "/", Read: "asv",
	})
}

// pytest finds projects whose tests ask for the fixture benchmark, or whose conftest.py has a hook of pytest-benchmark.
func (s *search) pytest() {
	read, known := map[string]int{}, map[string]bool{}
	for _, file := range s.tools.tests {
		root := s.above(file, s.tools.projects)
		if known[root] || read[root] == maxTests {
			continue
		}
		read[root]++
		text, err := readText(s.tree, file, &s.buffer)
		if err != nil || !strings.Contains(text, "benchmark") {
			continue
		}
		m, err := readModule(text)
		if err != nil || !slices.ContainsFunc(m.functions, ofPytestBenchmark) {
			continue
		}
		known[root] = true
		s.found.Tools = append(s.found.Tools, Tool{
			Name: "pytest-benchmark", Dir: root, Results: results, Read: "pytest-benchmark",
			Command: []string{"python3", "-m", "pytest", "--benchmark-only", "--benchmark-json=" + results},
		})
	}
}

func ofPytestBenchmark(f function) bool {
	return strings.HasPrefix(f.name, "test") && slices.Contains(f.parameters, "benchmark") || strings.HasPrefix(f.name, "pytest_benchmark_")
}

// above is the nearest of some folders that a file stands in; the folder that is looked into where it stands in none.
func (s *search) above(file string, folders map[string]bool) string {
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		if folders[dir] || dir == s.in || dir == "." {
			return dir
		}
	}
}
