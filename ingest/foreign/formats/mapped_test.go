package formats

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
	"github.com/neurolens/neurolens/schema"
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
		format, err := Mapped(table, mapping)
		if err != nil {
			t.Fatal(err)
		}
		runs, report, err := read(t, format, string(content))
		b.WriteString("# " + name + "\n" + foreigntest.Report(report, err))
		for i := range runs {
			b.WriteString(foreigntest.Run(&runs[i]))
		}
	}
	foreigntest.Compare(t, filepath.Join(dir, "want.txt"), b.String())
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
		whole + "unknown: 1":                                                "unknown",
		"benchmark: b\nmetrics: {t: {metric: latency, as: average}}":        "want sample, mean",
		"benchmark: b\nmetrics: {t: {unit: us}}":                            "metric is missing",
		"benchmark: b\nmetrics: {t: {metric: latency, better: faster}}":     "want lower or higher",
		"benchmark: b\nmetrics: {t: {metric: latency, unit: usec}}":         `t: unit: unknown unit "usec": did you mean us?`,
		"benchmark: b\nmetrics: {t: {metric: own, unit: Seconds}}":          `unknown unit "Seconds": did you mean s?`,
		"benchmark: b\nmetrics: {t: {metric: latency, unit: MiB}}":          "t: unit: latency is in ns, not in MiB",
		"benchmark: b\nmetrics:\n  us: latency\n":                           "line 3: metrics.us: want a map such as {metric: latency, unit: us}",
		"benchmark: b\nlong: {metric: a, value: b, names: {n: latency}}":    "line 2: long.names.n: want a map",
		"benchmark: b\nmetrics: [latency]":                                  "line 2: ",
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
	format, err := Mapped(CSV, []byte("benchmark: b\nmetrics: {t: {metric: latency, unit: us}}"))
	if err != nil {
		t.Fatal(err)
	}
	runs, _, err := read(t, format, "t,size\n1,2\n")
	if len(runs) != 0 || err == nil || !strings.Contains(err.Error(), `"size"`) {
		t.Errorf("%d runs, %v", len(runs), err)
	}
	if _, _, err := read(t, format, "t,t\n1,2\n"); err == nil || !strings.Contains(err.Error(), "appears twice") {
		t.Errorf("got %v", err)
	}
	runs, _, err = read(t, format, "t\n"+strings.Repeat("1\n", 3))
	if err != nil || len(runs) != 3 {
		t.Errorf("%d runs, %v", len(runs), err)
	}
}

// TestMappedRefuses: a row that cannot be read counts once. A run that is one row is not stored without a part of it; one of several rows lacks the
// whole row.
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
		format, err := Mapped(CSV, []byte(test.mapping))
		if err != nil {
			t.Fatal(err)
		}
		runs, report, err := read(t, format, test.table)
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

// TestMappedLists: lists have the unit of their column, also where the row has no value in another one, and two units in one run are refused.
func TestMappedLists(t *testing.T) {
	format, err := Mapped(jsonl, []byte("metrics: {a: {metric: latency, unit: us}, b: {metric: latency, unit: ms}}\nfields: {n: batch_size}\nbenchmark: b\n"))
	if err != nil {
		t.Fatal(err)
	}
	runs, report, err := read(t, format, `{"n":1,"a":[1,2],"b":[3,4]}`+"\n"+`{"n":4,"b":[3]}`+"\n"+`{"n":5,"a":[],"b":2}`+"\n")
	if err != nil || len(runs) != 2 || report.Refused != 1 || runs[0].Metrics[0].Values()[0] != 3e6 || runs[1].Metrics[0].Values()[0] != 2e6 {
		t.Errorf("%+v, %+v, %v", runs, report, err)
	}
}

// TestManyColumns: a million columns are a header like any other.
func TestManyColumns(t *testing.T) {
	format, err := Mapped(CSV, []byte("benchmark: b\nmetrics: {t: {metric: latency, unit: us}}\nignore: ['*']"))
	if err != nil {
		t.Fatal(err)
	}
	var header, values strings.Builder
	header.WriteString("t")
	values.WriteString("1")
	for i := range 1_000_000 {
		header.WriteString(",c" + string(rune('a'+i%26)) + strings.Repeat("x", i%3) + "_" + itoa(i))
		values.WriteString(",")
	}
	runs, _, err := read(t, format, header.String()+"\n"+values.String()+"\n")
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
		format, err := Mapped(table, mapping)
		if err != nil {
			f.Fatal(err)
		}
		all = append(all, format)
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(content))
	}
	f.Fuzz(func(t *testing.T, content string) {
		for _, format := range all {
			_, _, _ = read(t, format, content)
		}
	})
}

func FuzzMapping(f *testing.F) {
	f.Add("benchmark: b\nfields: {x: params}\nmetrics: {t: {metric: latency, unit: us}}")
	f.Add("benchmark: b\ntime: '%Y/%m/%d'\nfields: {x: started_at}\ncomment: '#'\ndecimal: ','\nthousands: .\nunits: {KB: KiB}\nmissing: ['-']\nmetrics: {t: {metric: latency}}\n")
	f.Fuzz(func(t *testing.T, mapping string) {
		format, err := Mapped(CSV, []byte(mapping))
		if err == nil {
			_, _, _ = read(t, format, "t,x\n1,2\n")
		}
	})
}
