package benchmarks

import "testing"

// BenchmarkMake makes the stores that are not there, each as a benchmark of its own, so that one of them can be made alone.
func BenchmarkMake(b *testing.B) {
	for _, r := range append(recipes[:1:1], grown...) {
		b.Run(r.name, func(b *testing.B) { storeOf(b, r) })
	}
}
