package discover

import (
	"fmt"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

func tools(t *testing.T, in string, files ...string) string {
	t.Helper()
	f := valuetest.Must(find(tree(files...), Rule{Files: []string{"none"}, Benchmark: "x"}, in))
	var lines []string
	for _, tool := range f.Tools {
		var build []string
		for _, command := range tool.Build {
			build = append(build, strings.Join(command, " ")+" && ")
		}
		lines = append(lines, fmt.Sprintf("%s in %s: %s%s > %s as %s", tool.Name, tool.Dir, strings.Join(build, ""), strings.Join(tool.Command, " "), tool.Results, tool.Read))
	}
	return strings.Join(lines, "\n")
}

// TestPytestTrees: tests that ask for the fixture, in functions or in methods, make the project around them a tree.
func TestPytestTrees(t *testing.T) {
	const command = "python3 -m pytest --benchmark-only --benchmark-json=results.json > results.json as pytest-benchmark"
	want(t, tools(t, ".",
		"pyproject.toml=", "tests/test_a.py=def test_a(benchmark): benchmark(sum)\n", "tests/test_b.py=def test_b(benchmark): pass\n",
		"lib/setup.cfg=", "lib/tests/deep/speed_test.py=class TestX:\n    def test_x(self, n, benchmark): pass\n",
		"plain/tox.ini=", "plain/test_c.py=def test_c(benchmarks): pass\ndef helper(benchmark): pass\n# benchmark\n",
		"broken/setup.py=", "broken/test_d.py=def test_d(benchmark:\n",
		"hooks/pytest.ini=", "hooks/conftest.py=def pytest_benchmark_generate_json(): pass\n",
		"names/pytest.ini=", "names/bench.py=def test_e(benchmark): pass\n",
	), "pytest-benchmark in .: "+command+"\npytest-benchmark in hooks: "+command+"\npytest-benchmark in lib: "+command)
	want(t, tools(t, "a/b", "pytest.ini=", "a/b/c/test_a.py=def test_a(benchmark): pass\n"), "pytest-benchmark in a/b: "+command)
}

// TestReadsFewTests: of a project with many tests that do not measure, so many are read and no more.
func TestReadsFewTests(t *testing.T) {
	files := []string{"z/test_z.py=def test_z(benchmark): pass\n", "z/pytest.ini="}
	for i := range maxTests + 10 {
		files = append(files, fmt.Sprintf("a/test_%05d.py=def test_a(): pass\n", i))
	}
	d := &denied{MapFS: tree(files...)}
	f := valuetest.Must(find(d, Rule{Files: []string{"none"}, Benchmark: "x"}, "."))
	opened := 0
	for _, name := range d.opened {
		if strings.HasPrefix(name, "a/test_") {
			opened++
		}
	}
	if opened != maxTests || len(f.Tools) != 1 {
		t.Errorf("%d tests of a were opened, %d trees found, want %d and 1", opened, len(f.Tools), maxTests)
	}
}

// TestASV: the settings name the folder of the results, in JSON with comments.
func TestASV(t *testing.T) {
	want(t, tools(t, ".", "asv.conf.json={\n // \"results_dir\": \"no\",\n \"results_dir\": \".asv/results\"}", "sub/asv.conf.json={}"),
		"asv in .: asv run --record-samples > .asv/results/ as asv\nasv in sub: asv run --record-samples > results/ as asv")
}

// TestGoogleBenchmark: programs that CMake links with the library, by their targets; else sources that use it.
func TestGoogleBenchmark(t *testing.T) {
	const source = "#include <benchmark/benchmark.h>\nstatic void B(benchmark::State& s) {}\nBENCHMARK(B);\n"
	const cmake = "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build --target "
	const out = " --benchmark_out=results.json --benchmark_out_format=json > results.json as google-benchmark"
	want(t, tools(t, ".",
		"lib/CMakeLists.txt=add_subdirectory(perf)\nadd_executable(tool tool.cc)\ntarget_link_libraries(tool PRIVATE mybenchmark)\n",
		"lib/perf/CMakeLists.txt=# target_link_libraries(old benchmark::benchmark)\ntarget_link_libraries(sort_bench PRIVATE core\n  benchmark::benchmark_main)\nTARGET_LINK_LIBRARIES(add_bench benchmark)\n",
		"lib/perf/sort_bench.cc="+source,
		"made/CMakeLists.txt=foreach(b a b)\ntarget_link_libraries(${b} benchmark::benchmark)\nendforeach()\n", "made/a_bench.cpp="+source, "made/b_bench.cpp="+source,
		"alone/bench_main.cxx="+source+"BENCHMARK_MAIN();\n", "alone/bench_lib.cc=#  include \"benchmark/benchmark.h\"\nBENCHMARK_TEMPLATE(B, int);\n",
		"none/bench.cc=// BENCHMARK(B)\n#include <benchmark/benchmark.h>\n", "none/other.cc="+source,
	), strings.Join([]string{
		"google-benchmark in alone: c++ -O2 -o bench_lib bench_lib.cc -lbenchmark_main -lbenchmark -lpthread && ./bench_lib" + out,
		"google-benchmark in alone: c++ -O2 -o bench_main bench_main.cxx -lbenchmark -lpthread && ./bench_main" + out,
		"google-benchmark in lib: " + cmake + "add_bench && build/perf/add_bench" + out,
		"google-benchmark in lib: " + cmake + "sort_bench && build/perf/sort_bench" + out,
		"google-benchmark in made:  > results.json as google-benchmark",
	}, "\n"))
	want(t, tools(t, ".", "CMakeLists.txt=target_link_libraries(b benchmark::benchmark)\n"), "google-benchmark in .: "+cmake+"b && build/b"+out)
}

// TestSettings: what stands beside a kernel, as JSON has it; what JSON has not is refused.
func TestSettings(t *testing.T) {
	files := tree("good/bench.yaml=problem_size: {grid: [64, 64], tol: 1.0e-3}\n", "empty/bench.yaml=", "list/bench.yaml=[1]\n", "bad/bench.yaml=a: [1\n", "keys/bench.yaml=a: [{1: 2}]\n")
	for dir, want := range map[string]string{
		"good":  "map[problem_size:map[grid:[64 64] tol:0.001]]",
		"empty": "map[]",
		"list":  "reading list/bench.yaml: want keys with values",
		"keys":  "reading keys/bench.yaml: a key is not text",
		"none":  "reading none/bench.yaml: cannot be read: file does not exist",
	} {
		got, err := Settings(files, &Benchmark{Config: dir + "/bench.yaml"})
		if text := fmt.Sprint(got); err == nil && (text != want || got == nil) || err != nil && err.Error() != want {
			t.Errorf("%s: got %s %v, want %s", dir, text, err, want)
		}
	}
	if _, err := Settings(files, &Benchmark{Config: "bad/bench.yaml"}); err == nil || !strings.HasPrefix(err.Error(), "reading bad/bench.yaml: ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("broken YAML: %v", err)
	}
	if got, err := Settings(files, &Benchmark{}); err != nil || len(got) != 0 || got == nil {
		t.Errorf("without a file: %v %v", got, err)
	}
}
