package onnx

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"testing/iotest"
)

// TestDescribe: every model says the precision that it was made in, and is known for what it is.
func TestDescribe(t *testing.T) {
	for _, name := range Names() {
		for _, precision := range Precisions() {
			content := generate(t, name, precision)
			want := precision
			if precision == "tf32" {
				want = "fp32"
			}
			got, err := Describe(iotest.OneByteReader(strings.NewReader(string(content))))
			if err != nil || got.Precision != want || got.External {
				t.Errorf("%s %s: %+v, %v", name, precision, got, err)
			}
			sum := sha256.Sum256(content)
			if n, p, ok := Generated(hex.EncodeToString(sum[:])); !ok || n != name || p != want {
				t.Errorf("%s %s is taken for %q %q, %v", name, precision, n, p, ok)
			}
			for end := 1; end < len(content); end += len(content)/7 + 1 {
				if got, err := Describe(strings.NewReader(string(content[:end]))); err == nil && got.Precision == want {
					t.Errorf("%s %s: %d of %d bytes are %+v", name, precision, end, len(content), got)
				}
			}
		}
	}
	if _, _, ok := Generated(strings.Repeat("0", 64)); ok {
		t.Error("another file is taken for a generated one")
	}
}

// TestDescribeRules: the weights decide, by their count; scalars and what old files list twice do not.
func TestDescribeRules(t *testing.T) {
	scalar := tensor{"scale", typeFloat, nil, []float64{1}}
	few := tensor{"few", typeFloat16, []int64{2}, []float64{1, 2}}
	many := tensor{"many", typeDouble, []int64{3}, []float64{1, 2, 3}}
	in := func(name string, kind elementType) value { return value{name, kind, []any{batchSize}} }
	const integers elementType = 7
	for _, c := range []struct {
		what string
		graph
		want string
	}{
		{"most weights", graph{constants: []tensor{few, many}, inputs: []value{in("x", typeFloat)}}, "fp64"},
		{"equally many: the first", graph{constants: []tensor{few, {"two", typeFloat, []int64{2}, []float64{1, 2}}}}, "fp16"},
		{"a scalar is no weight", graph{constants: []tensor{scalar}, inputs: []value{in("x", typeFloat16)}}, "fp16"},
		{"a constant is no input", graph{constants: []tensor{scalar}, inputs: []value{in("scale", typeFloat), in("x", typeFloat16)}}, "fp16"},
		{"integers have no precision", graph{inputs: []value{in("tokens", integers), in("x", typeBfloat16)}}, "bf16"},
		{"nothing says it", graph{inputs: []value{in("tokens", integers)}}, ""},
	} {
		got, err := Describe(strings.NewReader(string(file("x", c.graph))))
		if err != nil || got.Precision != c.want {
			t.Errorf("%s: %+v, %v, want %s", c.what, got, err, c.want)
		}
	}
	// data_location of an initializer says that its numbers are in another file.
	external := bytes(nil, 7, bytes(nil, 5, integer(few.encode(), 14, 1)))
	if got, err := Describe(strings.NewReader(string(external))); err != nil || !got.External || got.Precision != "fp16" {
		t.Errorf("external: %+v, %v", got, err)
	}
	// Dimensions that are not packed, and numbers of fixed size.
	loose := integer(integer(integer(nil, 1, 4), 1, 5), 2, 1)
	loose = append(tag(loose, 4, fixed32), 1, 2, 3, 4)
	loose = append(tag(loose, 10, fixed64), 1, 2, 3, 4, 5, 6, 7, 8)
	if got, err := Describe(strings.NewReader(string(bytes(nil, 7, bytes(nil, 5, loose))))); err != nil || got.Precision != "fp32" {
		t.Errorf("loose: %+v, %v", got, err)
	}
}

// TestDescribeRefusals: what is no ONNX file is said to be none.
func TestDescribeRefusals(t *testing.T) {
	for text, want := range map[string]string{
		"":                  "it has no graph",
		"PK\x03\x04":        "wire type 3",
		"\x08\x08\x3a":      "unexpected EOF",
		"\x3a\x05\x2a":      "unexpected EOF",
		"\x3a\x03\x2a\x7fx": "longer than its message",
		"\x07":              "wire type 7",
		"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff": "overflow",
	} {
		if got, err := Describe(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v, want %q", text, got, err, want)
		}
	}
}

func FuzzDescribe(f *testing.F) {
	for _, name := range Names() {
		for _, precision := range []string{"fp32", "int8"} {
			content, err := Generate(name, precision)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(content)
		}
	}
	f.Add([]byte("\x3a\x03\x2a\x7fx"))
	f.Fuzz(func(t *testing.T, content []byte) {
		a, errA := Describe(strings.NewReader(string(content)))
		b, errB := Describe(iotest.HalfReader(strings.NewReader(string(content))))
		if a != b || (errA == nil) != (errB == nil) {
			t.Errorf("%+v, %v and %+v, %v", a, errA, b, errB)
		}
	})
}
