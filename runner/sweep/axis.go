package sweep

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/big"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/runner/builtin"
	"github.com/neurolens/neurolens/runner/expression"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// maxAxes bounds the parameters of one point.
const maxAxes = 64

var axisName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// labels are the axes at the top level of a file, outermost first.
var labels = []string{"benchmark", "model", "backend", "variant"}

// axis is a name with its values. A constant is an axis with one value.
type axis struct {
	name   string // of a column, or of a parameter
	typed  string // the name as it was written; empty: it is name
	at     field
	values []value
	// label: a single value at the top level of the file. A command need not use it.
	label bool
	// replaced: the command line has replaced the axis; it then also overrides include, exclude and baseline.
	replaced bool
	before   []value // its values in the file, if replaced
	unknown  bool    // it has a value of reference that is none of its own values
	base     string  // the base of its scaled value; empty: not scaled
}

// value is one value of an axis.
type value struct {
	text string // canonical
	path string // of the model's file, as written
	at   field

	// Properties that the canonical text does not contain; empty: none.
	written string
	typed   string // JSON
	option  string // as -P takes it

	filling *filling // of a label with braces

	mapped    bool     // the value is replaced by arguments
	arguments []string // the words that replace it where it is a word of a command
}

// filled returns the text that replaces {axis}: the value as written or, for a model with a file, its file.
func (v *value) filled() string {
	switch {
	case v.path != "":
		return v.path
	case v.written != "":
		return v.written
	}
	return v.text
}

// readAxes reads all axes of the file and the command line, outermost first: benchmark, model, backend and variant, then params and grid
// in the order of the file, then the axes that -P adds.
func readAxes(d *document, grid []member) []axis {
	var axes []axis
	for _, name := range labels {
		if f := d.keys[name]; f.given() {
			if f.Kind == yaml.MappingNode && name != "model" {
				panic(f.want("a value or a list"))
			}
			a := readAxis(name, f)
			a.label, a.replaced = f.Kind != yaml.SequenceNode, d.chosen[name]
			axes = append(axes, a)
		}
	}
	params := d.keys["params"].members("params.")
	for _, m := range slices.Concat(params, grid) {
		read := readAxis
		if len(params) > 0 {
			read, params = readConstant, params[1:]
		}
		axes = append(axes, newAxis(m.key, m.value, axes, read))
	}
	axes = d.readScales(axes)
	axes = overrideAxes(axes, d.applicable(d.over.Params))
	return referenceAxes(axes, d.applicable(d.over.reference))
}

// newAxis reads an axis with a name that the user has chosen.
func newAxis(name string, f field, others []axis, read func(string, field) axis) axis {
	if !axisName.MatchString(name) {
		panic(f.errorf("want a name made of letters, digits, _ and -"))
	}
	column, err := schema.AxisName(name)
	if err != nil {
		panic(f.errorf("%v", err))
	}
	if other := slices.IndexFunc(others, func(a axis) bool { return a.name == column }); other >= 0 {
		panic(f.errorf("%s is already defined on line %d", column, others[other].at.line))
	}
	if len(others) == maxAxes {
		panic(f.errorf("more than %d axes and parameters", maxAxes))
	}
	a := read(column, f)
	a.call(name)
	return a
}

// call records the name under which the axis was written.
func (a *axis) call(name string) {
	if a.typed = ""; name != a.name {
		a.typed = name
	}
}

// readConstant reads the value of a parameter, which may be a list or a map.
func readConstant(name string, f field) axis {
	switch {
	case f.Kind == yaml.SequenceNode && schema.IsAxisColumn(name):
		panic(f.errorf("want one value, got a list: put axes under grid"))
	case f.Kind == yaml.MappingNode && schema.IsAxisColumn(name) && name != "model":
		panic(f.errorf("want one value, got a map: put axes under grid"))
	}
	return axis{name: name, at: f, values: []value{readValue(name, f)}}
}

// readAxis reads the values of an axis: a list, one value, or a map from values to the arguments that replace them.
func readAxis(name string, f field) axis {
	if name == runDirName {
		panic(f.errorf("the name run_dir is reserved for the directory of a run: choose another one"))
	}
	if f.Kind == yaml.MappingNode && name != "model" {
		return readMapped(name, f)
	}
	a := axis{name: name, at: f}
	for _, item := range f.items() {
		numbers := []field{item}
		if !slices.Contains(labels, name) {
			numbers = item.span()
		}
		for _, number := range numbers {
			a.values = append(a.values, readValue(name, number))
		}
	}
	if len(a.values) == 0 {
		panic(f.errorf("has no values"))
	}
	return a
}

// checkTwice refuses a value that appears twice.
func checkTwice(values []value) {
	seen := map[string]int{}
	for i := range values {
		v := &values[i]
		if first, twice := seen[v.text]; twice {
			panic(v.twice(&values[first]))
		}
		seen[v.text] = i
	}
}

// twice explains that a value equals an earlier one.
func (v *value) twice(first *value) error {
	switch {
	case v.path != first.path:
		return v.at.errorf("%s and %s are both called %s: set model.name", shorten(first.filled()),
			shorten(v.filled()), shorten(v.text))
	case v.at.got() == first.at.got():
		return v.at.errorf("%s appears twice", v.at.got())
	}
	return v.at.errorf("%s and %s are the same value", first.at.got(), v.at.got())
}

// readValue reads one value of an axis. The type depends on the column.
func readValue(name string, f field) value {
	var text string
	switch name {
	case "batch_size", "seq_len":
		text = strconv.FormatInt(f.integer(1, math.MaxInt64, "a number or a list"), 10)
	case "precision":
		canonical, err := schema.CanonicalPrecision(f.Value)
		if err != nil {
			panic(f.want("one of " + strings.Join(schema.Precisions, " ")))
		}
		text = canonical
	case "model":
		return readModel(f)
	case "benchmark", "backend", "variant":
		text = f.text()
	default:
		return describedValue(f.canonical(), f)
	}
	v := value{text: text, at: f}
	if f.Value != text {
		v.written, v.option = f.Value, f.Value
	}
	return v
}

// readModel reads a path, builtin:NAME, or a map of name and path.
func readModel(f field) value {
	if f.Kind != yaml.MappingNode {
		text := f.text()
		if strings.HasPrefix(text, builtin.ModelPrefix) {
			return value{text: text, at: f}
		}
		path := f.expandPath(text)
		return value{text: filepath.Base(path), path: path, at: f}
	}
	keys := f.known("model.", []string{"name", "path"})
	v := value{at: f}
	if path := keys["path"]; path.given() {
		v.path = path.text()
		if strings.HasPrefix(v.path, builtin.ModelPrefix) {
			panic(path.errorf("want a file, got %s: write model: %s", v.path, v.path))
		}
		v.path = path.expandPath(v.path)
		v.text = filepath.Base(v.path)
	}
	if name := keys["name"]; name.given() {
		v.text = name.text()
		if strings.HasPrefix(v.text, builtin.ModelPrefix) {
			panic(name.errorf("want a name, got %s: write model: %s", v.text, v.text))
		}
	}
	if v.text == "" {
		panic(f.errorf("want a name, a path, or both"))
	}
	return v
}

// overrideAxes replaces and adds axes by -P.
func overrideAxes(axes []axis, params map[string]string) []axis {
	by := map[string]string{} // column to the name it was given
	for _, name := range slices.Sorted(maps.Keys(params)) {
		option := origin{name: "-P " + name}
		if flag, is := settingFlags[name]; is {
			panic(option.errorf(0, "is not an axis: use %s", flag))
		}
		var f field
		if err := schema.Catch(func() { f = option.load([]byte("[" + params[name] + "]")) }); err != nil {
			panic(option.noValue(params[name], err))
		}
		column := schema.CanonicalAlias(name)
		if other, twice := by[column]; twice {
			panic(f.errorf("is the same axis as -P %s", other))
		}
		by[column] = name
		at := slices.IndexFunc(axes, func(a axis) bool { return a.name == column })
		if at >= 0 {
			axes[at].quote(f.Content)
		}
		for _, item := range f.items() {
			alike := func(v value) bool { return v.at.Kind == item.Kind }
			if item.Kind != yaml.ScalarNode && (at < 0 || !slices.ContainsFunc(axes[at].values, alike)) {
				panic(item.want("values separated by commas"))
			}
		}
		var a axis
		err := schema.Catch(func() {
			if at < 0 && !slices.Contains(labels, name) {
				a = newAxis(name, f, axes, readAxis)
				return
			}
			a = readAxis(column, f)
			a.call(name)
			if at >= 0 {
				axes[at].giveArguments(a.values)
			}
		})
		if err != nil {
			panic(quotedForShell(name, params[name], err))
		}
		a.replaced = true
		if at < 0 {
			axes = append(axes, a)
		} else {
			a.before = axes[at].values
			axes[at] = a
		}
	}
	return axes
}

// referenceAxes sets axes to the values that they have at a reference, by column. A reference uses the same names and spellings as the
// measured points: an axis keeps the name that was written, and each value the spelling of the axis.
func referenceAxes(axes []axis, values map[string]string) []axis {
	set := overrideAxes(slices.Clone(axes), values)
	for i, old := range axes {
		if _, is := values[old.name]; !is {
			continue
		}
		a := &set[i]
		a.typed, a.unknown = old.typed, !a.respell(slices.Concat(old.values, old.before))
		if old.replaced {
			a.before = old.before
		}
	}
	return set
}

// respell replaces the only value of the axis by an equal one among others. It reports whether there is one.
func (a *axis) respell(others []value) bool {
	at := find(others, a.values[0])
	if at >= 0 {
		a.values = []value{others[at]}
	}
	return at >= 0
}

// noValue returns an error about a missing value between the commas of -P, if that is why the values could not be read.
func (o origin) noValue(values string, err error) error {
	if strings.HasPrefix(values, ",") || strings.Contains(values, ",,") {
		return o.errorf(0, "a value is missing between commas: %s", shorten(values))
	}
	return err
}

// quotedForShell returns an error about values of -P with advice that can be pasted into a shell, which removes one pair of quotes.
func quotedForShell(name, values string, err error) error {
	before, after, found := strings.Cut(err.Error(), "quote it to keep it as text")
	if !found {
		return err
	}
	if strings.ContainsAny(values, ",[{\"'") {
		values = "TEXT"
	}
	return fmt.Errorf("%s-P '%s=\"%s\"' keeps it as text%s", before, name, values, after)
}

// findAxis finds an axis by its name or an alias. If there is none, the number is -1, and near is a similar name.
func findAxis(axes []axis, name string) (at int, near string) {
	column := schema.CanonicalAlias(name)
	names := make([]string, len(axes))
	for i, a := range axes {
		if a.name == column {
			return i, ""
		}
		names[i] = a.name
	}
	return -1, schema.Nearest(name, names)
}

// spanText matches a text that represents numbers: 1..8, 0.1..0.5..0.1 with a step, 1..1024*2 with a factor.
var spanText = regexp.MustCompile(`^(-?[0-9]+(?:\.[0-9]+)?)\.\.(-?[0-9]+(?:\.[0-9]+)?)(?:(\.\.|\*)([0-9]+(?:\.[0-9]+)?))?$`)

// spanLike matches a text that is most likely meant as a span.
var spanLike = regexp.MustCompile(`^-?[0-9][0-9.eE+-]*\.\.`)

// maxSpan is the maximum number of values of a span.
const maxSpan = 10_000

// span returns the numbers of a span: from the first, by the step (1) or the factor, up to the last. Any other value, and a quoted one,
// is returned unchanged.
func (f field) span() []field {
	if f.Kind != yaml.ScalarNode || f.Style&quotedStyle != 0 {
		return []field{f}
	}
	m := spanText.FindStringSubmatch(f.Value)
	switch {
	case m == nil && spanLike.MatchString(f.Value):
		panic(f.errorf("%s: want a span of numbers (1..8, 1..8..2, 1..1024*2), or quotes around a text", shorten(f.Value)))
	case m == nil:
		return []field{f}
	}
	at, last, by := rational(m[1]), rational(m[2]), big.NewRat(1, 1)
	if m[4] != "" {
		by = rational(m[4])
	}
	factor := m[3] == "*"
	switch {
	case at.Cmp(last) > 0:
		panic(f.errorf("%s: want the lower end first", shorten(f.Value)))
	case !factor && by.Sign() == 0:
		panic(f.errorf("%s: want a step above 0", shorten(f.Value)))
	case factor && (by.Cmp(big.NewRat(1, 1)) <= 0 || at.Sign() <= 0):
		panic(f.errorf("%s: want a factor above 1, and a first number above 0", shorten(f.Value)))
	}
	var all []field
	for at.Cmp(last) <= 0 {
		if len(all) == maxSpan {
			panic(f.errorf("%s: more than %d values", shorten(f.Value), maxSpan))
		}
		all = append(all, f.numbered(at))
		if factor {
			at.Mul(at, by)
		} else {
			at.Add(at, by)
		}
	}
	return all
}

// rational returns the number of a text that spanText has checked.
func rational(text string) *big.Rat {
	number, _ := new(big.Rat).SetString(text)
	return number
}

// numbered returns a field with a number as its value. It has as many digits as the number needs: ends and steps are decimal, and so are
// the numbers between.
func (f field) numbered(number *big.Rat) field {
	digits, _ := number.FloatPrec()
	node := *f.Node
	node.Tag, node.Value = "!!int", number.FloatString(digits)
	if strings.Contains(node.Value, ".") {
		node.Tag = "!!float"
	}
	f.Node = &node
	return f
}

// readMapped reads an axis that is a map from each value to its arguments: backend: {cpu: [], mps: [--mps]}. A word {backend} of a
// command is replaced by these arguments, each a separate word. Elsewhere, and in the store, {backend} is the value itself.
func readMapped(name string, f field) axis {
	a := axis{name: name, at: f}
	for pair := range slices.Chunk(f.Content, 2) {
		v := readValue(name, f.with(pair[0], f.what))
		v.mapped = true
		v.arguments = f.with(pair[1], f.what+"."+shorten(v.text)).arguments()
		a.values = append(a.values, v)
	}
	if len(a.values) == 0 {
		panic(f.errorf("has no values"))
	}
	return a
}

// arguments returns words of a command: a list of them, one, or none. They are the same at every point.
func (f field) arguments() []string {
	if f.ShortTag() == "!!null" {
		return nil
	}
	f.checkWords()
	var words []string
	for _, item := range f.items() {
		word := item.argument()
		item.checkUnfilled(word)
		words = append(words, word)
	}
	return words
}

// giveArguments sets the arguments of values that were selected from the values of the axis.
func (a *axis) giveArguments(values []value) {
	if !a.mapped() {
		return
	}
	for i := range values {
		at := slices.IndexFunc(a.values, func(v value) bool { return v.text == values[i].text })
		if at < 0 {
			panic(values[i].at.errorf("%s has no arguments in the sweep: %s", values[i].at.got(), remedy(values[i].text, a.texts())))
		}
		values[i].mapped, values[i].arguments = true, a.values[at].arguments
	}
}

// mapped reports whether the values of the axis are replaced by arguments.
func (a *axis) mapped() bool { return len(a.values) > 0 && a.values[0].mapped }

// texts returns the values of the axis.
func (a *axis) texts() []string {
	texts := make([]string, len(a.values))
	for i := range a.values {
		texts[i] = a.values[i].text
	}
	return texts
}

// word returns the axis that a text is the whole of; -1: it is more or something else.
func (t template) word() int {
	if len(t.parts) == 1 {
		return t.parts[0].axis
	}
	return -1
}

// appendTo adds the words of the text at a point: one, or the arguments of a mapped value.
func (t template) appendTo(words []string, row []*value) []string {
	if axis := t.word(); axis >= 0 && row[axis].mapped {
		return append(words, row[axis].arguments...)
	}
	return append(words, t.fill(row))
}

// checkArguments refuses a mapped axis that no command uses.
func (p *program) checkArguments() {
	lists := append([]texts{p.wrapper, p.command}, p.build...)
	for i := range p.scope.axes {
		a := &p.scope.axes[i]
		stands := func(l texts) bool {
			return slices.ContainsFunc(l.templates, func(t template) bool { return t.word() == i })
		}
		if a.mapped() && !slices.ContainsFunc(lists, stands) {
			panic(a.at.errorf("its arguments are not used: write {%s} as a word of command, wrapper or build", a.name))
		}
	}
}

// spelled are the axes that have several names.
var spelled = []string{"batch_size", "seq_len", "precision"}

// Spellings returns the names by which a Python benchmark may take the axes of the point that have several names: first the one that was
// written, then the name of the axis, then the others.
func (p *Point) Spellings() map[string][]string {
	all := map[string][]string{}
	for _, axis := range spelled {
		if p.textOf(axis) == "" {
			continue
		}
		all[axis] = spellings(axis, p.Called[axis])
	}
	return all
}

// spellings returns the names of an axis, the one that was written first.
func spellings(axis, written string) []string {
	first := cmp.Or(written, axis)
	names := schema.AxisSpellings(axis)
	return append([]string{first}, slices.DeleteFunc(names, func(name string) bool { return name == first })...)
}

// WrittenTexts returns the values of axes as they were written, if a Python benchmark cannot know them from the stored ones: float32 for
// fp32.
func (p *Point) WrittenTexts() map[string]string {
	if text := p.Written["precision"]; text != "" {
		return map[string]string{"precision": text}
	}
	return nil
}

// keysOfScale are the keys of an axis under scale.
var keysOfScale = []Key{
	{Name: "base", Value: scaleNumber, Doc: "The value of the axis if the factor is 1."},
	{Name: "by", Value: expressionValue, Doc: "A fact about the machine, such as gpu.memory, or an expression of facts, such as gpu.memory ?? 0."},
	{Name: "steps", Value: mapOf(1, scaleNumber), Doc: "Factors by amount, such as {16GiB: 1, 8GiB: 0.5}. The largest amount that the machine reaches counts."},
}

// maxScale is the largest number under scale: integers up to it are exact.
const maxScale = 1 << 53

// scaleNumber is a number above 0.
var scaleNumber = Value{Kind: Number, Max: maxScale}

// step is a factor for machines that have at least a given amount of a resource.
type step struct {
	minimum float64
	factor  *big.Rat
	at      field
}

// readScales reads the axes whose value depends on the machine: a base times the factor of a step.
func (d *document) readScales(axes []axis) []axis {
	for _, m := range d.keys["scale"].members("scale.") {
		axes = append(axes, newAxis(m.key, m.value, axes, d.readScale))
	}
	return axes
}

// shareScales removes an axis of scale from documents whose command does not use it, if another selected document uses it. An axis that
// is set for the benchmark or variant itself stays.
func shareScales(documents []*document, targets []target) {
	scales := map[string]bool{}
	for _, d := range documents {
		if f := d.keys["scale"]; f.Node != nil {
			for pair := range slices.Chunk(f.Content, 2) {
				scales[pair[0].Value] = true
			}
		}
	}
	for name := range scales {
		taken := slices.ContainsFunc(documents, func(d *document) bool { return !d.leavesScale(name) && d.mayBeTargeted(targets) })
		for _, d := range documents {
			for ; taken && d != nil; d = d.withoutConfig {
				if d.leavesScale(name) {
					d.dropScale(name)
				}
			}
		}
	}
}

// leavesScale reports whether the document has no use for an axis of scale.
func (d *document) leavesScale(name string) bool {
	axis := memberOf(d.file.Node, "scale")
	if axis != nil {
		axis = memberOf(axis, name)
	}
	own := d.from[axis] == layerBenchmark || d.from[axis] == layerVariant
	return axis == nil || d.keys["command"].given() && !own && !usesAxis(d.file.Node, schema.CanonicalAlias(name))
}

// usesAxis reports whether an axis is filled in somewhere.
func usesAxis(n *yaml.Node, column string) bool {
	for _, part := range strings.Split(n.Value, "{")[1:] {
		if name, _, closed := strings.Cut(part, "}"); closed && schema.CanonicalAlias(name) == column {
			return true
		}
	}
	return slices.ContainsFunc(n.Content, func(child *yaml.Node) bool { return usesAxis(child, column) })
}

// dropScale takes an axis of scale from the document.
func (d *document) dropScale(name string) {
	f := d.keys["scale"]
	if !f.given() || memberOf(f.Node, name) == nil {
		return
	}
	d.file.Node = without(d.file.Node, "scale", name)
	f.Node = memberOf(d.file.Node, "scale")
	d.keys["scale"] = f
	if d.unscaled == nil {
		d.unscaled = map[string]bool{}
	}
	d.unscaled[schema.CanonicalAlias(name)] = true
}

// readScale reads one scaled axis. If the command line replaces it, no fact is read.
func (d *document) readScale(name string, f field) axis {
	keys := f.knownOfExpressions(keyNames(keysOfScale))
	for _, k := range keysOfScale {
		if !keys[k.Name].given() {
			panic(f.errorf("want {base: NUMBER, by: FACT, steps: {AMOUNT: FACTOR}}: %s is missing", k.Name))
		}
	}
	base := keys["base"].positive()
	by, unit := d.readBy(keys["by"])
	steps := keys["steps"].readSteps(unit)
	text, tag := schema.CanonicalFloat(toFloat(base)), "!!float"
	for given := range d.applicable(d.over.Params) {
		if schema.CanonicalAlias(given) == name {
			steps, by = nil, nil // the value replaces the axis
		}
	}
	if by != nil {
		amount := by.eval(&Point{})
		at := slices.IndexFunc(steps, func(s step) bool { return amount.(float64) >= s.minimum })
		if at < 0 {
			panic(keys["steps"].errorf("%s is %s, which is below every step: add a step 0 for smaller machines", by.text, exact(amount.(float64))))
		}
		scaled := new(big.Rat).Mul(base, steps[at].factor)
		if base.IsInt() {
			scaled.SetInt(new(big.Int).Quo(scaled.Num(), scaled.Denom()))
		}
		if text = schema.CanonicalFloat(toFloat(scaled)); scaled.Sign() == 0 {
			panic(steps[at].at.errorf("the base %s times this factor rounds down to 0", keys["base"].Value))
		}
	}
	if base.IsInt() {
		tag = "!!int"
	}
	applied := f.with(&yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text, Line: f.line}, f.what)
	a := readAxis(name, applied)
	a.at, a.base = f, schema.CanonicalFloat(toFloat(base))
	return a
}

// readBy reads the quantity by which an axis is scaled, and its unit: the common unit of its facts, if they have one.
func (d *document) readBy(f field) (by *formula, unit string) {
	l := newExprEnv(&grid{}, d.over.Facts, nil, nil)
	clear(l.scope.Names)
	units := map[string]string{}
	for _, known := range expression.Facts() {
		for _, name := range []string{known.Name, factPrefix + known.Name} {
			l.scope.Names[name], units[name] = known.Kind, known.Unit
		}
	}
	by = l.compile(f, expression.Number)
	for _, name := range by.names {
		unit = units[name]
		if slices.ContainsFunc(by.names, func(other string) bool { return units[other] != unit }) {
			return by, ""
		}
	}
	return by, unit
}

// readSteps reads steps, the largest amount first.
func (f field) readSteps(unit string) []step {
	var steps []step
	for _, m := range f.someMembers(f.what + ".") {
		minimum, err := expression.ParseAmount(m.key, unit)
		if err != nil {
			panic(m.value.errorf("want an amount such as 16GiB: %v", err))
		}
		s := step{minimum, m.value.positive(), m.value}
		if slices.ContainsFunc(steps, func(other step) bool { return other.minimum == s.minimum }) {
			panic(m.value.errorf("appears twice"))
		}
		steps = append(steps, s)
	}
	slices.SortFunc(steps, func(a, b step) int {
		if a.minimum > b.minimum {
			return -1
		}
		return 1
	})
	return steps
}

// positive returns a number above 0, exactly as it is written: 0.1 is not rounded to a binary fraction.
func (f field) positive() *big.Rat {
	if f.Kind != yaml.ScalarNode || f.ShortTag() != "!!int" && f.ShortTag() != "!!float" {
		panic(f.want("a number above 0"))
	}
	number := f.number()
	exact, ok := new(big.Rat).SetString(number.String())
	if !ok || exact.Sign() <= 0 || exact.Cmp(new(big.Rat).SetInt64(maxScale)) > 0 {
		panic(f.errorf("want a number above 0, at most 2**53, got %s", f.got()))
	}
	return exact
}

func toFloat(r *big.Rat) float64 {
	value, _ := r.Float64()
	return value
}
