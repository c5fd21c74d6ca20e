package sweep

import (
	"strings"
	"testing"
)

// TestPrimary: a primary metric that probably is a misspelt one of the sweep's is refused; one that a benchmark may tell is not.
func TestPrimary(t *testing.T) {
	t.Parallel()
	const head = "command: [x]\nmetrics: {accuracy: {regex: a}, results: {read: fio, from: x}}\nderived: {speed: {expr: latency, unit: s}}\nprimary: "
	check := refuses(t, head)
	check("acuracy", "4: primary: no metric acuracy is read or derived here: did you mean accuracy? For a metric that the benchmark reports itself, write metric.acuracy")
	check("sped", "4: primary: no metric sped is read or derived here: did you mean speed? For a metric that the benchmark reports itself, write metric.sped")
	check("latenzy", "4: primary: no metric latenzy is read or derived here: did you mean latency? For a metric that the benchmark reports itself, write metric.latenzy")
	for given, want := range map[string]string{
		"accuracy": "accuracy", "speed": "speed", "energy": "energy", "words": "words", "result": "result", "metric.acuracy": "acuracy", "latency": "latency",
	} {
		s, err := readText("sweep.yaml", []byte(head+given), Overrides{})
		if err != nil || s.Points[0].Primary != want {
			t.Errorf("%s: %v, want %s", given, err, want)
		}
	}
}

// TestMetricNames: what --metric may name.
func TestMetricNames(t *testing.T) {
	t.Parallel()
	const builtin, command = "backend: builtin\nbenchmark: GELU\nderived: {speed: {expr: latency, unit: s}}", "command: [x]\nmetrics: {accuracy: {regex: a}}"
	for _, c := range []struct{ sweep, name, want, err string }{
		{builtin, "speed", "speed", ""},
		{builtin, "throughput", "throughput", ""},
		{builtin, "sped", "", "did you mean speed?"},
		{builtin, "words", "", "no run of the sweep has a metric words"},
		{builtin, "metric.words", "", "no run of the sweep has a metric words"},
		{command, "words", "words", ""},
		{command, "accurac", "", "no metric accurac is read or derived in the sweep: did you mean accuracy?"},
		{command, "metric.accurac", "accurac", ""},
	} {
		s, err := readText("sweep.yaml", []byte(c.sweep), Overrides{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Metric(c.name)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q, %v; want %q, %q", c.name, got, err, c.want, c.err)
		}
	}
}
