package judge

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/schema/stat"
)

// cell is the unit of a permutation: a run, or all runs of one side of a session.
type cell struct {
	head     bool
	session  string
	runs     []int
	location float64 // minus the median of its group
}

// design determines how cells are permuted. Cells of a unit are moved together, and the units of a stratum are exchanged with each
// other.
type design struct {
	sessions bool // cells are sessions
	cells    []cell
	strata   [][][]int
	order    []int                // in this permutation, cell i has the location of cell order[i]
	scores   map[Within][]float64 // rank of each cell's location within a side, or within both
}

// newDesign makes a design whose cells are runs, or sessions.
func newDesign(runs []ContrastRun, sessions bool) *design {
	d := &design{sessions: sessions}
	if sessions {
		d.addSessions(runs)
	} else {
		for i, r := range runs {
			d.cells = append(d.cells, cell{r.Head, r.Session, []int{i}, r.Location})
		}
	}
	d.align()
	d.stratify(runs)
	d.score()
	d.order = make([]int, len(d.cells))
	for i := range d.order {
		d.order[i] = i
	}
	return d
}

// addSessions makes one cell for each side of each session.
func (d *design) addSessions(runs []ContrastRun) {
	at := map[groupKey]int{}
	for i, r := range runs {
		key := groupKey{r.Session, r.Head}
		k, ok := at[key]
		if !ok {
			k = len(d.cells)
			at[key] = k
			d.cells = append(d.cells, cell{head: r.Head, session: r.Session})
		}
		d.cells[k].runs = append(d.cells[k].runs, i)
	}
	for k := range d.cells {
		var all []float64
		for _, i := range d.cells[k].runs {
			all = append(all, runs[i].Location)
		}
		d.cells[k].location = medianOf(all)
	}
}

// groupKey is a side of a session.
type groupKey struct {
	session string
	head    bool
}

// group returns the group within which a cell is compared: runs within their session and side, sessions within their side.
func (d *design) group(i int) groupKey {
	if d.sessions {
		return groupKey{head: d.cells[i].head}
	}
	return groupKey{d.cells[i].session, d.cells[i].head}
}

// align subtracts the median of its group from each location.
func (d *design) align() {
	groups := map[groupKey][]float64{}
	for i, c := range d.cells {
		groups[d.group(i)] = append(groups[d.group(i)], c.location)
	}
	levels := map[groupKey]float64{}
	for key, all := range groups {
		levels[key] = medianOf(all)
	}
	for i := range d.cells {
		d.cells[i].location -= levels[d.group(i)]
	}
}

// stratify finds the units: whole sessions, or blocks if they have runs of both sides, or single runs. Units of the same session,
// or whole sessions, form a stratum if they have the same sides.
func (d *design) stratify(runs []ContrastRun) {
	type unitKey struct {
		session string
		place   string
	}
	sides := map[string][2]bool{}
	for _, c := range d.cells {
		both := sides[c.session]
		both[sideIndex(c.head)] = true
		sides[c.session] = both
	}
	units := map[unitKey][]int{}
	var keys []unitKey
	for i, c := range d.cells {
		key := unitKey{session: c.session}
		if r := runs[c.runs[0]]; !d.sessions {
			key.place = "run " + strconv.Itoa(i)
			if sides[c.session] == [2]bool{true, true} && r.Block >= 0 && c.session != "" {
				key.place = "block " + strconv.FormatInt(r.Block, 10)
			}
		}
		if units[key] == nil {
			keys = append(keys, key)
		}
		units[key] = append(units[key], i)
	}
	at := map[string]int{}
	for _, key := range keys {
		unit := units[key]
		slices.SortStableFunc(unit, func(a, b int) int { return cmp.Compare(sideIndex(d.cells[a].head), sideIndex(d.cells[b].head)) })
		stratum := ""
		if !d.sessions {
			stratum = key.session + " "
		}
		for _, i := range unit {
			stratum += strconv.Itoa(sideIndex(d.cells[i].head))
		}
		k, ok := at[stratum]
		if !ok {
			k = len(d.strata)
			at[stratum] = k
			d.strata = append(d.strata, nil)
		}
		d.strata[k] = append(d.strata[k], unit)
	}
}

func sideIndex(head bool) int {
	if head {
		return 1
	}
	return 0
}

// score computes the ranks of the locations within each side, and within both.
func (d *design) score() {
	d.scores = map[Within][]float64{}
	for _, w := range []Within{WithinBase, WithinHead, WithinSides} {
		var values []float64
		for _, i := range d.within(w) {
			values = append(values, d.cells[i].location)
		}
		ranks := stat.Ranks(values)
		d.scores[w] = make([]float64, len(d.cells))
		for k, i := range d.within(w) {
			d.scores[w][i] = ranks[k]
		}
	}
}

// within returns the cells of a side, or of both.
func (d *design) within(w Within) []int {
	var cells []int
	for i, c := range d.cells {
		if w == WithinSides || (w == WithinHead) == c.head {
			cells = append(cells, i)
		}
	}
	return cells
}

// shuffle draws the next permutation.
func (d *design) shuffle(random *rand.Rand) {
	for _, units := range d.strata {
		for i, from := range random.Perm(len(units)) {
			for k, at := range units[i] {
				d.order[at] = units[from][k]
			}
		}
	}
}

// untestable returns the contrast of a fact that cannot be tested.
func (s *splits) untestable(f *factor) Contrast {
	nan := math.NaN()
	return Contrast{
		Condition: Condition{Fact: f.names[0]}, ConfoundedWith: s.confoundedWith(f, Condition{}), Effect: stat.Estimate{Value: nan, Low: nan, High: nan},
		P: nan, Adjusted: nan, Part: nan, Verdict: ContrastInconclusive,
	}
}

// contrast computes the contrast of a fact from its best test.
func (s *splits) contrast(f *factor, l *look) Contrast {
	c := Contrast{
		Within: l.within, Condition: s.condition(f, l), P: l.p, Adjusted: l.adjusted, Verdict: ContrastInconclusive,
	}
	c.ConfoundedWith = s.confoundedWith(f, c.Condition)
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

// confoundedWith returns the other facts of a factor, with the values that they have in the runs that meet a condition.
func (s *splits) confoundedWith(f *factor, c Condition) []Condition {
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

// verdict decides whether a fact explains the difference, by its part of it. If the part is unknown, it decides by whether the sides
// differ in the fact.
func (s *splits) verdict(f *factor, part float64) ContrastVerdict {
	if math.IsNaN(part) {
		if math.Abs(s.delta(f)) > smallDelta {
			return Explains
		}
		return Noisy
	}
	needed := minExplained
	if change := math.Abs(s.change); change < s.Margin { // nearly every fact explains a part of a tiny change
		needed *= s.Margin / change
	}
	switch {
	case part >= needed:
		return Explains
	case part <= -needed:
		return Opposes
	}
	return Noisy
}

// condition returns the condition that the worse runs meet. For a number it splits the runs into halves; for two values it is the worse
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

// half returns the number that splits the cells most evenly within their groups, as text and as a number.
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

// outward returns up to maxSplits evenly spaced indexes of 1..n-1, from the middle outward.
func outward(n int) []int {
	step := (n-1)/maxSplits + 1
	var places []int
	for k := 1; k < n; k += step {
		places = append(places, k)
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(max(2*a-n, n-2*a), max(2*b-n, n-2*b)) })
	return places
}

// evenness returns the number of cells in the smaller part when each group is split at a number, summed over the groups.
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

// difference returns the difference between the mean ranks of the cells that meet a condition and of the others, in standard deviations up
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

// effect returns the Hodges-Lehmann estimate of the difference between the cells that meet a condition and the others of their group, with
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
		level := medianOf(without)
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

// effectGroups returns the locations of the cells that do not and that do meet a condition, for each group that has both.
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

// effectCells returns the values of the cells. If cells are sessions, both sides of a session are averaged into one value.
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

// part returns the share of the difference between the sides that a contrast explains.
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
		if e := s.effect(f, l.design, other, c.Condition); disjoint(e, c.Effect) {
			*of = e.Value
		}
	}
	return (head*ofHead - base*ofBase) / s.change
}

// Condition is a condition on a fact of a run: the fact is equal to a value (=), at least it (>=) or below it (<). With = an empty
// Value means that the fact is unknown.
type Condition struct {
	Fact, Operator, Value string

	bound float64 // of a number
}

// met reports whether a fact with this value meets the condition.
func (c Condition) met(value string) bool {
	switch number, err := strconv.ParseFloat(value, 64); c.Operator {
	case "=":
		return value == c.Value
	case ">=":
		return err == nil && number >= c.bound
	default:
		return err == nil && number < c.bound
	}
}

// factor is a fact, or several facts that split the runs in the same way.
type factor struct {
	names   []string
	codes   []int     // per run: index of its value in levels
	levels  []string  // the different values, ascending; empty for runs without the fact
	numbers []float64 // per run: its value, NaN if unknown; nil if the values are categories
}

// fewOfValue is the number of runs that each value of a number must have for the values to be treated as categories.
const fewOfValue = 3

// factorsOf returns the facts that vary between the runs. Facts that split the runs in the same way are one factor.
func factorsOf(runs []ContrastRun, names []string) []*factor {
	var all []*factor
	byKey := map[string]*factor{}
	for _, name := range names {
		f := factorOf(runs, name)
		if len(f.levels) < 2 {
			continue
		}
		key := f.key()
		if first := byKey[key]; first != nil {
			first.names = append(first.names, name)
			continue
		}
		byKey[key] = f
		all = append(all, f)
	}
	return all
}

func factorOf(runs []ContrastRun, name string) *factor {
	f := &factor{names: []string{name}, codes: make([]int, len(runs))}
	for _, r := range runs {
		f.levels = append(f.levels, r.Facts[name])
	}
	slices.Sort(f.levels)
	f.levels = slices.Compact(f.levels)
	sizes := make([]int, len(f.levels))
	for i, r := range runs {
		f.codes[i], _ = slices.BinarySearch(f.levels, r.Facts[name])
		sizes[f.codes[i]]++
	}
	if len(f.levels) > 2 && slices.Min(sizes) < fewOfValue {
		f.numbers = numbersOf(runs, name)
	}
	return f
}

// numbersOf returns the values of a fact as numbers, NaN for runs without it; nil if a value is not a number.
func numbersOf(runs []ContrastRun, name string) []float64 {
	numbers := make([]float64, len(runs))
	for i, r := range runs {
		numbers[i] = math.NaN()
		if text := r.Facts[name]; text != "" {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
				return nil
			}
			numbers[i] = v
		}
	}
	return numbers
}

// key is equal for facts that split the runs in the same way: numbers with the same or the reverse order, categories with the same
// parts.
func (f *factor) key() string {
	codes := f.codes
	if f.numbers != nil {
		ranks := stat.Ranks(f.numbers)
		known := slices.DeleteFunc(slices.Clone(ranks), math.IsNaN)
		if len(known) > 0 && known[0] > float64(len(known)+1)/2 {
			for i := range ranks {
				ranks[i] = float64(len(known)+1) - ranks[i]
			}
		}
		var b strings.Builder
		for _, r := range ranks {
			b.WriteString(strconv.FormatFloat(r, 'g', -1, 64) + " ")
		}
		return b.String()
	}
	var b strings.Builder
	b.WriteString("parts ")
	seen := map[int]int{}
	for _, code := range codes {
		if _, ok := seen[code]; !ok {
			seen[code] = len(seen)
		}
		b.WriteString(strconv.Itoa(seen[code]) + " ")
	}
	return b.String()
}

// value returns the value of a run, as text.
func (f *factor) value(run int) string { return f.levels[f.codes[run]] }

// known reports whether a run counts: for numbers, whether the run has a number.
func (f *factor) known(run int) bool { return f.numbers == nil || !math.IsNaN(f.numbers[run]) }

// splits are the factors of a question and their tests (looks).
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
	permuted   []float64 // p value of each permutation
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
	delta := max(math.Abs(s.delta(f)), smallDelta)
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

// changeOf returns the difference between the means of the sides, head minus base.
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

// newLook returns the test of a fact within a side or both; nil if the fact does not vary there.
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

// statistic returns the share of the variance of the ranks that the fact explains, in the current permutation.
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

// autocorrelation returns the product of the autocorrelations of the fact and of the ranks, each at least 0.
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

// neighbours returns the autocorrelation of consecutive values, corrected for their number (see stat.Neighbours).
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
		if draw > 0 { // the first statistic belongs to the data
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

// best returns the most informative test of a fact, nil if there is none. If the test within both sides is significant, and the effects
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
	return disjoint(s.effect(f, l.design, WithinBase, c), s.effect(f, l.design, WithinHead, c))
}

// disjoint reports whether the intervals of two estimates do not overlap.
func disjoint(a, b stat.Estimate) bool {
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
