package summary_test

import (
	"testing"

	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema/valuetest"
)

func TestFoldName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"void at::native::reduce<512, 1, Op<float, Map<int>>>(Op<float>, int*)": "at::native::reduce<…>",
		"gemm<float>::run<3>(int)":            "gemm<…>::run<…>",
		"inner.<locals>.<genexpr> (x.py:2)":   "inner.<locals>.<genexpr> (x.py:2)",
		"<module>":                            "<module>",
		"axpy(float*, int)":                   "axpy",
		"(anonymous namespace)::softmax<8>()": "(anonymous namespace)::softmax<…>",
		"sort<decltype(a->b)>(int)":           "sort<…>",
		"operator<<(int)":                     "operator<<",
		"Conv (node 3)":                       "Conv (node 3)",
		"MatMul/product":                      "MatMul/product",
		"a < b":                               "a < b",
		"void gemm<float, gemm<":              "void gemm<float, gemm<",
		"f)":                                  "f)",
		"<x>":                                 "<…>",
		"":                                    "",
	} {
		valuetest.Equal(t, summary.FoldName(name), want, name)
	}
}
