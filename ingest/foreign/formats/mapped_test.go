package formats

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/itchyny/gojq"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

// TestMapped reads each table of the fixtures by the mapping beside it.
func TestMapped(t *testing.T) {
	dir := filepath.Join(root, "fixtures", "results", "mapping")
	var b strings.Builder
	for _, name := range []string{"wide.csv", "long.csv", "samples.jsonl"} {
		base, table, _ := strings.Cut(name, ".")
		mapping, err := os.ReadFile(filepath.Join(dir, base+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		format := mappedFormat(t, table, mapping)
		runs, report, err := readTextOf(t, format, string(content))
		b.WriteString("# " + name + "\n" + Report(report, err))
		for i := range runs {
			b.WriteString(Run(&runs[i]))
		}
	}
	Compare(t, filepath.Join(dir, "want.txt"), b.String())
}

func TestMappingRefused(t *testing.T) {
	const whole = "benchmark: b\nmetrics: {t: {metric: latency, unit: us}}\n"
	for mapping, want := range map[string]string{
		"metrics: {t: {metric: latency}}":     "benchmark: want a name",
		"benchmark: b":                        "no metric",
		whole + "long: {metric: a, value: b}": "want only one of them",
		"benchmark: b\nlong: {value: x}":      "want the columns metric and value",
		whole + "rows: both":                  "want runs or samples",
		whole + "time: stardate":              "want unix_s",
		whole + "comment: '//'":               "want one sign, such as #",
		whole + "comment: ';'":                "want one sign, such as #",
		whole + "decimal: '·'":                `want "." or ","`,
		whole + "thousands: x":                "want one of",
		whole + "thousands: '.'":              "is the decimal mark",
		whole + "units: {KB: kibi}":           `unknown unit "kibi"`,
		"benchmark: b\nmetrics: {t: {metric: throughput, unit: MB/s}}":      "throughput is in 1/s, not in MB/s: convert the column, or give it a metric of another name, such as throughput_MB/s",
		whole + "fields: {x: variannt}":                                     "did you mean variant?",
		whole + "fields: {x: run_id}":                                       "want a column of runs",
		whole + "fields: {x: warnings}":                                     "want a column of runs",
		whole + "set: {p99: 1}":                                             "want a column of runs",
		whole + "statuses: {x: fine}":                                       "is not a status",
		whole + "unknown: 1":                                                "unknown key unknown",
		whole + "ignore: {a: b}":                                            "want a list, got a map",
		"- benchmark":                                                       "line 1: want a map, got a list",
		"benchmark: [b]\nmetrics: {}\n":                                     "line 1: want a value, got a list",
		"benchmark: b\nmetrics: {t: {metric: latency, as: average}}":        "want sample, mean",
		"benchmark: b\nmetrics: {t: {unit: us}}":                            "metric is missing",
		"benchmark: b\nmetrics: {t: {metric: latency, better: faster}}":     "want lower or higher",
		"benchmark: b\nmetrics: {t: {metric: latency, unit: usec}}":         `t: unit: unknown unit "usec": did you mean us?`,
		"benchmark: b\nmetrics: {t: {metric: own, unit: Seconds}}":          `unknown unit "Seconds": did you mean s?`,
		"benchmark: b\nmetrics: {t: {metric: latency, unit: MiB}}":          "t: unit: latency is in ns, not in MiB",
		"benchmark: b\nmetrics:\n  us: latency\n":                           "line 3: metrics.us: want a map such as {metric: latency, unit: us}",
		"benchmark: b\nlong: {metric: a, value: b, names: {n: latency}}":    "line 2: long.names.n: want a map",
		"benchmark: b\nmetrics: [latency]":                                  "line 2: want a map, got a list",
		"benchmark: [":                                                      "",
		"benchmark: b\nlong: {metric: a, value: b, names: {n: {unit: us}}}": "metric is missing",
	} {
		if _, err := Mapped(CSV, []byte(mapping)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", mapping, err, want)
		}
	}
	if _, err := Mapped(CSV, []byte("benchmark: b\nmetrics: {t: {metric: own, unit: widgets}, u: {metric: rate, unit: tok/s}}\n")); err != nil {
		t.Errorf("units of their own: %v", err)
	}
	if _, err := Mapped("hyperfine", []byte(whole)); err == nil || !strings.Contains(err.Error(), "--from csv or jsonl") {
		t.Errorf("got %v", err)
	}
}

// TestForgottenColumn: a column that the mapping does not name may be an axis: nothing is read.
func TestForgottenColumn(t *testing.T) {
	format := mappedFormat(t, CSV, []byte("benchmark: b\nmetrics: {t: {metric: latency, unit: us}}"))
	runs, _, err := readTextOf(t, format, "t,size\n1,2\n")
	if len(runs) != 0 || err == nil || !strings.Contains(err.Error(), `"size"`) {
		t.Errorf("%d runs, %v", len(runs), err)
	}
	if _, _, err := readTextOf(t, format, "t,t\n1,2\n"); err == nil || !strings.Contains(err.Error(), "appears twice") {
		t.Errorf("got %v", err)
	}
	runs, _, err = readTextOf(t, format, "t\n"+strings.Repeat("1\n", 3))
	if err != nil || len(runs) != 3 {
		t.Errorf("%d runs, %v", len(runs), err)
	}
}

// TestMappedRefuses: a row that cannot be read counts once. A run that is one row is not stored without a part of it; one of several rows
// lacks the whole row.
func TestMappedRefuses(t *testing.T) {
	const same = "metrics: {a: {metric: latency, unit: us}, b: {metric: latency, unit: ms}}\nfields: {n: batch_size, s: status}\nbenchmark: b\n"
	const two = "metrics: {a_us: {metric: latency, unit: us}, z_kib: {metric: peak_memory, unit: KiB}}\nfields: {n: batch_size}\nbenchmark: b\n"
	for _, test := range []struct {
		mapping, table string
		runs, refused  int
		samples        []int // of the metrics of the last run
	}{
		{two, "n,a_us,z_kib\n1,5,7\n2,oops,7\n3,12.5 W,7\n4,1e400,7\n5,5,oops\n6,5,8\n", 2, 4, []int{1, 1}},
		{two, "n,a_us,z_kib\n1,oops,oops\n", 0, 1, nil},
		{two, "n,a_us,z_kib\n1,,\n", 0, 1, nil},
		{two + "rows: samples\n", "n,a_us,z_kib\n1,5,7\n1,6,oops\n1,7,9\n", 1, 1, []int{2, 2}},
		{two + "rows: samples\n", "n,a_us,z_kib\n1,oops,7\n1,oops,7\n", 0, 2, nil},
		{same, "n,a,b,s\n1,N/A,,error\n2,,,error\n3,5,,ok\n4,,FAIL,timeout\n", 4, 0, nil},
		{same, "n,a,b,s\n1,5,6,\n2,,6,\n", 1, 1, []int{1}},
		{"long: {metric: m, value: v, unit: u}\nfields: {n: batch_size}\nbenchmark: b\n", "n,m,v,u\n1,x,oops,ms\n1,x,,s\n1,x,5,us\n1,x,7,us\n1,x,7,ms\n", 1, 2, []int{2}},
		{"long: {metric: m, value: v}\nfields: {n: batch_size}\nbenchmark: b\n", "n,m,v\n1,x,oops\n1,y,2\n2,x,oops\n", 1, 2, []int{1}},
	} {
		format := mappedFormat(t, CSV, []byte(test.mapping))
		runs, report, err := readTextOf(t, format, test.table)
		if err != nil || len(runs) != test.runs || report.Refused != test.refused {
			t.Errorf("%s%s: %d runs, %d refused, %v; want %d, %d", test.mapping, test.table, len(runs), report.Refused, err, test.runs, test.refused)
			continue
		}
		if test.runs == 0 {
			continue
		}
		var samples []int
		for _, m := range runs[len(runs)-1].Metrics {
			samples = append(samples, len(m.Values()))
		}
		if !slices.Equal(samples, test.samples) {
			t.Errorf("%s%s: the last run has %d samples, want %d", test.mapping, test.table, samples, test.samples)
		}
	}
}

// TestMappedFailures: a word of statuses in place of a number is how the run failed and its error, whatever else is in the row, unless the row
// says it in another way. A number is none: 0 may be a word of the column of statuses.
func TestMappedFailures(t *testing.T) {
	const words = "statuses: {timeout: timeout, '0': error, '1': ok, '-1': crashed}\nmissing: [n/a]\nbenchmark: b\n"
	const wide = words + "metrics: {a: {metric: latency, unit: us}, z: {metric: own}}\nfields: {s: status, e: error, n: batch_size}\n"
	const heading = "n,a,z,s,e\n"
	for _, test := range []struct {
		mapping, table string
		status         schema.Status // empty: refused
		reason         string
	}{
		{wide, heading + "1,5,0,,\n", "ok", ""},
		{wide, heading + "1,n/a,0,,\n", "ok", ""},
		{wide, heading + "1,timeout,0,,\n", "timeout", "timeout"},
		{wide, heading + "1,5,timeout,1,\n", "timeout", "timeout"},
		{wide, heading + "1,oops,timeout,,\n", "timeout", "timeout"},
		{wide, heading + "1,timeout,0,0,\n", "error", ""},
		{wide, heading + "1,timeout,0,,no device\n", "timeout", "no device"},
		{wide, heading + "1,-1,0,,\n", "crashed", "-1"},
		{wide, heading + "1,-2,0,,\n", "", ""},
		{wide, heading + "1,5,-1,,\n", "ok", ""},
		{wide + "primary: latency\n", heading + "1,n/a,0,,no device\n", "error", "no device"},
		{wide + "rows: samples\n", heading + "1,5,0,,\n1,timeout,0,,\n1,6,0,,\n", "timeout", "timeout"},
		{words + "long: {metric: m, value: v}\n", "m,v\na,5\nb,timeout\n", "timeout", "timeout"},
	} {
		runs, _, err := readTextOf(t, mappedFormat(t, CSV, []byte(test.mapping)), test.table)
		switch {
		case test.status == "" && len(runs) == 0:
		case err != nil || len(runs) != 1 || runs[0].Status != test.status || runs[0].Error != test.reason:
			t.Errorf("%s%s: want %s %q, got %+v, %v", test.mapping, test.table, test.status, test.reason, runs, err)
		}
	}
}

// TestMappedPrimary: a row without a value of the primary metric of a mapping has that metric too, with NULL. A file that an earlier version
// stored with another primary metric is still known.
func TestMappedPrimary(t *testing.T) {
	const mapping = "benchmark: b\nprimary: p\nmetrics: {a: {metric: latency, unit: us}, p: {metric: p, unit: MB/s, better: higher}}\n"
	runs, _, err := readTextOf(t, mappedFormat(t, CSV, []byte(mapping)), "a,p\n1,\n,2\n")
	if err != nil || len(runs) != 2 {
		t.Fatalf("%+v, %v", runs, err)
	}
	for i := range runs {
		m := runs[i].Metric(runs[i].Primary)
		if runs[i].Primary != "p" || m.Unit != "B/s" || m.Better != schema.BetterHigher || len(m.Values()) != i {
			t.Errorf("row %d: primary %s, %+v", i+1, runs[i].Primary, m)
		}
	}
	before, _, err := readTextOf(t, mappedFormat(t, CSV, []byte(strings.Replace(mapping, "primary: p\n", "", 1))), "a,p\n1,\n,2\n")
	if err != nil || before[0].RunID != runs[0].RunID {
		t.Errorf("row 1 has the id %s, and had %s: %v", runs[0].RunID, before[0].RunID, err)
	}
}

// TestMappedLists: lists have the unit of their column, also where the row has no value in another one, and two units in one run are
// refused.
func TestMappedLists(t *testing.T) {
	format := mappedFormat(t, jsonl, []byte("metrics: {a: {metric: latency, unit: us}, b: {metric: latency, unit: ms}}\nfields: {n: batch_size}\nbenchmark: b\n"))
	runs, report, err := readTextOf(t, format, `{"n":1,"a":[1,2],"b":[3,4]}`+"\n"+`{"n":4,"b":[3]}`+"\n"+`{"n":5,"a":[],"b":2}`+"\n"+`{"n":5,"a":[1,-1]}`+"\n")
	if err != nil || len(runs) != 2 || report.Refused != 2 || runs[0].Metrics[0].Values()[0] != 3e6 || runs[1].Metrics[0].Values()[0] != 2e6 {
		t.Errorf("%+v, %+v, %v", runs, report, err)
	}
}

// TestManyColumns: a million columns are a header like any other.
func TestManyColumns(t *testing.T) {
	format := mappedFormat(t, CSV, []byte("benchmark: b\nmetrics: {t: {metric: latency, unit: us}}\nignore: ['*']"))
	var header, values strings.Builder
	header.WriteString("t")
	values.WriteString("1")
	for i := range 1_000_000 {
		header.WriteString(",c" + string(rune('a'+i%26)) + strings.Repeat("x", i%3) + "_" + itoa(i))
		values.WriteString(",")
	}
	runs, _, err := readTextOf(t, format, header.String()+"\n"+values.String()+"\n")
	if err != nil || len(runs) != 1 || runs[0].Metrics[0].Ticks[0] != 1000 {
		t.Errorf("%d runs, %v", len(runs), err)
	}
}

func itoa(i int) string { return schema.CanonicalFloat(float64(i)) }

func FuzzMapped(f *testing.F) {
	var all []foreign.Format
	dir := filepath.Join(root, "fixtures", "results", "mapping")
	for _, name := range []string{"wide.csv", "long.csv", "samples.jsonl"} {
		base, table, _ := strings.Cut(name, ".")
		mapping, err := os.ReadFile(filepath.Join(dir, base+".yaml"))
		if err != nil {
			f.Fatal(err)
		}
		format := mappedFormat(f, table, mapping)
		all = append(all, format)
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(content))
	}
	f.Fuzz(func(t *testing.T, content string) {
		for _, format := range all {
			_, _, _ = readTextOf(t, format, content)
		}
	})
}

func FuzzMapping(f *testing.F) {
	f.Add("benchmark: b\nfields: {x: params}\nmetrics: {t: {metric: latency, unit: us}}")
	f.Add("benchmark: b\ntime: '%Y/%m/%d'\nfields: {x: started_at}\ncomment: '#'\ndecimal: ','\nthousands: .\nunits: {KB: KiB}\nmissing: ['-']\nmetrics: {t: {metric: latency}}\n")
	f.Fuzz(func(t *testing.T, mapping string) {
		format, err := Mapped(CSV, []byte(mapping))
		if err == nil {
			_, _, _ = readTextOf(t, format, "t,x\n1,2\n")
		}
	})
}

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
		{point, "latency", "us", "-2.5", math.NaN()},
		{point, "skew", "us", "-2.5", -2500},
		{point, "throughput", "1/s", "-1", math.NaN()},
		{point, "temperature", "C", "-1", -1},
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

// TestLayouts: a time is read by the notation of Go or strftime, with any number of digits of its seconds.
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
		format := mappedFormat(t, CSV, []byte("benchmark: b\ntime: \""+c.layout+"\"\nfields: {at: started_at}\nmetrics: {t: {metric: latency, unit: us}}\n"))
		runs, report, err := readTextOf(t, format, "at;t\n"+c.text+";1\n")
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
		runs, report, err := readTextOf(t, format, table)
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

// block returns a document in a shell block of the page.
func block(t *testing.T, page, file, end string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, "cat > "+file+" <<'"+end+"'\n")
	text, _, closed := strings.Cut(rest, "\n"+end+"\n")
	if !ok || !closed {
		t.Fatalf("the page has no %s", file)
	}
	return text + "\n"
}

// firstOf returns the first sample of a metric, or its mean.
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
		runs, report, err := readTextOf(t, jsonLines, lines)
		if err != nil || report.Refused > 0 || len(runs) != c.runs {
			t.Errorf("%s: %d runs, %v, %+v\n%s", c.file, len(runs), err, report, lines)
			continue
		}
		if m := runs[0].Metric(c.metric); runs[0].Benchmark != c.benchmark || m == nil || firstOf(m) != c.value {
			t.Errorf("%s: %s %+v", c.file, runs[0].Benchmark, runs[0].Metrics)
		}
	}
}
