package benchmarks

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// discoverFiles is how many files the trees have.
const discoverFiles = 100_000

// BenchmarkDiscover looks for benchmarks in trees of 100,000 files, by turns with another program. Few are benchmarks, as in a
// project, beside find, which prints their names; or all are kernels, whose text has to be read, beside cat of all files.
func BenchmarkDiscover(b *testing.B) {
	neurolens := program(b)
	for _, c := range []struct {
		name    string
		file    func(i int) (path, text string)
		against string
		other   []string
		goal    float64
	}{
		{"300 pairs", fewBenchmarks, "find, which prints the names", []string{"find", "."}, 3},
		{"kernels", onlyKernels, "cat of all files", []string{"find", ".", "-type", "f", "-exec", "cat", "{}", "+"}, 0},
	} {
		b.Run(c.name, func(b *testing.B) {
			dir := b.TempDir()
			for i := range discoverFiles {
				path, text := c.file(i)
				path = filepath.Join(dir, path)
				must(b, os.MkdirAll(filepath.Dir(path), 0o755))
				must(b, os.WriteFile(path, []byte(text), 0o644))
			}
			c.other[1] = dir
			var ours, other series
			for range 5 {
				other.add(start(b, "LC_ALL=C", c.other...))
				ours.add(start(b, "NEUROLENS_FORMAT=", neurolens, "discover", dir, "--json"))
			}
			report(b, c.against, turns("discover", &ours, &other).within(c.goal, commandMegabytes))
		})
	}
}

// fewBenchmarks returns files of a project with 300 pairs in 20 chapters, about as many as BenchmarkHarness has, and 100 kernels.
func fewBenchmarks(i int) (path, text string) {
	const pairs, kernels = 300, 100
	const benchmark = "import torch\n\n\ndef run_benchmark(size=1024):\n    return torch.zeros(size).sum()\n"
	switch {
	case i < pairs:
		return fmt.Sprintf("ch%d/baseline_x%d.py", i%20+1, i), benchmark
	case i < 2*pairs:
		return fmt.Sprintf("ch%d/optimized_x%d.py", (i-pairs)%20+1, i-pairs), benchmark
	case i < 2*pairs+kernels:
		return fmt.Sprintf("kernels/group%d/kernel%d.py", i%7, i), benchmark
	}
	return fmt.Sprintf("src/package%d/part%d/file%d.%s", i%40, i%400, i, []string{"py", "go", "md", "json", "cpp"}[i%5]), "text\n"
}

// onlyKernels returns kernels of 20 lines.
func onlyKernels(i int) (path, text string) {
	text = "import numpy as np\n\n\n"
	for n := range 5 {
		text += fmt.Sprintf("def step%d(a, b):\n    \"\"\"A step.\"\"\"\n    return a * b + %d\n\n", n, n)
	}
	return fmt.Sprintf("kernels/group%d/kernel%d.py", i%500, i), text + "def run_benchmark(size=64):\n    return step0(np.ones(size), 2)\n"
}
