package builtin

import (
	"math"
	"testing"
)

// The wanted values were computed with mpmath 1.3.0 at 40 digits from the formulas in the comments of kernels.go.
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
	got := crossEntropy([]float64{1000, 0}, []int32{1}, 2)
	if got != 1000 {
		t.Errorf("got %v, want 1000", got)
	}
}

func narrow[T number](values []float64) []T {
	out := make([]T, len(values))
	for i, v := range values {
		out[i] = T(v)
	}
	return out
}
