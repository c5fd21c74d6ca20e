package judge

import (
	"math"

	"github.com/neurolens/neurolens/schema/stat"
)

// power is how likely a change of the size that Seeable says is to be found.
const power = .8

// Seeable is the least change of one of so many points, as a logarithm, that so many blocks are likely to find (power) by
// the rules of a gate, where blocks differ by as much as these do; looks is how often they are planned to be looked at, 1 for
// once. What is found is at least the dead zone, and beyond chance (Julious, Statistics in Medicine 23, 2004, for the
// normal distribution). ok is false of fewer than 2 blocks.
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
