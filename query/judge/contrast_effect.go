package judge

import (
	"cmp"
	"math"
	"slices"

	"github.com/neurolens/neurolens/schema/stat"
)

// tooFew is the contrast of a fact of which nothing can be said.
func (s *splits) tooFew(f *factor) Contrast {
	nan := math.NaN()
	return Contrast{
		Condition: Condition{Fact: f.names[0]}, Alike: s.alike(f, Condition{}), Effect: stat.Estimate{Value: nan, Low: nan, High: nan},
		P: nan, Adjusted: nan, Part: nan, Verdict: ContrastNotSettled,
	}
}

// contrast is what is known of a fact, by the surest look at it.
func (s *splits) contrast(f *factor, l *look) Contrast {
	c := Contrast{
		Within: l.within, Condition: s.condition(f, l), P: l.p, Adjusted: l.adjusted, Verdict: ContrastNotSettled,
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

// alike are the other facts of a factor, with their values in the runs that meet a condition.
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

// count counts the runs, or sessions and their runs, of a look.
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

// verdict says what a part of the difference means. Where it is not known, what counts is whether the sides differ in the
// fact at all.
func (s *splits) verdict(f *factor, part float64) ContrastVerdict {
	if math.IsNaN(part) {
		if math.Abs(s.delta(f)) > alikeDelta {
			return Explains
		}
		return Noisy
	}
	least := leastPart
	if change := math.Abs(s.change); change < s.DeadZone { // of nearly nothing anything is a part
		least *= s.DeadZone / change
	}
	switch {
	case part >= least:
		return Explains
	case part <= -least:
		return Opposes
	}
	return Noisy
}

// condition is what the slower half of the runs of a look have, by a number, or those of the worse one of two values; of
// more values, the one by which the ranks differ most.
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

// better tells whether such a difference is one for the better.
func (s *splits) better(difference float64) bool {
	return (difference > 0) == s.Higher && difference != 0
}

// mostHalves is how many numbers are tried to part the runs of a look by.
const mostHalves = 64

// half is the number that parts the cells of a look most evenly within their groups, as text too.
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

// outward are up to mostHalves of the places 1..n-1, evenly spaced, those in the middle first.
func outward(n int) []int {
	step := (n-1)/mostHalves + 1
	var places []int
	for k := 1; k < n; k += step {
		places = append(places, k)
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(max(2*a-n, n-2*a), max(2*b-n, n-2*b)) })
	return places
}

// evenness is how many of the cells of a look are, summed over their groups, in the smaller one of the parts below a number
// and from it on.
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

// difference is by how many of its standard deviations the mean rank of what meets a condition is above that of the rest,
// but for a factor.
func (l *look) difference(f *factor, c Condition) float64 {
	var sums, sizes [2]float64
	for _, i := range l.cells {
		k := sideIndex(c.met(f.value(l.design.cells[i].runs[0])))
		sums[k] += l.scores[i]
		sizes[k]++
	}
	return (sums[1]/sizes[1] - sums[0]/sizes[0]) / math.Sqrt(1/sizes[0]+1/sizes[1])
}

// effect is by how much the cells that meet a condition are above the others of their group (Hodges and Lehmann), with the
// interval of Moses. The groups that have both are first put level: by the median of what their cells would be without the
// effect, as far as the groups tell it one by one. The interval is wider than that of Moses for what this takes: a degree of
// freedom for each group but the first, and what differs between groups where some have more of the one than others.
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

// effectGroups are the locations of each group that has both: of the cells that do not meet a condition, and of those that do.
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

// effectCell is a value that an effect is made of.
type effectCell struct {
	group    groupKey
	met      bool
	location float64
}

// effectCells are those of the cells of a look. Both sides of a session are one, where cells are sessions: they share it.
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

// part is the share of the difference between the sides that a contrast accounts for.
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
