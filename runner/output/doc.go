// Package output reads the outputs of benchmarks and measures how far they are from the correct ones.
//
// An output is an array of numbers with a shape, whatever its format: .npy, CSV, JSON, or numbers in a text. All are compared as
// float64. A large output is compared by a sample of its values: see positions.
package output

import "math"

// Array is an output: numbers, with the last dimension changing fastest.
type Array struct {
	Shape  []int     // of all, though Values may be some of them; nil: one number
	Values []float64 // those that are compared
	Odd    Odd
}

// Odd counts all values of an output that are not finite numbers. A sample might miss them.
type Odd struct{ NaN, Infinite int }

// add takes in a value.
func (o *Odd) add(v float64) {
	switch {
	case math.IsNaN(v):
		o.NaN++
	case math.IsInf(v, 0):
		o.Infinite++
	}
}

// Limits of what is read.
const (
	maxDims = 32      // as many as NumPy has
	maxSize = 1 << 27 // values, 1 GiB
)

// maxCompared is how many values of an output are compared; of more it is a sample.
const maxCompared = 1 << 20
