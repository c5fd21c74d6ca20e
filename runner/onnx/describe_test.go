package onnx

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/neurolens/neurolens/schema/valuetest"
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
			if err != nil || got.Precision != want || len(got.External) > 0 {
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
		valuetest.DeepEqual(t, valuetest.Must(Describe(strings.NewReader(string(file("x", c.graph))))).Precision, c.want, c.what)
	}
	// Dimensions that are not packed, and numbers of fixed size.
	loose := integer(integer(integer(nil, 1, 4), 1, 5), 2, 1)
	loose = append(tag(loose, 4, fixed32), 1, 2, 3, 4)
	loose = append(tag(loose, 10, fixed64), 1, 2, 3, 4, 5, 6, 7, 8)
	valuetest.DeepEqual(t, valuetest.Must(Describe(strings.NewReader(string(bytes(nil, 7, bytes(nil, 5, loose)))))).Precision, "fp32", "loose")
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
		valuetest.ErrorText(t, valuetest.Error(Describe(strings.NewReader(text))), "…"+want+"…", text)
	}
}

func FuzzDescribe(f *testing.F) {
	for _, name := range Names() {
		for _, precision := range []string{"fp32", "int8"} {
			content := valuetest.Must(Generate(name, precision))
			f.Add(content)
		}
	}
	f.Add([]byte("\x3a\x03\x2a\x7fx"))
	loop := operator("", "Loop", []string{"w"}, attribute("body", 6, nested(nil, initializer, outside("w", "w.bin"))))
	bits := operator("com.microsoft", "MatMulNBits", []string{"x", "w", "s"}, attribute("K", 3, 64), attribute("N", 3, 32), attribute("bits", 3, 4))
	f.Add(bytes(bytes(nil, 7, nested([][]byte{loop, bits}, initializer, blob("w", 2, 32, 4, 8), blob("s", 1, 128))), 25, bytes(nil, 7, bits)))
	f.Fuzz(func(t *testing.T, content []byte) {
		a, errA := Describe(strings.NewReader(string(content)))
		b, errB := Describe(iotest.HalfReader(strings.NewReader(string(content))))
		if !reflect.DeepEqual(a, b) || (errA == nil) != (errB == nil) {
			t.Errorf("%+v, %v and %+v, %v", a, errA, b, errB)
		}
	})
}

// The encoders of what the generated models have not.

// operator encodes a NodeProto with attributes.
func operator(domain, op string, inputs []string, attributes ...[]byte) []byte {
	var b []byte
	for _, name := range inputs {
		b = text(b, 1, name)
	}
	b = text(text(b, 2, op+"/out"), 4, op)
	for _, a := range attributes {
		b = bytes(b, 5, a)
	}
	return text(b, 7, domain)
}

// attribute encodes an AttributeProto with a value in a field.
func attribute(name string, field int, value any) []byte {
	switch v := value.(type) {
	case int:
		return integer(text(nil, 1, name), field, uint64(v))
	case string:
		return text(text(nil, 1, name), field, v)
	default:
		return bytes(text(nil, 1, name), field, v.([]byte))
	}
}

// blob encodes a TensorProto without numbers.
func blob(name string, kind uint64, dims ...uint64) []byte {
	var b []byte
	for _, dim := range dims {
		b = integer(b, 1, dim)
	}
	return text(integer(b, 2, kind), 8, name)
}

// outside encodes a TensorProto whose numbers are in another file.
func outside(name, location string) []byte {
	b := blob(name, 1, 4, 4)
	for key, value := range map[string]string{"location": location, "offset": "0"} {
		b = bytes(b, 13, text(text(nil, 1, key), 2, value))
	}
	return integer(b, 14, 1)
}

// nested encodes a GraphProto with nodes, and with tensors in a field.
func nested(nodes [][]byte, field int, tensors ...[]byte) []byte {
	var b []byte
	for _, n := range nodes {
		b = bytes(b, 1, n)
	}
	for _, t := range tensors {
		b = bytes(b, field, t)
	}
	return b
}

const initializer = 5

// TestDescribeWeights: weights are counted as what they are, wherever a model has them, and scales and zero points are none.
func TestDescribeWeights(t *testing.T) {
	packed := []string{"x", "packed", "scales", "zeros"}
	sizes := [][]byte{attribute("K", 3, 64), attribute("N", 3, 32), attribute("bits", 3, 4)}
	bits := func(n int) [][]byte { return [][]byte{sizes[0], sizes[1], attribute("bits", 3, n)} }
	quantised := [][]byte{blob("packed", 2, 32, 4, 8), blob("scales", 1, 128), blob("zeros", 2, 64)}
	half := blob("half", 10, 8, 8)
	body := nested([][]byte{operator("", "MatMul", []string{"x", "half"})}, initializer, half)
	constant := operator("", "Constant", nil, attribute("value", 5, blob("", 10, 8, 8)))
	floats := append(attribute("value_floats", 7, make([]byte, 12)), append(tag(nil, 7, fixed32), 0, 0, 0, 0)...)
	deep := nested([][]byte{operator("", "If", nil, attribute("then_branch", 6, body))}, initializer)
	for what, c := range map[string]struct {
		graph     []byte
		precision string
		weights   map[string]uint64
	}{
		"4 bits, packed":               {nested([][]byte{operator("com.microsoft", "MatMulNBits", packed, sizes...)}, initializer, quantised...), "int4", map[string]uint64{"int4": 2048}},
		"8 bits":                       {nested([][]byte{operator("com.microsoft", "MatMulNBits", packed, bits(8)...)}, initializer, quantised...), "int8", map[string]uint64{"int8": 2048}},
		"2 bits, which have no word":   {nested([][]byte{operator("com.microsoft", "MatMulNBits", packed, bits(2)...)}, initializer, quantised...), "", map[string]uint64{"int2": 2048}},
		"an impossible width":          {nested([][]byte{operator("com.microsoft", "MatMulNBits", packed, bits(0)...)}, initializer, quantised...), "int8", map[string]uint64{"int8": 1024}},
		"4-bit floats":                 {nested([][]byte{operator("com.microsoft", "MatMulBnb4", packed[:3], append(bits(4), attribute("quant_type", 3, 1))...)}, initializer, quantised[:2]...), "", map[string]uint64{"nf4": 2048}},
		"of another domain":            {nested([][]byte{operator("org.example", "MatMulNBits", packed, sizes...)}, initializer, quantised...), "int8", map[string]uint64{"int8": 1088, "fp32": 128}},
		"a table of bytes":             {nested([][]byte{operator("com.microsoft", "GatherBlockQuantized", []string{"table", "x", "scales"})}, initializer, blob("table", 2, 10, 8), quantised[1]), "int4", map[string]uint64{"int4": 160}},
		"a table of 4 bits":            {nested([][]byte{operator("com.microsoft", "GatherBlockQuantized", []string{"table", "x", "scales"})}, initializer, blob("table", 21, 10, 8), quantised[1]), "int4", map[string]uint64{"int4": 80}},
		"experts":                      {nested([][]byte{operator("com.microsoft", "QMoE", []string{"x", "r", "packed", "scales"})}, initializer, quantised[:2]...), "int4", map[string]uint64{"int4": 2048}},
		"tensors of 4 bits":            {nested([][]byte{operator("", "DequantizeLinear", []string{"q", "scales", "zeros"})}, initializer, blob("q", 22, 64, 64), quantised[1], blob("zeros", 22, 2, 64)), "int4", map[string]uint64{"int4": 4096}},
		"one scale for each channel":   {nested([][]byte{operator("", "QLinearConv", []string{"x", "xs", "xz", "w", "scales", "zeros"})}, initializer, blob("w", 3, 128, 3), quantised[1], quantised[2]), "int8", map[string]uint64{"int8": 384}},
		"scales before their operator": {slices.Concat(bytes(nil, 5, quantised[1]), bytes(nil, 1, operator("", "DequantizeLinear", []string{"q", "scales"}))), "", map[string]uint64{}},
		"mixed":                        {nested(nil, initializer, blob("a", 1, 10), blob("b", 21, 11), blob("c", 10, 3)), "int4", map[string]uint64{"fp32": 10, "int4": 11, "fp16": 3}},
		"a Constant":                   {nested([][]byte{constant}, initializer, blob("few", 1, 2)), "fp16", map[string]uint64{"fp16": 64, "fp32": 2}},
		"a Constant of floats":         {nested([][]byte{operator("", "Constant", nil, floats)}, initializer), "fp32", map[string]uint64{"fp32": 4}},
		"a scale in a Constant":        {nested([][]byte{constant, operator("", "DequantizeLinear", []string{"q", "Constant/out"})}, initializer), "", map[string]uint64{}},
		"the body of a Loop":           {nested([][]byte{operator("", "Loop", nil, attribute("body", 6, body))}, initializer), "fp16", map[string]uint64{"fp16": 64}},
		"two bodies of an If":          {nested([][]byte{operator("", "If", nil, attribute("then_branch", 6, body), attribute("else_branch", 6, deep))}, initializer), "fp16", map[string]uint64{"fp16": 128}},
		"graphs in a list":             {nested([][]byte{operator("org.example", "Any", nil, slices.Concat(attribute("g", 11, body), bytes(nil, 11, body)))}, initializer), "fp16", map[string]uint64{"fp16": 128}},
		"a sparse tensor":              {nested(nil, 15, bytes(bytes(nil, 1, blob("s", 1, 7)), 2, blob("", 7, 7))), "fp32", map[string]uint64{"fp32": 7}},
		"more than there can be":       {nested(nil, initializer, blob("a", 1, 1<<63, 1<<63), blob("b", 1, 5)), "fp32", map[string]uint64{"fp32": math.MaxUint64}},
		"a scale that weights of a body follow": {
			nested([][]byte{operator("", "DequantizeLinear", []string{"q", "half"}), operator("", "If", nil, attribute("then_branch", 6, nested(nil, initializer, blob("w", 10, 9))))}, initializer, half),
			"fp16",
			map[string]uint64{"fp16": 9},
		},
	} {
		got, err := Describe(strings.NewReader(string(bytes(nil, 7, c.graph))))
		if err != nil || got.Precision != c.precision || !maps.Equal(got.Weights, c.weights) {
			t.Errorf("%s: %+v, %v, want %s %v", what, got, err, c.precision, c.weights)
		}
	}
	// The names of a function are its own: scales there are no scales of the graph.
	model := bytes(bytes(nil, 7, nested(nil, initializer, quantised...)), 25, bytes(nil, 7, operator("com.microsoft", "MatMulNBits", packed, sizes...)))
	model = bytes(model, 25, bytes(nil, 7, constant))
	valuetest.DeepEqual(t, valuetest.Must(Describe(strings.NewReader(string(model)))).Parameters(), 1024+128+64+64, "functions")
	levels := [][]byte{operator("com.microsoft", "MatMulNBits", packed, sizes...), operator("com.microsoft", "MatMulNBits", packed, append(bits(4), attribute("accuracy_level", 3, 4))...)}
	model = bytes(bytes(nil, 7, nested(append(levels, levels[1]), initializer, quantised...)), 8, integer(text(nil, 1, ""), 2, 21))
	if got, err := Describe(strings.NewReader(string(model))); err != nil || !maps.Equal(got.AccuracyLevels, map[int64]int{0: 1, 4: 2}) || got.Opset != 21 || got.Parameters() != 2048 {
		t.Errorf("levels: %+v, %v", got, err)
	}
}

// TestDescribeExternal: the files of external data are listed once, wherever a tensor names them.
func TestDescribeExternal(t *testing.T) {
	body := nested(nil, initializer, outside("inner", "b/../shard 2.bin"))
	context := func(mode int) []byte {
		return operator("com.microsoft", "EPContext", nil, attribute("embed_mode", 3, mode), attribute("ep_cache_context", 4, fmt.Sprintf("engine%d.bin", mode)))
	}
	graph := nested([][]byte{
		operator("", "Constant", nil, attribute("value", 5, outside("", "../up.bin"))),
		operator("", "Loop", nil, attribute("body", 6, body)), context(0), context(1),
	}, initializer, outside("W", "w.bin"), outside("V", "./w.bin"), outside("N", ""), outside("A", "/etc/passwd"))
	want := []string{"../up.bin", "/etc/passwd", "engine0.bin", "shard 2.bin", "w.bin"}
	if got, err := Describe(strings.NewReader(string(bytes(nil, 7, graph)))); err != nil || !slices.Equal(got.External, want) || got.Precision != "fp32" {
		t.Errorf("%+v, %v, want %q", got, err, want)
	}
}

// TestDescribeDepth: bodies in bodies are read to a depth that no runtime reaches, and no further.
func TestDescribeDepth(t *testing.T) {
	graph := nested(nil, initializer, blob("w", 1, 2))
	for range deepest - 1 {
		graph = nested([][]byte{operator("", "If", nil, attribute("then_branch", 6, graph))}, initializer)
	}
	valuetest.DeepEqual(t, valuetest.Must(Describe(strings.NewReader(string(bytes(nil, 7, graph))))).Parameters(), 2)
	graph = nested([][]byte{operator("", "If", nil, attribute("then_branch", 6, graph))}, initializer)
	valuetest.ErrorText(t, valuetest.Error(Describe(strings.NewReader(string(bytes(nil, 7, graph))))), "…graphs in graphs…")
}
