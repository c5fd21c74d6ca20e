package sweep

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/runner/expression"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// bases are how many of the base unit, in which expressions compute, a stored unit is. Others are 1.
var bases = map[string]float64{"ns": 1e-9, "mJ": 1e-3, "mW": 1e-3, "MHz": 1e6}

// Result is computed from the metrics of a run: a derived metric, or a condition. Its expression computes in base units: s, B, J, W,
// Hz, and ratios such as 0.98.
type Result struct {
	Name   string // of the metric; empty of a condition
	Text   string // the expression
	Unit   string // stored unit of the metric
	Better schema.Better

	formula *formula
	metrics map[string]string // names in the expression, with the metric that each is
	scale   float64           // stored units in a base unit
}

// Metrics lists the metrics that the expression names.
func (r *Result) Metrics() []string {
	return slices.Compact(slices.Sorted(maps.Values(r.metrics)))
}

// Eval returns the value at a point with these metrics, in stored units: a float64 in the stored unit, or a bool. If a needed value is
// NULL, the error names it. Only one goroutine at a time may evaluate the results of a sweep.
func (r *Result) Eval(p *Point, metrics map[string]Measured) (any, error) {
	l := r.formula.language
	for name, metric := range r.metrics {
		l.results[name] = nil
		if a, has := metrics[metric]; has {
			l.results[name] = a.Value * base(a.Unit)
		}
	}
	l.point = p
	for _, name := range r.formula.names {
		l.values[name] = l.value(name)
	}
	value, err := r.formula.Eval(l.values)
	if null, is := errors.AsType[*expression.NullError](err); is {
		return nil, errors.New(l.explain(null))
	}
	number, is := value.(float64)
	switch {
	case err != nil || !is:
		return value, err
	case math.IsInf(number*r.scale, 0):
		return nil, fmt.Errorf("%s is too large", r.Text)
	}
	return rounded(number * r.scale), nil
}

// rounded has the 15 digits that a float64 has for certain: the way from ns to s and back leaves a trace in the last ones.
func rounded(v float64) float64 {
	const digits = 15
	short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil {
		return v // it would be infinite
	}
	return short
}

// Measured is a value in a stored unit.
type Measured struct {
	Value float64
	Unit  string
}

func base(stored string) float64 {
	if factor, known := bases[stored]; known {
		return factor
	}
	return 1
}

// derivedKeys are the keys of an entry of derived.
var derivedKeys = []Key{
	{Name: "expr", Value: expressionValue, Doc: "An expression of metrics, parameters and facts, in base units such as s, B and J. If its metrics have several samples, it is computed for each sample."},
	{Name: "unit", Value: textValue, Doc: "The unit, without a prefix: s, B, J, B/s, ratio, tok/s. Not needed for the metrics that NeuroLens knows."},
	{Name: "better", Value: oneOf(string(schema.BetterLower), string(schema.BetterHigher)), Doc: "Which values are better: lower or higher."},
}

// readResults reads derived and check.
func (p *program) readResults(d *document, g *grid) error {
	derived, check := d.keys["derived"], d.keys["check"]
	if !derived.given() && !check.given() {
		return nil
	}
	var members []member
	if derived.given() {
		var err error
		if members, err = derived.members("derived."); err != nil {
			return err
		}
		if len(members) == 0 || len(members) > maxMetrics {
			return derived.errorf("want 1 to %d metrics, got %d", maxMetrics, len(members))
		}
	}
	s := speaker{newLanguage(g, d.over.Facts, p.seed, d.elsewhere), p.metricNames(members)}
	for _, m := range members {
		if slices.ContainsFunc(p.metrics, func(read metric) bool { return read.rule.Name == m.key }) {
			return m.value.errorf("metrics defines a metric with this name: choose another name")
		}
		r, err := s.readDerived(m)
		if err != nil {
			return err
		}
		p.derived = append(p.derived, r)
	}
	if err := p.orderDerived(derived); err != nil || !check.given() {
		return err
	}
	if len(check.items()) == 0 || len(check.items()) > maxMetrics {
		return check.errorf("want 1 to %d conditions, got %d", maxMetrics, len(check.items()))
	}
	for _, item := range check.items() {
		c := &Result{scale: 1}
		if err := s.compile(c, item, expression.Boolean); err != nil {
			return err
		}
		p.checks = append(p.checks, c)
	}
	return nil
}

// metricNames are the metrics that expressions may name: those with a fixed meaning, and those that the sweep makes.
func (p *program) metricNames(derived []member) map[string]bool {
	names := map[string]bool{}
	for _, k := range schema.MetricKinds {
		names[k.Name] = true
	}
	for _, m := range p.metrics {
		names[m.rule.Name] = true
	}
	for _, m := range derived {
		names[m.key] = true
	}
	return names
}

// speaker compiles expressions that may name metrics.
type speaker struct {
	*language
	metrics map[string]bool
}

// prefixedMetric is any metric in an expression, also one that only the benchmark knows.
var prefixedMetric = regexp.MustCompile(`\bmetric\.([A-Za-z_]\w*)`)

// compile compiles an expression. The name of a metric that is one of a parameter or a fact too is refused: metric.NAME says which
// is meant.
func (s *speaker) compile(r *Result, f field, gives expression.Kind) error {
	scope := s.scope
	scope.Names, scope.Unclear = maps.Clone(scope.Names), maps.Clone(scope.Unclear)
	known := map[string]string{}
	for name := range s.metrics {
		_, taken := scope.Names[name]
		_, unclear := scope.Unclear[name]
		switch {
		case taken || unclear:
			s.refuseName(&scope, name)
		case axisName.MatchString(name) && !strings.Contains(name, "-"):
			known[name] = name
		}
	}
	for _, match := range prefixedMetric.FindAllStringSubmatch(f.Value, -1) {
		known[match[0]] = match[1]
	}
	for name := range known {
		scope.Names[name] = expression.Number
	}
	of := *s.language
	of.scope, of.results = scope, map[string]any{}
	formula, err := of.compile(f, gives)
	if err != nil {
		return err
	}
	r.formula, r.Text, r.metrics = formula, formula.text, map[string]string{}
	for _, name := range formula.names {
		if metric, is := known[name]; is {
			r.metrics[name] = metric
		}
	}
	return nil
}

// refuseName takes the name of a metric out of a scope in which it is something else too.
func (s *speaker) refuseName(scope *expression.Scope, name string) {
	if _, identity := identityKinds[name]; identity {
		return // a metric of that name is reached by metric.NAME alone
	}
	other := paramPrefix + name
	if _, is := s.params[other]; !is {
		other = factPrefix + name
		if kind, known := scope.Names[name]; known {
			scope.Names[other] = kind
		}
	}
	delete(scope.Names, name)
	scope.Unclear[name] = fmt.Sprintf("%s is the name of a metric and of something else: write metric.%s or %s", name, name, other)
}

// readDerived reads an entry of derived.
func (s *speaker) readDerived(m member) (*Result, error) {
	said, err := m.value.knownOfExpressions(keyNames(derivedKeys))
	if err != nil {
		return nil, err
	}
	if err := checkDerivedName(m); err != nil {
		return nil, err
	}
	if !said["expr"].given() {
		return nil, m.value.errorf("want {expr: EXPRESSION, unit: UNIT}: expr is missing")
	}
	r := &Result{Name: m.key}
	if err := r.readUnit(m.value, said["unit"]); err != nil {
		return nil, err
	}
	if better := said["better"]; better.given() {
		word, err := better.oneOf([]string{string(schema.BetterLower), string(schema.BetterHigher)})
		if err != nil {
			return nil, err
		}
		if kind, known := schema.KindOfMetric(m.key); known && kind.Better != "" && kind.Better != schema.Better(word) {
			return nil, better.errorf("for %s, %s is better", m.key, kind.Better)
		}
		r.Better = schema.Better(word)
	}
	return r, s.compile(r, said["expr"], expression.Number)
}

// checkDerivedName refuses names that are no metric's, or that are measured.
func checkDerivedName(m member) error {
	if !axisName.MatchString(m.key) {
		return m.value.errorf("want a name made of letters, digits, _ and -")
	}
	if slices.Contains(measured, m.key) {
		return m.value.errorf("NeuroLens measures a metric with this name: choose another name")
	}
	return nil
}

// readUnit finds the stored unit of a derived metric.
func (r *Result) readUnit(entry, f field) error {
	kind, known := schema.KindOfMetric(r.Name)
	if r.Better = kind.Better; known {
		r.Unit = kind.Unit
	}
	r.scale = 1 / base(r.Unit)
	if !f.given() {
		if !known {
			return entry.errorf("want a unit: s, B, J, B/s, ratio, or a count such as tok/s")
		}
		return nil
	}
	text, err := f.text()
	if err != nil {
		return err
	}
	stored, factor, _ := schema.StoredUnit(text)
	switch {
	case known && kind.Unit != "" && stored != kind.Unit:
		return f.errorf("%s is in %s, not in %s", r.Name, kind.Unit, text)
	case math.Abs(factor*base(stored)-1) > 1e-9:
		return f.errorf("want a unit without a prefix, such as s, B, J, ratio, got %s: expressions compute in units without a prefix, and tables add one", text)
	}
	r.Unit, r.scale = stored, factor
	return nil
}

// orderDerived puts metrics before those that are derived of them.
func (p *program) orderDerived(f field) error {
	var ordered []*Result
	left := p.derived
	for len(left) > 0 {
		waits := func(r *Result) bool {
			return slices.ContainsFunc(left, func(other *Result) bool { return slices.Contains(r.Metrics(), other.Name) })
		}
		at := slices.IndexFunc(left, func(r *Result) bool { return !waits(r) })
		if at < 0 {
			return f.errorf("%s depends on itself", left[0].Name)
		}
		ordered = append(ordered, left[at])
		left = slices.Delete(slices.Clone(left), at, at+1)
	}
	p.derived = ordered
	return nil
}

// fillResults gives a point its derived metrics and conditions.
func (p *program) fillResults(point *Point) {
	point.Derived, point.Checks = p.derived, p.checks
}

// derivedText are the expressions of derived as JSON.
func derivedText(p *Point) string {
	if len(p.Derived) == 0 {
		return ""
	}
	object := map[string]any{}
	for _, r := range p.Derived {
		object[r.Name] = r.Text
	}
	text, _ := schema.CanonicalJSON(object) // texts always have one
	return text
}

// conditionsText are the conditions of check as JSON.
func conditionsText(p *Point) string {
	if len(p.Checks) == 0 {
		return ""
	}
	var list []any
	for _, r := range p.Checks {
		list = append(list, r.Text)
	}
	text, _ := schema.CanonicalJSON(list)
	return text
}
