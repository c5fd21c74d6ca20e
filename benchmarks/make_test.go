package benchmarks

import "testing"

// BenchmarkMake makes the stores that are not there.
func BenchmarkMake(b *testing.B) {
	for _, r := range recipes {
		storeOf(b, r)
	}
}
