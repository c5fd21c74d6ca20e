package stat

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// What Steady looks for.
const (
	steadyLeast     = 30  // samples; with fewer the last sixth is shorter than the shortest segment
	steadyBatches   = 200 // at most
	steadyTolerance = .05 // by which the medians of steady segments may differ from the last one's
	segmentLeast    = 5   // batches on either side of a change
)

// Steady finds where the steady state of a run begins: index is its first sample, counted from 0. There is none (ok is
// false) where the samples still change in the last sixth of the run, where there are fewer than 30, too few to tell,
// and where one is not finite.
//
// The medians of at most 200 batches are cut where their level changes; from the last segment back, those whose median
// is within 5 % of the last one's are the steady state. The place is right to within a batch or two; a level held for
// less than 5 batches is not seen, nor would it move the median.
func Steady(values []float64) (index int, ok bool) {
	if len(values) < steadyLeast || slices.ContainsFunc(values, notFinite) {
		return 0, false
	}
	medians, ends := batchMedians(values, steadyBatches)
	begins := append([]int{0}, changes(medians, threshold(len(medians)))...)
	end := len(medians)
	steady, last := end, 0.0
	for i, begin := range slices.Backward(begins) {
		level := median(slices.Clone(medians[begin:end]))
		if i == len(begins)-1 {
			last = level
		}
		if math.Abs(level-last) > steadyTolerance*math.Abs(last) {
			break
		}
		steady, end = begin, begin
	}
	if 6*steady >= 5*len(medians) {
		return 0, false
	}
	return ends[steady], true
}

// change is the most likely place of a change of level in one interval, and how strong the evidence is.
type change struct {
	strength      float64
	low, high, at int // from low up to high, at is the first of the new level
}

// changes are the ascending places where the level of a series changes, by seeded binary segmentation (Kovács,
// Bühlmann, Li and Munk, Biometrika 110, 2023) with normal scores: of all intervals the strongest change above the
// threshold is taken, intervals that contain it are dropped, and so on. Where nearly all values are equal, an exception
// passes for a change: whoever acts on one compares the medians of its sides.
func changes(series []float64, threshold float64) []int {
	var candidates []change
	scan(series, func(c change) {
		if c.strength > threshold {
			candidates = append(candidates, c)
		}
	})
	slices.SortStableFunc(candidates, func(a, b change) int { return cmp.Compare(b.strength, a.strength) })
	var taken []int
	for _, c := range candidates {
		if !slices.ContainsFunc(taken, func(at int) bool { return c.low < at && at < c.high }) {
			taken = append(taken, c.at)
		}
	}
	slices.Sort(taken)
	return taken
}

// scan gives the strongest change of each seeded interval: lengths fall by the square root of two, and those of one
// length overlap by half.
func scan(series []float64, yield func(change)) {
	n := len(series)
	r := newRanks(series)
	for length := float64(n); int(math.Ceil(length)) >= 2*segmentLeast; length /= math.Sqrt2 {
		size := int(math.Ceil(length))
		quantiles := normalScores(size)
		steps := 2*int(math.Ceil(float64(n)/length)) - 2
		for i := range steps + 1 {
			low := 0
			if steps > 0 {
				low = i * (n - size) / steps
			}
			scores := r.scores(low, quantiles)
			at, strength := strongest(scores)
			yield(change{strength: strength, low: low, high: low + size, at: low + at})
		}
	}
}

// strongest is the place before which the mean of scores differs most from that after it, in standard deviations of
// such a difference: the largest |S_k| / √(s² k(n-k)/n), where S_k is the sum of the first k scores. Scores add to 0.
func strongest(scores []float64) (at int, strength float64) {
	var sum, squares, best float64
	n := len(scores)
	for i, s := range scores {
		squares += s * s
		sum += s
		k := i + 1
		if k < segmentLeast || n-k < segmentLeast {
			continue
		}
		if t := sum * sum / float64(k*(n-k)); t > best {
			best, at = t, k
		}
	}
	if at == 0 || squares == 0 {
		return 0, 0
	}
	return at, math.Sqrt(best * float64(n) * float64(n-1) / squares)
}

// normalScores are the standard normal quantiles of i/(n+1), for i of 1..n.
func normalScores(n int) []float64 {
	scores := make([]float64, n)
	for i := range n / 2 {
		scores[n-1-i] = math.Sqrt2 * math.Erfinv(1-2*float64(i+1)/float64(n+1))
		scores[i] = -scores[n-1-i]
	}
	return scores
}

// ranks gives the ranks within any interval of a series without sorting each.
type ranks struct {
	series  []float64
	order   []int    // places of the series by ascending value
	rank    []int    // of each place: its index in order
	present []uint64 // a bit for each rank that is in the interval
	inside  []int    // the places in the interval, by ascending value
	buffer  []float64
}

func newRanks(series []float64) *ranks {
	n := len(series)
	r := &ranks{
		series: series, order: make([]int, n), rank: make([]int, n),
		present: make([]uint64, (n+63)/64), inside: make([]int, 0, n), buffer: make([]float64, n),
	}
	for i := range r.order {
		r.order[i] = i
	}
	slices.SortFunc(r.order, func(a, b int) int { return cmp.Compare(series[a], series[b]) })
	for i, at := range r.order {
		r.rank[at] = i
	}
	return r
}

// scores are the normal scores of the interval from low up to low + len(quantiles), in its order, until the next call.
// Equal values have the mean of their scores.
func (r *ranks) scores(low int, quantiles []float64) []float64 {
	for _, rank := range r.rank[low : low+len(quantiles)] {
		r.present[rank/64] |= 1 << (rank % 64)
	}
	r.inside = r.inside[:0]
	for w, word := range r.present {
		for ; word != 0; word &= word - 1 {
			r.inside = append(r.inside, r.order[64*w+bits.TrailingZeros64(word)])
		}
		r.present[w] = 0
	}
	scores := r.buffer[:len(quantiles)]
	for first, next := 0, 0; first < len(r.inside); first = next {
		var sum float64
		for next = first; next < len(r.inside) && r.series[r.inside[next]] == r.series[r.inside[first]]; next++ {
			sum += quantiles[next]
		}
		if next-first == len(r.inside) {
			sum = 0 // exactly, where nothing differs
		}
		for _, at := range r.inside[first:next] {
			scores[at-low] = sum / float64(next-first)
		}
	}
	return scores
}
