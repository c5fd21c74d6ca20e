package term

import (
	"bytes"
	"math"
	"testing"
	"time"
)

// TestPlainJSON: what is written without an encoder is what the encoder writes, and other values are left to it.
func TestPlainJSON(t *testing.T) {
	t.Parallel()
	plain := 0
	values := []any{
		nil, true, false, int64(0), int64(-1), int64(math.MaxInt64), int64(math.MinInt64), 1.5, math.NaN(), 1e300, 7, uint64(1), "", "a b", "<a href='x'>&</a>",
		`"`, `\`, "\u00e9", "\u2028", "\x1b[31m", "\xff", "\u202e", time.UnixMicro(1).UTC(),
		[]any{"a", nil},
		map[string]any{"b": int64(1), "a": "x"},
		[]any(nil),
		[]any{},
		map[string]any{},
		map[string]any(nil),
		[]any{1.5, math.Copysign(0, -1), int64(2), true, "a"},
		[]any{math.NaN()},
		[]any{1e-7, 1.5},
		[]any{[]any{int64(1)}},
		[]any{"é"},
		[]any{time.UnixMicro(1).In(time.FixedZone("", 3600))},
		map[string]any{"é": int64(1)},
		map[string]any{"z": 1.5, "a": nil, "m": []any{"x"}},
		map[string]any{"at": time.UnixMicro(1).In(time.FixedZone("", 3600))},
		map[string]any{`"`: "a"},
		map[string]any{"b": "x", "a": "y", "c": `"`},
	}
	floats := []float64{0, math.Copysign(0, -1), 1e-6, -1e-6, math.Nextafter(1e-6, 0), 1e21, math.Nextafter(1e21, 0), .1, 1 / 3., 123456789.25, -5e20, math.Inf(1), math.MaxFloat64}
	for _, f := range floats {
		values = append(values, f)
	}
	for c := range 256 {
		values = append(values, "x"+string(rune(c)), "y"+string([]byte{byte(c)}))
	}
	for _, v := range values {
		want, err := jsonText(v)
		ok(t, err)
		var b bytes.Buffer
		b.WriteString("{")
		if writePlain(&b, v) {
			plain++
		} else if b.String() != "{" {
			t.Errorf("%#v: %q, and yet it is not plain", v, b.String())
		}
		b.Reset()
		if err := writeJSON(&b, v); err != nil || b.String() != want {
			t.Errorf("%#v: %q, want %q, %v", v, b.String(), want, err)
		}
	}
	if want := 12 + 9 + 2*(95-2); plain != want { // 95 printable characters, of which JSON escapes two
		t.Errorf("%d values are plain, want %d", plain, want)
	}
}
