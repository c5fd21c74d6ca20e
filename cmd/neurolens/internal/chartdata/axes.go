package chartdata

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
)

// axis is an axis of points with its different values in order.
type axis struct {
	views.Axis
	values  []string
	numbers []float64 // of values; nil where one is no number
}

// axisColumns are the columns in which axes are looked for, besides the parameters.
var axisColumns = slices.DeleteFunc(slices.Clone(views.RunColumns), func(c string) bool { return c == "purpose" || c == "suite" })

// axesOf returns the axes in which subjects differ, those with the most values first, and of equally many those of numbers.
func (m Maker) axesOf(subjects []views.Subject) []axis {
	_, varying := views.Axes(subjects, axisColumns)
	all := make([]axis, len(varying))
	for i, x := range varying {
		all[i] = m.axisWith(x)
	}
	slices.SortStableFunc(all, func(a, b axis) int {
		numbers := func(x axis) int { return min(len(x.numbers), 1) }
		return cmp.Or(len(b.values)-len(a.values), numbers(b)-numbers(a))
	})
	return all
}

// axisWith adds to an axis its different values: numbers ascending, other values in natural order, the baseline first.
func (m Maker) axisWith(x views.Axis) axis {
	a := axis{Axis: x}
	a.values = slices.Clone(x.Values)
	baseline := func(value string) int { return slices.Index(m.Baselines, summary.Baseline{Axis: x.Name, Value: value}) }
	slices.SortFunc(a.values, func(v, w string) int { return cmp.Or(baseline(w)-baseline(v), summary.Naturally(v, w)) })
	a.values = slices.Compact(a.values)
	numbers := map[string]float64{}
	for _, text := range a.values {
		v, err := strconv.ParseFloat(text, 64)
		if text != "" && (err != nil || math.IsNaN(v) || math.IsInf(v, 0)) {
			return a
		}
		if text != "" {
			numbers[text] = v
		}
	}
	a.values = slices.DeleteFunc(a.values, func(text string) bool { return text == "" })
	slices.SortStableFunc(a.values, func(x, y string) int { return cmp.Compare(numbers[x], numbers[y]) })
	for _, text := range a.values {
		a.numbers = append(a.numbers, numbers[text])
	}
	return a
}

// valueOf returns the value of an axis, by its name in filters.
func valueOf(s *views.Subject, name string) string {
	if slices.Contains(views.RunColumns, name) {
		return s.Text(name)
	}
	return views.AxisText(s.Parameter(strings.TrimPrefix(name, filter.ParamPrefix)))
}

// asked returns the axis that a flag names; one without a name if the flag was not given.
func (d *measured) asked(flag, given string) (axis, error) {
	if given == "" {
		return axis{}, nil
	}
	return d.axisNamed(d.subjects, flag, given)
}

// axisNamed returns the axis that a user names with a flag.
func (m Maker) axisNamed(subjects []views.Subject, flag, given string) (axis, error) {
	name := schema.CanonicalAlias(given)
	if !slices.Contains(views.RunColumns, name) {
		name = filter.ParameterKey(strings.TrimPrefix(name, filter.ParamPrefix))
	}
	x := views.AxisOf(subjects, name, func(s *views.Subject) string { return valueOf(s, name) })
	a := m.axisWith(x)
	switch {
	case len(a.values) == 0 || len(a.values) == 1 && a.values[0] == "":
		return a, refused("%s %s: no point has it%s", flag, plain(given), m.known(subjects))
	case len(a.values) == 1:
		return a, refused("%s %s: all points have %s%s", flag, plain(given), plain(a.values[0]), m.known(subjects))
	}
	return a, nil
}

// known names the axes in which points differ, for an error.
func (m Maker) known(subjects []views.Subject) string {
	all := m.axesOf(subjects)
	if len(all) == 0 {
		return "; the filter matches a single point: use a wider one"
	}
	return "; points differ in " + counted(all)
}

// counted names axes, each with the number of its values.
func counted(axes []axis) string {
	return strings.Join(term.Texts(axes, func(a axis) string { return fmt.Sprintf("%s (%d)", plain(a.Name), len(a.values)) }), ", ")
}

// axisWords returns values as names that marks may have, each with the name of its axis if it needs one.
func axisWords(name string, values []string) []string {
	words := make([]string, len(values))
	for i, value := range values {
		if words[i] = "without " + name; value != "" {
			words[i] = strings.Join(views.AppendConstant(nil, name, value), "")
		}
	}
	return plainAll(words)
}

// positions returns where values lie: numbers at themselves, on a logarithmic axis where they are powers of two or span more than two
// decades, others as categories.
func (a *axis) positions() (chart.Axis, map[string]float64) {
	at := make(map[string]float64, len(a.values))
	f := chart.Axis{Label: plain(a.Name)}
	if a.numbers == nil {
		f.Scale = chart.Categories
		f.Categories, at = a.categories()
		return f, at
	}
	f.Measured = a.numbers
	f.Whole = !slices.ContainsFunc(a.numbers, func(v float64) bool { return v != math.Trunc(v) })
	doubles := len(a.numbers) > 1
	for i, text := range a.values {
		at[text] = a.numbers[i]
		_, exponent := math.Frexp(a.numbers[i])
		doubles = doubles && a.numbers[i] == math.Ldexp(.5, exponent)
	}
	if f.Scale = scaleOf(a.numbers); doubles {
		f.Scale = chart.Log
	}
	return f, at
}

// isCompared tells whether the values of an axis are ways to do the same thing, which a chart shows next to each other.
func (m Maker) isCompared(name string) bool { return m.besides(name) < len(sideBySide) }

// sideBySide are the axes whose values are shown next to each other, the most wanted first, behind those with a baseline.
var sideBySide = []string{"variant", "backend", benchmarkAxis}

// besides ranks axes by how much their values belong next to each other: low ranks first.
func (m Maker) besides(name string) int {
	if slices.ContainsFunc(m.Baselines, func(b summary.Baseline) bool { return b.Axis == name && name != sideBySide[0] }) {
		return -1
	}
	if rank := slices.Index(sideBySide, name); rank >= 0 {
		return rank
	}
	return len(sideBySide)
}

// categories returns the values side by side, and the place of each.
func (a *axis) categories() ([]string, map[string]float64) {
	names, at := plainAll(a.values), map[string]float64{}
	for i, text := range a.values {
		at[text] = float64(i)
		if text == "" {
			names[i] = "–"
		}
	}
	return names, at
}
