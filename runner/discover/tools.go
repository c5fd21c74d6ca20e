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
	Build   [][]string // commands to run before it, if any
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
	maxTests = 1000 // maximum number of test files of one project to read
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

// resultsDir matches the folder in a settings file of asv. // begins a comment in it.
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

// pytest finds projects whose tests request the fixture benchmark, or whose conftest.py has a hook of pytest-benchmark.
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

// above returns the nearest of some folders that contain a file; the searched folder if none does.
func (s *search) above(file string, folders map[string]bool) string {
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		if folders[dir] || dir == s.in || dir == "." {
			return dir
		}
	}
}

var (
	cmakeComment = regexp.MustCompile(`#[^\n]*`)
	cmakeLinks   = regexp.MustCompile(`(?i)\btarget_link_libraries\s*\(\s*([^\s()]+)([^()]*)\)`)
	cmakeLibrary = regexp.MustCompile(`(?:^|\s)(?:benchmark::benchmark|benchmark::benchmark_main|benchmark|benchmark_main)(?:\s|$)`)
	gbenchHeader = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]*[<"]benchmark/benchmark\.h[>"]`)
	gbenchMain   = regexp.MustCompile(`(?m)^[ \t]*BENCHMARK_MAIN[ \t]*\(`)
	gbenchMacro  = regexp.MustCompile(`(?m)^[ \t]*BENCHMARK(?:_[A-Z_]+)?[ \t]*\(`)
)

// gbench returns a program of Google Benchmark, run in a folder.
func gbench(dir, program string, build ...[]string) Tool {
	t := Tool{Name: "google-benchmark", Dir: dir, Build: build, Results: results, Read: "google-benchmark"}
	if program != "" {
		t.Command = []string{program, "--benchmark_out=" + results, "--benchmark_out_format=json"}
	}
	return t
}

// googleBenchmark finds programs that CMake links with the library, and sources that are not built by CMake.
func (s *search) googleBenchmark() {
	built := map[string]bool{} // folders with a CMakeLists.txt
	for _, file := range s.tools.cmake {
		built[path.Dir(file)] = true
	}
	known := map[string]bool{} // projects with a program
	for _, file := range s.tools.cmake {
		text, err := readText(s.tree, file, &s.buffer)
		if err != nil {
			continue
		}
		top := topOf(path.Dir(file), built)
		for _, program := range cmakePrograms(text) {
			known[top] = true
			below := strings.TrimPrefix(strings.TrimPrefix(path.Dir(file), top), "/")
			if top == "." {
				below = path.Dir(file)
			}
			s.found.Tools = append(s.found.Tools, gbench(top, path.Join("build", below, program),
				[]string{"cmake", "-S", ".", "-B", "build", "-DCMAKE_BUILD_TYPE=Release"},
				[]string{"cmake", "--build", "build", "--target", program}))
		}
	}
	for _, file := range s.tools.sources {
		dir := s.above(file, built)
		if top := topOf(dir, built); built[dir] && known[top] {
			continue
		}
		text, err := readText(s.tree, file, &s.buffer)
		if err != nil || !gbenchHeader.MatchString(text) || !gbenchMacro.MatchString(text) {
			continue
		}
		if top := topOf(dir, built); built[dir] {
			known[top] = true
			s.found.Tools = append(s.found.Tools, gbench(top, "")) // its targets are made by variables or functions of CMake
			continue
		}
		s.found.Tools = append(s.found.Tools, ofSource(file, text))
	}
}

// topOf returns the topmost folder of a project: each folder between it and dir has a CMakeLists.txt, or a parent with one.
func topOf(dir string, built map[string]bool) string {
	top := dir
	for at := dir; ; at = path.Dir(at) {
		if built[at] {
			top = at
		}
		if at == "." {
			return top
		}
	}
}

// cmakePrograms lists the targets that a CMakeLists.txt links with Google Benchmark, if it names them.
func cmakePrograms(text string) []string {
	var programs []string
	for _, m := range cmakeLinks.FindAllStringSubmatch(cmakeComment.ReplaceAllString(text, ""), -1) {
		if cmakeLibrary.MatchString(m[2]) && !strings.Contains(m[1], "$") && !slices.Contains(programs, m[1]) {
			programs = append(programs, m[1])
		}
	}
	return programs
}

// ofSource returns the program of one source.
func ofSource(file, text string) Tool {
	name := path.Base(file)
	stem := strings.TrimSuffix(name, path.Ext(name))
	build := []string{"c++", "-O2", "-o", stem, name}
	if !gbenchMain.MatchString(text) {
		build = append(build, "-lbenchmark_main")
	}
	return gbench(path.Dir(file), "./"+stem, append(build, "-lbenchmark", "-lpthread"))
}
