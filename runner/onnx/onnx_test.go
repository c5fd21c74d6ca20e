package onnx

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

func generate(t *testing.T, name, precision string) []byte {
	t.Helper()
	return valuetest.Must(Generate(name, precision))
}

// TestGolden freezes the bytes: a hash of a model in a store must mean the same for ever.
func TestGolden(t *testing.T) {
	golden := map[string]string{
		"add fp64":         "3bb90e2cc25747572057f5709484cb1c068e90fffe8d512227b86db4cdf442b3",
		"add fp32":         "743fc794d8023c29ebef878a3ec4102c23d2fdf7106dbdba7becca2a669d6358",
		"add tf32":         "743fc794d8023c29ebef878a3ec4102c23d2fdf7106dbdba7becca2a669d6358",
		"add fp16":         "3e62d20f6809ddbffff9d983c99f5d1ad9f4228bfe554ba411e017b44097dadb",
		"add bf16":         "a759c64aa1b6cd3f4738fab71e2196406687f84cb2cf054e889a830d207a2399",
		"add int8":         "a53a61a368e56318b18b519a0bde1e21855faf94771386ac251201e9fad49f55",
		"tiny_linear fp64": "015de32503ded16622dffbdb26ba4085f9d1d736b63bb311cd60079acea7aaa7",
		"tiny_linear fp32": "ab73afa4ab6ccff8ef8af64fcd846ddcb6309327acca97940640c8f744e2cc4f",
		"tiny_linear tf32": "ab73afa4ab6ccff8ef8af64fcd846ddcb6309327acca97940640c8f744e2cc4f",
		"tiny_linear fp16": "f0e143092429e115af34e5fac383d34bec82c837cd153b4a0c774caa0f01e908",
		"tiny_linear bf16": "6759decc554b21376345c29e814143ae7c84bd7d4a9beb1949bc468bd1458951",
		"tiny_linear int8": "153c62cf575a0a7b45dfc5f8197761ed22f1767c4f4f7891f435c2c2b3d86d37",
	}
	for _, name := range Names() {
		for _, precision := range Precisions() {
			got := fmt.Sprintf("%x", sha256.Sum256(generate(t, name, precision)))
			valuetest.DeepEqual(t, got, golden[name+" "+precision], name+" "+precision)
		}
	}
}

func TestStructure(t *testing.T) {
	for _, c := range []struct {
		name, precision string
		inputs          []string
		outputs         []string
		nodes           []string
	}{
		{"add", "fp32", []string{"a 1 [batch_size seq_len]", "b 1 [batch_size seq_len]"}, []string{"y 1 [batch_size seq_len]"}, []string{"Add"}},
		{"add", "bf16", []string{"a 16 [batch_size seq_len]", "b 16 [batch_size seq_len]"}, []string{"y 16 [batch_size seq_len]"}, []string{"Add"}},
		{
			"add", "int8",
			[]string{"a 3 [batch_size seq_len]", "b 3 [batch_size seq_len]"},
			[]string{"y 3 [batch_size seq_len]"},
			[]string{"DequantizeLinear", "DequantizeLinear", "Add", "QuantizeLinear"},
		},
		{"tiny_linear", "fp64", []string{"x 11 [batch_size seq_len 64]"}, []string{"y 11 [batch_size seq_len 64]"}, []string{"MatMul", "Add"}},
		{"tiny_linear", "fp16", []string{"x 10 [batch_size seq_len 64]"}, []string{"y 10 [batch_size seq_len 64]"}, []string{"MatMul", "Add"}},
		{
			"tiny_linear", "int8",
			[]string{"x 1 [batch_size seq_len 64]"},
			[]string{"y 1 [batch_size seq_len 64]"},
			[]string{"DynamicQuantizeLinear", "MatMulInteger", "Cast", "Mul", "Mul", "Add"},
		},
	} {
		t.Run(c.name+" "+c.precision, func(t *testing.T) {
			m := decode(t, generate(t, c.name, c.precision))
			if m.integer(1) != 8 || m.text(2) != "neurolens" || m.integer(5) != 1 {
				t.Errorf("ir_version %d, producer %q, version %d", m.integer(1), m.text(2), m.integer(5))
			}
			if sets := m.sub(t, 8); len(sets) != 1 || sets[0].text(1) != "" || sets[0].integer(2) != 13 {
				t.Errorf("operator sets %v", sets)
			}
			g := m.sub(t, 7)[0]
			valuetest.DeepEqual(t, g.text(2), c.name, "graph")
			valuetest.DeepEqual(t, values(t, g.sub(t, 11)), c.inputs, "inputs")
			valuetest.DeepEqual(t, values(t, g.sub(t, 12)), c.outputs, "outputs")
			var ops []string
			for _, n := range g.sub(t, 1) {
				ops = append(ops, n.text(4))
			}
			valuetest.DeepEqual(t, ops, c.nodes, "nodes")
		})
	}
}

// values returns inputs or outputs as name, element type and dimensions.
func values(t *testing.T, infos []message) []string {
	t.Helper()
	var all []string
	for _, info := range infos {
		tensorType := info.sub(t, 2)[0].sub(t, 1)[0]
		var dims []string
		for _, d := range tensorType.sub(t, 2)[0].sub(t, 1) {
			if name := d.text(2); name != "" {
				dims = append(dims, name)
			} else {
				dims = append(dims, fmt.Sprint(d.integer(1)))
			}
		}
		all = append(all, fmt.Sprintf("%s %d [%s]", info.text(1), tensorType.integer(1), strings.Join(dims, " ")))
	}
	return all
}

// TestConnected: every input of a node is an input of the graph, a constant, or what an earlier node gives.
func TestConnected(t *testing.T) {
	for _, name := range Names() {
		for _, precision := range Precisions() {
			g := decode(t, generate(t, name, precision)).sub(t, 7)[0]
			known := map[string]bool{}
			for _, m := range append(g.sub(t, 11), g.sub(t, 5)...) {
				known[m.text(1)], known[m.text(8)] = true, true
			}
			names := map[string]bool{}
			for _, n := range g.sub(t, 1) {
				for _, in := range n.texts(1) {
					if !known[in] || in == "" {
						t.Errorf("%s %s: %s reads %q", name, precision, n.text(3), in)
					}
				}
				for _, out := range n.texts(2) {
					known[out] = true
				}
				if names[n.text(3)] {
					t.Errorf("%s %s: two nodes are called %s", name, precision, n.text(3))
				}
				names[n.text(3)] = true
			}
			for _, out := range g.sub(t, 12) {
				if !known[out.text(1)] {
					t.Errorf("%s %s: nothing gives %q", name, precision, out.text(1))
				}
			}
		}
	}
}

// TestWeightsExact: the weights are the documented ones, the same numbers in every precision.
func TestWeightsExact(t *testing.T) {
	for _, precision := range Precisions() {
		scale := 1.
		if precision == "int8" {
			scale = 1. / 64
		}
		constants := map[string][]float64{}
		for _, m := range decode(t, generate(t, "tiny_linear", precision)).sub(t, 7)[0].sub(t, 5) {
			numbers := decodeNumbers(t, elementType(m.integer(2)), m[9][0].bytes)
			want := 1
			for _, d := range m.packed(t, 1) {
				want *= int(d)
			}
			if len(numbers) != want {
				t.Fatalf("%s: %s has %d numbers, want %d", precision, m.text(8), len(numbers), want)
			}
			constants[m.text(8)] = numbers
		}
		w, bias := constants["W"], constants["bias"]
		if len(w) != 64*64 || len(bias) != 64 {
			t.Fatalf("%s: W of %d, bias of %d numbers", precision, len(w), len(bias))
		}
		for i := range 64 {
			if want := float64(5*i%17-8) / 16; bias[i] != want {
				t.Fatalf("%s: bias[%d] = %v, want %v", precision, i, bias[i], want)
			}
			for j := range 64 {
				if want := float64((37*i+11*j)%31-15) / 64; w[64*i+j]*scale != want {
					t.Fatalf("%s: W[%d][%d] = %v, want %v", precision, i, j, w[64*i+j]*scale, want)
				}
			}
		}
	}
}

// decodeNumbers reads raw_data by the definitions of the formats, not as encode.go writes them.
func decodeNumbers(t *testing.T, kind elementType, raw []byte) (numbers []float64) {
	t.Helper()
	size := map[elementType]int{typeFloat: 4, typeDouble: 8, typeFloat16: 2, typeBfloat16: 2, typeInt8: 1}[kind]
	if size == 0 || len(raw)%size != 0 {
		t.Fatalf("%d B of element type %d", len(raw), kind)
	}
	for b := range slices.Chunk(raw, size) {
		var v float64
		switch kind {
		case typeFloat:
			v = float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
		case typeDouble:
			v = math.Float64frombits(binary.LittleEndian.Uint64(b))
		case typeInt8:
			v = float64(int8(b[0]))
		case typeFloat16:
			v = binaryFloat(binary.LittleEndian.Uint16(b), 5, 10)
		case typeBfloat16:
			v = binaryFloat(binary.LittleEndian.Uint16(b), 8, 7)
		}
		numbers = append(numbers, v)
	}
	return numbers
}

// binaryFloat returns the value of a number of 16 bits with so many bits of exponent and of fraction.
func binaryFloat(bits uint16, exponentBits, fractionBits int) float64 {
	sign := 1 - 2*float64(bits>>15)
	exponent := int(bits>>fractionBits) & (1<<exponentBits - 1)
	fraction := float64(bits&(1<<fractionBits-1)) / float64(int(1)<<fractionBits)
	bias := 1<<(exponentBits-1) - 1
	if exponent == 0 {
		return sign * math.Ldexp(fraction, 1-bias)
	}
	return sign * math.Ldexp(1+fraction, exponent-bias)
}

func TestAliases(t *testing.T) {
	for alias, canonical := range map[string]string{"half": "fp16", "float32": "fp32", "bfloat16": "bf16", "FP64": "fp64", "tf32": "fp32"} {
		valuetest.DeepEqual(t, string(generate(t, "add", alias)), string(generate(t, "add", canonical)), alias, canonical)
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct{ name, precision, want string }{
		{"ad", "fp32", `model "ad": did you mean add?`},
		{"", "fp32", `model "": want one of add tiny_linear`},
		{"resnet", "fp32", `model "resnet": want one of add tiny_linear`},
		{"add", "fp8", `precision "fp8": add has fp64 fp32 tf32 fp16 bf16 int8`},
		{"add", "int4", `precision "int4": add has fp64 fp32 tf32 fp16 bf16 int8`},
		{"add", "fp23", `precision "fp23": did you mean fp32?`},
		{"add", "decimal", `precision "decimal": want one of fp64 fp32 tf32 fp16 bf16 int8`},
		{"add", "", `precision "": want one of fp64 fp32 tf32 fp16 bf16 int8`},
	} {
		b, err := Generate(c.name, c.precision)
		if err == nil || err.Error() != c.want || b != nil {
			t.Errorf("%s in %s: %v, want %s", c.name, c.precision, err, c.want)
		}
	}
}

func TestPrecisionsAreKnown(t *testing.T) {
	for _, p := range Precisions() {
		if !slices.Contains(schema.Precisions, p) {
			t.Errorf("%s is no precision of schema", p)
		}
	}
}
