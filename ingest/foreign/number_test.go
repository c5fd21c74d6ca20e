package foreign

import (
	"bytes"
	"io"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/neurolens/neurolens/schema/jsontext"
)

// TestSeriesExact: a decimal number in seconds becomes the float64 that is nearest to it in nanoseconds, not one that is
// near because it was multiplied; integers are ticks, with all their digits.
func TestSeriesExact(t *testing.T) {
	for _, c := range []struct {
		text, unit string
		want       []float64
		ticks      bool
	}{
		{`[0.0012, 0.000000001, 2]`, "s", []float64{1_200_000, 1, 2_000_000_000}, true},
		{`[1.984e-06]`, "s", []float64{1984}, true},
		{`[1.5e-9, 0.1e-9]`, "s", []float64{1.5, .1}, false},
		{`[9007199254740993]`, "ns", []float64{9007199254740992}, true},
		{`[1, 2.5]`, "us", []float64{1000, 2500}, true},
		{`[1, 2.0005]`, "us", []float64{1000, 2000.5}, false},
		{`["NaN", 1, "Infinity", "-Infinity"]`, "ms", []float64{math.NaN(), 1e6, math.Inf(1), math.Inf(-1)}, false},
		{`[[1, 2], [3]]`, "1/s", []float64{1, 2, 3}, true},
		{`[1.5]`, "KiB", []float64{1536}, true},
		{`[50]`, "%", []float64{.5}, false},
		{`[]`, "s", nil, false},
		{`[1e400, 1e-400]`, "s", []float64{math.Inf(1), 0}, false},
	} {
		s, err := ReadSeries(jsontext.Value(c.text), c.unit)
		if err != nil {
			t.Errorf("%s %s: %v", c.text, c.unit, err)
			continue
		}
		m := s.Metric("latency", "")
		got := m.Values()
		if len(got) != len(c.want) || c.ticks != (s.Ticks != nil) {
			t.Errorf("%s %s: got %v (ticks %v), want %v", c.text, c.unit, got, s.Ticks, c.want)
			continue
		}
		for i := range got {
			if math.Float64bits(got[i]) != math.Float64bits(c.want[i]) && !(math.IsNaN(got[i]) && math.IsNaN(c.want[i])) {
				t.Errorf("%s %s: got %v, want %v", c.text, c.unit, got[i], c.want[i])
			}
		}
	}
	if s, err := ReadSeries(jsontext.Value(`[9007199254740993]`), "ns"); err != nil || s.Ticks[0] != 9007199254740993 {
		t.Errorf("got %v, %v", s.Ticks, err)
	}
	for _, text := range []string{`[1, null]`, `[1, {}]`, `["x"]`, `[true]`} {
		if s, err := ReadSeries(jsontext.Value(text), "s"); err == nil {
			t.Errorf("%s: got %v, want an error", text, s)
		}
	}
}

// TestNumberExact compares with exact arithmetic.
func TestNumberExact(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		text := strconv.FormatFloat(random.Float64()*math.Pow(10, float64(random.IntN(20)-14)), "feg"[random.IntN(3)], random.IntN(18)-1, 64)
		exact, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatal(text)
		}
		want, _ := exact.Mul(exact, big.NewRat(1_000_000_000, 1)).Float64()
		if got := Number(text).In("s"); got == nil || *got != want {
			t.Fatalf("%s s: got %v ns, want %v", text, *got, want)
		}
	}
}

func TestNumber(t *testing.T) {
	var got []Number
	if err := Decode(jsontext.Value(`[1, "2.5", null, "NaN", " 7 ", "", 18209322760996052031]`), &got); err != nil {
		t.Fatal(err)
	}
	want := []Number{"1", "2.5", "", "NaN", "7", "", "18209322760996052031"}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%d: got %q, want %q", i, got[i], want[i])
		}
	}
	if got[2].Float64() != nil || got[2].Int64() != nil || got[6].Int64() != nil {
		t.Error("null and what does not fit have to be nil")
	}
	if got[3].Finite("s") != nil || got[3].In("s") == nil {
		t.Error("NaN is no finite number, but one")
	}
	for _, text := range []string{`"x"`, `true`, `[1]`, `{}`, "\"\xff\"", `"\ud800"`} {
		var n Number
		if err := Decode(jsontext.Value(text), &n); err == nil {
			t.Errorf("%s is no number", text)
		}
	}
}

func FuzzSeries(f *testing.F) {
	f.Add(`[1, 2.5e-3, "NaN", [7]]`)
	f.Fuzz(func(_ *testing.T, text string) {
		for _, unit := range []string{"s", "KiB", ""} {
			_, _ = ReadSeries(jsontext.Value(text), unit)
			n := Number(text)
			n.In(unit)
			n.Int64()
		}
	})
}

func TestQuoted(t *testing.T) {
	for in, want := range map[string]string{
		`{"a": NaN, "b": [Infinity, -Infinity,-NaN,nan, inf,-inf]}`: `{"a": "NaN", "b": ["Infinity", "-Infinity","NaN","NaN", "Infinity","-Infinity"]}`,
		`{"NaN": "Infinity \" NaN \\", "x": -1}`:                    `{"NaN": "Infinity \" NaN \\", "x": -1}`,
		`[null, true, -5, "\\", NaN]`:                               `[null, true, -5, "\\", "NaN"]`,
		`NaN`:                                                       `"NaN"`,
		`"open NaN`:                                                 `"open NaN`,
		`"ends in a backslash \`:                                    `"ends in a backslash \`,
		``:                                                          ``,
	} {
		got, err := io.ReadAll(newQuoted(strings.NewReader(in)))
		if err != nil || string(got) != want {
			t.Errorf("%s: got %s, %v, want %s", in, got, err, want)
		}
	}
}

// TestQuotedPieces: however the text comes, byte by byte or at once, the same goes on; also across the buffer.
func TestQuotedPieces(t *testing.T) {
	unit := `{"a\"NaN": [NaN,-Infinity, "\\\\", null, -1.5e-3, "inf"]} `
	for pad := range 70 {
		text := strings.Repeat(" ", pad) + strings.Repeat(unit, 3000)
		want := strings.Repeat(" ", pad) + strings.Repeat(`{"a\"NaN": ["NaN","-Infinity", "\\\\", null, -1.5e-3, "inf"]} `, 3000)
		readers := []io.Reader{strings.NewReader(text), iotest.HalfReader(strings.NewReader(text))}
		if pad == 0 {
			readers = append(readers, iotest.OneByteReader(strings.NewReader(text)))
		}
		for _, r := range readers {
			got, err := io.ReadAll(newQuoted(r))
			if err != nil || !bytes.Equal(got, []byte(want)) {
				t.Fatalf("after %d spaces: differs, %v", pad, err)
			}
		}
	}
}

// quotedSimply does the same as newQuoted, on a whole text and byte by byte.
func quotedSimply(text []byte) (out []byte) {
	inString := false
	for i := 0; i < len(text); i++ {
		if !inString && begins[text[i]] {
			if length, quoted := wordAt(text[i:]); length > 0 {
				out = append(out, quoted...)
				i += length - 1
				continue
			}
		}
		out = append(out, text[i])
		switch {
		case text[i] == '"':
			inString = !inString
		case inString && text[i] == '\\' && i+1 < len(text):
			i++
			out = append(out, text[i])
		}
	}
	return out
}

func FuzzQuoted(f *testing.F) {
	f.Add([]byte(`{"a": NaN, "b\\": "\"-Infinity", "c": [-inf]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		whole, err := io.ReadAll(newQuoted(bytes.NewReader(text)))
		if err != nil {
			t.Fatal(err)
		}
		if want := quotedSimply(text); !bytes.Equal(whole, want) {
			t.Fatalf("%q: got %q, want %q", text, whole, want)
		}
		pieces, err := io.ReadAll(newQuoted(iotest.OneByteReader(bytes.NewReader(text))))
		if err != nil || !bytes.Equal(whole, pieces) {
			t.Fatalf("at once %q, byte by byte %q, %v", whole, pieces, err)
		}
	})
}
