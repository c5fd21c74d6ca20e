package judge

import (
	"cmp"
	"math"
	"slices"

	"github.com/neurolens/neurolens/schema/stat"
)

// tooFew is the contrast of a fact that cannot be tested.
func (s *splits) tooFew(f *factor) Contrast {
	nan := math.NaN()
	return Contrast{
		Condition: Condition{Fact: f.names[0]}, Alike: s.alike(f, Condition{}), Effect: stat.Estimate{Value: nan, Low: nan, High: nan},
		P: nan, Adjusted: nan, Part: nan, Verdict: ContrastInconclusive,
	}
}

// contrast computes the contrast of a fact from the best test of it.
func (s *splits) contrast(f *factor, l *look) Contrast {
	c := Contrast{
		Within: l.within, Condition: s.condition(f, l), P: l.p, Adjusted: l.adjusted, Verdict: ContrastInconclusive,
	}
	c.Alike = s.alike(f, c.Condition)
	for i, r := range s.Runs {
		side := &c.Base
		if r.Head {
			side = &c.Head
		}
		side[1]++
		if c.met(f.value(i)) {
			side[0]++
		}
	}
	c.count(f, l)
	c.Effect = s.effect(f, l.design, l.within, c.Condition)
	c.Part = s.part(f, l, &c)
	if c.Adjusted < Level {
		c.Verdict = s.verdict(f, c.Part)
	}
	return c
}

// alike are the other facts of a factor, with the values that they have in the runs that meet a condition.
func (s *splits) alike(f *factor, c Condition) []Condition {
	var all []Condition
	for _, name := range f.names[1:] {
		other := Condition{Fact: name}
		if i := slices.IndexFunc(s.Runs, func(r ContrastRun) bool { return c.met(r.Facts[c.Fact]) }); c.Operator == "=" && i >= 0 {
			other.Operator, other.Value = "=", s.Runs[i].Facts[name]
		}
		all = append(all, other)
	}
	return all
}

// count counts the runs and sessions that do and do not meet the condition.
func (c *Contrast) count(f *factor, l *look) {
	sessions := [2]map[string]bool{{}, {}}
	for _, i := range l.cells {
		cell := l.design.cells[i]
		met := c.met(f.value(cell.runs[0]))
		if met {
			c.With += len(cell.runs)
		} else {
			c.Others += len(cell.runs)
		}
		sessions[sideIndex(met)][cell.session] = true
	}
	if l.design.sessions {
		c.OtherSessions, c.WithSessions = len(sessions[0]), len(sessions[1])
	}
}

// verdict decides whether a fact explains the difference, by its part of it. If the part is unknown, it decides by whether the
// sides differ in the fact.
func (s *splits) verdict(f *factor, part float64) ContrastVerdict {
	if math.IsNaN(part) {
		if math.Abs(s.delta(f)) > alikeDelta {
			return Explains
		}
		return Noisy
	}
	needed := minExplained
	if change := math.Abs(s.change); change < s.DeadZone { // nearly every fact explains a part of a tiny change
		needed *= s.DeadZone / change
	}
	switch {
	case part >= needed:
		return Explains
	case part <= -needed:
		return Opposes
	}
	return Noisy
}

// condition is the condition that the worse runs meet. For a number it splits the runs into halves; for two values it is the worse
// value; for more values it is the one for which ranks differ most.
func (s *splits) condition(f *factor, l *look) Condition {
	c := Condition{Fact: f.names[0], Operator: "="}
	if f.numbers != nil {
		c.Value, c.bound = f.half(l)
		c.Operator = ">="
		if s.better(l.difference(f, c)) {
			c.Operator = "<"
		}
		return c
	}
	codes := slices.Clone(l.codes)
	slices.Sort(codes)
	codes = slices.Compact(codes)
	most := math.Inf(-1)
	chosen := c
	for _, code := range codes {
		c.Value = f.levels[code]
		d := l.difference(f, c)
		strength := math.Abs(d)
		if len(codes) == 2 && s.better(d) {
			strength = -strength
		}
		if strength > most {
			most, chosen = strength, c
		}
	}
	return chosen
}

// better reports whether a difference is an improvement.
func (s *splits) better(difference float64) bool {
	return (difference > 0) == s.Higher && difference != 0
}

// maxSplits is the largest number of bounds that are tried to split the runs.
const maxSplits = 64

// half is the number that splits the cells most evenly within their groups, as text and as a number.
func (f *factor) half(l *look) (text string, bound float64) {
	var runs []int
	for _, i := range l.cells {
		runs = append(runs, l.design.cells[i].runs[0])
	}
	slices.SortStableFunc(runs, func(a, b int) int { return cmp.Compare(f.numbers[a], f.numbers[b]) })
	best, even := runs[len(runs)-1], -1
	for _, k := range outward(len(runs)) {
		if n := f.evenness(l, f.numbers[runs[k]]); n > even {
			best, even = runs[k], n
		}
	}
	return f.value(best), f.numbers[best]
}

// outward are up to maxSplits evenly spaced indexes of 1..n-1, from the middle outward.
func outward(n int) []int {
	step := (n-1)/maxSplits + 1
	var places []int
	for k := 1; k < n; k += step {
		places = append(places, k)
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(max(2*a-n, n-2*a), max(2*b-n, n-2*b)) })
	return places
}

// evenness is the number of cells in the smaller part when each group is split at a number, summed over the groups.
func (f *factor) evenness(l *look, bound float64) int {
	parts := map[groupKey]*[2]int{}
	for _, i := range l.cells {
		key := l.design.group(i)
		if parts[key] == nil {
			parts[key] = &[2]int{}
		}
		parts[key][sideIndex(f.numbers[l.design.cells[i].runs[0]] >= bound)]++
	}
	total := 0
	for _, part := range parts {
		total += min(part[0], part[1])
	}
	return total
}

// difference is the difference between the mean ranks of the cells that meet a condition and of the others, in standard deviations up
// to a constant factor.
func (l *look) difference(f *factor, c Condition) float64 {
	var sums, sizes [2]float64
	for _, i := range l.cells {
		k := sideIndex(c.met(f.value(l.design.cells[i].runs[0])))
		sums[k] += l.scores[i]
		sizes[k]++
	}
	return (sums[1]/sizes[1] - sums[0]/sizes[0]) / math.Sqrt(1/sizes[0]+1/sizes[1])
}

// effect is the Hodges-Lehmann estimate of the difference between the cells that meet a condition and the others of their group, with
// Moses' interval. First the levels of the groups are removed: the median of their cells without the effect, which is estimated from
// the groups one by one. This costs one degree of freedom per group except the first, and some precision if the groups are
// unbalanced, so the interval is widened accordingly.
func (s *splits) effect(f *factor, d *design, w Within, c Condition) stat.Estimate {
	groups := s.effectGroups(f, d, w, c)
	var sum, weights float64
	for _, g := range groups {
		n, m := float64(len(g[0])), float64(len(g[1]))
		sum += stat.Shift(g[0], g[1], Confidence).Value * n * m / (n + m)
		weights += n * m / (n + m)
	}
	var parts [2][]float64
	for _, g := range groups {
		without := slices.Clone(g[0])
		for _, v := range g[1] {
			without = append(without, v-sum/weights)
		}
		level := center(without)
		for k, values := range g {
			for _, v := range values {
				parts[k] = append(parts[k], v-level)
			}
		}
	}
	e := stat.Shift(parts[0], parts[1], Confidence)
	n, m := float64(len(parts[0])), float64(len(parts[1]))
	left := n + m - 1 - float64(len(groups))
	if left < 1 {
		return stat.Estimate{Value: e.Value, Low: math.Inf(-1), High: math.Inf(1)}
	}
	wider := math.Sqrt((n + m - 2) / left * n * m / (n + m) / weights)
	e.Low, e.High = e.Value-wider*(e.Value-e.Low), e.Value+wider*(e.High-e.Value)
	return e
}

// effectGroups are the locations of the cells that do not and that do meet a condition, for each group that has both.
func (s *splits) effectGroups(f *factor, d *design, w Within, c Condition) [][2][]float64 {
	at := map[groupKey]int{}
	var groups [][2][]float64
	for _, v := range s.effectCells(f, d, w, c) {
		k, ok := at[v.group]
		if !ok {
			k = len(groups)
			at[v.group] = k
			groups = append(groups, [2][]float64{})
		}
		part := &groups[k][sideIndex(v.met)]
		*part = append(*part, v.location)
	}
	return slices.DeleteFunc(groups, func(g [2][]float64) bool { return len(g[0]) == 0 || len(g[1]) == 0 })
}

// effectCell is a value from which an effect is estimated.
type effectCell struct {
	group    groupKey
	met      bool
	location float64
}

// effectCells are the values of the cells. If cells are sessions, both sides of a session are averaged into one value.
func (s *splits) effectCells(f *factor, d *design, w Within, c Condition) []effectCell {
	type sessionPart struct {
		session string
		met     bool
	}
	at := map[sessionPart]int{}
	var cells []effectCell
	for _, i := range d.within(w) {
		run := d.cells[i].runs[0]
		if !f.known(run) || d.sessions && d.cells[i].session == "" {
			continue
		}
		one := effectCell{d.group(i), c.met(f.value(run)), d.cells[i].location}
		part := sessionPart{d.cells[i].session, one.met}
		if k, ok := at[part]; ok && d.sessions {
			cells[k].group, cells[k].location = groupKey{session: "both"}, (cells[k].location+one.location)/2
			continue
		}
		at[part] = len(cells)
		cells = append(cells, one)
	}
	return cells
}

// part is the share of the difference between the sides that a contrast explains.
func (s *splits) part(f *factor, l *look, c *Contrast) float64 {
	if c.Base[1] == 0 || c.Head[1] == 0 || s.change == 0 {
		return math.NaN()
	}
	base, head := float64(c.Base[0])/float64(c.Base[1]), float64(c.Head[0])/float64(c.Head[1])
	ofBase, ofHead := c.Effect.Value, c.Effect.Value
	if l.within != WithinSides {
		other, of := WithinBase, &ofBase
		if l.within == WithinBase {
			other, of = WithinHead, &ofHead
		}
		if e := s.effect(f, l.design, other, c.Condition); apart(e, c.Effect) {
			*of = e.Value
		}
	}
	return (head*ofHead - base*ofBase) / s.change
}
