package e2e

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// nsight returns the folder with the programs of Nsight Systems and Nsight Compute, which .ci/nsight prints.
func nsight(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("NEUROLENS_TEST_NSIGHT")
	_, err := os.Stat(filepath.Join(folder, "usr/bin/nsys"))
	programtest.Needs(t, "nsight", err)
	return folder
}

// profiling is a sweep with profilers, in an environment in which everything that it leaves is found.
type profiling struct {
	dir, home, temporary, mark string
	path                       string // of programs
}

func newProfiling(t *testing.T, programs string) *profiling {
	p := &profiling{dir: t.TempDir(), home: t.TempDir(), temporary: t.TempDir(), path: programs + ":" + os.Getenv("PATH")}
	p.mark = "NEUROLENS_TEST_MARK=" + filepath.Base(p.dir) + strconv.Itoa(os.Getpid()) + t.Name()
	return p
}

// bench measures a sweep and returns the passes: the status, kind and error of each, and its files. No process is left, and no file outside of
// the store.
func (p *profiling) bench(t *testing.T, sweep string) [][]string {
	t.Helper()
	programtest.WriteFile(t, p.dir, "sweep.yaml", sweep)
	bench := programtest.Program(t, p.dir, "bench", "sweep.yaml", "--rerun", "all", "--format", "csv")
	bench.Env = append(bench.Env, "HOME="+p.home, "TMPDIR="+p.temporary, "PATH="+p.path, p.mark)
	if err := bench.Run(); err != nil {
		t.Logf("bench: %v\n%s", err, bench.Messages.String()) // some passes fail
	}
	for _, folder := range []string{p.home, p.temporary} {
		if left := valuetest.Must(filepath.Glob(folder + "/*")); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	}
	for _, file := range valuetest.Must(filepath.Glob("/proc/[0-9]*/environ")) {
		if text, err := os.ReadFile(file); err == nil && bytes.Contains(text, []byte(p.mark)) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
			t.Errorf("still running: %q", line)
		}
	}
	return p.query(t, `SELECT status, error_kind, error, array_to_string(list_transform(list_filter(artifacts, a -> a.kind = 'profile' AND a.bytes > 0), a -> a.path), ' ')
		FROM runs WHERE purpose = 'profile' AND session_id = (SELECT max(session_id) FROM runs) ORDER BY run_id`)
}

func (p *profiling) query(t *testing.T, sql string) [][]string {
	t.Helper()
	rows := valuetest.Must(csv.NewReader(strings.NewReader(programtest.Output(t, p.dir, "query", "--format", "csv", sql))).ReadAll())
	return rows[1:]
}

// TestNsysExits: whatever exit status nsys has, a pass is ok exactly if there is a report.
func TestNsysExits(t *testing.T) {
	p := newProfiling(t, filepath.Join(nsight(t), "usr/bin"))
	const pass = `case "$TMPDIR" in *profiler*) `
	for name, c := range map[string]struct{ script, profile, status, kind, says string }{
		"ends well":             {`true ;; esac`, "nsys", "ok", "", ""},
		"fails":                 {`exit 3 ;; esac`, "nsys", "ok", "", ""},
		"is killed":             {`kill -SEGV $$ ;; esac`, "nsys", "ok", "", ""},
		"leaves a daemon":       {`setsid sleep 300 >/dev/null 2>&1 & ;; esac`, "nsys", "ok", "", ""},
		"misses its deadline":   {`sleep 300 ;; esac`, "{tool: nsys, timeout: 20s}", "timeout", "timeout", "profile took more than 20s"}, // nsys needs seconds to begin on a busy machine
		"has a bad option":      {`true ;; esac`, "{tool: nsys, args: [--no-such-option]}", "error", "profiler", "nsys left no report: "},
		"measures no such GPU":  {`true ;; esac`, "{tool: nsys, args: [--gpu-metrics-device=all]}", "error", "profiler", "nsys left no report: "},
		"never begins to watch": {`true ;; esac`, "{tool: nsys, args: [--capture-range=cudaProfilerApi]}", "error", "profiler", "nsys left no report: "},
	} {
		t.Run(name, func(t *testing.T) {
			passes := p.bench(t, fmt.Sprintf("command: [sh, -c, '%s']\nwarmup: 0\niterations: 1\nrepeats: 1\nprofile: [%s]\n", pass+c.script, c.profile))
			if len(passes) != 1 || passes[0][0] != c.status || passes[0][1] != c.kind || !strings.HasPrefix(passes[0][2], c.says) {
				t.Fatalf("passes %q", passes)
			}
			if report := passes[0][3] == "profile.nsys-rep"; report != (c.kind != "profiler") {
				t.Errorf("files: %s", passes[0][3])
			}
		})
	}
}

// TestNsysWithoutImporter: where nsys can record but not make a report, the pass says so, and keeps what there is.
func TestNsysWithoutImporter(t *testing.T) {
	folder := nsight(t)
	part := folder + "-part" // hard links: nsys finds its parts beside its real path
	t.Cleanup(func() { valuetest.OK(t, os.RemoveAll(part)) })
	valuetest.OK(t, os.MkdirAll(filepath.Join(part, "usr/lib/x86_64-linux-gnu/nsight-systems"), 0o755))
	const target = "usr/lib/x86_64-linux-gnu/nsight-systems/target-linux-x64"
	valuetest.Run(t, exec.Command("cp", "-al", filepath.Join(folder, target), filepath.Join(part, target)))
	passes := newProfiling(t, filepath.Join(part, target)).bench(t, "command: ['true']\nwarmup: 0\niterations: 1\nrepeats: 1\nprofile: nsys\n")
	if len(passes) != 1 || passes[0][0] != "unsupported" || !strings.Contains(passes[0][2], "importer") || !strings.HasSuffix(passes[0][3], ".qdstrm") {
		t.Errorf("passes %q", passes)
	}
}

// TestNsysDeadlines: of 20 passes that a deadline ends, each has a report that nsys reads, and leaves nothing. The measurement runs without nsys.
func TestNsysDeadlines(t *testing.T) {
	p := newProfiling(t, filepath.Join(nsight(t), "usr/bin"))
	passes := p.bench(t, `command: [sh, -c, 'case "$TMPDIR" in *profiler*) sleep 300 ;; esac; test -z "$NVTX_INJECTION64_PATH$LD_PRELOAD"; : {n}']
grid: {n: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]}
warmup: 0
iterations: 1
repeats: 1
profile: {tool: nsys, timeout: 10s}
`)
	valuetest.Equal(t, len(passes), 20)
	for _, pass := range passes {
		valuetest.DeepEqual(t, []string{pass[0], pass[3]}, []string{"timeout", "profile.nsys-rep"})
	}
	valuetest.DeepEqual(t, p.query(t, `SELECT status, count(*), count(env['runner.profile']) FROM runs WHERE purpose = 'measure' GROUP BY ALL`), [][]string{{"ok", "20", "0"}})
}

// TestNsysRanges: of a Python worker, nsys records the measured iterations alone. Without ranges it records everything, and nothing counts for an
// iteration.
func TestNsysRanges(t *testing.T) {
	p := newProfiling(t, filepath.Join(nsight(t), "usr/bin"))
	python := programtest.PythonWith(t, "torch", "torch")
	programtest.WriteFile(t, p.dir, "marked.py", "import torch\ndef bench_b(): torch.zeros(8)\n")
	programtest.WriteFile(t, p.dir, "plain.py", "def bench_b(): pass\n")
	passes := p.bench(t, "benchmarks: {marked: {file: marked.py}, plain: {file: plain.py}}\npython: "+python+"\nwarmup: 3\niterations: 5\nprofile: nsys\n")
	for _, pass := range passes {
		valuetest.DeepEqual(t, []string{pass[0], pass[3]}, []string{"ok", "profile.nsys-rep"}, pass)
	}
	valuetest.DeepEqual(t, p.query(t, `SELECT benchmark, env['profile.ranges'], env_missing['profile.ranges'], env['profile.iterations'],
		(SELECT string_agg(o.name || ' ' || o.count, ' ') FROM ops o WHERE o.run_id = r.run_id) FROM runs r WHERE purpose = 'profile' ORDER BY benchmark`), [][]string{
		{"marked", "torch", "", "5", "neurolens:iteration 5"}, {"plain", "", "absent: import torch, or pip install nvtx (nvtx==0.2.11 for nsys 2023.4)", "", ""},
	})
}

// TestNcuWithoutDriver: where no GPU is, a pass of ncu says so in its words.
func TestNcuWithoutDriver(t *testing.T) {
	folder := nsight(t)
	if _, err := os.Stat("/proc/driver/nvidia"); err == nil {
		t.Skip("this machine has a driver")
	}
	passes := newProfiling(t, filepath.Join(folder, "usr/bin")).bench(t, "command: ['true']\nwarmup: 0\niterations: 1\nrepeats: 1\nprofile: ncu\n")
	if len(passes) != 1 || passes[0][0] != "unsupported" || !strings.HasPrefix(passes[0][2], "ncu: Nsight Compute failed to connect to the CUDA driver") {
		t.Errorf("passes %q", passes)
	}
}

// ofUnits converts values in units of a raw page to those in stores.
var ofUnits = map[string]float64{"%": 0.01, "cycle/second": 1e-6}

// TestNcuReports: reports that Nsight Compute brings, of a real GPU, are read to the values that it prints itself.
func TestNcuReports(t *testing.T) {
	folder := nsight(t)
	reports := valuetest.Must(filepath.Glob(filepath.Join(folder, "usr/share/doc/nsight-compute/examples/*/*.ncu-rep")))
	valuetest.Equal(t, len(reports), 6)
	for _, report := range reports {
		dir := t.TempDir()
		ncu := exec.Command(filepath.Join(folder, "usr/bin/ncu"), "--import", report, "--csv", "--page", "raw", "--print-units", "base")
		ncu.Env = append(os.Environ(), "HOME="+dir)
		page := valuetest.Must(ncu.Output())
		programtest.WriteFile(t, dir, "page.csv", string(page))
		programtest.Program(t, dir, "ingest", "page.csv").MustRun(t)
		rows := valuetest.Must(csv.NewReader(bytes.NewReader(page)).ReadAll())
		names, units, launches := rows[0], rows[1], rows[2:]
		printed := map[string][]float64{}
		for i, name := range names {
			for _, launch := range launches {
				value, err := strconv.ParseFloat(strings.ReplaceAll(launch[i], ",", ""), 64)
				if factor := ofUnits[units[i]]; factor != 0 {
					value *= factor
				}
				if err == nil {
					printed[name] = append(printed[name], value)
				}
			}
		}
		printed["latency"] = printed["gpu__time_duration.sum"]
		stored := valuetest.Must(csv.NewReader(strings.NewReader(programtest.Output(t, dir, "query", "--format", "csv",
			"SELECT metric, i, value, unit FROM samples_long ORDER BY ALL"))).ReadAll())[1:]
		compared := 0
		for _, row := range stored {
			i, value := valuetest.Must(strconv.Atoi(row[1])), valuetest.Must(strconv.ParseFloat(row[2], 64))
			if want := printed[row[0]]; i < len(want) {
				compared++
				if math.Abs(value-want[i]) > 1e-9*math.Abs(want[i]) {
					t.Errorf("%s: launch %d: %s is %v %s, and ncu prints %v", filepath.Base(report), i, row[0], value, row[3], want[i])
				}
			}
		}
		if compared < 500 {
			t.Errorf("%s: %d values of %d compared", filepath.Base(report), compared, len(stored))
		}
	}
}

// TestStackProfilers: perf and py-spy leave folded stacks; those of py-spy begin with the benchmark, without the worker around it.
func TestStackProfilers(t *testing.T) {
	// While the import sleeps, a py-spy that gets little time reads the symbols of Python: it looks only at what runs then.
	const code = "def f(n):\n    return sum(i * i for i in range(n))\n\ndef bench_b():\n    return f(150000)\n\nimport time\ntime.sleep(3)\n"
	for tool, c := range map[string]struct{ says, iterations string }{"perf": {"python", ""}, "py-spy": {"bench_b (b.py:5);f (b.py:2);", "40"}} {
		t.Run(tool, func(t *testing.T) {
			python := valuetest.Must(exec.LookPath(programtest.Interpreter()))
			folder := filepath.Dir(python)
			program := exec.Command(tool, "--version")
			if found, err := exec.LookPath(filepath.Join(folder, tool)); err == nil {
				program.Path, program.Err = found, nil
			}
			programtest.Needs(t, tool, program.Run())
			p := newProfiling(t, folder)
			programtest.WriteFile(t, p.dir, "b.py", code)
			passes := p.bench(t, "file: b.py\npython: "+python+"\nwarmup: 3\niterations: 40\nprofile: "+tool+"\n")
			if len(passes) != 1 || passes[0][0] != "ok" || passes[0][3] != "profile.folded" {
				t.Fatalf("passes %q", passes)
			}
			run := p.query(t, "SELECT run_id, env['profile.iterations'] FROM runs WHERE purpose = 'profile'")[0]
			valuetest.Equal(t, run[1], c.iterations)
			programtest.Output(t, p.dir, "show", run[0], "--save", "saved")
			stacks := string(valuetest.Must(os.ReadFile(filepath.Join(p.dir, "saved", "profile.folded"))))
			valuetest.Contains(t, stacks, c.says)
			if tool == "py-spy" && strings.Contains(stacks, "neurolens_") {
				t.Errorf("stacks of the worker: %s", stacks)
			}
		})
	}
}
