// Package baseline reads and writes baseline files: the results of points, in one session each, in a form that can be reviewed like
// code.
//
// bless --to writes such a file, the readers of package ingest import it, and docs/baselines.md describes it. A file can have any number
// of points on any number of machines. All values of a point on a machine come from one session, and are replaced together.
package baseline

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// formVersion is the version of the file's format.
const formVersion = 1

// Document is the content of a baseline file.
type Document struct {
	Version  int                `json:"neurolens_baseline"`
	Sessions map[string]Session `json:"sessions"` // by id: the sessions of the points
	Points   []Point            `json:"points"`   // in the order of compareOf
}

// Session describes where and when points were measured: the properties that all its runs share. Values that are unknown or differ are
// empty.
type Session struct {
	Began    time.Time         `json:"began"`            // start of its first run
	Suite    string            `json:"suite,omitempty"`  // of the sweep
	Commit   string            `json:"commit,omitempty"` // of the measured code
	Branch   string            `json:"branch,omitempty"`
	Dirty    *bool             `json:"dirty,omitempty"`    // the code had uncommitted changes
	Versions map[string]string `json:"versions,omitempty"` // by the names of columns of runs
}

// Point is a point on a machine.
type Point struct {
	ID      string `json:"point"` // see schema.PointID
	Machine string `json:"machine"`
	Session string `json:"session"`
	schema.Point
	Warnings []string `json:"warnings,omitempty"` // that its runs have, ascending
	Metrics  []Metric `json:"metrics"`            // the primary one first
}

// Metric is a metric of a point, in its stored unit.
type Metric struct {
	Name     string        `json:"metric"`
	Unit     string        `json:"unit,omitempty"`
	Better   schema.Better `json:"better,omitempty"`
	Clock    string        `json:"clock,omitempty"`
	Level    schema.Level  `json:"level,omitempty"`
	Location float64       `json:"location"`           // see Summarize
	Interval []float64     `json:"interval,omitempty"` // confidence interval of Location; none if there are fewer than 3 runs
	Runs     []float64     `json:"runs"`               // the location of each run, in the order in which they ran
	Samples  []int64       `json:"samples"`            // number of samples of each run; 0 if unknown
}

// minRuns is the number of runs that an interval needs, and confidence its confidence.
const (
	minRuns    = 3
	confidence = .95
)

// Summarize computes the location and the interval of the runs. The location is the median of the runs or, for a metric that is compared
// by ratio and whose runs are all positive, of their logarithms, as in comparisons. The interval is Student's t interval of the mean, on
// the same scale.
func (m *Metric) Summarize() {
	values := m.scaled()
	sorted := slices.Sorted(slices.Values(values))
	m.Location, m.Interval = round(m.unscaled(stat.Quantile(sorted, .5))), nil
	if test, ok := stat.OneSample(values); ok && len(values) >= minRuns {
		interval := test.Interval(confidence)
		m.Interval = []float64{round(m.unscaled(interval.Low)), round(m.unscaled(interval.High))}
	}
}

// scaled returns the runs on the scale on which the metric is compared.
func (m *Metric) scaled() []float64 {
	values := slices.Clone(m.Runs)
	if m.hasRatio() {
		for i, v := range values {
			values[i] = math.Log(v)
		}
	}
	return values
}

// unscaled converts a value from the scale of scaled to the unit.
func (m *Metric) unscaled(v float64) float64 {
	if m.hasRatio() {
		return math.Exp(v)
	}
	return v
}

// hasRatio reports whether the runs can be compared by ratio.
func (m *Metric) hasRatio() bool {
	return schema.ScaleOf(m.Name) == schema.ScaleRatio && !slices.ContainsFunc(m.Runs, func(v float64) bool { return v <= 0 })
}

// Replace replaces the points of a document by points of a session, machine by machine, and adds new ones. All other
// points stay. It returns the number of replaced points. Sessions without points are removed.
func (d *Document) Replace(id string, session Session, points []Point) (replaced int) {
	type place struct{ point, machine string }
	theirs := map[place]bool{}
	for _, p := range points {
		theirs[place{p.ID, p.Machine}] = true
	}
	before := len(d.Points)
	d.Points = slices.DeleteFunc(d.Points, func(p Point) bool { return theirs[place{p.ID, p.Machine}] })
	replaced = before - len(d.Points)
	d.Points = append(d.Points, points...)
	slices.SortFunc(d.Points, compareOf)
	if d.Sessions == nil {
		d.Sessions = map[string]Session{}
	}
	d.Version, d.Sessions[id] = formVersion, session
	used := map[string]bool{}
	for _, p := range d.Points {
		used[p.Session] = true
	}
	maps.DeleteFunc(d.Sessions, func(id string, _ Session) bool { return !used[id] })
	return replaced
}

// compareOf orders points for human readers, with machines next to each other.
func compareOf(a, b Point) int {
	number := func(n *int64) int64 {
		if n == nil {
			return math.MinInt64
		}
		return *n
	}
	if c := cmp.Or(
		cmp.Compare(a.Benchmark, b.Benchmark), cmp.Compare(a.Variant, b.Variant), cmp.Compare(a.Backend, b.Backend), cmp.Compare(a.Model, b.Model),
		cmp.Compare(a.Precision, b.Precision), cmp.Compare(number(a.BatchSize), number(b.BatchSize)), cmp.Compare(number(a.SeqLen), number(b.SeqLen)),
	); c != 0 {
		return c
	}
	for _, name := range slices.Sorted(maps.Keys(a.Params)) {
		if c := compareTexts(a.Params[name], b.Params[name]); c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Machine, b.Machine))
}

// compareTexts orders numbers as numbers, before all other texts.
func compareTexts(a, b string) int {
	x, errX := schema.ParseQuantity(a)
	y, errY := schema.ParseQuantity(b)
	switch {
	case errX == nil && errY == nil && x.Unit == y.Unit && x.Value != y.Value:
		return cmp.Compare(x.Value, y.Value)
	case errX == nil && errY != nil:
		return -1
	case errX != nil && errY == nil:
		return 1
	}
	return cmp.Compare(a, b)
}
