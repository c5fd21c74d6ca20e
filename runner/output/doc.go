// Package output reads the outputs of benchmarks and measures how far they are from the correct ones.
//
// An output is an array of numbers with a shape, whatever its format: .npy, CSV, JSON, or numbers in a text. All are compared as
// float64. A large output is compared by a sample of its values: see positions.
//
// # Numbers in outputs
//
// Extract reads numbers from the output of a program: the metrics of a sweep that say where in the output they are. It
// starts and opens nothing. Package task keeps the outputs. The command runs Extract in a separate process, because a regular
// expression or jq program from a user may never end, or may use too much memory.
//
//	{from: stdout, regex: 'accuracy: ([0-9.]+) *%', unit: "%"}    97.88 % is the ratio 0.9788
//	{from: out.json, jq: '.epochs[].loss', take: last}
//
// # Regular expressions
//
// The syntax is RE2, as in package regexp. Expressions are applied line by line, so an output of any size needs the memory of one
// line, which is limited to 16 MiB. A line ends with a newline, a carriage return, or both, so each state of a progress bar is a
// line. ^ and $ match the ends of a line. The number is the first named group, else the first group, else the whole match. Every
// match counts, also several in one line. Bytes that are not UTF-8 match as U+FFFD.
//
// # jq
//
// The output must be JSON: one value, or several values one after the other, as in JSON Lines. The program runs on each value.
// Every number that it gives is a match; null is not. A text counts as the number in it. Modules, environment variables and
// further input are not available.
//
// # Number of matches
//
// By default there must be exactly one match. No match is an error, and so are several, because it is not clear which one is
// meant. take selects first, last or all; with all, each match becomes a sample.
//
// # Numbers
//
// A number is read in decimal and converted to the stored unit before it is rounded: 97.88 % is the float64 nearest to 0.9788,
// not 97.88 times the float64 nearest to 0.01. It may be written as .97, 97., +1 or 1e-3. It may be followed by a unit (980 ms),
// if that measures the same quantity as the unit of the metric. Ambiguous numbers are refused: 1,234 may be a thousand or a bit
// more than one. So are numbers that are not finite: nan, inf, 1e999.
//
// # Artifacts
//
// An ArtifactFinder finds the files to keep with a run: results, logs, traces.
//
// A file counts if the run wrote it: it did not exist before, or its identity, size or times changed. So a file that an earlier
// run left behind does not count. Files in the private directory of the run always count.
//
// It does not know where artifacts are stored.
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
