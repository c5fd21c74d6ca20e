// Package output reads the outputs of benchmarks, measures how far they are from the correct ones, and finds the files to keep.
//
// An output is an array of numbers with a shape, whatever its format: .npy, CSV, JSON, or numbers in a text. All are compared as
// float64. A large output is compared by a sample of its values: see positions.
//
// Extract reads numbers from the output of a program: the metrics of a sweep that say where in the output they are. docs/metrics.md
// defines which texts match, and which numbers are accepted. Extract starts and opens nothing. Package task keeps the outputs. The command
// runs Extract in a separate process, because a regular expression or jq program from a user may never end, or may use too much memory. A
// regular expression needs the memory of one line. A number is converted to the stored unit before it is rounded: 97.88 % is the float64
// nearest to 0.9788, not 97.88 times the float64 nearest to 0.01.
//
// An ArtifactFinder finds the files to keep with a run. A file counts if the run wrote it: it did not exist before, or its identity, size
// or times changed. Files in the private directory of the run always count. It does not know where artifacts are stored.
package output

import "math"

// Array is an output: numbers, with the last dimension changing fastest.
type Array struct {
	Shape  []int     // of all values, even if Values has only some of them; nil: one number
	Values []float64 // the compared values
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

// Limits for outputs.
const (
	maxDims = 32      // as many as NumPy has
	maxSize = 1 << 27 // values, 1 GiB
)

// maxCompared is the maximum number of compared values of an output; of a larger one, a sample is compared.
const maxCompared = 1 << 20
