package sweep

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/runner/expression"
	"github.com/neurolens/neurolens/schema"
)

// paramPrefix goes before a parameter in an expression, where its name is no word or is that of something else, and factPrefix
// before a fact where a parameter has its name.
const (
	paramPrefix = "param."
	factPrefix  = "fact."
)

// identityKinds are the fields of a point that every expression may name. A point that does not say one has NULL there.
var identityKinds = map[string]expression.Kind{
	"benchmark": expression.Text, "variant": expression.Text, "backend": expression.Text, "model": expression.Text,
	"precision": expression.Text, "batch_size": expression.Number, "seq_len": expression.Number, "seed": expression.Number,
}

// language is what the expressions of a sweep may name, with the values that this has at one point after the other. param.NAME is
// always the parameter. The name of a parameter and a fact alone is refused: which of them is meant?
type language struct {
	scope  expression.Scope
	facts  *expression.Machine
	seed   *int64
	params map[string]string // the parameter of a name
	values map[string]any    // of facts that were read, and of the point
	data   map[[2]string]any // what datum gave: a text is that of many points
	// results are values of metrics by the names that they have in an expression; nil where none may be named.
	results map[string]any
	point   *Point

	seedUsed bool // an expression names the seed
}

// formula is an expression of the sweep file.
type formula struct {
	*expression.Evaluator
	at       field
	text     string
	names    []string
	language *language
}

// speak returns the language of the document's expressions, which is created for the first of them.
func (d *document) speak(g *grid, seed *int64) *language {
	if d.language == nil {
		d.language = newLanguage(g, d.over.Facts, seed, d.elsewhere)
	}
	return d.language
}

// newLanguage collects the names. It asks for no fact. Axes that other benchmarks or variants of the file have, and this one
// has not, are NULL.
func newLanguage(g *grid, machine *expression.Machine, seed *int64, elsewhere map[string]bool) *language {
	l := &language{facts: machine, seed: seed, params: map[string]string{}, values: map[string]any{}, data: map[[2]string]any{}}
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

// interpreter is that of the point.
func (l *language) interpreter() (name string, is bool) {
	return l.point.Python, slices.Contains(pythonRun, l.point.Executor)
}

// kindOf is the kind that all values of an axis have; Any where they have several.
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

// datum is the value of a parameter in an expression, of its canonical text and, where that does not say all, its JSON: a
// number, true or false, or text. Lists and maps are their canonical text.
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

// datum is that of a text, which is looked at once.
func (l *language) datum(text, typed string) any {
	value, known := l.data[[2]string{text, typed}]
	if !known {
		value = datum(text, typed)
		l.data[[2]string{text, typed}] = value
	}
	return value
}

// compile reads an expression whose value is to be of a kind. Numbers and switches of YAML are expressions too.
func (l *language) compile(f field, gives expression.Kind) (*formula, error) {
	if f.Kind != yaml.ScalarNode || f.ShortTag() == "!!null" {
		return nil, f.want("an expression")
	}
	formula, err := l.parse(f, gives)
	if err != nil {
		return nil, f.errorf("%v", err)
	}
	return formula, nil
}

// parse reads an expression. Its error does not say where in the file it is.
func (l *language) parse(f field, gives expression.Kind) (*formula, error) {
	e, err := expression.Compile(f.Value, l.scope, gives)
	if err != nil {
		return nil, err
	}
	l.seedUsed = l.seedUsed || slices.Contains(e.Names(), "seed")
	return &formula{Evaluator: e.Evaluator(), at: f, text: e.String(), names: e.Names(), language: l}, nil
}

// eval returns the value of the formula at a point. If a needed value is NULL, the error names it.
func (f *formula) eval(p *Point) (any, error) {
	l := f.language
	l.point = p
	for _, name := range f.names {
		l.values[name] = l.value(name)
	}
	value, err := f.Eval(l.values)
	if null, is := errors.AsType[*expression.NullError](err); is {
		return nil, &nullError{f.at.errorf("%s", l.explain(null))}
	}
	if err != nil {
		return nil, f.at.errorf("%v", err)
	}
	return value, nil
}

// nullError says that an expression has no value at a point.
type nullError struct{ error }

// explain says what is NULL, why, and what to do.
func (l *language) explain(null *expression.NullError) string {
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

// isFact reports whether a name is that of a fact.
func (l *language) isFact(name string) bool {
	_, identity := identityKinds[name]
	_, param := l.params[name]
	_, known := l.scope.Names[name]
	return known && !identity && !param
}

// value is that of a name at the point, nil where it is NULL.
func (l *language) value(name string) any {
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
