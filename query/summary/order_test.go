package summary

import (
	"slices"
	"testing"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestNaturally: numbers within names count as numbers, and sizes come first, by their size.
func TestNaturally(t *testing.T) {
	t.Parallel()
	all := []string{"ch10", "1M", "fp16", "64k", "ch2", "4KiB", "512", "1k", "2GB", "fp32", "1x"}
	slices.SortFunc(all, Naturally)
	valuetest.DeepEqual(t, all, []string{"512", "1k", "4KiB", "64k", "1M", "2GB", "1x", "ch2", "ch10", "fp16", "fp32"}, "the order")
}

// TestInOrder: a baseline comes first among points that only differ in its axis.
func TestInOrder(t *testing.T) {
	t.Parallel()
	var all []query.Point
	for _, size := range []string{"1M", "64k"} {
		for _, variant := range []string{"new", "old"} {
			all = append(all, query.Point{Benchmark: "b", Variant: variant, Params: map[string]string{"size": size}})
		}
	}
	order := InOrder([]Baseline{{"variant", "old"}})
	slices.SortFunc(all, func(a, b query.Point) int { return order(&a, &b) })
	var got []string
	for _, p := range all {
		got = append(got, p.Params["size"]+" "+p.Variant)
	}
	valuetest.DeepEqual(t, got, []string{"64k old", "64k new", "1M old", "1M new"}, "the order")
}
