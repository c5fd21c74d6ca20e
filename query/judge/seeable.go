package judge

import (
	"math"

	"github.com/neurolens/neurolens/schema/stat"
)

// power is the probability with which a change of the size of Seeable is found.
const power = .8

// Seeable is the minimum detectable effect: the smallest change of one point, as a logarithm, that a gate finds with a probability of
// power. differences are the differences of blocks that were measured before; blocks, points and looks are the planned numbers of
// blocks, points and looks (1: once). The change has to be significant and at least the dead zone (Julious, Statistics in Medicine 23,
// 2004, for the normal distribution). ok is false for fewer than 2 blocks.
func Seeable(differences []float64, deadZone float64, blocks, points, looks int) (change float64, ok bool) {
	test, ok := stat.OneSample(differences)
	if !ok || blocks < 2 || points < 1 {
		return 0, false
	}
	wander := (1 + expectedRho) / (1 - expectedRho)
	stdErr := test.StdErr * math.Sqrt(wander*float64(len(differences))/float64(blocks))
	df := float64(blocks - 1)
	found := studentOf(normalQuantile(Level*Spend(1, looks)/float64(points)), df) * stdErr
	return max(deadZone, found) + studentOf(normalQuantile(2*(1-power)), df)*stdErr, true
}
