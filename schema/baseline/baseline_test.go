package baseline

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// The sessions of the tests.
const (
	first  = "01KH2DJ2006XNMS5982A325J3A"
	second = "01KH2DJ20075RXF4JVGDHK7PGE"
)

// newPoint returns a point with one metric of those runs.
func newPoint(benchmark, machine, session string, runs ...float64) Point {
	p := Point{
		Machine: machine, Session: session,
		Point:    schema.Point{Benchmark: benchmark, Precision: "fp32", BatchSize: new(int64(8)), Params: map[string]string{"dim": "64"}},
		Warnings: []string{"load"}, Metrics: []Metric{{Name: "latency", Unit: "ns", Better: schema.BetterLower, Level: schema.LevelIteration, Runs: runs}},
	}
	run := p.run()
	p.ID = schema.PointID(&run)
	for range runs {
		p.Metrics[0].Samples = append(p.Metrics[0].Samples, 20)
	}
	p.Metrics[0].Summarize()
	return p
}

// sample returns a document of two points of two sessions.
func sample() *Document {
	var d Document
	d.Replace(first, Session{
		Began: time.Date(2026, 2, 9, 0, 0, 0, 0, time.UTC), Suite: "s", Commit: "ab", Dirty: new(true), Versions: map[string]string{"os_kernel": "6.9"},
	}, []Point{newPoint("b", "lab3", first, 2000, 2010, 1990), newPoint("a <&>", "lab3", first, 1000, 1100)})
	d.Replace(second, Session{Began: time.Date(2026, 2, 10, 0, 0, 0, 0, time.UTC)}, []Point{newPoint("b", "lab4", second, 3000.0000000001)})
	return &d
}

const golden = `{
"neurolens_baseline": 1,
"sessions": {
"01KH2DJ2006XNMS5982A325J3A": {"began":"2026-02-09T00:00:00Z","suite":"s","commit":"ab","dirty":true,"versions":{"os_kernel":"6.9"}},
"01KH2DJ20075RXF4JVGDHK7PGE": {"began":"2026-02-10T00:00:00Z"}
},
"points": [
{"point":"ec2158be2659ebaee53b08928981771b","machine":"lab3","session":"01KH2DJ2006XNMS5982A325J3A","benchmark":"a <&>","precision":"fp32","batch_size":8,"params":{"dim":"64"},"warnings":["load"],
 "metrics": [
  {"metric":"latency","unit":"ns","better":"lower","level":"iteration","location":1048.808848,"runs":[1000,1100],"samples":[20,20]}
 ]},
{"point":"POINT_B","machine":"lab3","session":"01KH2DJ2006XNMS5982A325J3A","benchmark":"b","precision":"fp32","batch_size":8,"params":{"dim":"64"},"warnings":["load"],
 "metrics": [
  {"metric":"latency","unit":"ns","better":"lower","level":"iteration","location":2000,"interval":[1975.295569,2024.979652],"runs":[2000,2010,1990],"samples":[20,20,20]}
 ]},
{"point":"POINT_B","machine":"lab4","session":"01KH2DJ20075RXF4JVGDHK7PGE","benchmark":"b","precision":"fp32","batch_size":8,"params":{"dim":"64"},"warnings":["load"],
 "metrics": [
  {"metric":"latency","unit":"ns","better":"lower","level":"iteration","location":3000,"runs":[3000],"samples":[20]}
 ]}
]
}
`

// encoded returns the text of a document.
func encoded(t testing.TB, d *Document) string {
	t.Helper()
	text := valuetest.Must(Encode(d))
	return string(text)
}

// TestEncode: a document has one text, which is read as the same document.
func TestEncode(t *testing.T) {
	d := sample()
	text := encoded(t, d)
	if want := strings.ReplaceAll(golden, "POINT_B", newPoint("b", "", "", 1).ID); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	got := valuetest.Must(Decode([]byte(text)))
	if again := encoded(t, got); again != text {
		t.Errorf("read and written again it is\n%s", again)
	}
	got.Points[2].Metrics[0].Runs[0], got.Points[2].Metrics[0].Location = d.Points[2].Metrics[0].Runs[0], d.Points[2].Metrics[0].Location
	if !reflect.DeepEqual(got, d) {
		t.Errorf("got\n%+v\nwant\n%+v", got, d)
	}
	if empty := encoded(t, &Document{}); empty != "{\n\"neurolens_baseline\": 1,\n\"sessions\": {\n},\n\"points\": [\n]\n}\n" {
		t.Errorf("the empty document is\n%s", empty)
	}
	if _, err := Encode(&Document{Points: []Point{{Metrics: []Metric{{Name: "latency", Runs: []float64{math.Inf(1)}}}}}}); err == nil {
		t.Error("an infinite value is written")
	}
}

// TestReplace: a point is replaced as a whole, whatever its values; points of other machines and other points stay, with their
// sessions.
func TestReplace(t *testing.T) {
	d := sample()
	slower := newPoint("b", "lab3", second, 9000, 9010, 9020)
	if n := d.Replace(second, Session{Commit: "cd"}, []Point{slower, newPoint("c", "lab3", second, 1)}); n != 1 {
		t.Errorf("%d replaced, want 1", n)
	}
	var got []string
	for _, p := range d.Points {
		got = append(got, fmt.Sprintf("%s %s %.0f %s", p.Benchmark, p.Machine, p.Metrics[0].Location, p.Session[24:]))
	}
	if want := "[a <&> lab3 1049 3A b lab3 9010 GE b lab4 3000 GE c lab3 1 GE]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
	d.Replace(second, Session{}, []Point{newPoint("a <&>", "lab3", second, 1)})
	if _, there := d.Sessions[first]; there || len(d.Sessions) != 1 {
		t.Errorf("sessions without a point stay: %v", d.Sessions)
	}
}

// TestOrder: points stand as people look for them, numbers by their size.
func TestOrder(t *testing.T) {
	var d Document
	for _, dim := range []string{"1024", "x", "64", "9"} {
		p := newPoint("a", "lab3", first, 1)
		p.Params = map[string]string{"dim": dim}
		run := p.run()
		p.ID = schema.PointID(&run)
		d.Replace(first, Session{}, []Point{p})
	}
	var got []string
	for _, p := range d.Points {
		got = append(got, p.Params["dim"])
	}
	if fmt.Sprint(got) != "[9 64 1024 x]" {
		t.Error(got)
	}
}

// TestZeros: a metric with a run of 0 or less has its plain median and interval, and its runs have no logarithm where there is none.
func TestZeros(t *testing.T) {
	var d Document
	d.Replace(first, Session{}, []Point{newPoint("a", "lab3", first, 0, 3, -3, 0), newPoint("b", "lab3", first, 0, 0, 0)})
	got := valuetest.Must(Decode([]byte(encoded(t, &d))))
	for i, want := range []float64{0, 0} {
		if m := got.Points[i].Metrics[0]; m.Location != want || len(m.Interval) != 2 || m.Interval[0] != -m.Interval[1] {
			t.Errorf("point %d: %+v", i, m)
		}
	}
	runs := got.RunsOf(&got.Points[0])
	for i, want := range []float64{0, 3, -3, 0} {
		s := runs[i].Metrics[0].Summary
		if *s.P50 != want || (s.LogMedian != nil) != (want > 0) {
			t.Errorf("run %d: %+v", i, s)
		}
	}
}

// TestRunsOf: a run of a point has its location and what its session says, and no samples.
func TestRunsOf(t *testing.T) {
	d := sample()
	runs := d.RunsOf(&d.Points[1])
	if len(runs) != 3 {
		t.Fatalf("%d runs", len(runs))
	}
	r := runs[1]
	m := r.Metrics[0]
	if r.SessionID != first || *r.RepeatIndex != 1 || r.Env.GitCommit != "ab" || !*r.Env.GitDirty || r.Env.OSKernel != "6.9" || r.Suite != "s" || r.Warnings[0] != "load" {
		t.Errorf("the run is %+v", r)
	}
	if *m.Summary.P50 != 2010 || *m.Summary.LogMedian != math.Log(2010) || *m.Summary.N != 20 || m.Reals != nil {
		t.Errorf("its metric is %+v", m)
	}
}

// TestDecodeErrors: what is wrong is said, and nothing of the file is taken.
func TestDecodeErrors(t *testing.T) {
	good := encoded(t, sample())
	for _, c := range []struct{ old, new, says string }{
		{`"neurolens_baseline": 1`, `"neurolens_baseline": 2`, "neurolens_baseline is 2, and this version reads 1"},
		{`"batch_size":8`, `"batch_size":9`, "point 1 (a <&>): point is \""},
		{`"location":2000,`, `"location":1900,`, "point 2 (b): metric latency: its runs give location 2000 and interval [1975.295569"},
		{`"interval":[1975.295569,2024.979652],`, ``, "point 2 (b): metric latency: its runs give location 2000 and interval [1975.295569"},
		{`2010,1990],`, `2010,1990,5],`, "samples has 3 numbers for 4 runs"},
		{`"machine":"lab4"`, `"machine":"lab3"`, "point 3 (b) appears twice for machine lab3"},
		{`"machine":"lab4"`, `"machine":""`, "point 3 (b): machine is missing"},
		{`"machine":"lab4"`, `"machin":"lab4"`, `unknown field "machin"`},
		{`"benchmark":"b"`, `"benchmark":"b","benchmark":"b"`, "duplicate"},
		{`"session":"` + second, `"session":"01KH2DJ20075RXF4JVGDHK7PGF`, "is not among the sessions"},
		{`[3000]`, `[-3000]`, "its runs give location -3000 and"},
		{`[3000],"samples":[20]`, `[],"samples":[]`, "it has 0 runs"},
		{`[3000],"samples":[20]`, `[3000],"samples":[-1]`, "a number of samples is negative"},
		{"]\n}\n", "]\n}\n{}", "after top-level value"},
		{"]\n}\n", "", "unexpected EOF"},
	} {
		text := strings.Replace(good, c.old, c.new, 1)
		if text == good {
			t.Fatalf("%s is not there", c.old)
		}
		if d, err := Decode([]byte(text)); err == nil || !strings.Contains(err.Error(), c.says) || d != nil {
			t.Errorf("%s in place of %s: %v, want %s", c.new, c.old, err, c.says)
		}
	}
}

// FuzzDecode: what is read is written as a text that is read as the same.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(encoded(f, sample())))
	f.Add([]byte(encoded(f, &Document{})))
	f.Add([]byte(`{"neurolens_baseline":1,"sessions":{},"points":[]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := Decode(text)
		if err != nil {
			return
		}
		written, err := Encode(d)
		if err != nil {
			t.Fatalf("what was read is not written: %v", err)
		}
		again, err := Decode(written)
		if err != nil {
			t.Fatalf("what was written is not read: %v\n%s", err, written)
		}
		if twice := encoded(t, again); twice != string(written) {
			t.Fatalf("it changes when it is read:\n%s\n%s", written, twice)
		}
		for i := range d.Points {
			for _, r := range d.RunsOf(&d.Points[i]) {
				if r.Benchmark != d.Points[i].Benchmark {
					t.Fatal("a run is of another benchmark")
				}
			}
		}
	})
}
