package judge

import (
	"math"
	"slices"

	"github.com/neurolens/neurolens/schema/stat"
)

const (
	madScale    = 1.4826 // makes the median absolute deviation of normal values their standard deviation
	jumpsFar    = 4      // times what its side deviates by, from its median, that make a run a jump
	groupsApart = 3      // times the width of the wider one of two groups of runs that make them two
	jumpsAlike  = .8     // of a change: jumps of at least that are as good as the change
	fewAlike    = .65    // the same, where a side has fewer than 5 runs
	inPlace     = 32     // runs of a side that are sorted without being allocated
)

// far is how far single runs of a point are from the other runs of their side, where that is far: a program of two modes,
// a neighbour that comes and goes, a clock of coarse steps.
type far struct {
	up, down []float64
	either   []float64 // of both directions
	runs     int
}

// look looks at the runs of a side. Fewer than 3 have no middle that one could be far from. Where none is far from the middle
// of all, they may be of two groups, which that middle may lie between: then those of the smaller group count, as far as
// the groups are from one another, and of equal groups either.
func (f *far) look(side []float64) {
	if len(side) < leastRuns {
		return
	}
	f.runs += len(side)
	var space [inPlace]float64
	sorted := append(space[:0], side...)
	slices.Sort(sorted)
	middle := stat.Quantile(sorted, .5)
	off := make([]float64, 0, inPlace)
	for _, v := range sorted {
		off = append(off, math.Abs(v-middle))
	}
	if f.beyond(sorted, middle, jumpsFar*madScale*medianOf(off)) {
		return
	}
	low, high := parted(sorted)
	below, above := stat.Quantile(low, .5), stat.Quantile(high, .5)
	switch widest := max(low[len(low)-1]-low[0], high[len(high)-1]-high[0]); {
	case high[0]-low[len(low)-1] <= groupsApart*widest || min(len(low), len(high)) == 1:
	case len(high) < len(low):
		f.beyond(high, below, 0)
	case len(high) > len(low):
		f.beyond(low, above, 0)
	default:
		half := slices.Repeat([]float64{above - below}, len(low))
		f.up, f.down, f.either = append(f.up, half...), append(f.down, half...), append(f.either, half...)
	}
}

// beyond adds what is further from a middle than so much, and tells whether anything is.
func (f *far) beyond(values []float64, middle, least float64) (some bool) {
	for _, v := range values {
		switch off := math.Abs(v - middle); {
		case off <= least:
			continue
		case v > middle:
			f.up = append(f.up, off)
		default:
			f.down = append(f.down, off)
		}
		f.either, some = append(f.either, math.Abs(v-middle)), true
	}
	return some
}

// parted are the values on either side of the widest gap between two.
func parted(sorted []float64) (low, high []float64) {
	at := 1
	for i := 2; i < len(sorted); i++ {
		if sorted[i]-sorted[i-1] > sorted[at]-sorted[at-1] {
			at = i
		}
	}
	return sorted[:at], sorted[at:]
}

// medianIn is the median of a side, which keeps its order.
func medianIn(side []float64) float64 {
	var space [inPlace]float64
	return medianOf(append(space[:0], side...))
}

// jumps are those of the runs of a family, or of the differences of its blocks. Most of few runs of a side may have jumped,
// and nothing in them tells this from a change. What the family does elsewhere does.
type jumps struct {
	up, down, either sizes
	runs             int // of all points
	points           int
}

// sizes are of the jumps in one direction, ascending.
type sizes struct {
	all  []float64
	most []float64 // of each point that has any
}

// runJumps are those of the runs of a family. A side of which most runs jumped looks as if the others had jumped the other
// way: jumps of both directions count for the one in which there are more.
func runJumps(drafts []draft) jumps {
	all := collect(drafts, func(d *draft) *far { return &d.far })
	up, down := len(all.up.all), len(all.down.all)
	if up >= down {
		all.up = all.either
	}
	if down >= up {
		all.down = all.either
	}
	return all
}

// blockJumps are those of the differences of its blocks.
func blockJumps(drafts []draft) jumps {
	return collect(drafts, func(d *draft) *far { return &d.farBlocks })
}

// collect puts together what is far, of all points.
func collect(drafts []draft, of func(d *draft) *far) (all jumps) {
	for i := range drafts {
		f := of(&drafts[i])
		if f.runs == 0 {
			continue
		}
		all.runs, all.points = all.runs+f.runs, all.points+1
		all.up.add(f.up)
		all.down.add(f.down)
		all.either.add(f.either)
	}
	for _, s := range []sizes{all.up, all.down, all.either} {
		slices.Sort(s.all)
		slices.Sort(s.most)
	}
	return all
}

func (s *sizes) add(point []float64) {
	if len(point) > 0 {
		s.all, s.most = append(s.all, point...), append(s.most, slices.Max(point))
	}
}

// sides is the chance of a change of which so many runs of the head jumped as are nearer to it than to the middle of the
// base, or of the base the other way. The runs of a side are taken for independent.
func (j *jumps) sides(base, head []float64, change float64) float64 {
	return min(1, 2*(j.tail(head, medianIn(base), change)+j.tail(base, medianIn(head), -change)))
}

// blocks is that of a change of which so many blocks jumped as are nearer to it than to nothing.
func (j *jumps) blocks(differences []float64, change float64) float64 {
	return min(1, 2*j.tail(differences, 0, change))
}

// tail is the chance that as many values jumped by as much as a change. A value of any point does, as often as in the
// family; or it does where the point is one of those that do, and then as often as in these. A value is one more jump of
// one more value than were seen, so that what was never seen is not impossible. Few points do not tell jumps from noise:
// there it is the chance that all jumped.
func (j *jumps) tail(values []float64, from, change float64) float64 {
	size, of, moved := math.Abs(change), &j.up, 0
	if change < 0 {
		of = &j.down
	}
	for _, v := range values {
		if j.points < leastFamily || math.Copysign(1, change)*(v-from) >= size/2 {
			moved++
		}
	}
	if size *= jumpsAlike; len(values) < FirmRuns {
		size *= fewAlike / jumpsAlike
	}
	seen := beyond(of.all, size)
	share := float64(seen+1) / float64(j.runs+2)
	chance := stat.BinomialTail(len(values), moved, share)
	if points := beyond(of.most, size); crowded(points, seen, j.points) {
		those := clustered(share, float64(points)/float64(j.points), float64(j.runs)/float64(j.points))
		chance = max(chance, share/those*stat.BinomialTail(len(values), moved, those))
	}
	return chance
}

// crowded tells that so many jumps are in fewer of the points than by chance: where each is in any of them, m (1 - (1-1/m)^n)
// of m points are expected to have one of n, and it takes a standard error less.
func crowded(points, seen, all int) bool {
	if seen == 0 {
		return false
	}
	m, n := float64(all), float64(seen)
	none, neither := math.Pow(1-1/m, n), math.Pow(1-2/m, n)
	variance := m*none + m*(m-1)*neither - m*m*none*none
	return float64(points)+.5 < m*(1-none)-math.Sqrt(max(variance, 0))
}

// clustered is how often a run of those points jumps that do, where of all runs a share does, and points that have any jump
// are such a part of all that have so many runs: with a chance of s in a share f of the points, f s = share and
// f (1 - (1-s)^runs) = part.
func clustered(share, part, runs float64) float64 {
	const halvings = 40
	low, high := share, 1.
	for range halvings {
		s := (low + high) / 2
		if (1-math.Pow(1-s, runs))/s > part/share {
			low = s
		} else {
			high = s
		}
	}
	return low
}

// beyond counts the jumps of at least a size.
func beyond(sorted []float64, size float64) int {
	at, _ := slices.BinarySearch(sorted, size)
	return len(sorted) - at
}

// never tells whether no run is off by so much.
func (j *jumps) never(size float64) bool {
	return beyond(j.either.all, jumpsAlike*size) == 0
}
