package stat

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// change is the most likely place of a change of level in one interval, and how strong the evidence is.
type change struct {
	strength      float64
	low, high, at int // from low up to high, at is the first of the new level
}

// candidates returns the strongest changes of the seeded intervals of a series that are above a threshold, the strongest first. Together
// with above it is seeded binary segmentation (Kovács, Bühlmann, Li and Munk, Biometrika 110, 2023) with normal scores, so that only the
// order of the values counts.
func candidates(series []float64, s segmentation, threshold float64) []change {
	var all []change
	s.scan(series, func(c change) {
		if c.strength > threshold { // rare in a steady series, so there is little to sort
			all = append(all, c)
		}
	})
	slices.SortStableFunc(all, func(a, b change) int { return cmp.Compare(b.strength, a.strength) })
	return all
}

// above selects the strongest candidate above a threshold, drops the candidates whose interval contains it, and repeats (greedy
// selection).
func above(candidates []change, threshold float64) []change {
	var taken []change
	for _, c := range candidates {
		if !(c.strength > threshold) {
			break
		}
		if !slices.ContainsFunc(taken, func(t change) bool { return c.low < t.at && t.at < c.high }) {
			taken = append(taken, c)
		}
	}
	return taken
}

// segmentation has the precomputed tables of the search for changes.
type segmentation struct {
	least int // values on either side of a change
}

// scan gives the strongest change of each seeded interval.
func (s segmentation) scan(series []float64, yield func(change)) {
	r := newRanks(series)
	var quantiles []float64
	seeded(len(series), 2*s.least, func(low, size int) {
		if len(quantiles) != size {
			quantiles = scoresOf(size)
		}
		at, strength := s.strongest(r.scores(low, quantiles))
		yield(change{strength: strength, low: low, high: low + size, at: low + at})
	})
}

// seeded calls yield with the first index and the size of each interval of n values with at least the shortest size, beginning with the
// interval of all values: lengths fall by the square root of two, and intervals of one length overlap by half.
func seeded(n, shortest int, yield func(low, size int)) {
	for length := float64(n); int(math.Ceil(length)) >= shortest; length /= math.Sqrt2 {
		size := int(math.Ceil(length))
		steps := 2*int(math.Ceil(float64(n)/length)) - 2
		for i := range steps + 1 {
			low := 0
			if steps > 0 {
				low = i * (n - size) / steps
			}
			yield(low, size)
		}
	}
}

// strongest returns the index at which the mean of the scores before it differs most from the mean of the scores after it, in standard
// deviations of such a difference: the largest |S_k| / √(s² k(n-k)/n), where S_k is the sum of the first k scores. Scores add to 0.
func (s segmentation) strongest(scores []float64) (at int, strength float64) {
	var sum, squares, best float64
	n := len(scores)
	for i, score := range scores {
		sum += score
		squares += score * score
		k := i + 1
		if k < s.least || n-k < s.least {
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

// scoresOf returns normalScores(n), cached for the usual n.
func scoresOf(n int) []float64 {
	if usual, ok := steadyScores()[n]; ok {
		return usual
	}
	return normalScores(n)
}

// normalScores returns the standard normal quantiles of i/(n+1), for i of 1..n.
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
	order   []int    // places of the series by ascending value
	equal   []int    // of each rank: the first rank of the same value
	tied    bool     // whether two values are equal
	words   int      // number of words with a bit for each rank
	before  []uint64 // for each index, and the end: a bit set, of words words, of the ranks of the values before it
	present []uint64 // the ranks that are in the interval
	inside  []int    // the same as numbers, ascending; only if values are equal
	buffer  []float64
}

func newRanks(series []float64) *ranks {
	n := len(series)
	words := (n + 63) / 64
	r := &ranks{
		order: placesByValue(series), equal: make([]int, n), words: words,
		before: make([]uint64, (n+1)*words), present: make([]uint64, words), buffer: make([]float64, n),
	}
	for i, at := range r.order {
		r.before[(at+1)*words+i/64] = 1 << (i % 64)
		r.equal[i] = i
		if i > 0 && series[at] == series[r.order[i-1]] {
			r.equal[i], r.tied = r.equal[i-1], true
		}
	}
	for i := words; i < len(r.before); i++ {
		r.before[i] |= r.before[i-words]
	}
	return r
}

// placesByValue returns the indices of a series by ascending value, equal values in any order.
func placesByValue(series []float64) []int {
	places := make([]int, len(series))
	placeBits := bits.Len(uint(len(series)))
	k, ok := keysOf(series)
	if !ok || k.bits+placeBits >= 64 {
		for i := range places {
			places[i] = i
		}
		slices.SortFunc(places, func(a, b int) int { return cmp.Compare(series[a], series[b]) })
		return places
	}
	for i, v := range series { // the key with the place after it
		places[i] = int(k.of(v)<<placeBits | uint64(i))
	}
	slices.Sort(places)
	for i := range places {
		places[i] &= 1<<placeBits - 1
	}
	return places
}

// scores returns the normal scores of the interval from low up to low + len(quantiles), in its order, until the next call.
// Equal values have the mean of their scores.
func (r *ranks) scores(low int, quantiles []float64) []float64 {
	before, through := r.before[low*r.words:], r.before[(low+len(quantiles))*r.words:]
	for w := range r.present {
		r.present[w] = through[w] &^ before[w]
	}
	scores := r.buffer[:len(quantiles)]
	if r.tied {
		r.tiedScores(low, quantiles, scores)
		return scores
	}
	next := 0
	for w, word := range r.present {
		for ; word != 0; word &= word - 1 {
			scores[r.order[64*w+bits.TrailingZeros64(word)]-low] = quantiles[next]
			next++
		}
	}
	return scores
}

// tiedScores sets the scores of an interval whose ranks are present, if values may be equal.
func (r *ranks) tiedScores(low int, quantiles, scores []float64) {
	r.inside = r.inside[:0]
	for w, word := range r.present {
		for ; word != 0; word &= word - 1 {
			r.inside = append(r.inside, 64*w+bits.TrailingZeros64(word))
		}
	}
	for first, next := 0, 0; first < len(r.inside); first = next {
		var sum float64
		value := r.equal[r.inside[first]]
		for next = first; next < len(r.inside) && r.equal[r.inside[next]] == value; next++ {
			sum += quantiles[next]
		}
		if next-first == len(r.inside) {
			sum = 0 // exactly, if all values are equal
		}
		if next-first > 1 {
			sum /= float64(next - first)
		}
		for _, rank := range r.inside[first:next] {
			scores[r.order[rank]-low] = sum
		}
	}
}
