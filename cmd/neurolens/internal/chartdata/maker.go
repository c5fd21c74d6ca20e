// Package chartdata turns results of queries into figures: the marks, the text and the command of each, and notes about what was
// left out or combined. The numbers of a mark are those of the result. A figure has at most chart.MaxMarks marks;
// if there are more values, a note says what happened to the rest.
//
// Forest and Scatter show a comparison, History a history, ECDF, Runs and Strip samples, Heatmap, Lines and Pareto points,
// Operators profiled runs, Telemetry the readings of a run, and Flame its stacks.
package chartdata

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// Maker makes figures for a reader.
type Maker struct {
	Reader    views.Display
	Baselines []summary.Baseline // come before other values of their axes
	Marks     int                // maximum number of marks of a history, which combines sessions, and of telemetry, which combines readings; 0: chart.MaxMarks
}

// Refusal is why there is nothing to draw, or not so, with the cure.
type Refusal struct{ error }

func refused(format string, args ...any) error { return Refusal{fmt.Errorf(format, args...)} }

// maxPanels is how many small multiples a figure has: more are too small to be read.
const maxPanels = 12

// maxRows is how many rows a strip has.
const maxRows = 60

// placesAlong is how many marks a figure has over all panels where values are put together: about as many as are seen beside one another.
const placesAlong = 320

// placesIn returns the places on one of the panels.
func placesIn(panels int) int { return max(placesAlong/panels, 40) }

// nameWidth is how long a name may be: marks repeat it.
const nameWidth = 100

// command returns a command line of this program over the same stores.
func (m Maker) command(words ...string) string {
	return "neurolens " + term.ShellLine(words...) + m.Reader.OfStores()
}

// ofRun shows a run.
func (m Maker) ofRun(id string) string { return m.command("show", views.ShortRun(id)) }

// ofRuns lists the runs of a filter that more words hold for.
func (m Maker) ofRuns(selection string, words ...string) string {
	if selection != "" {
		words = append([]string{selection}, words...)
	}
	if len(words) == 0 {
		return m.command("ls")
	}
	return m.command("ls", filter.JoinArguments(words...))
}

// ofSeries shows the history of a trend alone.
func (m Maker) ofSeries(t *trend) string {
	words := []string{"history", t.filter, "--metric", t.rows[0].Metric}
	return m.command(slices.DeleteFunc(words, func(word string) bool { return word == "" })...) // a filter of all runs
}

// wordOf returns the word of a filter for runs with a value of an axis.
func wordOf(x views.Axis, row int) string {
	switch value := x.Values[row]; value {
	case "":
		return x.Name + "=null"
	case `""`:
		return x.Name + "=" + value
	default:
		return x.Name + "=" + filter.QuoteWord(value)
	}
}

// named says what all subjects have in common, and names each by what tells it from the others: of a single one its whole name.
func named(all []views.Subject, columns []string) (common string, names []string) {
	if len(all) == 0 {
		return "", nil
	}
	constants, varying := views.Axes(all, columns)
	if at := slices.IndexFunc(varying, func(x views.Axis) bool { return x.Name == "variant" }); at >= 0 && len(constants) > 0 && constants[0] == schema.BenchmarkOfCommands {
		constants[0] = listed(varying[at].Values)
	}
	names = views.PointNames(varying, len(all))
	common = plain(strings.Join(constants, " · "))
	names = plainAll(names)
	for i := range names {
		if names[i] == "" {
			names[i] = common
		}
	}
	return common, names
}

// listed returns different values for a title, the first ones by name.
func listed(values []string) string {
	const most, width = 3, 30
	var different []string
	for _, v := range values {
		if !slices.Contains(different, v) {
			different = append(different, v)
		}
	}
	text := strings.Join(term.Texts(different[:min(len(different), most)], func(v string) string { return term.Cut(term.OneLine(v), width) }), ", ")
	if more := len(different) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// plain returns a name that marks may have: one line, not too long.
func plain(name string) string { return term.Cut(term.OneLine(name), nameWidth) }

// plainAll returns such names, which differ where the whole ones do.
func plainAll(names []string) []string { return term.CutDistinct(names, nameWidth) }

// quantity returns a value of a metric in words.
func quantity(v float64, unit, metric string) string {
	if !views.Finite(v) {
		return term.Unknown
	}
	return views.QuantityOf(v, unit, metric)
}

// when returns when something was, in UTC as on the axes: a chart is passed on.
func (m Maker) when(t time.Time) string {
	if t.IsZero() {
		return "without a date"
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

// seconds returns the seconds since 1970.
func seconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

// sentence joins parts of what a mark says.
func sentence(parts ...string) string {
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	return strings.Join(parts, ", ")
}

// scaleOf is logarithmic where values are positive and span more than two decades.
func scaleOf(values []float64) chart.Scale { return logOver(100, values) }

// scaleOfSamples is so where a few samples that lie far off would leave no room for the others.
func scaleOfSamples(values []float64) chart.Scale { return logOver(20, values) }

func logOver(ratio float64, values []float64) chart.Scale {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if views.Finite(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	if low > 0 && high/low > ratio {
		return chart.Log
	}
	return chart.Linear
}

// computed returns a number with the digits that answers have of one that was computed: a mark is found again in the answer that it is of.
func computed(v float64) float64 {
	if rounded, is := answer.Computed(v).(float64); is {
		return rounded
	}
	return v
}

// median is that of numbers of which there is one at least.
func median(values []float64) float64 {
	values = slices.Clone(values)
	slices.Sort(values)
	return computed(stat.Quantile(values, .5))
}

// better is which way values are better, as far as that is known.
func better(direction string) chart.Better {
	switch schema.Better(direction) {
	case schema.BetterLower:
		return chart.Lower
	case schema.BetterHigher:
		return chart.Higher
	}
	return ""
}

// nonEmpty returns the series that have marks.
func nonEmpty(all ...chart.Series) []chart.Series {
	return slices.DeleteFunc(all, func(s chart.Series) bool { return len(s.Marks) == 0 })
}

// titled puts together what a title is of.
func titled(what, of string) string {
	if of == "" {
		return what
	}
	const width = 200 // a title has two lines
	return term.Cut(term.OneLine(what+" · "+of), width)
}

// shareTitles moves the words that all panels share into the title of their figure, where a panel has others.
func shareTitles(f *chart.Figure) {
	if len(f.Panels) < 2 {
		return
	}
	var shared []string
	for word := range strings.FieldsSeq(f.Panels[0].Title) {
		if !slices.ContainsFunc(f.Panels, func(p chart.Panel) bool { return !slices.Contains(strings.Fields(p.Title), word) }) {
			shared = append(shared, word)
		}
	}
	titles := term.Texts(f.Panels, func(p chart.Panel) string {
		return strings.Join(slices.DeleteFunc(strings.Fields(p.Title), func(word string) bool { return slices.Contains(shared, word) }), " ")
	})
	if len(shared) == 0 || slices.Contains(titles, "") {
		return
	}
	f.Title = titled(f.Title, strings.Join(shared, " "))
	for i := range f.Panels {
		f.Panels[i].Title = titles[i]
	}
}

// shown says how many of all are drawn.
func shown(n, all int, nouns, order string) string {
	return fmt.Sprintf("%s of %s %s drawn: %s", term.Thousands(n), term.Thousands(all), nouns, order)
}

// Plan is what Lines draws of points, for somebody who draws it himself.
type Plan struct {
	Metric, Unit string
	Axes         []string // in which points differ, by their names in filters
	X, By        string   // of these; empty where points differ in none, and in no second one
	Numbers      bool     // the values of X are numbers
	Doubles      bool     // and lie on a logarithmic axis
}

// Plan says what Lines draws of points.
func (m Maker) Plan(req Points) (Plan, error) {
	d, err := m.placed(req)
	if err != nil {
		return Plan{}, err
	}
	p := Plan{Metric: d.metric, Unit: d.unit}
	for _, a := range d.axesOf(d.subjects) {
		p.Axes = append(p.Axes, a.Name)
	}
	if len(p.Axes) == 0 {
		return p, nil
	}
	x, by, err := d.axisAndLines(axis{})
	if err != nil {
		return p, err
	}
	positions, _ := x.positions()
	p.X, p.By, p.Numbers, p.Doubles = x.Name, by.Name, positions.Scale != chart.Categories, positions.Scale == chart.Log
	return p, nil
}
