package discover

import (
	"path"
	"slices"
	"strings"

	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

var (
	cmakeComment = regexp.MustCompile(`#[^\n]*`)
	cmakeLinks   = regexp.MustCompile(`(?i)\btarget_link_libraries\s*\(\s*([^\s()]+)([^()]*)\)`)
	cmakeLibrary = regexp.MustCompile(`(?:^|\s)(?:benchmark::benchmark|benchmark::benchmark_main|benchmark|benchmark_main)(?:\s|$)`)
	gbenchHeader = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]*[<"]benchmark/benchmark\.h[>"]`)
	gbenchMain   = regexp.MustCompile(`(?m)^[ \t]*BENCHMARK_MAIN[ \t]*\(`)
	gbenchMacro  = regexp.MustCompile(`(?m)^[ \t]*BENCHMARK(?:_[A-Z_]+)?[ \t]*\(`)
)

// gbench is a program of Google Benchmark, run in a folder.
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

// topOf is the topmost folder of a project: each folder between it and dir has a CMakeLists.txt, or a parent with one.
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

// ofSource is the program of one source.
func ofSource(file, text string) Tool {
	name := path.Base(file)
	stem := strings.TrimSuffix(name, path.Ext(name))
	build := []string{"c++", "-O2", "-o", stem, name}
	if !gbenchMain.MatchString(text) {
		build = append(build, "-lbenchmark_main")
	}
	return gbench(path.Dir(file), "./"+stem, append(build, "-lbenchmark", "-lpthread"))
}
