package formats

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// guessOf drafts a mapping for a text.
func guessOf(t *testing.T, name, text string) (Draft, error) {
	t.Helper()
	in, err := foreign.FromReader(strings.NewReader(text), name, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	return Guess(in, "")
}

// TestGuess: the drafts for tables of many kinds are those beside them, and read every row as they stand. The runs are in want.txt.
func TestGuess(t *testing.T) {
	dir := filepath.Join("testdata", "guess")
	files, err := filepath.Glob(filepath.Join(dir, "*.[cj]s*"))
	files = slices.DeleteFunc(files, func(name string) bool { return strings.HasSuffix(name, ".yaml") })
	if err != nil || len(files) < 16 {
		t.Fatal(files, err)
	}
	var b strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		draft, err := guessOf(t, name, string(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		Compare(t, file+".yaml", draft.Text)
		runs, report, err := readTextOf(t, mappedFormat(t, draft.Table, []byte(draft.Text)), string(text))
		if err != nil || report.Refused > 0 || len(runs) == 0 {
			t.Errorf("%s: %d runs, %v, refused %v\n%s", name, len(runs), err, report.Refusals, draft.Text)
		}
		b.WriteString("# " + name + "\n" + Report(report, err))
		for i := range runs {
			b.WriteString(Run(&runs[i]))
		}
	}
	Compare(t, filepath.Join(dir, "want.txt"), b.String())
}

// TestGuessSure: a draft is sure only if every metric has a unit or a fixed meaning and no column is doubtful. Tables with the same columns are
// of one kind, whatever their values are.
func TestGuessSure(t *testing.T) {
	kinds := map[string]bool{}
	for text, sure := range map[string]bool{
		"impl,time_us\na,1.5\nb,2.5\n":                     true,
		"impl,time_us\na,7.5\na,8.5\n":                     true,
		"impl,accuracy\na,0.5\nb,0.7\n":                    true,
		"impl,duration\na,1.5\nb,2.5\n":                    false,
		"impl,speed\na,1.5\nb,2.5\n":                       false,
		"impl,size_mb,time_us\na,1.5,3.1\nb,2.5,4.1\n":     false,
		"name,value,unit\nsort,1.5,ms\nsort,2.5,ms\n":      true,
		"name,value\nlatency_ms,1.5\nother,2.5\n":          false,
		"impl,time_us,time_us_p99\na,1.5,1.9\nb,2.5,2.7\n": false,
	} {
		draft, err := guessOf(t, "t.csv", text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if draft.Sure != sure {
			t.Errorf("%q: sure %v\n%s", text, draft.Sure, draft.Text)
		}
		kinds[draft.Kind] = true
	}
	if len(kinds) != 8 {
		t.Errorf("%d kinds, want 8: the first two tables are of one", len(kinds))
	}
}

// TestGuessRefused: what is no table has no draft.
func TestGuessRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "want a table",
		"a,b\n":                "want a table",
		"a,b\nx,y\n":           "no column of numbers looks like a metric",
		"a,a\n1.5,2\n":         "appears twice",
		"{\"a\": \"b\"}\n":     "no column of numbers looks like a metric",
		"[1, 2]\n":             "want a table",
		"{\"a\": 1.5}\n{\"a\"": "object 2",
		strings.Repeat("a,", maxGuessed) + "b\n1\n": "want at most 1000",
	} {
		if draft, err := guessOf(t, "x.csv", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: got %v, want %s\n%s", text, err, want, draft.Text)
		}
	}
}

// TestGuessIsRead: the draft for any table can be read, whatever its names and values are.
func TestGuessIsRead(t *testing.T) {
	names := []string{"", "a", "null", "true", "~", "- x", "a: b", "#", "{", "'", "\"", "é ü", "n.a.b", "status", "level", "params", "time", "unit", "value", "metric", "latency_ms", "x\ty", "run_id", strings.Repeat("w", 300)}
	values := []string{"", "1", "1.5", "-", "x", "NaN", "inf", "1,5", "1,000.5", "true", "2026-01-01", "12 ms", "{}", "# c", "'"}
	for seed := range 200 {
		var columns []string
		for i := range 1 + seed%7 {
			if name := names[(seed*7+i*5)%len(names)]; !strings.Contains("\n"+strings.Join(columns, "\n")+"\n", "\n"+name+"\n") {
				columns = append(columns, name)
			}
		}
		rows := []string{quotedCSV(append(columns, "seconds"))}
		for row := range 3 {
			var cells []string
			for i := range columns {
				cells = append(cells, values[(seed+i*3+row*(1+seed%4))%len(values)])
			}
			rows = append(rows, quotedCSV(append(cells, fmt.Sprint(row+1, ".5"))))
		}
		text := strings.Join(rows, "\n") + "\n"
		draft, err := guessOf(t, "t.csv", text)
		if err != nil {
			t.Errorf("%v:\n%s", err, text)
			continue
		}
		format, err := Mapped(draft.Table, []byte(draft.Text))
		if err != nil {
			t.Errorf("%v:\n%s\n%s", err, text, draft.Text)
			continue
		}
		if runs, report, err := readTextOf(t, format, text); err != nil || len(runs) == 0 {
			t.Errorf("%d runs, %v, %v:\n%s\n%s", len(runs), report.Refusals, err, text, draft.Text)
		}
	}
}

func quotedCSV(cells []string) string {
	var quoted []string
	for _, cell := range cells {
		quoted = append(quoted, `"`+strings.ReplaceAll(cell, `"`, `""`)+`"`)
	}
	return strings.Join(quoted, ",")
}

// TestUnitSpelled: units in names and headings.
func TestUnitSpelled(t *testing.T) {
	for text, want := range map[string]string{
		"ms": "ms", "usec": "us", "Seconds": "s", "ns/op": "ns", "ms/iter": "ms", "s per token": "s", "B/op": "B", "MB/s": "MB/s",
		"GB per second": "GB/s", "tok/s": "tok/s",
		"tokens/sec": "tokens/s", "ops/min": "ops/min", "TFLOPS": "Tflop/s", "Gflop/s": "Gflop/s", "%": "%", "°C": "°C", "W": "W",
		"fps": "frames/s", "Mbps": "", "m": "", "x": "", "of 5": "",
	} {
		got := unitSpelled(text)
		if got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
		if got == "" {
			continue
		}
		if err := (mappedMetric{Metric: "own", Unit: got}).checkUnit(); err != nil {
			t.Errorf("%s: a mapping refuses %s: %v", text, got, err)
		}
	}
	for name, want := range map[string]mappedMetric{
		"latency_ms": {Metric: "latency", Unit: "ms"}, "latencyP99Us": {Metric: "latency", Unit: "us", As: "p99"},
		"Avg Time (ms)":     {Metric: "latency", Unit: "ms", As: "mean"},
		"tokens_per_second": {Metric: "throughput", Unit: "tokens/s"}, "samples/s": {Metric: "throughput", Unit: "samples/s"},
		"GFLOPS":      {Metric: "compute", Unit: "Gflop/s"},
		"mem_bw_gb_s": {Metric: "bandwidth", Unit: "GB/s"}, "peak_rss_mb": {Metric: "peak_memory", Unit: "MB"},
		"power_w": {Metric: "power", Unit: "W"}, "top1_acc": {Metric: "accuracy"},
		"ttft_ms_p50": {Metric: "ttft", Unit: "ms", As: "median"}, "loss": {Metric: "loss", Better: schema.BetterLower},
		"speedup": {Metric: "speedup", Better: schema.BetterHigher},
	} {
		g := guessed{doubts: map[string]string{}}
		if got := g.meaning(newGuessedColumn(name), map[string]mappedMetric{}); got != want {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
}

// TestGuessTexts: texts in a column with a unit make no axis of it. Texts for no value are missing. Rows with other texts are refused by
// their line, because they may be failed runs.
func TestGuessTexts(t *testing.T) {
	for _, word := range []string{"k.A.", "NA", "-", "–", "none", "nil", "null", "NaN", "#N/A", "?", "kaputt"} {
		text := "Latenz [µs];Durchsatz;Gerät\n1234,5;3,1;sda\n1250;3,2;sda\n980;4,1;nvme0\n" + word + ";4,2;nvme0\n"
		draft, err := guessOf(t, "g.csv", text)
		if err != nil {
			t.Errorf("%s: %v", word, err)
			continue
		}
		runs, report, err := readTextOf(t, mappedFormat(t, CSV, []byte(draft.Text)), text)
		refused := int64(0)
		if word == "kaputt" {
			refused = 1
		}
		if err != nil || int64(report.Refused) != refused || len(runs)+int(refused) != 4 || runs[0].Primary != "latenz" || len(runs[0].Params) != 1 {
			t.Errorf("%s: %d runs, %v, refused %v\n%s", word, len(runs), err, report.Refusals, draft.Text)
		}
		if strings.Contains(draft.Text, `"kaputt" are refused`) != (refused > 0) {
			t.Errorf("%s: the draft is\n%s", word, draft.Text)
		}
	}
}

// TestGuessUnixTime: numbers that can only be Unix times are the start of the runs, whatever their column is called, unless another column is. Amounts
// and durations of the same size are not.
func TestGuessUnixTime(t *testing.T) {
	for _, test := range []struct{ name, first, second, want string }{
		{"at", "1790000000", "1790000060", "at: started_at"},
		{"t", "1790000000", "1790000000.5", "t: started_at"},
		{"t", "1790000000", "1790000000", "t: params"},
		{"t", "1790000060", "1790000000", "t: params"},
		{"unix_time", "1790000060123", "1790000000123", "unix_time: started_at"},
		{"zeit", "1790000000000", "1790000060000", "zeit: started_at"},
		{"time_s", "1790000000", "1790000060", "time_s: started_at"},
		{"time_ns", "1790000000", "1790000060", "time_ns: {metric: latency, unit: ns}"},
		{"cycles", "1790000000", "1790000060", "cycles: {metric: cycles}"},
		{"size", "1500000000", "2000000000", "size: params"},
		{"t", "1024", "2048", "t: params"},
		{"ended_at", "1790000000", "1790000060", "- ended_at"},
	} {
		text := test.name + ",watt_w,rate\n" + test.first + ",1,1.5\n" + test.second + ",2,1.6\n"
		if draft, err := guessOf(t, "t.csv", text); err != nil || !strings.Contains(draft.Text, test.want+"  #") {
			t.Errorf("%s: want %s, got %v\n%s", text, test.want, err, draft.Text)
		}
	}
	draft, err := guessOf(t, "t.csv", "t,timestamp,rate\n1790000000,2026-11-01T10:00:00Z,1.5\n1790000001,2026-11-01T10:00:01Z,1.6\n")
	if err != nil || !strings.Contains(draft.Text, "timestamp: started_at") || !strings.Contains(draft.Text, "- t  #") {
		t.Errorf("%v\n%s", err, draft.Text)
	}
}
