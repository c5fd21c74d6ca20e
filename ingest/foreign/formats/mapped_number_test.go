package formats

import (
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/itchyny/gojq"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

// TestNumbersInText: a number of a table is read as people of a country write it, with or without a unit, and one that is written
// in another way is refused instead of being another number.
func TestNumbersInText(t *testing.T) {
	t.Parallel()
	point, comma := numerals{decimal: "."}, numerals{decimal: ","}
	thousands, german := numerals{decimal: ".", thousands: ","}, numerals{decimal: ",", thousands: "."}
	spaced := numerals{decimal: ",", thousands: "\u202f"}
	words := numerals{decimal: ".", units: map[string]string{"KB": "KiB"}}
	for _, c := range []struct {
		n                  numerals
		metric, unit, cell string
		want               float64 // in the stored unit; NaN: refused
	}{
		{point, "power", "W", "21.76 W", 21760},
		{point, "power", "W", "21.76", 21760},
		{point, "power", "W", "980 mW", 980},
		{point, "latency", "ns", "154.7 ns", 154.7},
		{point, "latency", "ns", "1.5 μs", 1500},
		{point, "latency", "", "1.5ms", 1_500_000},
		{point, "load", "%", "7 %", 0.07},
		{point, "latency", "us", "1e3", 1_000_000},
		{point, "latency", "us", "-2.5", -2500},
		{point, "latency", "us", "2 min", 120e9},
		{point, "latency", "ns", "6,465,654.8 ns", math.NaN()},
		{thousands, "latency", "ns", "6,465,654.8 ns", 6465654.8},
		{thousands, "latency", "ns", "64,65.8", math.NaN()},
		{thousands, "latency", "ns", "1,234", 1234},
		{thousands, "latency", "ns", "0.1,234", math.NaN()},
		{point, "latency", "us", "50883,752164", math.NaN()},
		{comma, "latency", "us", "50883,752164", 50883752.164},
		{comma, "latency", "us", "50883.752164", math.NaN()},
		{comma, "latency", "us", "1,5,2", math.NaN()},
		{german, "latency", "ns", "6.465.654,8", 6465654.8},
		{german, "latency", "ns", "1.5", math.NaN()},
		{spaced, "latency", "ns", "6\u202f465\u202f654,8 ns", 6465654.8},
		{words, "memory", "KiB", "1.5 KB", 1536},
		{point, "memory", "KiB", "1.5 KB", math.NaN()},
		{point, "latency", "ns", "5 W", math.NaN()},
		{point, "own", "", "5 W", math.NaN()},
		{point, "latency", "ns", "12 ± 3 ns", math.NaN()},
		{point, "latency", "ns", "fast", math.NaN()},
		{point, "throughput", "tokens/s", "120", 120},
		{point, "throughput", "tok/s", "120 tok/s", 120},
		{point, "throughput", "ops/min", "120", 2},
		{point, "throughput", "req per hour", "7200", 2},
		{point, "throughput", "ops/ms", "50883.752164", 50883752.164},
		{point, "throughput", "k/s", "2", 2000},
	} {
		m := mappedMetric{Metric: c.metric, Unit: c.unit}
		digits, err := m.number(c.n, c.cell)
		if math.IsNaN(c.want) {
			if err == nil {
				t.Errorf("%s %q: got %s, want an error", c.metric, c.cell, digits)
			}
			continue
		}
		v := mappedValues{mappedMetric: m}
		v.add(mappedMetric{As: "mean"}, digits)
		if err != nil || v.summary.Mean == nil || *v.summary.Mean != c.want {
			t.Errorf("%s %q: got %s %v, want %v: %v", c.metric, c.cell, digits, v.summary.Mean, c.want, err)
		}
	}
}

// FuzzMappedNumber: whatever is in a cell is refused, or a number that Go reads, and the same for a table without thousands as
// Go reads it.
func FuzzMappedNumber(f *testing.F) {
	for _, cell := range []string{"21.76 W", "6,465,654.8 ns", "50883,75", "0 %", "1e3", "1.5 μs", "[N/A]", "-.5", "1 000", "NaN"} {
		f.Add(cell, ".", ",", "ms")
		f.Add(cell, ",", ".", "")
	}
	f.Fuzz(func(t *testing.T, cell, decimal, thousands, unit string) {
		n := numerals{decimal: decimal, thousands: thousands}
		if n.check() != nil {
			return
		}
		digits, err := mappedMetric{Metric: "latency", Unit: unit}.number(n, cell)
		if err != nil {
			return
		}
		if _, err := strconv.ParseFloat(digits, 64); err != nil && !strings.Contains(err.Error(), "out of range") {
			t.Errorf("%q is read as %q, which is no number", cell, digits)
		}
		if plain, err := strconv.ParseFloat(cell, 64); err == nil && decimal == "." && unit == "" {
			if got, _ := strconv.ParseFloat(digits, 64); got != plain && !math.IsNaN(plain) {
				t.Errorf("%q is read as %v", cell, got)
			}
		}
	})
}

// TestLayouts: a time is read as Go's or strftime's notation says, whatever the digits of its seconds.
func TestLayouts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ layout, text, want string }{
		{"2006/01/02 15:04:05", "2026/04/24 16:02:12.560", "2026-04-24T16:02:12.56Z"},
		{"2006/01/02 15:04:05.000", "2026/04/24 16:02:12.5", "2026-04-24T16:02:12.5Z"},
		{"%Y/%m/%d %H:%M:%S.%f", "2026/04/24 16:02:12.560", "2026-04-24T16:02:12.56Z"},
		{"%Y/%m/%d %H:%M:%S", "2026/04/24 16:02:12", "2026-04-24T16:02:12Z"},
		{"%d.%m.%Y", "24.04.2026", "2026-04-24T00:00:00Z"},
		{"%b %d %Y %I:%M:%S %p", "Apr 24 2026 04:02:12 PM", "2026-04-24T16:02:12Z"},
		{"02/01/2006 15:04 -0700", "24/04/2026 16:02 +0200", "2026-04-24T14:02:00Z"},
	} {
		format, err := Mapped(CSV, []byte("benchmark: b\ntime: \""+c.layout+"\"\nfields: {at: started_at}\nmetrics: {t: {metric: latency, unit: us}}\n"))
		if err != nil {
			t.Fatal(err)
		}
		runs, report, err := read(t, format, "at;t\n"+c.text+";1\n")
		if err != nil || len(runs) != 1 || runs[0].StartedAt.Format("2006-01-02T15:04:05.999999999Z07:00") != c.want {
			t.Errorf("%s: %v %v %+v", c.text, runs, err, report)
		}
	}
	for _, layout := range []string{"stardate", "%H:%M", "15:04:05", "%Q", "%Y-%j-%U", "%", "%%"} {
		if _, err := Mapped(CSV, []byte("benchmark: b\ntime: \""+layout+"\"\nmetrics: {t: {metric: latency, unit: us}}\n")); err == nil || !strings.Contains(err.Error(), "want unix_s") {
			t.Errorf("%s: %v", layout, err)
		}
	}
}

// TestPageMappings reads the worked examples of docs/importing.md: each mapping with the table before it.
func TestPageMappings(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(root + "/docs/importing.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "### Tables of some tools")
	for name, want := range map[string]struct {
		runs   int
		metric string
		value  float64
	}{
		"gpu":       {2, "power", 21760},
		"bdn":       {2, "latency", 154.7},
		"jmh":       {1, "throughput", 50883752.164},
		"inference": {2, "output_token_throughput", 1500.5},
	} {
		table, mapping := block(t, rest, name+".csv", "CSV"), block(t, rest, name+".yaml", "YAML")
		format, err := Mapped(CSV, []byte(mapping))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		runs, report, err := read(t, format, table)
		if err != nil || report.Refused > 0 || len(runs) != want.runs {
			t.Errorf("%s: %d runs, %v, %+v", name, len(runs), err, report)
			continue
		}
		m := runs[0].Metric(want.metric)
		if m == nil || firstOf(m) != want.value {
			t.Errorf("%s: %+v, want %v", name, runs[0].Metrics, want.value)
		}
	}
}

// block is a document in a shell block of the page.
func block(t *testing.T, page, file, end string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, "cat > "+file+" <<'"+end+"'\n")
	text, _, closed := strings.Cut(rest, "\n"+end+"\n")
	if !ok || !closed {
		t.Fatalf("the page has no %s", file)
	}
	return text + "\n"
}

// firstOf is the first sample of a metric, or its mean.
func firstOf(m *schema.Metric) float64 {
	if values := m.Values(); len(values) > 0 {
		return values[0]
	}
	return *m.Summary.Mean
}

// TestPagePrograms runs the jq programs of docs/importing.md on the files beside them: their lines are runs.
func TestPagePrograms(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(root + "/docs/importing.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file, end, program string
		runs               int
		benchmark, metric  string
		value              float64
	}{
		{"data.js", "JS", "data.jq", 3, "BenchmarkSum", "latency", 154.5},
		{"bdn.json", "JSON", "bdn.jq", 1, "Lab.Sum", "latency", 154.5},
	} {
		query, err := gojq.Parse(block(t, string(page), c.program, "JQ"))
		if err != nil {
			t.Fatal(err)
		}
		var document any
		text := strings.TrimPrefix(block(t, string(page), c.file, c.end), "window.BENCHMARK_DATA = ")
		if err := jsontext.Unmarshal([]byte(text), &document); err != nil {
			t.Fatal(err)
		}
		lines := ""
		for results := query.Run(document); ; {
			result, more := results.Next()
			if !more {
				break
			}
			line, err := gojq.Marshal(result)
			if err != nil {
				t.Fatal(err)
			}
			lines += string(line) + "\n"
		}
		runs, report, err := read(t, jsonLines(), lines)
		if err != nil || report.Refused > 0 || len(runs) != c.runs {
			t.Errorf("%s: %d runs, %v, %+v\n%s", c.file, len(runs), err, report, lines)
			continue
		}
		if m := runs[0].Metric(c.metric); runs[0].Benchmark != c.benchmark || m == nil || firstOf(m) != c.value {
			t.Errorf("%s: %s %+v", c.file, runs[0].Benchmark, runs[0].Metrics)
		}
	}
}
