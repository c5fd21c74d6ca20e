// Package baseline has the file of a baseline: what points took in one session each, in a form that is reviewed like code.
//
// bless --to writes it, the readers of package ingest read it, and docs/baselines.md describes it. A file holds any number of
// points of any number of machines. All that it says of a point on a machine is of one session, and is replaced together.
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

// formVersion is that of the form of the file.
const formVersion = 1

// Document is a file.
type Document struct {
	Version  int                `json:"neurolens_baseline"`
	Sessions map[string]Session `json:"sessions"` // by their ids: those that some point is of
	Points   []Point            `json:"points"`   // in the order of compareOf
}

// Session is where and when points were measured: what all of its runs have in common. What is not known, or differs, is empty.
type Session struct {
	Began    time.Time         `json:"began"`            // the first run of it
	Suite    string            `json:"suite,omitempty"`  // of the sweep
	Commit   string            `json:"commit,omitempty"` // of the code that was measured
	Branch   string            `json:"branch,omitempty"`
	Dirty    *bool             `json:"dirty,omitempty"`    // the code had changes that the commit has not
	Versions map[string]string `json:"versions,omitempty"` // by the names of columns of runs
}

// Point is a point on a machine.
type Point struct {
	ID        string            `json:"point"` // see schema.PointID
	Machine   string            `json:"machine"`
	Session   string            `json:"session"`
	Benchmark string            `json:"benchmark"`
	Variant   string            `json:"variant,omitempty"`
	Backend   string            `json:"backend,omitempty"`
	Model     string            `json:"model,omitempty"`
	Precision string            `json:"precision,omitempty"`
	BatchSize *int64            `json:"batch_size,omitempty"`
	SeqLen    *int64            `json:"seq_len,omitempty"`
	Params    map[string]string `json:"params,omitempty"`
	Warnings  []string          `json:"warnings,omitempty"` // that its runs have, ascending
	Metrics   []Metric          `json:"metrics"`            // the primary one first
}

// Metric is what a metric of a point was, in its stored unit.
type Metric struct {
	Name     string        `json:"metric"`
	Unit     string        `json:"unit,omitempty"`
	Better   schema.Better `json:"better,omitempty"`
	Clock    string        `json:"clock,omitempty"`
	Level    schema.Level  `json:"level,omitempty"`
	Location float64       `json:"location"`           // see Summarize
	Interval []float64     `json:"interval,omitempty"` // likewise; none where there are fewer than 3 runs
	Runs     []float64     `json:"runs"`               // the location of each run, in the order in which they ran
	Samples  []int64       `json:"samples"`            // how many each of them has; 0: it is not known
}

// leastRuns is how many runs an interval takes, and confidence how often it contains the location.
const (
	leastRuns  = 3
	confidence = .95
)

// Summarize computes the location and the interval of the runs. The location is their median, of a metric that is compared by its
// ratio that of their logarithms, as comparisons have it. The interval is Student's t interval of the mean, in the same scale.
func (m *Metric) Summarize() {
	values := m.scaled()
	sorted := slices.Sorted(slices.Values(values))
	m.Location, m.Interval = round(m.unscaled(stat.Quantile(sorted, .5))), nil
	if test, ok := stat.OneSample(values); ok && len(values) >= leastRuns {
		interval := test.Interval(confidence)
		m.Interval = []float64{round(m.unscaled(interval.Low)), round(m.unscaled(interval.High))}
	}
}

// scaled are the runs in the scale in which the metric is compared.
func (m *Metric) scaled() []float64 {
	values := slices.Clone(m.Runs)
	if schema.ScaleOf(m.Name) == schema.ScaleRatio {
		for i, v := range values {
			values[i] = math.Log(v)
		}
	}
	return values
}

// unscaled is a value of that scale in the unit.
func (m *Metric) unscaled(v float64) float64 {
	if schema.ScaleOf(m.Name) == schema.ScaleRatio {
		return math.Exp(v)
	}
	return v
}

// Replace puts points of a session in place of what the document has of them on their machines, whole points, and keeps all
// others. replaced is how many were there. Sessions that no point is of any more are gone.
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

// compareOf orders points as people look for them, with machines side by side.
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
