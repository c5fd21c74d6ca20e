package builtin

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
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
		if !maps.Equal(op.Applied, c.applied) {
			t.Errorf("%v: applied %v, want %v", c.config, op.Applied, c.applied)
		}
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
			if !slices.Equal(first, again.result()) {
				t.Errorf("%s %s: input differs from one build to the next", op.name, p.name)
			}
			k.iterate()
			if !slices.Equal(first, k.result()) {
				t.Errorf("%s %s: a second iteration gives another result", op.name, p.name)
			}
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
			if n := testing.AllocsPerRun(10, k.iterate); n != 0 {
				t.Errorf("%s %s: %v allocations an iteration", op.name, p.name, n)
			}
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
