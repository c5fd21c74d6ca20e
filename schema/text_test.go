package schema

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/schema/valuetest"
)

func TestCanonicalNumber(t *testing.T) {
	for literal, want := range map[string]string{
		"1.0": "1", "1e3": "1000", "0.0000001": "1e-7", "1e21": "1e+21", "1e20": "100000000000000000000", "-0.0": "0", "0.0e-9": "0", "-0": "0", "+5": "5",
		"123456789.5": "123456789.5", "9223372036854775807": "9223372036854775807", "-9223372036854775808": "-9223372036854775808",
		"333333333.33333329": "333333333.3333333", "4.50": "4.5", "2e-3": "0.002", "1e-27": "1e-27", ".5": "0.5", "5.": "5",
		"0.000001": "0.000001", "5e-324": "5e-324", "1.7976931348623157e308": "1.7976931348623157e+308", "0.5": "0.5", "0": "0",
	} {
		if got, err := CanonicalNumber(literal); err != nil || got != want {
			t.Errorf("%s is %q, %v; want %s", literal, got, err, want)
		}
	}
	for _, bad := range []string{"007", "-01", "1_000", "9223372036854775808", "1e400", "1e-400", "-0.5E-999", "nan", ".inf", "-.inf", "Infinity", "", "x", "0x10", "1:30", "1e", "--1"} {
		if got, err := CanonicalNumber(bad); err == nil {
			t.Errorf("%q is taken for %s", bad, got)
		}
	}
}

// TestCanonicalNumberKeepsTheValue: the text gives the number back, and is its own canonical text.
func TestCanonicalNumberKeepsTheValue(t *testing.T) {
	for range 20_000 {
		f := math.Float64frombits(rand.Uint64())
		if math.IsNaN(f) || math.IsInf(f, 0) {
			continue
		}
		text := CanonicalFloat(f)
		if back, err := strconv.ParseFloat(text, 64); err != nil || back != f {
			t.Fatalf("%g prints as %s, which reads as %g, %v", f, text, back, err)
		}
		if math.Abs(f) < 1<<63 || math.Abs(f) >= 1e21 {
			if again, err := CanonicalNumber(text); err != nil || again != text {
				t.Fatalf("%s becomes %s, %v", text, again, err)
			}
		}
		if math.Abs(f) >= 1e21 || f != math.Trunc(f) { // encoding/json follows ECMAScript as RFC 8785 does
			if want, _ := json.Marshal(f); string(want) != text {
				t.Fatalf("%g prints as %s, ECMAScript has %s", f, text, want)
			}
		}
	}
}

func TestCanonicalJSON(t *testing.T) {
	value := map[string]any{
		"b": []any{json.Number("1.0"), true, nil, "<a&b>"}, "a": map[string]any{"é": "\u2028\n\x01\"\\", "\U0001F600": "x", "\uFB33": "y"}, "": json.Number("1e3"),
	}
	want := `{"":1000,"a":{"é":"` + "\u2028" + `\n\u0001\"\\","😀":"x","` + "\uFB33" + `":"y"},"b":[1,true,null,"<a&b>"]}`
	if got, err := CanonicalJSON(value); err != nil || got != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
	for _, bad := range []any{json.Number("007"), []any{3}, map[string]any{"a": json.Number("1e999")}} {
		if got, err := CanonicalJSON(bad); err == nil {
			t.Errorf("%v is taken for %s", bad, got)
		}
	}
}

func FuzzCanonicalNumber(f *testing.F) {
	for _, s := range []string{"1.0", "1e3", "007", "1_0", "9223372036854775808", "nan", "-.5e-7"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text, err := CanonicalNumber(s)
		if err != nil {
			return
		}
		a, errA := strconv.ParseFloat(s, 64)
		b, errB := strconv.ParseFloat(text, 64)
		if errA != nil || errB != nil || a != b {
			t.Errorf("%q becomes %q", s, text)
		}
	})
}

func TestNearest(t *testing.T) {
	for _, c := range [][2]string{{"dmi", "dim"}, {"bacth_size", "batch_size"}, {"zzzzzz", ""}, {"seqlen", "seq_len"}, {"status" + strings.Repeat("s", 40), ""}} {
		if got := Nearest(c[0], []string{"dim", "batch_size", "seq_len", "status"}); got != c[1] {
			t.Errorf("Nearest(%s) = %q, want %q", c[0], got, c[1])
		}
	}
}

func TestPrecisionAliases(t *testing.T) {
	for in, want := range map[string]string{"float32": "fp32", "FP16": "fp16", "half": "fp16", "bfloat16": "bf16", "Double": "fp64", "int8": "int8"} {
		if got, err := CanonicalPrecision(in); err != nil || got != want {
			t.Errorf("%s is %s, %v", in, got, err)
		}
	}
	for _, p := range Precisions {
		if got, err := CanonicalPrecision(p); err != nil || got != p {
			t.Errorf("%s is %s, %v", p, got, err)
		}
	}
	if _, err := CanonicalPrecision("fp33"); err == nil {
		t.Error("fp33 passes")
	}
}

func TestAxisNames(t *testing.T) {
	for in, want := range map[string]string{"bs": "batch_size", "seq": "seq_len", "dtype": "precision", "backend": "backend", "dim": "dim"} {
		if got, err := AxisName(in); err != nil || got != want {
			t.Errorf("axis %s is %s, %v", in, got, err)
		}
	}
	for _, taken := range []string{"p99", "run_id", "tags", "status"} {
		if _, err := AxisName(taken); err == nil {
			t.Errorf("an axis may be called %s", taken)
		}
	}
}

// stored reads a quantity and gives it in its stored unit.
func stored(t *testing.T, text string) Quantity {
	t.Helper()
	q := valuetest.Must(ParseQuantity(text))
	unit, factor, _ := StoredUnit(q.Unit)
	return Quantity{q.Value * factor, unit}
}

func TestQuantity(t *testing.T) {
	for text, want := range map[string]Quantity{
		"1.5ms": {1.5e6, "ns"}, "64 MiB": {64 << 20, "B"}, "80%": {.8, "ratio"}, "1e3": {1000, ""}, "-2µs": {-2000, "ns"}, "3.2 GB/s": {3.2e9, "B/s"},
		".5s": {.5e9, "ns"}, "10m": {600e9, "ns"}, "2 W": {2000, "mW"}, "1.2GHz": {1200, "MHz"}, "1.5 parsecs": {1.5, "parsecs"}, "5.": {5, ""},
		"0x10": {0, "x10"}, "1e": {1, "e"}, "2e3 1/s": {2000, "1/s"}, "51/s": {51, "1/s"},
	} {
		if got := stored(t, text); math.Abs(got.Value-want.Value) > 1e-9*math.Abs(want.Value) || got.Unit != want.Unit {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
	for _, bad := range []string{"", "ms", "inf", "nan", "1e999", "1..5", "--1", "1 2", "1.5.2", "1 ", " 1", "1 .5s"} {
		if got, err := ParseQuantity(bad); err == nil || errors.Is(err, strconv.ErrRange) != (bad == "1e999") {
			t.Errorf("%q is taken for %v, %v", bad, got, err)
		}
	}
	for name, u := range units {
		for range 100 {
			q := Quantity{(rand.Float64() - .5) * math.Pow(10, float64(rand.IntN(30)-10)), name}
			printed := strconv.FormatFloat(q.Value, 'g', -1, 64) + " " + name
			if back, err := ParseQuantity(printed); err != nil || back != q {
				t.Fatalf("%s reads as %v, %v", printed, back, err)
			}
		}
		if stored, factor, known := StoredUnit(name); !known || stored != u.stored || factor != u.factor {
			t.Errorf("%s is %g %s", name, factor, stored)
		}
		if s, f, _ := StoredUnit(u.stored); s != u.stored || f != 1 {
			t.Errorf("the stored unit %s is %g %s", u.stored, f, s)
		}
	}
}

func FuzzParseQuantity(f *testing.F) {
	for _, s := range []string{"1.5ms", "64 MiB", "80%", "1e3", "-2µs", "0x10", "1..5", "1e999", "1 2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q, err := ParseQuantity(s)
		if err != nil {
			return
		}
		again := strconv.FormatFloat(q.Value, 'g', -1, 64) + " " + q.Unit
		if q.Unit == "" {
			again = again[:len(again)-1]
		}
		if back, err := ParseQuantity(again); err != nil || back != q {
			t.Errorf("%q is %v, printed as %q it reads as %v, %v", s, q, again, back, err)
		}
	})
}

func TestForPeople(t *testing.T) {
	for _, c := range []struct {
		value float64
		unit  string
		want  string
	}{
		{1_420_000, "ns", "1.42 ms"},
		{103_000, "ns", "103 µs"},
		{999_600, "ns", "1.00 ms"},
		{999, "ns", "999 ns"},
		{0, "ns", "0 ns"},
		{.25, "ns", "0.250 ns"},
		{61e9, "ns", "61.0 s"},
		{3600e9, "ns", "3600 s"},
		{-2500, "ns", "-2.50 µs"},
		{3.1 * (1 << 30), "B", "3.10 GiB"},
		{512, "B", "512 B"},
		{9, "B", "9 B"},
		{9.5, "B", "9.50 B"},
		{1023.9, "B", "1.00 KiB"},
		{.0123, "ratio", "1.23 %"},
		{0, "ratio", "0"},
		{45, "Cel", "45.0 °C"},
		{0, "Cel", "0 °C"},
		{0, "1/s", "0 1/s"},
		{7, "", "7.00"},
		{3.2e9, "B/s", "3.20 GB/s"},
		{897236620, "flop/s", "897 Mflop/s"},
		{12345, "tokens", "12345 tokens"},
		{1e300, "", "1.00e+300"},
		{-1e300, "ns", "-1.00e+291 s"},
		{1e26, "ns", "1.00e+17 s"},
		{1e-26, "ns", "1.00e-26 ns"},
	} {
		if got := ForPeople(c.value, c.unit); got != c.want {
			t.Errorf("%g %s prints as %q, want %q", c.value, c.unit, got, c.want)
		}
	}
	for range 5000 { // what is printed is within half a unit of its third digit
		v := math.Pow(10, rand.Float64()*14)
		printed := ForPeople(v, "ns")
		if back := stored(t, printed); math.Abs(back.Value-v) > .0051*v {
			t.Fatalf("%g ns prints as %s, which reads as %v", v, printed, back)
		}
	}
}

func TestMetricKinds(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range MetricKinds {
		if stored, factor, known := StoredUnit(k.Unit); k.Unit != "" && (!known || factor != 1 || stored != k.Unit) {
			t.Errorf("metric %s is kept in %s, which is no stored unit", k.Name, k.Unit)
		}
		if seen[k.Name] || !isMetricName(k.Name) {
			t.Errorf("metric %q appears twice or has a bad name", k.Name)
		}
		seen[k.Name] = true
	}
	if k, ok := KindOfMetric(PrimaryMetric); !ok || k.Unit != "ns" {
		t.Errorf("the primary metric is %v, %v", k, ok)
	}
}

func TestValidate(t *testing.T) {
	ok := fullRun()
	valuetest.OK(t, ok.Validate())
	for want, edit := range map[string]func(*Run){
		"run_id: \"x\" is not a ULID":     func(r *Run) { r.RunID = "x" },
		"run_id has the time":             func(r *Run) { r.StartedAt = r.StartedAt.Add(time.Second) },
		"session: \"x\" is not a ULID":    func(r *Run) { r.SessionID = "x" },
		"point_id is":                     func(r *Run) { r.Benchmark = "other" },
		"source is missing":               func(r *Run) { r.Source = "" },
		"status \"done\": want one of ok": func(r *Run) { r.Status = "done" },
		"stage \"run\": want one of":      func(r *Run) { r.Stage = "run" },
		"purpose \"\": want one of":       func(r *Run) { r.Purpose = "" },
		"executor \"shell\": want one":    func(r *Run) { r.Executor = "shell" },
		"precision \"float32\": want one": func(r *Run) { r.Precision = "float32"; r.PointID = PointID(r) },
		"parameter \"model\" has a column": func(r *Run) {
			r.Params = map[string]string{"model": "x"}
			r.PointID = PointID(r)
		},
		"metric \"latency\" appears twice":  func(r *Run) { r.Metrics = append(r.Metrics, r.Metrics[0]) },
		"primary metric \"x\" is not":       func(r *Run) { r.Primary = "x" },
		"metric \"a b\": a name must begin": func(r *Run) { r.Metrics[0].Name = "a b" },
		"better \"up\": want one of":        func(r *Run) { r.Metrics[0].Better = "up" },
		"level \"day\": want one of":        func(r *Run) { r.Metrics[0].Level = "day" },
		"both ticks and reals":              func(r *Run) { r.Metrics[0].Reals = []float64{1} },
		"tick is 0, want a positive":        func(r *Run) { r.Metrics[0].Tick = 0 },
		"2 times for 3 samples":             func(r *Run) { r.Metrics[0].AtNS = []int64{1, 2} },
		"has 2 numbers for 3 samples":       func(r *Run) { r.Metrics[0].IterationsPerSample = []int64{1, 2} },
		"neither samples nor a summary": func(r *Run) {
			r.Metrics[0] = Metric{Name: "latency"}
		},
		"op 0 appears twice":             func(r *Run) { r.Ops = append(r.Ops, r.Ops[0]) },
		"column error is not UTF-8":      func(r *Run) { r.Error = "\xff" },
		"column tags is not UTF-8":       func(r *Run) { r.Tags["\xff"] = "" },
		"column warnings is not UTF-8":   func(r *Run) { r.Warnings[0] = "\xff" },
		"column artifacts is not UTF-8":  func(r *Run) { r.Artifacts[0].Path = "\xff" },
		"column unit is not UTF-8":       func(r *Run) { r.Metrics[0].Unit = "\xff" },
		"column counters is not UTF-8":   func(r *Run) { r.Ops[0].Counters["\xff"] = 1 },
		"side \"left\": want one of":     func(r *Run) { r.Side = "left" },
		"time_source \"sun\": want one ": func(r *Run) { r.TimeSource = "sun" },
	} {
		r := fullRun()
		edit(&r)
		// The columns that repeat a metric's words come first in a row: "unit" is found there as well.
		if err := r.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestBytes(t *testing.T) {
	for text, want := range map[string]int64{"512MiB": 512 << 20, "1": 1, "2 kB": 2000, "0": 0, "-1": 0, "1ms": 0, "x": 0, "": 0, "1e30": 0} {
		if got, err := ParseBytes(text); got != want || (err == nil) != (want > 0) {
			t.Errorf("ParseBytes(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
}
