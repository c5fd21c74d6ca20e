package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

const outSweep = `backend: [onnxrt, builtin]
model: builtin:tiny_linear
grid: {batch_size: 1, seq_len: 16, precision: fp32}
repeats: 2
warmup: 0
iterations: 3
`

// TestOutDir: a row for each run, which joins with the store, a document where the schema of documents has room for the
// run, and a word about the others. Another session adds its documents and rows. A document with operators has a fingerprint: after
// a profile each document of the point.
func TestOutDir(t *testing.T) {
	t.Parallel()
	python, dir := programtest.PythonWith(t, "onnxruntime", "onnxruntime"), t.TempDir()
	programtest.WriteFile(t, dir, "out.yaml", outSweep)
	for session := 1; session <= 2; session++ {
		bench := programtest.Program(t, dir, "bench", "out.yaml", "--python", python, "--out-dir", "bench_runs", "--rerun", "all")
		bench.MustRun(t)
		if text := bench.Messages.String(); strings.Count(text, "neurolens: --out-dir: bench_runs: 2 runs have no run document: backend \"builtin\"") != 1 {
			t.Errorf("standard error %s", text)
		}
		checkOut(t, dir, 4*session, 2*session)
	}
	programtest.Program(t, dir, "bench", "out.yaml", "--python", python, "--out-dir", "bench_runs", "--rerun", "all", "-P", "backend=onnxrt", "--profile", "ort").MustRun(t)
	if prints := checkOut(t, dir, 10, 6); prints < 2 {
		t.Errorf("%d fingerprints after a profile of 2 runs", prints)
	}
	refused := programtest.Program(t, dir, "bench", "out.yaml", "--python", python, "--out-dir", "out.yaml")
	_ = refused.Run()
	if text := refused.Messages.String(); refused.ProcessState.ExitCode() != exitInput || strings.Count(text, "\n") != 1 {
		t.Errorf("a file as folder: exit %d, %s", refused.ProcessState.ExitCode(), text)
	}
	programtest.WriteFile(t, dir, "none.yaml", "command: [./nosuch]\n")
	before := string(fileText(t, dir, "bench_runs/summary.csv"))
	refused = programtest.Program(t, dir, "bench", "none.yaml", "--out-dir", "bench_runs")
	_ = refused.Run()
	if after := string(fileText(t, dir, "bench_runs/summary.csv")); refused.ProcessState.ExitCode() != exitInput || after != before {
		t.Errorf("a refused start: exit %d, summary.csv\n%s", refused.ProcessState.ExitCode(), after)
	}
	valuetest.Equal(t, rows(t, dir, "SELECT count(*) FROM runs"), "[11]")
}

// TestOutDirOfResume: what an earlier session has done of the sweep is in the table too, into whatever folder it wrote.
func TestOutDirOfResume(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	programtest.WriteFile(t, dir, "s.yaml", "command: [sh, -c, 'test {n} != 2 || test -e go']\ngrid: {n: [1, 2, 3]}\nwarmup: 0\nrepeats: 1\niterations: 1\n")
	_ = programtest.Program(t, dir, "bench", "s.yaml", "--out-dir", "one").Run()
	programtest.WriteFile(t, dir, "go", "")
	programtest.Program(t, dir, "bench", "s.yaml", "--out-dir", "two", "--rerun", "failed").MustRun(t)
	for folder, want := range map[string]int{"one": 3, "two": 3} {
		table := valuetest.Must(csv.NewReader(bytes.NewReader(fileText(t, dir, folder+"/summary.csv"))).ReadAll())
		valuetest.Equal(t, len(table), 1+want, folder, table)
		for _, row := range table[1:] {
			if folder == "two" && (row[9] != "ok" || row[5] == "") {
				t.Errorf("%s: row %v", folder, row)
			}
		}
	}
}

func fileText(t *testing.T, dir, name string) []byte {
	t.Helper()
	text := valuetest.Must(os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))))
	return text
}

// checkOut asks that each row of summary.csv is a run of the store, that there are so many documents, and that those with
// operators, and no others, have a fingerprint. It returns the number of fingerprints.
func checkOut(t *testing.T, dir string, runs, documents int) int {
	t.Helper()
	file := valuetest.Must(os.Open(filepath.Join(dir, "bench_runs", "summary.csv")))
	defer file.Close()
	table := valuetest.Must(csv.NewReader(file).ReadAll())
	at := map[string]int{}
	for i, name := range table[0] {
		at[name] = i
	}
	valuetest.Equal(t, len(table), 1+runs, runs)
	for _, row := range table[1:] {
		id, backend := row[at["run_id"]], row[at["backend"]]
		want := fmt.Sprintf("[%s %s %s]", id, backend, row[at["status"]])
		valuetest.Equal(t, rows(t, dir, "SELECT run_id, backend, status FROM runs WHERE run_id = '"+id+"'"), want, "store")
	}
	out := filepath.Join(dir, "bench_runs")
	files, _ := filepath.Glob(filepath.Join(out, "runs", "*.json")) // the pattern is a valid one
	valuetest.Equal(t, len(files), documents)
	prints := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		operators := bytes.Contains(text, []byte(`"op_type": "MatMul"`)) || bytes.Contains(text, []byte(`"op_type": "Gemm"`))
		_, err = os.Stat(filepath.Join(out, "fp", strings.TrimSuffix(filepath.Base(file), ".json")+".fp.json"))
		if err == nil {
			prints++
		}
		if (err == nil) != operators {
			t.Errorf("%s: operators %t, fingerprint %v", filepath.Base(file), operators, err)
		}
	}
	if all, _ := filepath.Glob(filepath.Join(out, "fp", "*")); len(all) != prints {
		t.Errorf("%d fingerprints, of which %d are of documents", len(all), prints)
	}
	return prints
}
