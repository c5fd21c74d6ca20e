package builtin

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

func TestNewAppliesWhatWasAsked(t *testing.T) {
	for _, c := range []struct {
		config, applied map[string]string
		bytes           int64
		flops, items    float64
	}{
		{
			map[string]string{
				"model": "builtin:tiny_linear", "benchmark": "tiny_linear", "precision": "fp32",
				"batch_size": "2", "seq_len": "3", "param.dim": "8",
			},
			map[string]string{
				"operation": "tiny_linear", "precision": "fp32", "compute": "fp32",
				"batch_size": "2", "seq_len": "3", "param.dim": "8",
			},
			4 * (2*48 + 64 + 8), 48 * 17, 2,
		},
		{
			map[string]string{"benchmark": "layernorm", "precision": "fp64", "param.tensor_dimension": "8"},
			map[string]string{
				"operation": "LayerNorm", "precision": "fp64", "compute": "fp64",
				"batch_size": "1", "seq_len": "1", "param.tensor_dimension": "8",
			},
			8 * (2*8 + 2*8), 64, 1,
		},
		{
			map[string]string{"benchmark": "Loss", "param.loss": "cross_entropy", "batch_size": "4"},
			map[string]string{
				"operation": "CrossEntropy", "precision": "fp32", "compute": "fp64",
				"batch_size": "4", "seq_len": "1", "param.dim": "64", "param.loss": "cross_entropy",
			},
			4*4*64 + 4*4, 4 * 4 * 64, 4,
		},
		{
			map[string]string{"benchmark": "Loss"},
			map[string]string{
				"operation": "MSE", "precision": "fp32", "compute": "fp64",
				"batch_size": "1", "seq_len": "1", "param.dim": "64", "param.loss": "mse",
			},
			2 * 4 * 64, 3 * 64, 1,
		},
	} {
		op, err := New(c.config)
		if err != nil {
			t.Errorf("%v: %v", c.config, err)
			continue
		}
		valuetest.DeepEqual(t, op.Applied, c.applied, c.config)
		if *op.Work.Bytes != c.bytes || *op.Work.Flops != c.flops || *op.Work.Items != c.items {
			t.Errorf("%v: work %d B, %v flop, %v items, want %d, %v, %v", c.config,
				*op.Work.Bytes, *op.Work.Flops, *op.Work.Items, c.bytes, c.flops, c.items)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		change string // key=value on top of a good configuration
		kind   string // empty: an ordinary error
		words  string
	}{
		{"benchmark=conv2d", kindOperation, `no operation "conv2d"; it has CrossEntropy GELU`},
		{"benchmark=", kindOperation, "no operation"},
		{"model=resnet.onnx", kindOperation, `no model "resnet.onnx"`},
		{"precision=fp16", kindPrecision, "not fp16"},
		{"precision=fp33", "", `precision "fp33"`},
		{"batch_size=0", "", `reading batch_size: "0"`},
		{"batch_size=-4", "", `"-4" is not a positive integer`},
		{"seq_len=many", "", `reading seq_len: "many"`},
		{"seq_len=", "", `reading seq_len: ""`},
		{"param.dim=1.5", "", `reading dim: "1.5"`},
		{"param.dim=08", "", `reading dim: "08"`},
		{"param.dim=9223372036854775808", "", "not a positive integer"},
		{"param.tensor_dimension=8", "", "are the same parameter"},
		{"batch_size=9223372036854775807", kindMemory, "needs more than 1024 MiB"},
		{"seq_len=33554432", kindMemory, "needs more than 1024 MiB"},
		{"param.kernel_size=3", kindNotApplied, "GELU has no parameter kernel_size"},
		{"param.loss=mse", kindNotApplied, "GELU has no parameter loss"},
		{"variant=fast", kindNotApplied, "GELU has no parameter variant"},
	} {
		config := map[string]string{"benchmark": "GELU", "batch_size": "2", "seq_len": "4", "param.dim": "8"}
		key, value, _ := strings.Cut(c.change, "=")
		config[key] = value
		_, err := New(config)
		var unsupported *UnsupportedError
		kind := ""
		if errors.As(err, &unsupported) {
			kind = unsupported.Kind
		}
		if err == nil || kind != c.kind || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: kind %q, %v; want kind %q, %q", c.change, kind, err, c.kind, c.words)
		}
	}
	if _, err := New(map[string]string{"benchmark": "Loss", "param.loss": "hinge"}); err == nil ||
		!strings.Contains(err.Error(), `no loss "hinge"`) {
		t.Errorf("loss hinge: %v", err)
	}
}

func TestMatrixCountsTowardsTheMemoryBound(t *testing.T) {
	_, err := New(map[string]string{"benchmark": "tiny_linear", "param.dim": "16384"})
	var unsupported *UnsupportedError
	if !errors.As(err, &unsupported) || unsupported.Kind != kindMemory {
		t.Errorf("got %v, want kind %s", err, kindMemory)
	}
}

func TestEveryOperationIterates(t *testing.T) {
	s := shape{batch: 2, seq: 3, dim: 8}
	for _, op := range operations {
		var results [][]float64
		for _, p := range precisions {
			k, again := p.build(op, s), p.build(op, s)
			k.iterate()
			again.iterate()
			first := k.result()
			valuetest.DeepEqual(t, first, again.result(), op.name, p.name)
			k.iterate()
			valuetest.DeepEqual(t, first, k.result(), op.name, p.name)
			results = append(results, first)
		}
		for i := range results[0] {
			if results[0][i] == 0 || math.Abs(results[0][i]-results[1][i]) > 1e-4 {
				t.Errorf("%s[%d]: fp32 %v, fp64 %v", op.name, i, results[0][i], results[1][i])
			}
		}
	}
}

func TestIterateAllocatesNothing(t *testing.T) {
	for _, op := range operations {
		for _, p := range precisions {
			k := p.build(op, shape{batch: 1, seq: 2, dim: 8})
			valuetest.DeepEqual(t, testing.AllocsPerRun(10, k.iterate), 0, op.name, p.name)
		}
	}
}

func FuzzNew(f *testing.F) {
	f.Add("builtin:tiny_linear", "", "fp32", "2", "8", "16")
	f.Add("", "Loss", "float64", "1", "0", "-1")
	f.Add("builtin:", "gelu", "int8", "1e3", "+4", "99999999999999999999")
	f.Fuzz(func(t *testing.T, model, benchmark, precision, batch, seq, dim string) {
		if len(batch)+len(seq)+len(dim) > 6 {
			t.Skip("a size that is only slow to fill")
		}
		op, err := New(map[string]string{
			"model": model, "benchmark": benchmark, "precision": precision,
			"batch_size": batch, "seq_len": seq, "param.dim": dim,
		})
		if err != nil {
			return
		}
		if op.Applied["batch_size"] != batch || op.Applied["seq_len"] != seq || op.Applied["param.dim"] != dim {
			t.Fatalf("asked for %s %s %s, applied %v", batch, seq, dim, op.Applied)
		}
		op.Iterate()
	})
}

func BenchmarkIterate(b *testing.B) {
	for _, op := range operations {
		for _, p := range precisions {
			b.Run(fmt.Sprintf("%s/%s", op.name, p.name), func(b *testing.B) {
				k := p.build(op, shape{batch: 4, seq: 64, dim: 64})
				for b.Loop() {
					k.iterate()
				}
			})
		}
	}
}

// The wanted values were computed with mpmath 1.3.0 at 40 digits from the formulas in the comments of builtin.go.
// One of them anybody can check: GELU(1) is the normal distribution at 1, 0.841344746068542949.
var (
	goldenX = []float64{0.5, -1.25, 2, 0, 3, -0.75, 0.25, 1}
	goldenT = []float64{1, -1, 0.5, 0.25, 2.5, -1.5, 0, 0.75}
	golden4 = []float64{1, 0.5, 2, -1}    // weights of LayerNorm
	goldenB = []float64{0, 0.25, -0.5, 1} // its bias, and tiny_linear's
	goldenW = []float64{                  // (4i + j - 7) / 4
		-1.75, -1.5, -1.25, -1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2,
	}
)

func TestKernelsAgainstGolden(t *testing.T) {
	t.Run("fp64", func(t *testing.T) { testGolden[float64](t, 1e-14) })
	t.Run("fp32", func(t *testing.T) { testGolden[float32](t, 1e-6) })
}

func testGolden[T number](t *testing.T, tolerance float64) {
	x, b := narrow[T](goldenX), narrow[T](goldenB)
	vector := func(f func(y []T)) []float64 {
		y := make([]T, len(x))
		f(y)
		return widen(y)
	}
	for _, c := range []struct {
		name      string
		got, want []float64
	}{
		{"linear", vector(func(y []T) { linear(y, x, narrow[T](goldenW), b) }), []float64{
			0.5625, 1.125, 0.6875, 2.5, -3.375, -2.25, -2.125, 0.25,
		}},
		{"layerNorm", vector(func(y []T) { layerNorm(y, x, narrow[T](golden4), b) }), []float64{
			0.161047844062626151, -0.421032683594275627, 2.39886119312727071, 1.26841307343771025,
			1.54545045831824198, -0.340907528180504285, -1.40908850489308352, 0.909091149510691648,
		}},
		{"gelu", vector(func(y []T) { gelu(y, x) }), []float64{
			0.345731230637006552, -0.132062217083569072, 1.95449973610364159, 0,
			2.99595030590510972, -0.169970514282651149, 0.149676581420730931, 0.841344746068542949,
		}},
		{"swish", vector(func(y []T) { swish(y, x) }), []float64{
			0.311229665600927282, -0.278375173531636066, 1.76159415595576489, 0,
			2.85772238046729966, -0.24061597561845527, 0.140544125221449526, 0.731058578630004879,
		}},
		{"mse", []float64{mse(x, narrow[T](goldenT))}, []float64{0.4453125}},
		{"crossEntropy", []float64{crossEntropy(x, []int32{2, 1}, 4)}, []float64{2.14281314784707368}},
	} {
		for i, want := range c.want {
			if math.Abs(c.got[i]-want) > tolerance*max(1, math.Abs(want)) {
				t.Errorf("%s[%d] = %.17g, want %.17g", c.name, i, c.got[i], want)
			}
		}
	}
}

func TestCrossEntropyOfLargeLogitsIsFinite(t *testing.T) {
	valuetest.DeepEqual(t, crossEntropy([]float64{1000, 0}, []int32{1}, 2), 1000)
}

func narrow[T number](values []float64) []T {
	out := make([]T, len(values))
	for i, v := range values {
		out[i] = T(v)
	}
	return out
}
