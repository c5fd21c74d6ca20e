package judge

import (
	"math"
	"slices"

	"github.com/neurolens/neurolens/schema/stat"
)

// Starts are the start times of the runs of each side in one session, ascending, in any unit.
type Starts struct{ Base, Head []int64 }

const (
	// maxKuiper bounds Kuiper's statistic, times the root of the number of runs of a side. Sides that alternate in blocks are far below
	// it, whatever the order within the blocks.
	maxKuiper = 1.2
	// maxFirstShare is the maximum share of pairs of a run of each side, within sessions, in which the same side is first.
	maxFirstShare = .9
)

// SeparatedInTime reports whether the sides are so far apart in time that a machine which drifts, or is disturbed for a while, may look
// like a difference between them. A few stray runs among the runs of the other side do not change that. sessions are the sessions with
// runs of both sides, in the order in which they ran.
//
// The first criterion is Kuiper's statistic of the start times (Proceedings of the Koninklijke Nederlandse Akademie van Wetenschappen A
// 63, 1960): the largest difference, over all periods of time, between the shares of the runs of each side that began in the period. A
// disturbance during one period shifts the difference between the sides by that share of its size. The second criterion is whether
// nearly always the same side was first in its session.
func SeparatedInTime(sessions []Starts) bool {
	var bases, heads, first, pairs float64
	for _, s := range sessions {
		bases, heads = bases+float64(len(s.Base)), heads+float64(len(s.Head))
	}
	if bases == 0 || heads == 0 {
		return false
	}
	least, most, at := 0., 0., 0.
	for _, s := range sessions {
		b, h := s.Base, s.Head
		for len(b)+len(h) > 0 {
			next := slices.Min(slices.Concat(b[:min(len(b), 1)], h[:min(len(h), 1)]))
			nb, nh := startedAt(b, next), startedAt(h, next)
			b, h = b[nb:], h[nh:]
			first += float64(nb) * (float64(len(h)) + float64(nh)/2)
			at += float64(nb)/bases - float64(nh)/heads
			least, most = min(least, at), max(most, at)
		}
		pairs += float64(len(s.Base) * len(s.Head))
	}
	const rounding = 1e-9
	limit := max(2/min(bases, heads), maxKuiper/math.Sqrt(2*bases*heads/(bases+heads)))
	return most-least > limit+rounding || math.Abs(first/pairs-.5) > maxFirstShare-.5+rounding
}

// startedAt returns the number of runs, the first of which may have started at a time.
func startedAt(starts []int64, at int64) int {
	n := 0
	for n < len(starts) && starts[n] == at {
		n++
	}
	return n
}

// Sequence returns Pair.Sequence for the start times of the runs of each side. It is nil if some started at the same time.
func Sequence(base, head []int64) []bool {
	turns := make([]bool, 0, len(base)+len(head))
	for len(base)+len(head) > 0 {
		switch {
		case len(base) > 0 && len(head) > 0 && base[0] == head[0]:
			return nil
		case len(head) == 0, len(base) > 0 && base[0] < head[0]:
			turns, base = append(turns, false), base[1:]
		default:
			turns, head = append(turns, true), head[1:]
		}
	}
	return turns
}

const (
	// periodLevel is the p-value below which the runs of a family have a periodic component.
	periodLevel = .01
	// maxFlipBlocks is the number of blocks up to which all orders are counted. With more, a periodic disturbance and the order of the
	// sides hardly ever agree by chance.
	maxFlipBlocks = 32
)

// maxFlipP is the p-value of signFlipP above which a change is not accepted, whatever the other tests show. It is just above 4/32: of 5
// blocks, the smallest may differ in sign.
const maxFlipP = .15

// maxPeriodEffect is the largest mean difference of blocks that a periodic disturbance causes, in root mean squares of the differences
// of blocks around their mean. For a sine it is √2.
const maxPeriodEffect = 2

// periodKey identifies the pairs of one scale with the same number of runs of both sides together.
type periodKey struct {
	runs       int
	difference bool
}

// periodic returns the largest mean difference of blocks that a periodic disturbance may make, as from a job that runs every few seconds.
// The map has only the pairs whose runs have a periodic component. The locations of each side are taken relative to their mean, so changes
// do not matter.
func periodic(pairs []Pair) map[periodKey]float64 {
	found, blocks := map[int]*stat.Periodogram{}, map[periodKey]sampleVariance{}
	for i := range pairs {
		p := &pairs[i]
		n := len(p.Sequence)
		if n == 0 || n != len(p.Base)+len(p.Head) || !p.flippable() {
			continue
		}
		if found[n] == nil {
			found[n] = &stat.Periodogram{}
		}
		found[n].Add(p.residuals())
		if of, ok := stat.SpreadOf(p.Blocks); ok {
			sum := blocks[p.periodKey()]
			blocks[p.periodKey()] = sampleVariance{sum.value + of.Variance*of.DF, sum.df + of.DF}
		}
	}
	most := map[periodKey]float64{}
	for of, sum := range blocks {
		if found[of.runs].P() < periodLevel {
			most[of] = maxPeriodEffect * math.Sqrt(sum.value/sum.df)
		}
	}
	return most
}

func (p *Pair) periodKey() periodKey { return periodKey{len(p.Sequence), p.Difference} }

// flippable reports whether signFlipP applies: the sides alternate, there are enough blocks for a small p-value, and few enough for a
// periodic disturbance to matter.
func (p *Pair) flippable() bool { return len(p.Blocks) >= FirmRuns && len(p.Blocks) <= maxFlipBlocks }

// residuals returns the locations of the runs of both sides, less the mean of their side, in the order in which they ran.
func (p *Pair) residuals() []float64 {
	base, head := p.Base, p.Head
	ofBase, ofHead := mean(base), mean(head)
	all := make([]float64, len(p.Sequence))
	for i, isHead := range p.Sequence {
		if isHead {
			all[i], head = head[0]-ofHead, head[1:]
		} else {
			all[i], base = base[0]-ofBase, base[1:]
		}
	}
	return all
}

func mean(values []float64) float64 {
	sum := 0.
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// signFlipP returns the p-value of the sign-flip randomization test of the differences of blocks (Fisher, The Design of Experiments, 1935):
// the share of the possible orders within the blocks for which the mean difference would be at least as large. Because the order was drawn,
// it holds whatever the machine did. The orders are counted in two halves (Horowitz and Sahni, Journal of the ACM 21, 1974).
func signFlipP(differences []float64) float64 {
	const rounding = 1e-9
	some, others := signedSums(differences[:len(differences)/2]), signedSums(differences[len(differences)/2:])
	slices.Sort(some)
	slices.Sort(others)
	limit := math.Abs(mean(differences)) * float64(len(differences)) * (1 - rounding)
	larger, from := 0, len(others) // others[from:] are large enough with the next sum of some
	for _, sum := range some {
		for from > 0 && sum+others[from-1] >= limit {
			from--
		}
		larger += len(others) - from
	}
	return min(2*float64(larger)/float64(len(some)*len(others)), 1) // the opposite orders give the opposite sums
}

// signedSums returns the sums of values with all combinations of their signs.
func signedSums(values []float64) []float64 {
	sums := []float64{0}
	for _, v := range values {
		for _, sum := range sums {
			sums = append(sums, sum-v)
		}
		for i := range len(sums) / 2 {
			sums[i] += v
		}
	}
	return sums
}
