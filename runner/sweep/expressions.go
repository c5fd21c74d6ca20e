package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/runner/expression"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// paramPrefix precedes a parameter in an expression if its name is no identifier or has another meaning, and factPrefix precedes a fact
// if a parameter has its name.
const (
	paramPrefix = "param."
	factPrefix  = "fact."
)

// identityKinds are the fields of a point that every expression may use. An unset field is NULL.
var identityKinds = map[string]expression.Kind{
	"benchmark": expression.Text, "variant": expression.Text, "backend": expression.Text, "model": expression.Text,
	"precision": expression.Text, "batch_size": expression.Number, "seq_len": expression.Number, "seed": expression.Number,
}

// exprEnv is the environment of the expressions of a sweep: the names that they may use, and the values of these at the current point.
// param.NAME is always the parameter. A name that both a parameter and a fact have is refused as ambiguous.
type exprEnv struct {
	scope  expression.Scope
	facts  *expression.Machine
	seed   *int64
	params map[string]string // the parameter of a name
	values map[string]any    // of facts that were read, and of the point
	data   map[[2]string]any // cache of datum: many points share a text
	// results are values of metrics by their names in an expression; nil if no metric may be used.
	results map[string]any
	point   *Point

	seedUsed bool // an expression names the seed
}

// formula is an expression of the sweep file.
type formula struct {
	*expression.Evaluator
	at    field
	text  string
	names []string
	env   *exprEnv
}

// exprEnv returns the environment of the document's expressions, which is created at first use.
func (d *document) exprEnv(g *grid, seed *int64) *exprEnv {
	if d.env == nil {
		d.env = newExprEnv(g, d.over.Facts, seed, d.otherAxes)
	}
	return d.env
}

// newExprEnv collects the names. It reads no fact. Axes that only other benchmarks or variants of the file have are NULL.
func newExprEnv(g *grid, machine *expression.Machine, seed *int64, elsewhere map[string]bool) *exprEnv {
	l := &exprEnv{facts: machine, seed: seed, params: map[string]string{}, values: map[string]any{}, data: map[[2]string]any{}}
	names, facts, unclear := map[string]expression.Kind{}, map[string]expression.Kind{}, map[string]string{}
	for _, f := range expression.Facts() {
		names[f.Name], facts[f.Name] = f.Kind, f.Kind
	}
	params := map[string]expression.Kind{}
	for axis := range elsewhere {
		params[axis] = expression.Any
	}
	for i, a := range g.axes {
		params[a.name] = g.kindOf(i)
	}
	for name, kind := range params {
		if !schema.IsAxisColumn(name) {
			names[paramPrefix+name], l.params[paramPrefix+name] = kind, name
			if ofFact, both := facts[name]; both {
				delete(names, name)
				names[factPrefix+name] = ofFact
				unclear[name] = fmt.Sprintf("%s is the name of a parameter and of a fact: write %s%s or %s%s", name, paramPrefix, name, factPrefix, name)
				continue
			}
			names[name], l.params[name] = kind, name
		}
	}
	maps.Copy(names, identityKinds)
	for name := range identityKinds {
		delete(l.params, name)
	}
	l.scope = expression.Scope{Names: names, Unclear: unclear, Functions: machine.Functions(l.interpreter), Canonical: canonicalTexts}
	return l
}

// canonicalTexts are the fields of a point that are stored in one spelling.
var canonicalTexts = map[string]func(string) string{
	"precision": func(text string) string {
		if canonical, err := schema.CanonicalPrecision(text); err == nil {
			return canonical
		}
		return text
	},
}

// interpreter returns the Python interpreter of the point.
func (l *exprEnv) interpreter() (name string, is bool) {
	return l.point.Python, slices.Contains(pythonRun, l.point.Executor)
}

// kindOf returns the common kind of all values of an axis; Any if they differ.
func (g *grid) kindOf(axis int) expression.Kind {
	values := slices.Clone(g.axes[axis].values)
	for _, e := range g.include {
		values = append(values, e.values[axis]...)
	}
	kind := expression.KindOf(datum(values[0].text, values[0].typed))
	for _, v := range values[1:] {
		if expression.KindOf(datum(v.text, v.typed)) != kind {
			return expression.Any
		}
	}
	return kind
}

// datum converts a parameter for an expression, from its canonical text and its JSON, if that differs: to a number, a boolean or a text.
// Lists and maps are their canonical text.
func datum(text, typed string) any {
	if strings.HasPrefix(typed, `"`) {
		return text
	}
	switch text {
	case "true":
		return true
	case "false":
		return false
	}
	if canonical, err := schema.CanonicalNumber(text); err == nil && canonical == text {
		if number, err := strconv.ParseFloat(text, 64); err == nil {
			return number
		}
	}
	return text
}

// datum returns the function datum with a cache.
func (l *exprEnv) datum(text, typed string) any {
	value, known := l.data[[2]string{text, typed}]
	if !known {
		value = datum(text, typed)
		l.data[[2]string{text, typed}] = value
	}
	return value
}

// compile compiles an expression with a value of a kind. Numbers and booleans of YAML are expressions too.
func (l *exprEnv) compile(f field, gives expression.Kind) *formula {
	if f.Kind != yaml.ScalarNode || f.ShortTag() == "!!null" {
		panic(f.want("an expression"))
	}
	formula, err := l.parse(f, gives)
	if err != nil {
		panic(f.errorf("%v", err))
	}
	return formula
}

// parse is compile with errors that do not name the line of the file.
func (l *exprEnv) parse(f field, gives expression.Kind) (*formula, error) {
	e, err := expression.Compile(f.Value, l.scope, gives)
	if err != nil {
		return nil, err
	}
	l.seedUsed = l.seedUsed || slices.Contains(e.Names(), "seed")
	return &formula{Evaluator: e.Evaluator(), at: f, text: e.String(), names: e.Names(), env: l}, nil
}

// eval returns the value of the formula at a point. If a needed value is NULL, the error names it.
func (f *formula) eval(p *Point) any {
	value, err := f.compute(p)
	if err != nil {
		panic(f.at.errorf("%s", f.env.explain(err)))
	}
	return value
}

// compute is eval with the error of the expression itself.
func (f *formula) compute(p *Point) (any, error) {
	f.env.point = p
	for _, name := range f.names {
		f.env.values[name] = f.env.value(name)
	}
	return f.Eval(f.env.values)
}

// explain returns, for an error of an expression, which value is NULL, why, and what to do.
func (l *exprEnv) explain(err error) string {
	null, is := errors.AsType[*expression.NullError](err)
	if !is {
		return err.Error()
	}
	if _, metric := l.results[null.Name]; metric {
		return "the run has no " + null.Name
	}
	if l.isFact(null.Name) {
		name := strings.TrimPrefix(null.Name, factPrefix)
		_, why := l.facts.Value(name)
		return null.Name + " is not known here (" + why + "): write (" + null.Name + " ?? VALUE) for a default, or give --fact " + name + "=VALUE"
	}
	return null.Error() + ": write (... ?? VALUE) for a default"
}

// isFact reports whether a name means a fact.
func (l *exprEnv) isFact(name string) bool {
	_, identity := identityKinds[name]
	_, param := l.params[name]
	_, known := l.scope.Names[name]
	return known && !identity && !param
}

// value returns the value of a name at the point; nil: NULL.
func (l *exprEnv) value(name string) any {
	if value, is := l.results[name]; is {
		return value
	}
	if axis, is := l.params[name]; is {
		if text, has := l.point.Params[axis]; has {
			return l.datum(text, l.point.Values[axis])
		}
		return nil
	}
	number := func(n *int64) any {
		if n == nil {
			return nil
		}
		return float64(*n)
	}
	switch name {
	case "batch_size":
		return number(l.point.BatchSize)
	case "seq_len":
		return number(l.point.SeqLen)
	case "seed":
		return number(l.seed)
	}
	if _, identity := identityKinds[name]; identity {
		if text := l.point.textOf(name); text != "" {
			return text
		}
		return nil
	}
	if value, known := l.values[name]; known {
		return value
	}
	value, _ := l.facts.Value(strings.TrimPrefix(name, factPrefix))
	return value
}

// bases are the factors from stored units to the base units in which expressions compute. The factor of other units is 1.
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
	l := r.formula.env
	for name, metric := range r.metrics {
		l.results[name] = nil
		if a, has := metrics[metric]; has {
			l.results[name] = a.Value * base(a.Unit)
		}
	}
	value, err := r.formula.compute(p)
	if err != nil {
		return nil, errors.New(l.explain(err))
	}
	number, is := value.(float64)
	switch {
	case !is:
		return value, nil
	case math.IsInf(number*r.scale, 0):
		return nil, fmt.Errorf("%s is too large", r.Text)
	}
	return rounded(number * r.scale), nil
}

// rounded rounds to the 15 decimal digits that every float64 preserves: converting ns to s and back disturbs the last ones.
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
func (p *program) readResults(d *document, g *grid) {
	derived, check := d.keys["derived"], d.keys["check"]
	if !derived.given() && !check.given() {
		return
	}
	members := derived.members("derived.")
	if derived.given() && (len(members) == 0 || len(members) > maxMetrics) {
		panic(derived.errorf("want 1 to %d metrics, got %d", maxMetrics, len(members)))
	}
	s := metricEnv{newExprEnv(g, d.over.Facts, p.seed, d.otherAxes), p.metricNames(members)}
	for _, m := range members {
		if slices.ContainsFunc(p.metrics, func(read metric) bool { return read.rule.Name == m.key }) {
			panic(m.value.errorf("metrics defines a metric with this name: choose another name"))
		}
		p.derived = append(p.derived, s.readDerived(m))
	}
	p.orderDerived(derived)
	conditions := check.items()
	if check.given() && (len(conditions) == 0 || len(conditions) > maxMetrics) {
		panic(check.errorf("want 1 to %d conditions, got %d", maxMetrics, len(conditions)))
	}
	for _, item := range conditions {
		c := &Result{scale: 1}
		s.compile(c, item, expression.Boolean)
		p.checks = append(p.checks, c)
	}
}

// metricNames lists the metrics that expressions may name: those with a fixed meaning, and those that the sweep defines.
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

// metricEnv compiles expressions that may name metrics.
type metricEnv struct {
	*exprEnv
	metrics map[string]bool
}

// prefixedMetric is any metric in an expression, also one that only the benchmark knows.
var prefixedMetric = regexp.MustCompile(`\bmetric\.([A-Za-z_]\w*)`)

// compile compiles an expression. The name of a metric that a parameter or a fact also has is refused: metric.NAME is unambiguous.
func (s *metricEnv) compile(r *Result, f field, gives expression.Kind) {
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
	of := *s.exprEnv
	of.scope, of.results = scope, map[string]any{}
	formula := of.compile(f, gives)
	r.formula, r.Text, r.metrics = formula, formula.text, map[string]string{}
	for _, name := range formula.names {
		if metric, is := known[name]; is {
			r.metrics[name] = metric
		}
	}
}

// refuseName makes the name of a metric ambiguous in a scope in which it has another meaning too.
func (s *metricEnv) refuseName(scope *expression.Scope, name string) {
	if _, identity := identityKinds[name]; identity {
		return // the metric is only accessible as metric.NAME
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
func (s *metricEnv) readDerived(m member) *Result {
	values := m.value.knownOfExpressions(keyNames(derivedKeys))
	checkDerivedName(m)
	if !values["expr"].given() {
		panic(m.value.errorf("want {expr: EXPRESSION, unit: UNIT}: expr is missing"))
	}
	r := &Result{Name: m.key}
	r.readUnit(m.value, values["unit"])
	if better := values["better"]; better.given() {
		word := better.oneOf([]string{string(schema.BetterLower), string(schema.BetterHigher)})
		if kind, known := schema.KindOfMetric(m.key); known && kind.Better != "" && kind.Better != schema.Better(word) {
			panic(better.errorf("for %s, %s is better", m.key, kind.Better))
		}
		r.Better = schema.Better(word)
	}
	s.compile(r, values["expr"], expression.Number)
	return r
}

// checkDerivedName refuses invalid names, and names of metrics that NeuroLens measures.
func checkDerivedName(m member) {
	if !axisName.MatchString(m.key) {
		panic(m.value.errorf("want a name made of letters, digits, _ and -"))
	}
	if slices.Contains(measured, m.key) {
		panic(m.value.errorf("NeuroLens measures a metric with this name: choose another name"))
	}
}

// readUnit finds the stored unit of a derived metric.
func (r *Result) readUnit(entry, f field) {
	kind, known := schema.KindOfMetric(r.Name)
	if r.Better = kind.Better; known {
		r.Unit = kind.Unit
	}
	r.scale = 1 / base(r.Unit)
	if !f.given() {
		if !known {
			panic(entry.errorf("want a unit: s, B, J, B/s, ratio, or a count such as tok/s"))
		}
		return
	}
	text := f.text()
	stored, factor, _ := schema.StoredUnit(text)
	switch {
	case known && kind.Unit != "" && stored != kind.Unit:
		panic(f.errorf("%s is in %s, not in %s", r.Name, kind.Unit, text))
	case math.Abs(factor*base(stored)-1) > 1e-9:
		panic(f.errorf("want a unit without a prefix, such as s, B, J, ratio, got %s: expressions compute in units without a prefix, and tables add one", text))
	}
	r.Unit, r.scale = stored, factor
}

// orderDerived sorts derived metrics topologically: each comes after the metrics that it uses.
func (p *program) orderDerived(f field) {
	var ordered []*Result
	left := p.derived
	for len(left) > 0 {
		waits := func(r *Result) bool {
			return slices.ContainsFunc(left, func(other *Result) bool { return slices.Contains(r.Metrics(), other.Name) })
		}
		at := slices.IndexFunc(left, func(r *Result) bool { return !waits(r) })
		if at < 0 {
			panic(f.errorf("%s depends on itself", left[0].Name))
		}
		ordered = append(ordered, left[at])
		left = slices.Delete(slices.Clone(left), at, at+1)
	}
	p.derived = ordered
}

// derivedText returns the expressions of derived as JSON.
func derivedText(p *Point) string {
	var texts map[string]string
	for _, r := range p.Derived {
		note(&texts, r.Name, r.Text)
	}
	return asJSON(texts)
}

// conditionsText returns the conditions of check as JSON.
func conditionsText(p *Point) string {
	var list []string
	for _, r := range p.Checks {
		list = append(list, r.Text)
	}
	return asJSON(list)
}

// metricPrefix goes before a metric that only a benchmark knows, as in an expression.
const metricPrefix = "metric."

// measured are the metrics that all runs have, if the system provides them.
var measured = []string{schema.PrimaryMetric, "cpu_user", "cpu_system", "peak_memory"}

// readPrimary reads the main metric of a point.
func (s *settings) readPrimary(_ *document, f field) {
	s.read("primary", f)
	s.point.Primary = strings.TrimPrefix(s.point.Primary, metricPrefix)
}

// checkPrimary refuses a metric that is probably a misspelt metric of the sweep.
func (p *program) checkPrimary(d *document) {
	f := d.keys["primary"]
	if !f.given() {
		return
	}
	own := slices.Clone(measured)
	for _, m := range p.metrics {
		if !m.at.given() {
			own = append(own, m.rule.Name)
		}
	}
	for _, r := range p.derived {
		own = append(own, r.Name)
	}
	if near := nearMetric(f.Value, own); near != "" {
		panic(f.errorf("no metric %s is read or derived here: did you mean %s? For a metric that the benchmark reports itself, write %s%s", shorten(f.Value), near, metricPrefix, shorten(f.Value)))
	}
}

// checkCounters refuses metrics of the sweep with the name of a counter that it asks for.
func (p *program) checkCounters(d *document, counters []string) {
	for _, m := range p.metrics {
		if slices.Contains(counters, m.rule.Name) {
			panic(d.keys["metrics"].errorf("counters has a metric %s: choose another name", m.rule.Name))
		}
	}
	for _, r := range p.derived {
		if slices.Contains(counters, r.Name) {
			panic(d.keys["derived"].errorf("counters has a metric %s: choose another name", r.Name))
		}
	}
}

// nearMetric returns the metric among own that a name probably misspells; empty: the name is known, or resembles none.
func nearMetric(name string, own []string) string {
	if _, known := schema.KindOfMetric(name); known || slices.Contains(own, name) || strings.HasPrefix(name, metricPrefix) {
		return ""
	}
	return schema.Nearest(name, own)
}

// Metric returns the metric for a name on the command line. metric.NAME refers to any metric, also one that only the benchmark knows. It
// is an error if no run of the sweep can have the metric, or if the name is probably a misspelt metric of the sweep.
func (s *Sweep) Metric(name string) (string, error) {
	own, tells := slices.Clone(measured), false
	for _, p := range s.Planned() {
		tells = tells || p.Executor == schema.ExecutorCommand || p.Executor == schema.ExecutorPython
		for _, rule := range p.Metrics {
			if rule.Read == "" && !slices.Contains(own, rule.Name) {
				own = append(own, rule.Name)
			}
		}
		for _, r := range p.Derived {
			if !slices.Contains(own, r.Name) {
				own = append(own, r.Name)
			}
		}
	}
	if near := nearMetric(name, own); near != "" {
		return "", fmt.Errorf("no metric %s is read or derived in the sweep: did you mean %s?", shorten(name), near)
	}
	metric := strings.TrimPrefix(name, metricPrefix)
	if _, known := schema.KindOfMetric(metric); !known && !tells && !slices.Contains(own, metric) {
		return "", fmt.Errorf("no run of the sweep has a metric %s", shorten(metric))
	}
	return metric, nil
}

// Skip is the reason why a point is planned but not run.
type Skip struct {
	Reason string
	// Unsupported: the function of the point does not take an axis, and a point without it is measured.
	Unsupported bool
}

// skipRule is an entry of skip_if.
type skipRule struct {
	when    *formula
	reason  string
	unclear string // why it is not known whether a point is skipped where when is true; empty: it is
}

// keysOfSkip are the keys of an entry of skip_if.
var keysOfSkip = []Key{
	{Name: "when", Value: expressionValue, Doc: "An expression. Points where it is true are skipped."},
	{Name: "reason", Value: textValue, Doc: "The reason that is stored. Default: the expression."},
}

// readSkips reads skip_if: an entry, or a list of them.
func (d *document) readSkips(g *grid, seed *int64) []skipRule {
	f := d.keys["skip_if"]
	if !f.given() {
		return nil
	}
	l := d.exprEnv(g, seed)
	var rules []skipRule
	for _, item := range f.entries() {
		keys := item.knownOfExpressions(keyNames(keysOfSkip))
		if !keys["when"].given() {
			panic(item.errorf("want {when: EXPRESSION, reason: TEXT}: when is missing"))
		}
		rule := skipRule{unclear: d.unclear[item.Node]}
		rule.when = l.compile(keys["when"], expression.Boolean)
		rule.reason = rule.when.text
		if reason := keys["reason"]; reason.given() {
			rule.reason = reason.text()
			reason.checkUnfilled(rule.reason)
		}
		rules = append(rules, rule)
	}
	return rules
}

// knownOfExpressions returns the values of a map that contains expressions. YAML reads `{when: max(a, b) > 1}` as two keys, the second
// of which is `b) > 1`.
func (f field) knownOfExpressions(keys []string) map[string]field {
	for i, m := range f.members(f.what + ".") {
		if !slices.Contains(keys, m.key) && !axisName.MatchString(m.key) {
			panic(f.with(f.Content[2*i], f.what).errorf("unknown key %s: quote the expression, because YAML ends it at the comma", shorten(m.key)))
		}
	}
	return f.known(f.what+".", keys)
}

// skip returns why a point is skipped; nil: it runs. fault is the reason why that cannot be decided; empty: it was decided.
func (of *section) skip(p *Point) (skip *Skip, fault string) {
	for _, rule := range of.skips {
		holds := rule.when.eval(p)
		switch {
		case holds != true:
		case rule.unclear == "":
			return &Skip{Reason: rule.reason}, ""
		case fault == "":
			fault = rule.unclear
		}
	}
	return nil, fault
}

// Planned lists the points that run, then the skipped ones.
func (s *Sweep) Planned() []*Point {
	all := make([]*Point, 0, len(s.Points)+len(s.Skipped))
	for i := range s.Points {
		all = append(all, &s.Points[i])
	}
	for i := range s.Skipped {
		all = append(all, &s.Skipped[i])
	}
	return all
}

// keysOfAmounts are the keys of work.
var keysOfAmounts = []Key{
	{Name: "items", Value: expressionValue, Doc: "Items, such as images or tokens. The metric throughput is items per second."},
	{Name: "bytes", Value: expressionValue, Doc: "Bytes that are moved. The metric bandwidth is bytes per second."},
	{Name: "flops", Value: expressionValue, Doc: "Floating-point operations. The metric compute is operations per second."},
}

// work holds the amounts of work of an iteration.
type work struct{ items, bytes, flops *formula }

// readWork reads work; nil where it is not given.
func (d *document) readWork(g *grid, seed *int64) *work {
	f := d.keys["work"]
	if !f.given() {
		return nil
	}
	keys := f.knownOfExpressions(keyNames(keysOfAmounts))
	w := &work{}
	for name, to := range map[string]**formula{"items": &w.items, "bytes": &w.bytes, "flops": &w.flops} {
		if amount := keys[name]; amount.given() {
			*to = d.exprEnv(g, seed).compile(amount, expression.Number)
		}
	}
	return w
}

// at computes the work of an iteration at a point. An amount that depends on a NULL is NULL.
func (w *work) at(p *Point) *schema.Work {
	amounts := &schema.Work{Items: w.items.amount(p), Flops: w.flops.amount(p)}
	if bytes := w.bytes.amount(p); bytes != nil {
		if *bytes >= math.MaxInt64 {
			panic(w.bytes.at.errorf("%v bytes are more than 2**63", *bytes))
		}
		amounts.Bytes = new(int64(math.Round(*bytes)))
	}
	return amounts
}

// amount returns the value of a formula, which must not be negative; nil: NULL, or no formula.
func (f *formula) amount(p *Point) *float64 {
	if f == nil {
		return nil
	}
	value, err := f.compute(p)
	if _, null := errors.AsType[*expression.NullError](err); null {
		return nil
	}
	if err != nil {
		panic(f.at.errorf("%v", err))
	}
	amount := value.(float64)
	if amount < 0 {
		panic(f.at.errorf("want an amount of at least 0, got %s", schema.CanonicalFloat(amount)))
	}
	return &amount
}

// workText returns the work of a point as canonical JSON; empty where it is not given.
func workText(p *Point) string {
	if p.Work == nil {
		return ""
	}
	amounts := map[string]any{}
	add := func(name string, amount *float64) {
		if amount != nil {
			amounts[name] = json.Number(schema.CanonicalFloat(*amount))
		}
	}
	add("items", p.Work.Items)
	add("flops", p.Work.Flops)
	if p.Work.Bytes != nil {
		amounts["bytes"] = json.Number(strconv.FormatInt(*p.Work.Bytes, 10))
	}
	text, _ := schema.CanonicalJSON(amounts) // finite numbers always have one
	return text
}

// counted is a key whose value is computed at each point by an expression.
type counted struct {
	Key
	formula *formula
}

// orExpression also accepts an expression that gives a number; for a time, in seconds.
func orExpression(v Value) Value {
	v.Expression = true
	return v
}

// isExpression reports whether a value in the file is an expression. Numbers, and times with units, are not.
func (k Key) isExpression(f field) bool {
	if !f.given() || !k.Value.Expression || f.Kind != yaml.ScalarNode || f.ShortTag() != "!!str" {
		return false
	}
	_, err := time.ParseDuration(f.Value)
	return k.Value.Kind != Duration || err != nil
}

// readCounted reads the expressions of counts and of the budget, unless the command line overrides them.
func (d *document) readCounted(g *grid, seed *int64) []counted {
	replaced := map[string]bool{
		"warmup":     d.option("warmup").given() || d.option("cold_start").given(),
		"iterations": d.option("iterations").given() || d.option("rel_error").given() || d.option("cold_start").given(),
		"budget":     d.option("budget").given(),
	}
	var all []counted
	for _, k := range keys {
		f := d.keys[k.Name]
		if !k.isExpression(f) || replaced[k.Name] {
			continue
		}
		formula, err := d.exprEnv(g, seed).parse(f, expression.Number)
		if err != nil {
			panic(f.errorf("neither %s nor an expression: %v", k.plain(), err))
		}
		all = append(all, counted{k, formula})
	}
	return all
}

// plain describes the values of a key that are not expressions.
func (k Key) plain() string {
	if k.Value.Kind == Duration {
		return "a time with its unit (500ms, 15s, 10m)"
	}
	return "a number"
}

// set computes the key for a point. A count is rounded down.
func (c counted) set(p *Point) {
	number := c.formula.eval(p).(float64)
	if c.Value.Kind == Duration {
		if number <= 0 || number > maxDuration.Seconds() {
			panic(c.formula.at.errorf("%s is %s s: want more than 0s and at most %s", c.formula.text, exact(number), maxDuration))
		}
		*c.point(p).(*time.Duration) = max(1, time.Duration(math.Round(number*float64(time.Second))))
		return
	}
	n := math.Floor(number)
	if n < float64(c.Value.Min) || n > float64(c.Value.Max) {
		panic(c.formula.at.errorf("%s is %s: want a whole number from %d to %d",
			c.formula.text, exact(number), c.Value.Min, c.Value.Max))
	}
	*c.point(p).(*int) = int(n)
}

// exact prints a whole number below 1e21 with all its digits, and any other as CanonicalFloat does.
func exact(number float64) string {
	if number == math.Trunc(number) && math.Abs(number) < 1e21 {
		return strconv.FormatFloat(number, 'f', 0, 64)
	}
	return schema.CanonicalFloat(number)
}

// count computes the counts and the budget of a point that are given by expressions.
func (of *section) count(p *Point) {
	for _, c := range of.counted {
		c.set(p)
	}
	if len(of.counted) > 0 && p.Iterations == 0 && p.Executor != schema.ExecutorCommand {
		of.settings.room.fit(p)
	}
}
