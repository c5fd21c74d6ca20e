// Package history says how metrics went over sessions, and where their levels changed.
//
// A history goes this way: runs are read some at a time, in a few bytes each, and gathered by series: a point on a machine as
// to a metric in a unit (read.go). The runs of a session become one value, however many they are, for what sessions differ by
// is what a change has to stand out from. Change points are found in each series and corrected over all of them; a step that
// may be chance and a session that is far off are marked as such (series.go). The series that were asked for become rows
// (rows.go). A gate judges each series on its own (gate.go).
package history

import (
	"context"
	"slices"
	"time"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/facts"
	"github.com/neurolens/neurolens/query/internal/fault"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// Method is a way to find change points.
type Method string

// The methods: that of stat.ChangePoints, and that of Apache Otava with its defaults.
const (
	SBS   Method = "sbs"
	Otava Method = "otava"
)

// Request asks how a metric went over sessions.
type Request struct {
	Filter string // in the filter language; empty matches every run
	Metric string // empty: the primary metric of each run
	// Since leaves out of the answer the sessions that started before it. They count for the change points all the same: a
	// level is told by what was before.
	Since  time.Time
	Method Method // empty: SBS
	// Regressions leaves all out but the sessions with which a series got worse.
	Regressions bool
	// Newest is for a gate that looks at a series each night: how many of its newest sessions History.Gate is about. A series
	// without a change is then called changed once in a year of such looks with the chance 5 % at most, not at one look; what
	// is no longer beyond chance is unsettled. 0 is no gate.
	Newest int

	// Outline leaves out all but the first and the last session of a series and those of changes: very many rows are larger
	// than all they are made of, and Series.Locations are what people see of them.
	Outline bool
	// Pages takes the rows, at most 1,000 at a time, in place of History.Rows. It must not keep them. Its error ends the answer.
	Pages func([]Row) error
}

// History is what there is over time: a row for each session of a series, the series one after another, in each the
// oldest session first. A series is a point on a machine as to a metric in a unit. Fields are the columns of the rows.
type History struct {
	Rows       []Row          // none where Request.Pages takes them
	Series     []Series       // those with rows, in their order
	Known      int            // series that there are, with rows or without
	Sessions   int            // different ones in the rows
	Failed     int            // runs that match and failed
	Unsettled  int            // series with a step since Request.Since that can be seen but may be chance, with rows or without
	Gate       Gate           // where Request.Newest is not 0
	Gone       int            // series without rows, as their last value was before Request.Since, that failed after it
	Useless    int            // ok runs that match but have no value of the metric
	Unplaced   int            // ok runs that say neither when they began nor in which session: nobody knows their order
	NotNumbers map[string]int // by key of the filter: values that an ordering could not use, being no numbers
}

// Series is a point on a machine as to a metric.
type Series struct {
	First, End int      // its rows, among those of all pages
	Sessions   int      // all of them, also those before Request.Since; of each commit where one has several
	ByCommit   bool     // a session has several commits, with a value each
	Failed     int      // sessions after the last of them in which runs of the point failed and none was ok
	Changes    []Change // ascending, those that are unsettled among them
	Spikes     []int    // their rows, as those of Changes
	// Locations are those of its rows in the unit, also of rows that an outline leaves out.
	Locations []float64
}

// Change is a change point of a series.
type Change struct {
	Row        int    // as those of Series: the first session of the new level
	Base, Head string // commits of the session before and of this one; empty where not known
	// BaseSession is the session before: what changed came after it.
	BaseSession string
	// Differs are the facts, but the commit, of which the first run of this session has another value than that of the session
	// before, and so has that of the last session before the next change: one of them may have none. What was different for
	// some sessions alone is none of them.
	Differs []facts.Difference

	baseRun, headRun, lastRun schema.ULID // these runs
}

// Read gives a metric over sessions and where its level changed.
//
// The value of a session is the median over its ok runs of purpose measure of the location of a run: of Summary.LogMedian,
// of p50 where the metric is compared by its difference. Sessions without such a run are missing, not filled in, and so are
// those in which the result of a run of the point was wrong. Of a
// session with two sides the head counts: it is the code of its day, while the base is older code that was run again, and
// would put an old commit to a new date. Runs of a session that differ in their commit are values of their own.
//
// Of the change points of all series those count that Benjamini and Hochberg's rule finds at 5 %, by the least p of each
// series: among many series, those with a false change point are 5 % of those with one, not 5 % of all. Otava knows no
// such thing.
//
// A step after the last change of a series that would be one if its sessions were independent, in 6 sessions or more, is
// unsettled: the series may only wander, or other series take the chance.
func Read(ctx context.Context, db *query.DB, req Request) (History, error) {
	return read(ctx, db, req, window)
}

func read(ctx context.Context, db *query.DB, req Request, window int) (History, error) {
	if req.Method == "" {
		req.Method = SBS
	}
	if req.Method != SBS && req.Method != Otava {
		return History{}, fault.Input("history: there is no method %q: want %s or %s", fault.Brief(string(req.Method)), SBS, Otava)
	}
	var h *historian
	err := db.Stores().Ask(ctx, func(r *scan.Reader) error {
		h = newHistorian(req, window)
		return h.find(ctx, r)
	})
	if err != nil {
		return History{}, err
	}
	return h.History, h.handOut()
}

// checkMetric refuses a metric that no run at all has, where runs match.
func (h *historian) checkMetric(ctx context.Context, r *scan.Reader) error {
	if h.req.Metric == "" || len(h.lines) > 0 || h.Useless == 0 {
		return nil
	}
	names, err := r.Metrics(ctx)
	if err != nil || slices.Contains(names, h.req.Metric) {
		return err
	}
	return r.NoMetric(ctx, "history", h.req.Metric)
}

// find finds all but the rows.
func (h *historian) find(ctx context.Context, r *scan.Reader) error {
	sel, err := r.Selected(ctx, scan.Question{Filter: h.req.Filter})
	if err != nil {
		return err
	}
	runs, err := h.read(ctx, r, sel)
	if err != nil {
		return err
	}
	if runs == 0 {
		if err := r.Nothing(ctx, sel); err != nil {
			return err
		}
	}
	if h.NotNumbers, err = r.CountNotNumbers(ctx, sel); err != nil {
		return err
	}
	h.order()
	if err := h.checkMetric(ctx, r); err != nil {
		return err
	}
	h.findChanges()
	h.decide()
	h.outline()
	if err := h.name(ctx, r); err != nil {
		return err
	}
	return explainChanges(ctx, r, h.Series)
}
