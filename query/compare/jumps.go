package compare

import (
	"math"
	"slices"

	"github.com/neurolens/neurolens/schema/stat"
)

const (
	madScale   = 1.4826 // makes the median absolute deviation of normal values their standard deviation
	jumpsFar   = 4      // times what its side deviates by, from its median, that make a run a jump
	jumpsAlike = .8     // of a change: jumps of at least that are as good as the change
	inPlace    = 32     // runs of a side that are sorted without being allocated
)

// jumps are how far single runs of a family are from the other runs of their side, where that is far: a program of two
// modes, a neighbour that comes and goes, a clock of coarse steps. Few runs of a side may all have jumped, and nothing in
// them tells this from a change. What the family does elsewhere does.
type jumps struct {
	sizes []float64 // ascending
	runs  int
}

// allJumps are those of a family.
func allJumps(drafts []draft) (all jumps) {
	for i := range drafts {
		all.sizes, all.runs = append(all.sizes, drafts[i].far.sizes...), all.runs+drafts[i].far.runs
	}
	slices.Sort(all.sizes)
	return all
}

// look looks at the runs of a side. Fewer than 3 have no middle that one could be far from.
func (j *jumps) look(side []float64) {
	if len(side) < LeastRuns {
		return
	}
	var space [inPlace]float64
	values := append(space[:0], side...)
	slices.Sort(values)
	middle := stat.Quantile(values, .5)
	for i, v := range values {
		values[i] = math.Abs(v - middle)
	}
	slices.Sort(values)
	far := jumpsFar * madScale * stat.Quantile(values, .5)
	for i, d := range slices.Backward(values) {
		if d <= far {
			j.sizes = append(j.sizes, values[i+1:]...)
			break
		}
	}
	j.runs += len(side)
}

// chance is that of a change of such a size between sides of n and m runs of which all runs of the one jumped, or all of
// the other, up or down: a run is one more jump of one more run than were seen, so that what was never seen is not
// impossible. The runs of a side are taken for independent.
func (j *jumps) chance(size float64, n, m int) float64 {
	share := float64(j.beyond(size)+1) / float64(j.runs+2)
	return min(1, 2*(math.Pow(share, float64(n))+math.Pow(share, float64(m))))
}

// beyond counts the runs that are off by about as much as a change, or by more.
func (j *jumps) beyond(size float64) int {
	at, _ := slices.BinarySearch(j.sizes, jumpsAlike*size)
	return len(j.sizes) - at
}

// never tells whether no run is.
func (j *jumps) never(size float64) bool { return j.beyond(size) == 0 }
