package formats

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/neurolens/neurolens/schema"
)

// fixtures are the result files of this project, by their paths.
const fixtures = "../../../fixtures/results"

// ciLogs are how CI systems write a line, the nth of a log.
var ciLogs = map[string]func(n int) string{
	"GitHub Actions": func(n int) string { return fmt.Sprintf("2026-11-20T10:11:12.%07dZ ", n) },
	"gh run view": func(n int) string {
		return fmt.Sprintf("bench (1.25, linux)\tRun tests\t2026-11-20T10:11:12.%07dZ ", n)
	},
	"GitLab":       func(n int) string { return fmt.Sprintf("2026-11-20T10:11:12.%06dZ 00O ", n) },
	"GitLab drawn": func(n int) string { return fmt.Sprintf("2026-11-20T10:11:12.%06dZ 01E+\x1b[0;m", n) },
	"Jenkins":      func(n int) string { return fmt.Sprintf("[2026-11-20T10:11:12.%03dZ] ", n%1000) },
}

// inLog returns a text as a log has it.
func inLog(text []byte, prefix func(n int) string) []byte {
	var b bytes.Buffer
	n := 0
	for line := range bytes.Lines(text) {
		b.WriteString(prefix(n))
		b.Write(line)
		n++
	}
	return b.Bytes()
}

// TestCILogs: every text is read from the log of a CI system as well, with the same runs, ids and refused lines.
func TestCILogs(t *testing.T) {
	t.Parallel()
	all, read, long := All(), map[string]bool{}, os.Getenv("NEUROLENS_LONG") != ""
	largest, systems, n := 20<<10, slices.Sorted(maps.Keys(ciLogs)), 0
	if long {
		largest = 10 << 20
	}
	err := filepath.WalkDir(fixtures, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(file)
		if err != nil || len(content) > largest || bytes.IndexByte(content, 0) >= 0 || bytes.HasPrefix(content, []byte{0x1f, 0x8b}) || bytes.HasPrefix(content, []byte{0xff, 0xfe}) {
			return err
		}
		content = bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))
		name := filepath.Base(file)
		format, want, runs, _ := One(all, fstest.MapFS{name: {Data: content}}, name)
		if format == nil || format.Read == nil || len(runs) == 0 {
			return nil
		}
		read[format.Name] = true
		n++
		for i, system := range systems {
			if !long && i != n%len(systems) { // each file in one of them
				continue
			}
			_, got, logged, err := One(all, fstest.MapFS{name: {Data: inLog(content, ciLogs[system])}}, name)
			if !slices.Equal(idsOf(logged), idsOf(runs)) || fmt.Sprint(got.Refusals) != fmt.Sprint(want.Refusals) {
				t.Errorf("%s in a log of %s: %d runs, want %d: %v %v, want %v", file, system, len(logged), len(runs), err, got.Refusals, want.Refusals)
			}
		}
		return nil
	})
	if err != nil || len(read) < 30 {
		t.Errorf("%d formats, %v", len(read), err)
	}
}

func idsOf(runs []schema.Run) []string {
	ids := make([]string, len(runs))
	for i := range runs {
		ids[i] = runs[i].RunID
	}
	return ids
}

// TestJSONInLog: lines that a program prints before and after its one JSON text are skipped and counted.
func TestJSONInLog(t *testing.T) {
	t.Parallel()
	all := All()
	for _, file := range []string{"vllm/serve.json", "hyperfine/one_run_1.15.0.json", "llama-bench/result.json"} {
		content, err := os.ReadFile(filepath.Join(fixtures, file))
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		name := filepath.Base(file)
		_, _, runs, err := One(all, fstest.MapFS{name: {Data: content}}, name)
		if err != nil || len(runs) == 0 {
			t.Errorf("%s: %d runs, %v", file, len(runs), err)
		}
		around := "[INFO] it \"starts\n[Pipeline] sh\n[command]/usr/bin/git\n" + strings.TrimSpace(string(content)) + "\ndone in 5\" \ntest: ok\n[INFO] NaN\n[2026-11-20 10:00] bye\n42\n"
		_, report, logged, err := One(all, fstest.MapFS{name: {Data: []byte(around)}}, name)
		if err != nil || report.Refused > 0 || !slices.Equal(idsOf(logged), idsOf(runs)) {
			t.Errorf("%s in a log: %d runs, %v, %v", file, len(logged), report.Refusals, err)
		}
	}
}

// TestLogsBehindText: a log with its own markers is read after other text.
func TestLogsBehindText(t *testing.T) {
	t.Parallel()
	all, n := All(), 0
	for _, folder := range []string{"mlperf", "reframe"} {
		err := filepath.WalkDir(filepath.Join(fixtures, folder), func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.Contains(file, "detail") && filepath.Ext(file) != ".log" {
				return err
			}
			content, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			name := filepath.Base(file)
			format, _, runs, _ := One(all, fstest.MapFS{name: {Data: content}}, name)
			if format == nil || len(runs) == 0 {
				return nil
			}
			n++
			behind := append([]byte("+ ./run.sh\nstarted|at noon\n\n"), content...)
			got, report, logged, err := One(all, fstest.MapFS{name: {Data: behind}}, name)
			if got != format || !slices.Equal(idsOf(logged), idsOf(runs)) {
				t.Errorf("%s behind text: %v %v, %d runs, want %d: %v", file, got, err, len(logged), len(runs), report.Refusals)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	if n < 2 {
		t.Errorf("%d logs", n)
	}
}

// TestFarBehindText: a log is recognised after megabytes of other output.
func TestFarBehindText(t *testing.T) {
	t.Parallel()
	before := strings.Repeat("INFO 11-20 10:11:12 [loggers.py:1] Engine 000: Running: 3 reqs, Waiting: 0 reqs, GPU KV cache usage: 4.5%\n", 2_700)
	all := All()
	for format, texts := range madeUpSections {
		if format == "nsys-stats" {
			continue
		}
		want, _, alone, _ := One(all, fstest.MapFS{"a.log": {Data: []byte(texts[0])}}, "a.log")
		got, _, runs, err := One(all, fstest.MapFS{"a.log": {Data: []byte(before + texts[0])}}, "a.log")
		if got == nil || got.Name != want.Name || len(runs) != len(alone) || len(runs) == 0 {
			t.Errorf("%s: %v %v, %d runs, want %d", format, got, err, len(runs), len(alone))
		}
	}
}

// TestLaunched: the lines of a program are read with the tags that launchers and logs put before them.
func TestLaunched(t *testing.T) {
	t.Parallel()
	all := All()
	for format, section := range map[string]string{"nccl-tests": ncclSection("all_reduce_perf", "sum", "10.00"), "vllm-text": madeUpSections["vllm-text"][0]} {
		read := func(text string) (points []string) {
			got, report, runs, err := One(all, fstest.MapFS{"results.log": {Data: []byte(text)}}, "results.log")
			if got == nil || got.Name != format || err != nil || report.Refused > 0 {
				t.Errorf("%v %v %+v:\n%s", got, err, report, text)
			}
			for _, r := range runs {
				points = append(points, r.PointID)
			}
			return points
		}
		want := strings.Join(read(section), " ")
		for _, prefix := range []string{
			"[1,0]<stdout>:", "0: ", " 12: ", "[node1] ", "worker-0 | ", "lab-1  | ", "2026-11-01T10:00:00.123Z ", "2026-11-01 10:00:00 ", "2026-11-01 10:00:00,123 ",
			"Nov  1 10:00:00 lab3 bench[71]: ", "[node1] 0: ",
		} {
			text := prefix + strings.ReplaceAll(strings.TrimSuffix(section, "\n"), "\n", "\n"+prefix) + "\n"
			if got := strings.Join(read(text), " "); got != want || want == "" {
				t.Errorf("points %q, want %q:\n%s", got, want, text)
			}
		}
	}
}

// TestNothingInIt: a file of a known format without a result is refused, unless it says why it has none.
func TestNothingInIt(t *testing.T) {
	t.Parallel()
	all := All()
	for name, text := range map[string]string{
		"results.log":  "unknown> " + strings.ReplaceAll(ncclSection("all_reduce_perf", "sum", "10.00"), "\n", "\nunknown> "),
		"gbench.json":  `{"context": {"date": "2026-11-01T10:00:00+00:00", "library_build_type": "release", "num_cpus": 2, "caches": []}, "benchmarks": []}`,
		"bench.json":   `{"results": []}`,
		"pytest.json":  `{"machine_info": {}, "commit_info": {}, "benchmarks": [], "datetime": "2026-11-01T10:00:00", "version": "4.0.0"}`,
		"llama.json":   `[]`,
		"results.text": "ok  \tlab/a\t0.01s\n",
	} {
		format, report, runs, err := One(all, fstest.MapFS{name: {Data: []byte(text)}}, name)
		if len(runs) > 0 || format != nil && err == nil && report.Refused == 0 {
			t.Errorf("%s: %d runs, no refusal: %v %+v", name, len(runs), format, report)
		}
		if format != nil {
			t.Log(name, format.Name, report.Refusals, err)
		}
	}
}
