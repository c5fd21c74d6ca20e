package formats

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/neurolens/neurolens/ingest/foreign"
)

// TestTrtexecSide: only a log that names the file, and is in its folder, is its log.
func TestTrtexecSide(t *testing.T) {
	const rows = `[{"startComputeMs": 150, "computeMs": 1, "latencyMs": 2}, {"startComputeMs": 250, "computeMs": 1, "latencyMs": 3}]`
	log := func(flags string) []byte {
		return []byte("&&&& RUNNING TensorRT.trtexec [TensorRT v8601] # trtexec --onnx=net.onnx " + flags +
			"\n[I] === Inference Options ===\n[I] Duration: 3s (+ 100ms warm up)\n[I] === Performance summary ===\n[I] Latency: min = 1 ms, max = 2 ms, mean = 1.5 ms\n")
	}
	for _, c := range []struct {
		name, flags   string
		model         string
		samples, runs int // of the times, of the log
	}{
		{"this file", "--exportTimes=out/times.json", "net.onnx", 2, 0},
		{"another file", "--exportTimes=out/other.json", "", 1, 1},
		{"no file", "", "", 1, 1},
		{"a path that leads out", "--exportTimes=../../etc/times.json", "net.onnx", 2, 0},
		{"no name", "--exportTimes=..", "", 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := fstest.MapFS{"a/times.json": {Data: []byte(rows)}, "a/build.log": {Data: log(c.flags)}, "times.log": {Data: log("--exportTimes=times.json")}}
			_, _, runs, err := One(All(), folder, "a/times.json")
			if err != nil || len(runs) != 1 {
				t.Fatalf("%d runs, %v", len(runs), err)
			}
			if got := len(runs[0].Metric("latency").Ticks); got != c.samples || runs[0].Model != c.model {
				t.Errorf("%d samples of model %q, want %d of %q", got, runs[0].Model, c.samples, c.model)
			}
			if _, _, runs, err = One(All(), folder, "a/build.log"); err != nil || len(runs) != c.runs {
				t.Errorf("the log gives %d runs, want %d; %v", len(runs), c.runs, err)
			}
		})
	}
}

// TestTrtexecStamped: the program that ran trtexec may put a time, or its name, before every line.
func TestTrtexecStamped(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(root, "fixtures/results/trtexec/new.log"))
	if err != nil {
		t.Fatal(err)
	}
	read := func(content []byte) string {
		_, report, runs, err := One(All(), fstest.MapFS{"a.log": {Data: content}}, "a.log")
		if err != nil {
			t.Fatal(err)
		}
		text := Report(report, nil)
		for i := range runs {
			text += Run(&runs[i])
		}
		return text
	}
	want := read(content)
	for _, stamp := range []string{"2025-08-02T10:11:12.0000000Z ", "trt-1  | ", "Aug 02 10:11:12 lab3 run: "} {
		stamped := append([]byte(stamp), bytes.ReplaceAll(content, []byte("\n"), []byte("\n"+stamp))...)
		if got := read(stamped); got != want {
			t.Errorf("%q: got %s, want %s", stamp, got, want)
		}
	}
	if got := read([]byte("abc [I] === Model Options === of trtexec\n")); !strings.Contains(got, "1 refused") {
		t.Errorf("no launch: got %s, want a refusal", got)
	}
}

func TestTrtexecVersion(t *testing.T) {
	for digits, want := range map[string]string{"8601": "8.6.1", "8003": "8.0.3", "7203": "7.2.3", "100300": "10.3.0", "101303": "10.13.3", "": "", "8.6": ""} {
		if got := dottedVersion(foreign.Number(digits)); got != want {
			t.Errorf("%s: %s, want %s", digits, got, want)
		}
	}
}
