package judge

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/neurolens/neurolens/schema/stat"
)

// splits are the factors of a question and the tests of them (looks).
type splits struct {
	Contrasting
	factors []*factor
	looks   []*look
	runs    *design
	session *design
	change  float64 // between the means of the sides
}

// look is the test of one factor within one side, or within both.
type look struct {
	factor int
	design *design
	within Within
	weight float64

	cells   []int     // cells with a known value, in their order
	scores  []float64 // scores of the design
	codes   []int     // per cell: value of the fact
	numbers []float64 // per cell: rank of the number minus the mean rank of its group; nil: values are categories
	follows []bool    // per cell: whether it ran right after the one before, in the same session

	statistics []float64 // statistic of the data and of each permutation
	permuted   []float64 // p of each of them
	p          float64
	adjusted   float64
}

func newSplits(c Contrasting) *splits {
	s := &splits{Contrasting: c, change: changeOf(c.Runs)}
	s.factors = slices.DeleteFunc(factorsOf(c.Runs, c.Names), func(f *factor) bool { return !varies(c.Runs, f) })
	s.runs, s.session = newDesign(c.Runs, false), newDesign(c.Runs, true)
	for i := range s.factors {
		s.look(i)
	}
	return s
}

// look adds the tests of a factor: within each side in which it varies and, if it varies on both, within both.
func (s *splits) look(factor int) {
	f := s.factors[factor]
	d := s.session
	if variesWithin(s.Runs, f) {
		d = s.runs
	}
	delta := max(math.Abs(s.delta(f)), alikeDelta)
	weight := delta * delta
	var own []*look
	for _, w := range []Within{WithinBase, WithinHead} {
		if l := newLook(f, d, w); l != nil {
			l.factor, l.weight = factor, weight
			own = append(own, l)
		}
	}
	if len(own) == 2 {
		own[0].weight, own[1].weight = oneSideWeight*weight, oneSideWeight*weight
		l := newLook(f, d, WithinSides)
		l.factor, l.weight = factor, weight
		own = append(own, l)
	}
	s.looks = append(s.looks, own...)
}

// changeOf is the difference between the means of the sides, head minus base.
func changeOf(runs []ContrastRun) float64 {
	var sums, sizes [2]float64
	for _, r := range runs {
		sums[sideIndex(r.Head)] += r.Location
		sizes[sideIndex(r.Head)]++
	}
	return sums[1]/sizes[1] - sums[0]/sizes[0]
}

// varies reports whether a fact changes within a side.
func varies(runs []ContrastRun, f *factor) bool {
	return changesWithin(runs, f, func(r ContrastRun) groupKey { return groupKey{head: r.Head} })
}

// variesWithin reports whether a fact changes within a side of a session.
func variesWithin(runs []ContrastRun, f *factor) bool {
	return changesWithin(runs, f, func(r ContrastRun) groupKey { return groupKey{r.Session, r.Head} })
}

// changesWithin reports whether a fact changes within one of the groups.
func changesWithin(runs []ContrastRun, f *factor, group func(r ContrastRun) groupKey) bool {
	first := map[groupKey]int{}
	for i, r := range runs {
		if !f.known(i) {
			continue
		}
		key := group(r)
		if k, ok := first[key]; !ok {
			first[key] = i
		} else if f.codes[k] != f.codes[i] {
			return true
		}
	}
	return false
}

// delta is Cliff's delta of a fact between the sides: how much more often it is larger on the head than smaller. For categories it
// is the largest difference between the frequencies of a value.
func (s *splits) delta(f *factor) float64 {
	var sides [2][]int
	for i, r := range s.Runs {
		if f.known(i) {
			sides[sideIndex(r.Head)] = append(sides[sideIndex(r.Head)], i)
		}
	}
	if len(sides[0]) == 0 || len(sides[1]) == 0 {
		return 1
	}
	if f.numbers == nil {
		shares := make([]float64, len(f.levels))
		for k, side := range sides {
			for _, i := range side {
				shares[f.codes[i]] += float64(2*k-1) / float64(len(side))
			}
		}
		return max(slices.Max(shares), -slices.Min(shares))
	}
	var numbers [2][]float64
	for k, side := range sides {
		for _, i := range side {
			numbers[k] = append(numbers[k], f.numbers[i])
		}
	}
	u, _ := stat.MannWhitney(numbers[1], numbers[0])
	return 2*u/float64(len(sides[0])*len(sides[1])) - 1
}

// newLook is the test of a fact within a side or both; nil if it does not vary there.
func newLook(f *factor, d *design, w Within) *look {
	l := &look{design: d, within: w, scores: d.scores[w]}
	last := -1 // the cell before
	var numbers []float64
	for _, i := range d.within(w) {
		run := d.cells[i].runs[0]
		if !f.known(run) || d.sessions && d.cells[i].session == "" {
			continue
		}
		l.cells, l.codes = append(l.cells, i), append(l.codes, f.codes[run])
		l.follows = append(l.follows, !d.sessions && last >= 0 && d.cells[last].session == d.cells[i].session)
		last = i
		if f.numbers != nil {
			numbers = append(numbers, f.numbers[run])
		}
	}
	if len(l.codes) == 0 || slices.Min(l.codes) == slices.Max(l.codes) {
		return nil
	}
	if f.numbers != nil {
		l.numbers = l.centered(stat.Ranks(numbers))
	}
	return l
}

// centered subtracts the mean rank of its group from the rank of each cell.
func (l *look) centered(ranks []float64) []float64 {
	sums, sizes := map[groupKey]float64{}, map[groupKey]float64{}
	for k, i := range l.cells {
		sums[l.design.group(i)] += ranks[k]
		sizes[l.design.group(i)]++
	}
	for k, i := range l.cells {
		ranks[k] -= sums[l.design.group(i)] / sizes[l.design.group(i)]
	}
	return ranks
}

// statistic is the share of the variance of the ranks that the fact explains, in the current permutation.
func (l *look) statistic(sums, sizes []float64) float64 {
	n := float64(len(l.cells))
	var total, squares, products, numbers float64
	clear(sums)
	clear(sizes)
	for k, i := range l.cells {
		score := l.scores[l.design.order[i]]
		total += score
		squares += score * score
		if l.numbers != nil {
			products += l.numbers[k] * score
			numbers += l.numbers[k] * l.numbers[k]
		} else {
			sums[l.codes[k]] += score
			sizes[l.codes[k]]++
		}
	}
	variance := squares - total*total/n
	if l.numbers != nil {
		if variance <= 0 || numbers <= 0 {
			return 0
		}
		return products * products / (variance * numbers)
	}
	if variance <= 0 {
		return 0
	}
	between := -total * total / n
	for code, sum := range sums {
		if sizes[code] > 0 {
			between += sum * sum / sizes[code]
		}
	}
	return between / variance
}

// autocorrelation is the product of the autocorrelations of the fact and of the ranks, each at least 0.
func (l *look) autocorrelation() float64 {
	scores := make([]float64, len(l.cells))
	for k, i := range l.cells {
		scores[k] = l.scores[i]
	}
	of := l.neighbours(scores)
	as := 0.
	if l.numbers != nil {
		as = l.neighbours(l.numbers)
	} else {
		as = l.agreement()
	}
	return max(0, of) * max(0, as)
}

// neighbours is the autocorrelation of consecutive values, corrected for their number (see stat.Neighbours).
func (l *look) neighbours(values []float64) float64 {
	var mean float64
	for _, v := range values {
		mean += v / float64(len(values))
	}
	var products, squares float64
	pairs := 0
	for k, v := range values {
		squares += (v - mean) * (v - mean)
		if l.follows[k] {
			products += (values[k-1] - mean) * (v - mean)
			pairs++
		}
	}
	if squares == 0 || pairs == 0 {
		return 0
	}
	rho := products / squares * float64(len(values)-1) / float64(pairs)
	return rho + (1+4*rho)/float64(len(values))
}

// agreement is Cohen's kappa of consecutive categories: how much more often than by chance they are equal (Educational and
// Psychological Measurement 20, 1960). For two categories it is their autocorrelation.
func (l *look) agreement() float64 {
	sizes := map[int]float64{}
	same, pairs := 0., 0.
	for k, code := range l.codes {
		sizes[code]++
		if l.follows[k] {
			pairs++
			if l.codes[k-1] == code {
				same++
			}
		}
	}
	n, expected := float64(len(l.codes)), 0.
	for _, size := range sizes {
		expected += size / n * size / n
	}
	if pairs == 0 || expected == 1 {
		return 0
	}
	return (same/pairs - expected) / (1 - expected)
}

// permute computes the p-values of all tests, and drops the tests that cannot have a p below Level.
func (s *splits) permute() {
	steps := 0
	for _, l := range s.looks {
		steps += len(l.cells)
	}
	draws := permutations
	if steps > 0 {
		draws = min(permutations, max(minPermutations, int(permutationWork/float64(steps))))
	}
	most := 0
	for _, f := range s.factors {
		most = max(most, len(f.levels))
	}
	sums, sizes := make([]float64, most), make([]float64, most)
	random := rand.New(rand.NewPCG(19, 47))
	for draw := range draws + 1 {
		if draw > 0 { // the first statistic is that of the data
			s.runs.shuffle(random)
			s.session.shuffle(random)
		}
		for _, l := range s.looks {
			l.statistics = append(l.statistics, l.statistic(sums, sizes))
		}
	}
	s.looks = slices.DeleteFunc(s.looks, func(l *look) bool {
		l.permuted = stat.PermutationP(l.statistics)
		return slices.Min(l.permuted) >= Level
	})
	var p, weights []float64
	var permuted [][]float64
	for _, l := range s.looks {
		l.p = stat.Autocorrelated(l.permuted[0], l.autocorrelation())
		p, weights, permuted = append(p, l.p), append(weights, l.weight), append(permuted, l.permuted)
	}
	for i, adjusted := range stat.AdjustMinP(p, permuted, weights) {
		s.looks[i].adjusted = adjusted
	}
}

// best is the most informative test of a fact, nil if there is none. If the test within both sides is significant, and the effects
// on the sides do not differ, it is that one. Otherwise it is the significant test with the smallest p, or else the one with the
// smallest adjusted p.
func (s *splits) best(factor int) *look {
	var best *look
	for _, l := range s.looks {
		if l.factor != factor {
			continue
		}
		if l.within == WithinSides && l.adjusted < Level && !s.sidesDiffer(l) {
			return l
		}
		if best == nil || l.strongerThan(best) {
			best = l
		}
	}
	return best
}

// sidesDiffer reports whether the intervals of a fact's effects on the two sides do not overlap.
func (s *splits) sidesDiffer(l *look) bool {
	f := s.factors[l.factor]
	c := s.condition(f, l)
	return apart(s.effect(f, l.design, WithinBase, c), s.effect(f, l.design, WithinHead, c))
}

// apart reports whether the intervals of two estimates do not overlap.
func apart(a, b stat.Estimate) bool {
	return a.Confidence > 0 && b.Confidence > 0 && (a.High < b.Low || a.Low > b.High)
}

// strongerThan reports whether a test is stronger evidence than another.
func (l *look) strongerThan(other *look) bool {
	significant, before := l.adjusted < Level, other.adjusted < Level
	switch {
	case significant != before:
		return significant
	case significant:
		return l.p < other.p
	}
	return l.adjusted < other.adjusted
}
