// Package sum has a benchmark of Go, for TestReadTools.
package sum

import "testing"

var sum int

func BenchmarkSum(b *testing.B) {
	for i := range b.N {
		sum += i
	}
}
