package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// asStored are the runs of a store with all that the output of a tool says of them.
const asStored = `select point_id, benchmark, variant, backend, model, precision, batch_size, seq_len, params, status, stage, error_kind, error,
	purpose, bytes, flops, items, metric as primary_metric,
	(select list({'metric': s.metric, 'unit': s.unit, 'better': s.better, 'clock': s.clock, 'level': s.level, 'values': s.values, 'n': s.n_samples, 'mean': s.mean,
		'p50': s.p50, 'min': s.min, 'max': s.max, 'per': s.iterations_per_sample} order by s.metric)
		from samples s where s.run_id = r.run_id) as measured
	from runs r where source <> 'neurolens' or env['runner.read'] is not null order by all`

// TestReadResults: a command that writes the results of a benchmark tool gives the runs that ingest makes of the same file.
func TestReadResults(t *testing.T) {
	programtest.NeedsLong(t)
	t.Parallel()
	results := programtest.Fixtures(t) + "/results"
	dir := t.TempDir()
	for i, c := range []struct{ format, file string }{
		{"google-benchmark", "google-benchmark/repetitions_1.7.1.json"},
		{"hyperfine", "hyperfine/parameters_1.15.0.json"},
		{"pytest-benchmark", ""},
		{"llama-bench", "llama-bench/result.json"},
		{"go-bench", "go-bench/text_1.26.txt"},
		{"fio", "fio/mix.json"},
	} {
		if c.file == "" {
			c.file = firstResult(t, results, c.format)
		}
		text := valuetest.Must(os.ReadFile(filepath.Join(results, c.file)))
		base := filepath.Base(c.file)
		programtest.WriteFile(t, dir, "given-"+base, string(text))
		programtest.WriteFile(t, dir, base, string(text))
		read, imported := fmt.Sprint("read", i), fmt.Sprint("imported", i)
		run(t, dir, "ingest", base, "--from", c.format, "--store", imported)
		for from, command := range map[string]string{base: "cp given-" + base + " " + base, "stdout": "cat given-" + base} {
			programtest.WriteFile(t, dir, "s.yaml", fmt.Sprintf("command: [sh, -c, %q]\nrepeats: 1\nmetrics: {results: {from: %s, read: %s}}\n", command, from, c.format))
			store := read + "-" + from
			run(t, dir, "bench", "s.yaml", "--store", store)
			got := programtest.Output(t, dir, "query", "--format", "csv", "--store", store, asStored)
			want := programtest.Output(t, dir, "query", "--format", "csv", "--store", imported, asStored)
			if got != want || strings.Count(want, "\n") < 2 {
				t.Errorf("%s by %s:\n%s\nwant\n%s", c.format, from, got, want)
			}
		}
		own := programtest.Output(t, dir, "query", "--format", "csv", "--store", read+"-"+base, "select distinct source, suite, executor, machine is not null, repeat_index from runs where env['runner.read'] = '"+c.format+"'")
		if !strings.HasPrefix(own, "source,suite,executor") || !strings.Contains(own, "neurolens,s,command,true,") {
			t.Errorf("%s: %s", c.format, own)
		}
	}
}

// firstResult returns a file of a format, by the folder that it stands in.
func firstResult(t *testing.T, results, format string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(results, format, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	return format + "/" + filepath.Base(files[0])
}

// TestReadTools: what a tool that is installed writes while it is measured gives the runs that ingest makes of the same output.
// What they measure is in testdata/tools.
func TestReadTools(t *testing.T) {
	t.Parallel()
	programtest.NeedsLong(t)
	python := programtest.Interpreter()
	for _, c := range []struct {
		format, is     string // is succeeds where the tool is installed; NEUROLENS_TEST_REQUIRE calls it as the format
		command        string // leaves its results in out.txt
		points, values int    // and the samples of latency of all runs
	}{
		{
			"google-benchmark", "echo '#include <benchmark/benchmark.h>' | g++ -x c++ -E - -o /dev/null",
			"g++ -o bench bench.cc -lbenchmark -lpthread && ./bench --benchmark_out=out.txt --benchmark_out_format=json", 2, 6,
		},
		{
			"pytest-benchmark", python + " -c 'import pytest_benchmark'",
			python + " -B -m pytest -q -p no:cacheprovider --benchmark-json out.txt test_sum.py", 2, 10,
		},
		{
			"go-bench", "go version",
			"go test -run '^$' -bench . -benchtime 100x -count 2 | tee out.txt", 1, 2,
		},
		{
			"hyperfine", "hyperfine --version",
			"hyperfine -N --runs 5 --warmup 1 --export-json out.txt true 'sh nap.sh'", 2, 10,
		},
	} {
		t.Run(c.format, func(t *testing.T) {
			out, err := exec.Command("sh", "-c", c.is).CombinedOutput()
			if err != nil {
				err = fmt.Errorf("%s: %w: %.200s", c.is, err, out)
			}
			programtest.Needs(t, c.format, err)
			dir := t.TempDir()
			valuetest.OK(t, os.CopyFS(dir, os.DirFS("testdata/tools/"+c.format)))
			programtest.WriteFile(t, dir, "s.yaml", fmt.Sprintf("command: [sh, -c, %q]\nrepeats: 1\nmetrics: {results: {from: out.txt, read: %s}}\n", c.command, c.format))
			programtest.Output(t, dir, "bench", "s.yaml", "--store", "read")
			programtest.Output(t, dir, "ingest", "out.txt", "--store", "imported")
			got := programtest.Output(t, dir, "query", "--format", "csv", "--store", "read", asStored)
			valuetest.Equal(t, got, programtest.Output(t, dir, "query", "--format", "csv", "--store", "imported", asStored))
			got = programtest.Output(t, dir, "query", "--format", "csv", "--store", "read",
				"select count(distinct point_id), sum(n_samples) from runs where env['runner.read'] = '"+c.format+"'")
			if _, got, _ = strings.Cut(got, "\n"); got != fmt.Sprintf("%d,%d\n", c.points, c.values) {
				t.Errorf("%s, want %d points of %d samples", got, c.points, c.values)
			}
		})
	}
}

// run runs the program in a directory. Some of what it runs or reads may fail.
func run(t *testing.T, dir string, args ...string) {
	t.Helper()
	p := programtest.Program(t, dir, args...)
	if exit, is := errors.AsType[*exec.ExitError](p.Run()); is && exit.ExitCode() != 4 {
		t.Fatalf("%q: %v\n%s%s", args, exit, p.Printed.String(), p.Messages.String())
	}
}
