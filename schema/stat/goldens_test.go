package stat

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// sample reads a JSON file of the sample files into target; without them the test is skipped.
func sample(t *testing.T, target any, path ...string) {
	t.Helper()
	samples := os.Getenv("NEUROLENS_SAMPLES")
	if samples == "" {
		t.Skip("NEUROLENS_SAMPLES, the folder of the sample files, is not set")
	}
	text := valuetest.Must(os.ReadFile(filepath.Join(append([]string{samples}, path...)...)))
	valuetest.OK(t, json.Unmarshal(text, target))
}

// near tells whether two numbers agree to a share of the wanted one.
func near(got, want, share float64) bool {
	return got == want || math.Abs(got-want) <= share*math.Abs(want)
}

func wantEstimate(t *testing.T, name string, got, want Estimate) {
	t.Helper()
	const share = 1e-12
	if !near(got.Value, want.Value, share) || !near(got.Low, want.Low, share) || !near(got.High, want.High, share) ||
		!near(got.Confidence, want.Confidence, share) {
		t.Errorf("%s is %+v, want %+v", name, got, want)
	}
}

// TestGoldens: numbers published by SciPy, R, libkalibera, Google Benchmark and others, collected with their sources.
// Components of variance, Harrell-Davis quantiles, energy statistics and early stopping are left out: nothing here computes
// them.
func TestGoldens(t *testing.T) {
	t.Parallel()
	var kinds map[string]json.RawMessage
	sample(t, &kinds, "stats_golden", "goldens.json")
	readers := map[string]func(*testing.T, json.RawMessage){
		"mannwhitney": mannWhitneyGoldens, "signed_rank": signedRankGoldens, "hodges_lehmann": shiftGoldens,
		"adjust": adjustGoldens, "kalibera": nil, "student_t": studentGoldens, "quantiles": quantileGoldens,
		"known_reference_bugs": bugGoldens, "_note": nil, "harrell_davis": nil, "energy": nil, "early_stopping": nil,
	}
	for kind, text := range kinds {
		read, known := readers[kind]
		if !known {
			t.Errorf("goldens of kind %q are not compared", kind)
		} else if read != nil {
			t.Run(kind, func(t *testing.T) { read(t, text) })
		}
	}
}

func decode(t *testing.T, text json.RawMessage, target any) {
	t.Helper()
	valuetest.OK(t, json.Unmarshal(text, target))
}

// mannWhitneyGoldens: all but those without a correction for continuity, which is always made here.
func mannWhitneyGoldens(t *testing.T, text json.RawMessage) {
	var cases []struct {
		X, Y                []float64
		U1, P               float64
		Alternative, Method string
		Continuity          bool
	}
	decode(t, text, &cases)
	compared := 0
	for _, c := range cases {
		if !c.Continuity {
			continue
		}
		compared++
		ties := newTies(c.X, c.Y)
		lower, upper := ties.tails()
		if c.Method == "asymptotic" {
			lower, upper = ties.normal()
		}
		p := map[string]float64{"less": lower, "greater": upper, "two-sided": min(1, 2*min(lower, upper))}[c.Alternative]
		valuetest.DeepEqual(t, []any{ties.u, near(p, c.P, 1e-11)}, []any{c.U1, true}, c.X, c.Y, c.Method, c.Alternative, "u", p, c.P)
		if u, two := MannWhitney(c.X, c.Y); c.Method == "exact" && c.Alternative == "two-sided" && (u != c.U1 || !near(two, c.P, 1e-11)) {
			t.Errorf("%v, %v: u %g, p %.16g, want %g, %.16g", c.X, c.Y, u, two, c.U1, c.P)
		}
	}
	if compared < 20 {
		t.Errorf("%d cases compared", compared)
	}
}

// signedRankGoldens: P(V >= v), which is P(V <= last - v).
func signedRankGoldens(t *testing.T, text json.RawMessage) {
	var cases []struct {
		X []float64
		V int
		P float64
	}
	decode(t, text, &cases)
	for _, c := range cases {
		d := signedRanks()[len(c.X)]
		if got := d.atMost(d.last-c.V) / d.total; !near(got, c.P, 1e-12) {
			t.Errorf("V of %d: p %g, want %g", c.V, got, c.P)
		}
	}
}

func shiftGoldens(t *testing.T, text json.RawMessage) {
	var cases []struct {
		X, Y                   []float64
		Paired                 []float64 `json:"paired_diff"`
		Estimate, Lower, Upper float64
		Confidence             float64 `json:"exact_confidence"`
	}
	decode(t, text, &cases)
	for _, c := range cases {
		want := Estimate{c.Estimate, c.Lower, c.Upper, c.Confidence}
		if c.Paired != nil {
			wantEstimate(t, "paired shift", PairedShift(c.Paired, .95), want)
		} else {
			wantEstimate(t, "shift", Shift(c.Y, c.X, .95), want)
		}
	}
}

func adjustGoldens(t *testing.T, text json.RawMessage) {
	var cases []struct {
		Method      string
		P, Adjusted []float64
	}
	decode(t, text, &cases)
	for _, c := range cases {
		got := map[string]func([]float64) []float64{"BH": BenjaminiHochberg, "Holm": Holm}[c.Method](c.P)
		for i, want := range c.Adjusted {
			if math.Abs(got[i]-want) > 1e-8 { // eight digits are given
				t.Errorf("%s of %v is %v, want %v", c.Method, c.P, got, c.Adjusted)
				break
			}
		}
	}
}

func studentGoldens(t *testing.T, text json.RawMessage) {
	var cases []struct {
		P     float64 `json:"p_two_sided"`
		DF, T float64
	}
	decode(t, text, &cases)
	for _, c := range cases {
		if got := studentQuantile(c.P/2, c.DF); !near(got, c.T, 1e-10) {
			t.Errorf("t of %g degrees is %.12g, want %.12g", c.DF, got, c.T)
		}
		if got := (TTest{Difference: -c.T, StdErr: 1, DF: c.DF}).P(); !near(got, c.P, 1e-9) {
			t.Errorf("p of t %g is %.12g, want %g", c.T, got, c.P)
		}
	}
}

func quantileGoldens(t *testing.T, text json.RawMessage) {
	var cases []struct{ X, P, Values []float64 }
	decode(t, text, &cases)
	for _, c := range cases {
		for i, p := range c.P {
			if got := Quantile(c.X, p); !near(got, c.Values[i], 1e-14) {
				t.Errorf("quantile %g of %v is %g, want %g", p, c.X, got, c.Values[i])
			}
		}
	}
}

// bugGoldens: what the tools of others get wrong, either way round.
func bugGoldens(t *testing.T, text json.RawMessage) {
	var cases []struct {
		Input json.RawMessage
		P     float64 `json:"correct_two_sided"`
	}
	decode(t, text, &cases)
	for _, c := range cases {
		if c.P == 0 {
			continue
		}
		var sides struct{ X, Y []float64 }
		decode(t, c.Input, &sides)
		_, p := MannWhitney(sides.X, sides.Y)
		if _, swapped := MannWhitney(sides.Y, sides.X); !near(p, c.P, 1e-12) || !near(swapped, c.P, 1e-12) {
			t.Errorf("%v, %v: p %g, swapped %g, want %g", sides.X, sides.Y, p, swapped, c.P)
		}
	}
}

// TestPragmastatGoldens: shift is the median of x less y there, center the Hodges-Lehmann location. Its bounds are left
// out: they are one rank too narrow.
func TestPragmastatGoldens(t *testing.T) {
	t.Parallel()
	type cases map[string]struct {
		Input struct{ X, Y []float64 }
		// Output is a number, or missing where the input is refused.
		Output *float64
	}
	compared := 0
	for file, estimate := range map[string]func(x, y []float64) Estimate{
		"shift.json":  func(x, y []float64) Estimate { return Shift(y, x, .95) },
		"center.json": func(x, _ []float64) Estimate { return PairedShift(x, .95) },
	} {
		var read cases
		sample(t, &read, "stats_pragmastat", file)
		for name, c := range read {
			if c.Output == nil {
				continue
			}
			compared++
			valuetest.Near(t, estimate(c.Input.X, c.Input.Y).Value, *c.Output, 1e-9*max(1, math.Abs(*c.Output)), file, name)
		}
	}
	if compared < 90 {
		t.Errorf("%d cases compared", compared)
	}
}
