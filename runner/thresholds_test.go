package runner

import "testing"

// TestPointThresholds: each run has the thresholds of its own benchmark; points of calibrate have those of all.
func TestPointThresholds(t *testing.T) {
	k := &shelf{}
	k.bench(t, parse(t, `
command: [sh, -c, ':']
repeats: 1
warmup: 0
iterations: 1
calibrate: true
thresholds: {latency: 5%, cpu_user: 7%}
benchmarks:
  plain:
  loose: {thresholds: {latency: 30%, peak_memory: {abs: 64 KiB}}}
`), 5, nil)
	for _, r := range k.runs {
		want := map[string]string{"latency": "5%", "cpu_user": "7%", "peak_memory": ""}
		switch r.Benchmark {
		case "loose":
			want = map[string]string{"latency": "30%", "cpu_user": "7%", "peak_memory": "65536 B"}
		case "calibration":
			want["latency"] = ""
		}
		for metric, text := range want {
			if got := r.Env.Facts["runner.threshold."+metric]; got != text {
				t.Errorf("%s: the threshold of %s is %q, want %q", r.Benchmark, metric, got, text)
			}
		}
	}
}

// TestThresholds: what a sweep calls no difference is a fact of each run, and no setting: a session goes on from one that
// had other thresholds.
func TestThresholds(t *testing.T) {
	const text = "command: [sh, -c, ': {n}']\ngrid: {n: [1, 2]}\nrepeats: 1\nwarmup: 0\niterations: 1\n"
	k := &shelf{}
	k.bench(t, parse(t, text+"thresholds: {latency: 5%}\n"), 1, nil)
	result := k.bench(t, parse(t, text+"thresholds: {latency: 10%, peak_memory: {abs: 64 KiB}}\n"), 0, nil)
	if result.Plan.Resumes != k.runs[0].SessionID || result.Plan.Done != 1 || len(k.runs) != 2 {
		t.Fatalf("resumes %q, %d done, %d runs", result.Plan.Resumes, result.Plan.Done, len(k.runs))
	}
	for i, want := range []map[string]string{
		{"runner.threshold.latency": "5%", "runner.threshold.peak_memory": ""},
		{"runner.threshold.latency": "10%", "runner.threshold.peak_memory": "65536 B"},
	} {
		for fact, text := range want {
			if got := k.runs[i].Env.Facts[fact]; got != text {
				t.Errorf("run %d: %s is %q, want %q", i, fact, got, text)
			}
		}
	}
}
