package sweep

import (
	"math/big"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/runner/expression"
	"github.com/neurolens/neurolens/schema"
)

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

// step is a factor for machines that have at least so much of something.
type step struct {
	minimum float64
	factor  *big.Rat
	at      field
}

// readScales reads the axes whose value depends on the machine: a base times the factor of a step.
func (d *document) readScales(axes []axis) ([]axis, error) {
	f := d.keys["scale"]
	if !f.given() {
		return axes, nil
	}
	members, err := f.members("scale.")
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		a, err := newAxis(m.key, m.value, axes, d.readScale)
		if err != nil {
			return nil, err
		}
		axes = append(axes, a)
	}
	return axes, nil
}

// shareScales takes an axis of scale from documents whose command does not use it, if another one that is selected takes it. One that is
// set for the benchmark or variant itself stays.
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
		taken := slices.ContainsFunc(documents, func(d *document) bool { return !d.leavesScale(name) && d.mayBe(targets) })
		for _, d := range documents {
			for ; taken && d != nil; d = d.instead {
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

// readScale reads one of them. Where the command line replaces it, no fact is asked for.
func (d *document) readScale(name string, f field) (axis, error) {
	keys, err := f.knownOfExpressions(keyNames(keysOfScale))
	if err != nil {
		return axis{}, err
	}
	for _, k := range keysOfScale {
		if !keys[k.Name].given() {
			return axis{}, f.errorf("want {base: NUMBER, by: FACT, steps: {AMOUNT: FACTOR}}: %s is missing", k.Name)
		}
	}
	base, err := keys["base"].positive()
	if err != nil {
		return axis{}, err
	}
	by, unit, err := d.readBy(keys["by"])
	if err != nil {
		return axis{}, err
	}
	steps, err := keys["steps"].readSteps(unit)
	if err != nil {
		return axis{}, err
	}
	text, tag := schema.CanonicalFloat(toFloat(base)), "!!float"
	for given := range d.concerning(d.over.Params) {
		if schema.CanonicalAlias(given) == name {
			steps, by = nil, nil // which replaces the axis
		}
	}
	if by != nil {
		amount, err := by.eval(&Point{})
		if err != nil {
			return axis{}, err
		}
		at := slices.IndexFunc(steps, func(s step) bool { return amount.(float64) >= s.minimum })
		if at < 0 {
			return axis{}, keys["steps"].errorf("%s is %s, which is below every step: add a step 0 for smaller machines", by.text, exact(amount.(float64)))
		}
		scaled := new(big.Rat).Mul(base, steps[at].factor)
		if base.IsInt() {
			scaled.SetInt(new(big.Int).Quo(scaled.Num(), scaled.Denom()))
		}
		if text = schema.CanonicalFloat(toFloat(scaled)); scaled.Sign() == 0 {
			return axis{}, steps[at].at.errorf("the base %s times this factor rounds down to 0", keys["base"].Value)
		}
	}
	if base.IsInt() {
		tag = "!!int"
	}
	applied := f.with(&yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text, Line: f.line}, f.what)
	a, err := readAxis(name, applied)
	a.at, a.base = f, schema.CanonicalFloat(toFloat(base))
	return a, err
}

// readBy reads what an axis is scaled by, and its unit: that of the facts in it, where they have the same.
func (d *document) readBy(f field) (by *formula, unit string, err error) {
	l := newLanguage(&grid{}, d.over.Facts, nil, nil)
	clear(l.scope.Names)
	units := map[string]string{}
	for _, known := range expression.Facts() {
		for _, name := range []string{known.Name, factPrefix + known.Name} {
			l.scope.Names[name], units[name] = known.Kind, known.Unit
		}
	}
	if by, err = l.compile(f, expression.Number); err != nil {
		return nil, "", err
	}
	for _, name := range by.names {
		unit = units[name]
		if slices.ContainsFunc(by.names, func(other string) bool { return units[other] != unit }) {
			return by, "", nil
		}
	}
	return by, unit, nil
}

// readSteps reads steps, the largest amount first.
func (f field) readSteps(unit string) ([]step, error) {
	members, err := f.members(f.what + ".")
	if err != nil {
		return nil, err
	}
	var steps []step
	for _, m := range members {
		s := step{at: m.value}
		if s.minimum, err = expression.ParseAmount(m.key, unit); err != nil {
			return nil, m.value.errorf("want an amount such as 16GiB: %v", err)
		}
		if s.factor, err = m.value.positive(); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(steps, func(other step) bool { return other.minimum == s.minimum }) {
			return nil, m.value.errorf("appears twice")
		}
		steps = append(steps, s)
	}
	if len(steps) == 0 {
		return nil, f.errorf("is empty")
	}
	slices.SortFunc(steps, func(a, b step) int {
		if a.minimum > b.minimum {
			return -1
		}
		return 1
	})
	return steps, nil
}

// positive is a number above 0, exactly as it is written: 0.1 has no factor of a binary fraction in it.
func (f field) positive() (*big.Rat, error) {
	if f.Kind != yaml.ScalarNode || f.ShortTag() != "!!int" && f.ShortTag() != "!!float" {
		return nil, f.want("a number above 0")
	}
	number, err := f.number()
	if err != nil {
		return nil, err
	}
	exact, ok := new(big.Rat).SetString(number.String())
	if !ok || exact.Sign() <= 0 || exact.Cmp(new(big.Rat).SetInt64(maxScale)) > 0 {
		return nil, f.errorf("want a number above 0, at most 2**53, got %s", f.got())
	}
	return exact, nil
}

func toFloat(r *big.Rat) float64 {
	value, _ := r.Float64()
	return value
}
