package chartdata

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
)

// Points are what runs of points came to, and what is to be drawn of them.
type Points struct {
	All    []summary.Point
	Filter string // that they match
	// Sessions is how many their runs are of: a value is over all of them.
	Sessions int
	Metric   string // empty: the primary metric of most of them
	X, Y     string // axes; of Pareto metrics. Empty: those with the most values
	By       string // an axis, for a series or a panel for each of its values
	Panels   string // of Lines, an axis, for a panel for each of its values
	Median   bool   // where several points are in one place, the median of their values in place of a panel for each
}

// notFailed are the ways in which runs end without a value that are no failures, as history has it.
var notFailed = []string{
	string(schema.StatusUnsupported), string(schema.StatusSkipped), string(schema.StatusCancelled), string(schema.StatusLost),
}

// measured are points with a metric.
type measured struct {
	Maker
	req      Points
	subjects []views.Subject
	title    string
	names    []string
	only     func(key string) (conditions []string, ok bool) // views.PointFilter of the points, with keyOfPoint
	valued
}

// valued is what points have of a metric, in the unit that most of them have it in.
type valued struct {
	metric, unit, better string           // better is empty where that is not known
	values               []*summary.Value // of each point; nil where it has none
	others               int              // points with the metric in another unit
	notes                []string
}

// SubjectsOf returns what points are of.
func SubjectsOf(points []summary.Point) []views.Subject {
	all := make([]views.Subject, len(points))
	for i := range points {
		all[i] = views.Subject{Point: points[i].Subject.Point(), Side: string(points[i].Side)}
	}
	return all
}

// placed returns the points that a chart over axes can show: those with a value that is right, and those that failed.
func (m Maker) placed(req Points) (*measured, error) {
	d, err := m.measured(req)
	if err != nil {
		return nil, err
	}
	d.dropWrong()
	d.dropUnlike()
	return d, nil
}

func (m Maker) measured(req Points) (*measured, error) {
	d := &measured{Maker: m, req: req, subjects: SubjectsOf(req.All)}
	if len(req.All) == 0 {
		return nil, refused("no point matches; neurolens ls lists what is stored")
	}
	d.title, d.names = named(d.subjects, axisColumns)
	d.only = views.PointFilter(d.subjects, term.Texts(req.All, keyOfPoint))
	metric := req.Metric
	if metric == "" {
		metric = primary(req.All)
	}
	var err error
	d.valued, err = valuesIn(req.All, metric)
	if req.Sessions > 1 {
		d.notes = append(d.notes, term.Count(req.Sessions, "session")+" combined: each value is the median over all of them; session=last draws the newest alone")
	}
	return d, err
}

// primary returns the metric that is the primary one of most points.
func primary(all []summary.Point) (most string) {
	counts := map[string]int{}
	for i := range all {
		if name := string(all[i].Metric); name != "" {
			if counts[name]++; counts[name] > counts[most] {
				most = name
			}
		}
	}
	return most
}

func valuesIn(all []summary.Point, metric string) (valued, error) {
	v := valued{metric: metric, values: make([]*summary.Value, len(all))}
	counts := map[string]int{}
	for i := range all {
		for k := range all[i].Metrics {
			one := &all[i].Metrics[k]
			if one.Metric == metric && one.Median != nil && views.Finite(*one.Median) {
				v.values[i] = one
				if counts[string(one.Unit)]++; counts[string(one.Unit)] > counts[v.unit] {
					v.unit = string(one.Unit)
				}
			}
		}
	}
	if len(counts) == 0 {
		return v, noMetric(all, metric)
	}
	directions := map[string]bool{}
	for i, one := range v.values {
		switch {
		case one == nil:
		case string(one.Unit) != v.unit:
			v.values[i] = nil
			v.others++
		case one.Better != "":
			v.better = string(one.Better)
			directions[v.better] = true
		}
	}
	if len(directions) != 1 {
		v.better = ""
	}
	if v.others > 0 {
		v.notes = append(v.notes, fmt.Sprintf("%s left out: %s in a unit other than %s", term.Count(v.others, "point"), plain(metric), v.unit))
	}
	return v, nil
}

// noMetric returns the error where no point has a value of a metric.
func noMetric(all []summary.Point, metric string) error {
	var known []string
	for i := range all {
		for _, v := range all[i].Metrics {
			if !slices.Contains(known, v.Metric) {
				known = append(known, v.Metric)
			}
		}
	}
	slices.Sort(known)
	there := plain(strings.Join(known, ", "))
	switch {
	case len(known) == 0:
		return refused("no matching point has a value: all runs failed; neurolens ls shows why")
	case metric == "":
		return refused("points have no common primary metric: choose one with --metric NAME: %s", there)
	}
	hint := "there are values of " + there
	if near := schema.Nearest(metric, known); near != "" {
		hint = "did you mean " + plain(near) + "?"
	}
	return refused("no matching point has a value of %s; %s", plain(metric), hint)
}

func (v *valued) quantity(value float64) string { return quantity(value, v.unit, v.metric) }

// cell is what stands in one place of a figure.
type cell struct {
	value, low, high float64 // low and high are the interval of one point, if that is known
	places           []int   // of its points
	text             string
	failed           bool   // none has a value, and one failed
	word             string // how their runs ended where none failed: "unsupported"
}

// cellOf puts points together: their median.
func (d *measured) cellOf(places []int) cell {
	c := cell{low: chart.Unknown(), high: chart.Unknown()}
	var all []float64
	for _, i := range places {
		if d.values[i] != nil {
			c.places, all = append(c.places, i), append(all, *d.values[i].Median)
		}
	}
	if len(all) == 0 {
		return d.withoutValue(places)
	}
	c.value = median(all)
	c.text = d.quantity(c.value)
	if v := d.values[c.places[0]]; len(all) > 1 {
		c.text += ", median of " + term.Count(len(all), "point")
	} else if v.Low != nil && v.High != nil {
		c.low, c.high = *v.Low, *v.High
		c.text += fmt.Sprintf(", 95 %% interval %s … %s", d.quantity(c.low), d.quantity(c.high))
	}
	return c
}

// withoutValue returns what stands in a place of points without a value: that of them which failed, if one did.
func (d *measured) withoutValue(places []int) cell {
	for _, i := range places {
		p := &d.req.All[i]
		if p.Wrong > 0 {
			return cell{value: chart.Unknown(), low: chart.Unknown(), high: chart.Unknown(), places: []int{i}, text: "no value: " + views.WrongResult, failed: true}
		}
		if at := slices.IndexFunc(p.Ended, func(r summary.Reason) bool { return !slices.Contains(notFailed, r.Status) }); at >= 0 {
			return cell{value: chart.Unknown(), low: chart.Unknown(), high: chart.Unknown(), places: []int{i}, text: noValue(p.Ended[at]), failed: true}
		}
	}
	c := cell{value: chart.Unknown(), low: chart.Unknown(), high: chart.Unknown(), places: places[:1], text: "no value"}
	if ended := d.req.All[places[0]].Ended; len(ended) > 0 {
		c.word, c.text = ended[0].Status, noValue(ended[0])
	}
	return c
}

// noValue says how runs without a value ended.
func noValue(r summary.Reason) string {
	return sentence("no value: "+r.Status, plain(term.FirstLine(string(r.Error))))
}

// keyOfPoint tells the points on their machines apart.
func keyOfPoint(p summary.Point) string { return string(p.PointID + p.Machine) }

// mark is that of a cell; where it lies is still to be said. of names the place, for several points.
func (d *measured) mark(c cell, of string) chart.Mark {
	p := &d.req.All[c.places[0]]
	k := chart.Mark{X: chart.Unknown(), Y: chart.Unknown(), Low: chart.Unknown(), High: chart.Unknown(), Value: chart.Unknown()}
	if n := len(c.places); n > 1 {
		k.Count, k.Text, k.Command = n, of+": "+c.text, d.ofRuns(d.req.Filter)
		return k
	}
	conditions, ok := d.only(keyOfPoint(*p))
	if !ok {
		conditions = []string{"point_id=" + string(p.PointID)}
	}
	k.Point, k.Command = string(p.PointID), d.ofRuns(d.req.Filter, conditions...)
	measured := term.Count(p.OKRuns, "ok run")
	if c.failed {
		k.Tone = chart.Failed
	}
	if math.IsNaN(c.value) {
		k.Word, measured = c.word, term.Count(p.Runs, "run")
	}
	k.Text = sentence(d.names[c.places[0]]+": "+c.text, measured)
	return k
}

// dropWrong leaves out the values of points whose results are wrong.
func (d *measured) dropWrong() {
	d.drop(func(p *summary.Point) bool { return p.Wrong > 0 }, views.WrongMeaning)
}

// drop leaves out the values of some points, with a note.
func (d *measured) drop(some func(*summary.Point) bool, why string) {
	n := 0
	for i := range d.req.All {
		if d.values[i] != nil && some(&d.req.All[i]) {
			d.values[i] = nil
			n++
		}
	}
	if n > 0 {
		d.notes = append(d.notes, term.Count(n, "point")+" left out: "+why)
	}
}

// dropUnlike leaves out points of which ok runs have no value in the metric and its unit, and says how runs of others ended that did not
// fail.
func (d *measured) dropUnlike() {
	var kept []int
	ended := map[string]int{}
	var words []string
	for i := range d.req.All {
		p := &d.req.All[i]
		if d.values[i] == nil && p.OKRuns > 0 && p.Wrong == 0 {
			continue
		}
		kept = append(kept, i)
		if d.values[i] != nil {
			continue
		}
		if c := d.withoutValue([]int{i}); !c.failed && c.word != "" {
			if ended[c.word]++; ended[c.word] == 1 {
				words = append(words, c.word)
			}
		}
	}
	if n := len(d.req.All) - len(kept) - d.others; n > 0 {
		d.notes = append(d.notes, term.Count(n, "point")+" left out: no value of "+plain(d.metric))
	}
	for _, word := range words {
		d.notes = append(d.notes, term.Count(ended[word], "point")+" without a value: "+word)
	}
	if len(kept) == len(d.req.All) {
		return
	}
	d.keep(kept)
}

// keep leaves out all points but some.
func (d *measured) keep(kept []int) {
	d.req.All, d.subjects, d.values = views.Picked(d.req.All, kept), views.Picked(d.subjects, kept), views.Picked(d.values, kept)
	d.title, d.names = named(d.subjects, axisColumns)
}
