package judge

import (
	"math"
	"slices"

	"github.com/neurolens/neurolens/schema/stat"
)

const (
	madScale       = 1.4826 // standard deviation of normal values / their median absolute deviation
	outlierLimit   = 4      // distance from the median of its side, in robust standard deviations, from which on a run is an outlier (a jump)
	modeGap        = 3      // minimum distance of two modes, in widths of the wider group
	jumpShare      = .8     // share of a change from which on a jump counts as equally large
	jumpShareOfFew = .65    // the same if a side has fewer than 5 runs
	stackSize      = 32     // runs of a side that are sorted without an allocation
)

// pointOutliers has the distances of outliers among the runs of a point from the other runs of their side. Reasons for outliers are
// programs with two modes, other work on the machine, and coarse clocks.
type pointOutliers struct {
	distances *outlierDistances // nil: none, which saves memory for very many points
	runs      int
}

// outlierDistances are distances of outliers, by direction.
type outlierDistances struct {
	up, down []float64
	either   []float64 // both directions
}

// toAdd returns the distances, to be added to.
func (f *pointOutliers) toAdd() *outlierDistances {
	if f.distances == nil {
		f.distances = &outlierDistances{}
	}
	return f.distances
}

// add adds the outliers among the runs of a side. Fewer than 3 runs have no outliers. If no run is far from the median, the runs may
// form two groups with the median between them. Then the runs of the smaller group count, with their distance from the other group;
// if both groups have the same size, one of them counts in both directions.
func (f *pointOutliers) add(side []float64) {
	if len(side) < MinRuns {
		return
	}
	f.runs += len(side)
	var space [stackSize]float64
	sorted := append(space[:0], side...)
	slices.Sort(sorted)
	middle := stat.Quantile(sorted, .5)
	off := make([]float64, 0, stackSize)
	for _, v := range sorted {
		off = append(off, math.Abs(v-middle))
	}
	if f.beyond(sorted, middle, outlierLimit*madScale*medianOf(off)) {
		return
	}
	low, high := parted(sorted)
	below, above := stat.Quantile(low, .5), stat.Quantile(high, .5)
	switch widest := max(low[len(low)-1]-low[0], high[len(high)-1]-high[0]); {
	case high[0]-low[len(low)-1] <= modeGap*widest || min(len(low), len(high)) == 1:
	case len(high) < len(low):
		f.beyond(high, below, 0)
	case len(high) > len(low):
		f.beyond(low, above, 0)
	default:
		half := slices.Repeat([]float64{above - below}, len(low))
		found := f.toAdd()
		found.up, found.down, found.either = append(found.up, half...), append(found.down, half...), append(found.either, half...)
	}
}

// beyond adds the values that are further than limit from middle, and reports whether there are any.
func (f *pointOutliers) beyond(values []float64, middle, limit float64) (some bool) {
	for _, v := range values {
		off := math.Abs(v - middle)
		if off <= limit {
			continue
		}
		found := f.toAdd()
		if v > middle {
			found.up = append(found.up, off)
		} else {
			found.down = append(found.down, off)
		}
		found.either, some = append(found.either, off), true
	}
	return some
}

// parted splits the values at the widest gap.
func parted(sorted []float64) (low, high []float64) {
	at := 1
	for i := 2; i < len(sorted); i++ {
		if sorted[i]-sorted[i-1] > sorted[at]-sorted[at-1] {
			at = i
		}
	}
	return sorted[:at], sorted[at:]
}

// medianIn returns the median of a side, without changing its order.
func medianIn(side []float64) float64 {
	var space [stackSize]float64
	return medianOf(append(space[:0], side...))
}

// jumps has the outliers among the runs of a family, or among the differences of its blocks. If a side has few runs, most of them may be
// outliers. Its runs alone cannot distinguish that from a change, but the frequency of outliers in the family can.
type jumps struct {
	up, down, either sizes
	runs             int // number of runs of all points
	points           int
}

// sizes are the sizes of the jumps in one direction, ascending.
type sizes struct {
	all []float64
	max []float64 // the largest of each point that has any
}

// runJumps returns the jumps of the runs of a family. If most runs of a side jumped, it looks as if the others had jumped in the opposite
// direction. So jumps of both directions count for the more frequent direction.
func runJumps(drafts []draft) jumps {
	all := collect(drafts, func(d *draft) *pointOutliers { return &d.outliers })
	up, down := len(all.up.all), len(all.down.all)
	if up >= down {
		all.up = all.either
	}
	if down >= up {
		all.down = all.either
	}
	return all
}

// blockJumps returns the jumps of the differences of the blocks of a family.
func blockJumps(drafts []draft) jumps {
	return collect(drafts, func(d *draft) *pointOutliers { return &d.blockOutliers })
}

// collect combines the outliers of all points.
func collect(drafts []draft, of func(d *draft) *pointOutliers) (all jumps) {
	for i := range drafts {
		f := of(&drafts[i])
		if f.runs == 0 {
			continue
		}
		all.runs, all.points = all.runs+f.runs, all.points+1
		if f.distances != nil {
			all.up.add(f.distances.up)
			all.down.add(f.distances.down)
			all.either.add(f.distances.either)
		}
	}
	for _, s := range []sizes{all.up, all.down, all.either} {
		slices.Sort(s.all)
		slices.Sort(s.max)
	}
	return all
}

func (s *sizes) add(point []float64) {
	if len(point) > 0 {
		s.all, s.max = append(s.all, point...), append(s.max, slices.Max(point))
	}
}

// sides returns the probability that outliers alone cause the change: that as many runs of the head jumped as are closer to the changed
// value than to the median of the base, or likewise the runs of the base in the opposite direction. It assumes independent runs.
func (j *jumps) sides(base, head []float64, change float64) float64 {
	return min(1, 2*(j.tail(head, medianIn(base), change)+j.tail(base, medianIn(head), -change)))
}

// blocks returns the same for blocks: that as many blocks jumped as are closer to the change than to 0.
func (j *jumps) blocks(differences []float64, change float64) float64 {
	return min(1, 2*j.tail(differences, 0, change))
}

// tail returns the probability that as many values jumped by at least the size of a change. It considers two models and returns the
// larger probability: every point jumps as often as the family on average, or only some points jump, and then more often. One more jump
// and one more value than were seen are added, so that a size which was never seen is not impossible. With few points, jumps cannot be
// distinguished from noise; then it is the probability that all values jumped.
func (j *jumps) tail(values []float64, from, change float64) float64 {
	size, of, moved := math.Abs(change), &j.up, 0
	if change < 0 {
		of = &j.down
	}
	for _, v := range values {
		if j.points < minFamily || math.Copysign(1, change)*(v-from) >= size/2 {
			moved++
		}
	}
	if size *= jumpShare; len(values) < FirmRuns {
		size *= jumpShareOfFew / jumpShare
	}
	seen := beyond(of.all, size)
	share := float64(seen+1) / float64(j.runs+2)
	chance := stat.BinomialTail(len(values), moved, share)
	if points := beyond(of.max, size); crowded(points, seen, j.points) {
		those := clustered(share, float64(points)/float64(j.points), float64(j.runs)/float64(j.points))
		chance = max(chance, share/those*stat.BinomialTail(len(values), moved, those))
	}
	return chance
}

// crowded reports whether the jumps are concentrated in fewer points than by chance. If n jumps are spread randomly over m points,
// m (1 - (1-1/m)^n) points are expected to have one; crowded requires one standard error less.
func crowded(points, seen, all int) bool {
	if seen == 0 {
		return false
	}
	m, n := float64(all), float64(seen)
	none, neither := math.Pow(1-1/m, n), math.Pow(1-2/m, n)
	variance := m*none + m*(m-1)*neither - m*m*none*none
	return float64(points)+.5 < m*(1-none)-math.Sqrt(max(variance, 0))
}

// clustered returns the frequency of jumps in those points that have jumps at all. share is the share of all runs that jumped, part the
// share of points with a jump, and runs the number of runs per point. If a share f of the points jumps with probability s, then
// f s = share and f (1 - (1-s)^runs) = part; the result is s.
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

// beyond counts the jumps of at least a size in ascending sizes.
func beyond(sorted []float64, size float64) int {
	at, _ := slices.BinarySearch(sorted, size)
	return len(sorted) - at
}

// never reports whether no run of the family jumped by this size.
func (j *jumps) never(size float64) bool {
	return beyond(j.either.all, jumpShare*size) == 0
}
