package runner

import "testing"

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
