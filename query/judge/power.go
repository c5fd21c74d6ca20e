package judge

import (
	"math"

	"github.com/neurolens/neurolens/schema/stat"
)

// power is the probability with which a change as large as MinDetectableEffect is found.
const power = .8

// MinDetectableEffect returns the smallest change of one point, as a logarithm, that a gate finds with a probability of
// power. differences are the differences of blocks that were measured before; blocks, points and looks are the planned numbers of
// blocks, points and looks (1: once). The change has to be significant and at least the equivalence margin (Julious, Statistics in Medicine 23,
// 2004, for the normal distribution). ok is false for fewer than 2 blocks.
func MinDetectableEffect(differences []float64, margin float64, blocks, points, looks int) (change float64, ok bool) {
	test, ok := stat.OneSample(differences)
	if !ok || blocks < 2 || points < 1 {
		return 0, false
	}
	inflation := (1 + expectedRho) / (1 - expectedRho)
	stdErr := test.StdErr * math.Sqrt(inflation*float64(len(differences))/float64(blocks))
	df := float64(blocks - 1)
	found := studentOf(normalQuantile(Level*Spend(1, looks)/float64(points)), df) * stdErr
	return max(margin, found) + studentOf(normalQuantile(2*(1-power)), df)*stdErr, true
}
