package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
)

// pairing is one metric of one point on both sides. A side that does not have the point is nil.
type pairing struct {
	base, head *runGroup
	name       string // of the metric
	scale      schema.Scale
	means      bool // the means of the runs are compared: see meansSide
	control    bool // the sweep marks it as a control
	printed    bool // see Point.Printed
	thresholds judge.Thresholds
	clocks     *query.Clocks // nil: not known on both sides

	otherDevice bool // different GPUs of a machine have measured the sides

	// How the runs of the sides relate: see relate.
	blocks              []float64
	sequence            []bool // see judge.Pair
	ordered, confounded bool
	leftOut             int      // number of runs that were left out: see leaveOut
	leftOutSessions     []string // their sessions
	decides             string   // newest session that can decide alone, if the sides have several; empty: none
	distance            int64    // in microseconds, or unknown
	history             []float64
	knownHistory        int              // number of earlier sessions in history; negative: unknown, but fewer than are needed
	earlier             []earlierSession // earlier sessions from which history is chosen
	// planned is the number of planned looks (0: none). look is the number of repeats at the look at which the point had its last run
	// (0: it is judged with its current runs). See plan.
	planned, look int

	outcome  *judge.Outcome
	relative *judge.Outcome // relative to the common change of all points; nil: none
	repeats  *judge.Outcome // as if both sides were of one session: see judgeRepeats; nil: none
	sampled  bool           // repeats is of the samples of too few runs
	family   int            // number of pairs that p was adjusted for
	verdict  judge.Verdict
	reason   judge.Reason
}

// either returns the head's group if the head has the point, otherwise the base's.
func (p *pairing) either() *runGroup {
	if p.head != nil {
		return p.head
	}
	return p.base
}

// inCommon reports whether some point is on both sides. Then points are paired by id and machine.
func inCommon(base, head runGroups) bool {
	i := 0
	for _, g := range head {
		for i < len(base) && base[i].PointID < g.PointID {
			i++
		}
		if i < len(base) && base[i].PointID == g.PointID {
			return true
		}
	}
	return false
}

// match pairs the groups of two sides. It is an error if no groups can be paired. paired leaves out points that only one side has.
func (m *matcher) match(base, head runGroups, paired bool) ([]*pairing, error) {
	partner := base.ascendingLookup()
	if !m.byID || m.skip["machine"] {
		found := make(map[string]*runGroup, len(base))
		for _, g := range base {
			found[m.key(g)] = g
		}
		partner = func(g *runGroup) *runGroup { return found[m.key(g)] }
	}
	pairings := make([]pairing, len(head))
	all := make([]*pairing, len(head), len(head)+len(base))
	some := false
	for i, g := range head {
		pairings[i] = pairing{base: partner(g), head: g}
		all[i] = &pairings[i]
		if base := all[i].base; base != nil {
			base.Matched, some = true, true
		}
	}
	if !some && len(base) > 0 && len(head) > 0 {
		return nil, answer.InputError("compare: no point of the base has a counterpart on the head: %s", m.whyDisjoint(base, head))
	}
	if m.axis != "" && !paired {
		return append(all, m.absent(base, head)...), nil
	}
	if paired {
		return slices.DeleteFunc(all, func(p *pairing) bool { return p.base == nil }), nil
	}
	for _, g := range base {
		if !g.Matched {
			all = append(all, &pairing{base: g})
		}
	}
	return all, nil
}

// absent returns the points of the base that are missing for some value of the axis. A missing axis counts as a value only for a
// benchmark that has points without the axis: another benchmark may not have it at all.
func (m *matcher) absent(base, head runGroups) (all []*pairing) {
	there := map[string]bool{}
	having := map[string]*runGroup{} // by value of the axis
	unset := map[string]bool{}       // by benchmark
	for _, g := range head {
		value := m.value(g, m.axis)
		if value == "" {
			unset[m.value(g, "benchmark")] = true
		}
		there[value+m.key(g)] = true
		having[value] = g
	}
	for _, g := range base {
		for _, value := range slices.Sorted(maps.Keys(having)) {
			if value == "" && m.axis != "benchmark" && !unset[m.value(g, "benchmark")] {
				continue
			}
			if !there[value+m.key(g)] {
				all = append(all, &pairing{base: g, head: m.standIn(g, having[value])})
			}
		}
	}
	return all
}

// standIn returns a group without runs: the point of g with the axis value of another group.
func (m *matcher) standIn(g, having *runGroup) *runGroup {
	point := g.Point.With(m.axis, having.Point)
	absent := &runGroup{Machine: g.Machine, Metric: &metricKind{}, Absent: true, Point: &point}
	if name, ok := strings.CutPrefix(m.axis, filter.ParamPrefix); ok && point.Parameter(name) == nil {
		absent.Lacks = name
	}
	return absent
}

// inOrder compares points by when they first ran, then by id and machine.
func inOrder(a, b *pairing) int {
	x, y := a.either(), b.either()
	if x.First != y.First {
		return cmp.Compare(x.First, y.First)
	}
	if x.PointID != y.PointID {
		return strings.Compare(x.PointID, y.PointID)
	}
	return strings.Compare(x.Machine, y.Machine)
}

// matcher determines which fields have to be equal for two points to be paired: all except the axis whose values are compared, the machine if
// each side has one, and the fields that are constant on each side but differ between the sides, if the sides name one of these (see named).
// Otherwise such points are not the same: two sessions may have measured different values of an axis.
type matcher struct {
	axis    string   // field whose values are compared, or empty
	guessed bool     // nobody named the axis: points of different benchmarks, which do different work, are not paired unless it is the axis
	fields  []string // query.Identity and then parameters; only the machine if points are paired by id
	byID    bool     // points are paired by id
	skip    map[string]bool
	differs []query.FactDifference // the skipped fields, except the axis
}

// axisOf returns the field of the key of an axis. It is an ErrInput if the key is neither an identity field nor a parameter.
func axisOf(key string) (string, error) {
	if key == "" {
		return "", nil
	}
	f := filter.FieldOf(key)
	switch {
	case key == pointID:
		return key, nil
	case f.Entry != "" && f.Column.Name == "params":
		return filter.ParamPrefix + f.Entry, nil
	case f.Entry == "" && !filter.StandsForIDs(key) && slices.Contains(query.Identity, f.Column.Name):
		return f.Column.Name, nil
	}
	return "", answer.InputError("compare: %s is not an axis: want a parameter, or one of %s", answer.Brief(key), strings.Join(query.Identity, ", "))
}

// newMatcher returns the matcher of two sides. named reports whether the sides name a field.
func newMatcher(base, head runGroups, axis string, guessed, byID bool, named func(field string) bool) *matcher {
	m := &matcher{skip: map[string]bool{}, guessed: guessed, byID: byID}
	if m.byID {
		m.fields = []string{"machine"}
	} else {
		names := map[string]bool{}
		for _, side := range []runGroups{base, head} {
			for _, g := range side {
				for name := range g.Point.Params {
					names[name] = true
				}
			}
		}
		m.fields = slices.Clone(query.Identity)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			m.fields = append(m.fields, filter.ParamPrefix+name)
		}
	}
	m.axis = axis
	m.skip[axis] = true
	m.skipInStep(base, head)
	var differ []query.FactDifference
	for _, field := range m.fields {
		of, constant := m.constant(base, field)
		as, also := m.constant(head, field)
		if constant && also && of != as && m.mayDiffer(field) {
			differ = append(differ, query.FactDifference{Kind: query.ConfigurationFact, Name: field, Base: valuesIn(of), Head: valuesIn(as)})
		}
	}
	if other := func(d query.FactDifference) bool { return d.Name != "machine" }; !slices.ContainsFunc(differ, func(d query.FactDifference) bool { return other(d) && named(d.Name) }) {
		differ = slices.DeleteFunc(differ, other)
	}
	for _, d := range differ {
		m.skip[d.Name] = true
	}
	m.differs = append(m.differs, differ...)
	return m
}

// named reports whether the filters of both sides name a field, or the runs or points themselves, or both sides are files.
func (m *comparison) named(field string) bool {
	keys := []string{field, "run_id", pointID}
	return m.req.BaseFile != "" && m.req.HeadFile != "" || filter.Mentions(m.base.Narrowed, keys...) && filter.Mentions(m.head.Narrowed, keys...)
}

// mayDiffer reports whether a field that is not skipped yet may be skipped.
func (m *matcher) mayDiffer(field string) bool {
	return !m.skip[field] && (field != "benchmark" || !m.guessed)
}

// skipInStep skips fields that are determined by the axis: see query.InStep.
func (m *matcher) skipInStep(base, head runGroups) {
	if m.axis == "" || m.byID {
		return
	}
	all := slices.Concat(base, head)
	text := func(i int, field string) string { return m.value(all[i], field) }
	for _, field := range m.fields {
		if !m.mayDiffer(field) || field == "machine" || !query.InStep(len(all), m.axis, field, text) {
			continue
		}
		m.skip[field] = true
		m.differs = append(m.differs, query.FactDifference{Kind: query.ConfigurationFact, Name: field, Base: m.texts(base, field), Head: m.texts(head, field)})
	}
}

// texts returns the different values of a field on a side, without NULL.
func (m *matcher) texts(side runGroups, field string) (texts []string) {
	for _, value := range m.values(side, field) {
		texts = append(texts, valuesIn(value)...)
	}
	return texts
}

// constant returns the value of a field if all groups have the same one.
func (m *matcher) constant(side runGroups, field string) (value string, ok bool) {
	for i, g := range side {
		if i > 0 && !m.same(g, side[0], field) {
			return "", false
		}
	}
	if len(side) > 0 {
		value = m.value(side[0], field)
	}
	return value, true
}

// valuesIn converts the result of value to a list: empty for NULL.
func valuesIn(value string) []string {
	if text, ok := strings.CutPrefix(value, "="); ok {
		return []string{text}
	}
	return nil
}

// value returns the text of a field of a group after "=", or "" for NULL.
func (m *matcher) value(g *runGroup, field string) string {
	v := m.fieldOf(g, field)
	if v == nil {
		return ""
	}
	return "=" + fmt.Sprint(v)
}

// same reports whether two groups have the same value of a field.
func (m *matcher) same(a, b *runGroup, field string) bool {
	if field == "machine" {
		return a.Machine == b.Machine
	}
	return m.fieldOf(a, field) == m.fieldOf(b, field)
}

// fieldOf returns the value of a field of a group: a text, an integer or nil.
func (m *matcher) fieldOf(g *runGroup, field string) any {
	if field == "machine" {
		return answer.Text(g.Machine)
	}
	if name, ok := strings.CutPrefix(field, filter.ParamPrefix); ok {
		return g.Point.Parameter(name)
	}
	if field == pointID {
		return g.PointID
	}
	return g.Point.Value(field)
}

// key is equal for groups that are paired.
func (m *matcher) key(g *runGroup) string {
	if m.byID { // the machines differ
		return g.PointID
	}
	var b strings.Builder
	for _, field := range m.fields {
		if !m.skip[field] {
			b.WriteString(m.value(g, field))
		}
		b.WriteByte(0)
	}
	return b.String()
}

// whyDisjoint explains why no points can be paired: the first field without a common value of both sides, and what compares its values if each
// side has one.
func (m *matcher) whyDisjoint(base, head runGroups) string {
	for _, field := range m.fields {
		of, as := m.values(base, field), m.values(head, field)
		if !m.skip[field] && !slices.ContainsFunc(of, func(v string) bool { return slices.Contains(as, v) }) {
			why := fmt.Sprintf("%s is %s on the base and %s on the head", field, someOf(of), someOf(as))
			if m.axis == "" && len(of) == 1 && len(as) == 1 && field != "machine" {
				why += fmt.Sprintf("; %s in BASE and %s in HEAD compares them", condition(field, of[0]), condition(field, as[0]))
			}
			return why
		}
	}
	return "no combination of axis values is on both sides"
}

// condition returns the condition of a filter that a field has a value, which is given as value returns it.
func condition(field, value string) string {
	key := field
	if name, ok := strings.CutPrefix(field, filter.ParamPrefix); ok {
		key = filter.ParameterKey(name)
	}
	if value == "" {
		return key + "=null"
	}
	return key + "=" + filter.QuoteWord(value[1:])
}

// values returns the different values of a field, as value returns them, ascending.
func (m *matcher) values(side runGroups, field string) []string {
	seen := map[string]bool{}
	for _, g := range side {
		seen[m.value(g, field)] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// someOf lists the first values.
func someOf(values []string) string {
	const shown = 3
	var names []string
	for _, v := range values[:min(shown, len(values))] {
		if v == "" {
			v = "=not set"
		}
		names = append(names, v[1:])
	}
	text := strings.Join(names, ", ")
	if len(values) > shown {
		text += " ..."
	}
	return answer.Brief(text)
}
