// Package history shows metrics over sessions and finds the sessions in which their level changed.
//
// A history is computed in these steps. Runs are read in windows and grouped into series (read.go); a series is one metric in
// one unit, of one point on one machine. All runs of a session become one value, because a change has to exceed the differences
// between sessions. Change points are found in each series and corrected for the number of series; inconclusive steps and
// spikes are marked (series.go). The requested series become rows (rows.go). A gate judges each series on its own (gate.go).
package history

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// Method is a way to find change points.
type Method string

// The methods: seeded binary segmentation of stat.ChangePoints, and the method of Apache Otava with its defaults.
const (
	SBS   Method = "sbs"
	Otava Method = "otava"
)

// Request selects the runs and the metric of a history.
type Request struct {
	Filter string // in the filter language; empty matches every run
	Metric string // empty: the primary metric of each run
	// Since leaves sessions that started earlier out of the answer. They are still used to find change points, which require the level
	// before a change.
	Since  time.Time
	Method Method // empty: SBS
	// Regressions keeps only the sessions in which a series got worse.
	Regressions bool
	// Newest is the number of newest sessions that History.Gate judges; 0: no gate. A gate may test a series every night. Therefore it calls
	// a series without a change regressed with a probability of at most 5 % in a year of such tests, not per test. The rows do not depend
	// on it.
	Newest int

	// Outline keeps only the first and the last session of a series and those with changes, which saves memory if there are
	// very many rows. Series.Locations still has the values of all sessions.
	Outline bool
	// Pages receives the rows, at most 1,000 at a time, instead of History.Rows. Its error ends
	// the answer.
	Pages func([]Row) error
}

// History has one row per session of each series, series by series and oldest session first. A series is one metric in one unit,
// of one point on one machine. Fields are the columns of the rows.
type History struct {
	Rows         []Row          // empty if Request.Pages receives them
	Series       []Series       // the series that have rows, in the order of the rows
	Known        int            // number of series, with rows or without
	Points       []SeriesPoint  // what the known series are of, in any order; only with Request.Outline and if there is a row, departure or Undecided
	Longest      int            // number of sessions of the longest series, with rows or without
	Departures   []*Departure   // series, with rows or without, whose newest sessions are far off their level, the worst first
	Sessions     int            // number of sessions in the rows; those that began at the same time count as one
	Failed       int            // number of matching runs that failed
	Requests     int            // part of Failed: ok runs in which more requests failed than are allowed
	Inconclusive int            // number of series, with rows or without, that have a visible step or a slow change since Request.Since that may be chance
	Undecided    *Undecided     // the largest change that may be chance, of a series with rows or without, for the worse if there is one; nil: none
	Needs        int            // number of sessions that a series needs for a step in it to be found among the others: MinSessions for one series; 0 for Otava
	Few          int            // number of series, with rows or without, with fewer than Needs sessions and neither a change nor an inconclusive one
	Matching     int            // number of sessions with matching runs, ok or failed, before Request.Since as well, those of Tied counted by their starts; without those of Bisected
	Gate         Gate           // set if Request.Newest is not 0
	Discontinued int            // number of series without rows: their last value is older than Request.Since, and newer runs failed
	NoValue      int            // number of matching ok runs without a value of the metric
	Undated      int            // number of matching ok runs that cannot be ordered: neither they nor their session have a start
	Failing      int            // number of series, with rows or without, whose runs failed in all sessions after their last value
	Absent       int            // number of series with a value in half of the newest sessions, but neither a value nor a failure in the newest one; 0 if most are so
	Tied         int            // number of sessions that began at the same time as another one of their series, to the microsecond: they have no order, so they count as one
	TiedStarts   int            // number of starts that they have
	Bisected     int            // number of sessions that are left out, because bisect measured them: their commits are older than they are
	NotNumbers   map[string]int // per key of the filter: number of values that < or > could not compare because they are not numbers
}

// SeriesPoint identifies a series.
type SeriesPoint struct {
	PointID string
	query.Point
	Metric string
}

// Series is one metric of one point on one machine.
type Series struct {
	First, End int        // its rows are First to End-1, counted over all pages
	Sessions   int        // number of values, including those before Request.Since: one per session, or per commit of a session
	ByCommit   bool       // some session has several commits, with one value each
	Failed     int        // number of sessions after the last value in which all runs of the point failed
	Changes    []Change   // ascending, including inconclusive ones
	Spikes     []int      // rows of the spikes, counted like First
	Departure  *Departure // nil: the newest sessions are not far off the level
	// Locations are the values of all requested sessions in the unit, including those that an outline leaves out.
	Locations []float64
}

// Change is a change point of a series.
type Change struct {
	// Row is the row of the first session of the new level, counted like Series.First. If the level rises or falls over several
	// sessions, it is the row of the last of them.
	Row int
	// Base and Head are commits of sessions that enclose the change: it is after Row.AfterSession and not after Row.BySession. They are
	// empty if unknown. After and By are when these sessions started, in UTC; nil if unknown.
	Base, Head string
	After, By  *time.Time
	// Places is the number of sessions from which on the level may be the new one, or over which it rises or falls.
	Places int
	// OldLevel and NewLevel are the medians of the values before and after the change, in the unit, up to the next change on either side.
	// A slow change that begins or ends the series has the value of its own first or last session there.
	OldLevel, NewLevel float64
	// Sweep is the path of the sweep file that measured the first session after the change, as the user named it; empty: there is none.
	Sweep string
	// Bisected is the answer of the last bisect between Base and Head or, if it found none at this point, the commit that bisect found there at
	// another point of the machine; nil: there was no bisect, or it did not end.
	Bisected *Bisected
	// Differs are the facts, except the commit, that differ between the sessions that enclose the change, and still differ in the
	// last session of the new level. Facts that differ only temporarily are not listed.
	Differs []query.FactDifference

	baseRun, headRun, lastRun schema.ULID // first runs of the enclosing sessions, and of the last session of the level
}

// Bisected is the answer of a search for the commit of a change.
type Bisected struct {
	At    *time.Time // when its ends were compared, in UTC
	Found string     // the first changed commit, schema.BisectNothing or schema.BisectUndecided
}

// Commit returns the commit of a change that bisect found; empty if it found none.
func (c *Change) Commit() string {
	if c.Bisected == nil {
		return ""
	}
	return schema.BisectedCommit(c.Bisected.Found)
}

// Read returns a metric over sessions and the sessions in which its level changed.
//
// The value of a session is the median of the medians of its ok runs of purpose measure, as query.SessionPoint has it. Changes are found in
// the median of the locations of its runs. The location of a run is Summary.LogMedian or, if the metric is compared by difference, because
// it always is or because a value of the series is zero or negative, the median in the unit. Sessions without such a run, or in which a run
// of the point had a wrong result, are left out, and a run in which more requests failed than are allowed counts as failed. Runs that
// bisect measured are left out. Missing values are not interpolated. In a session with two sides only the head counts, because the base is
// older code that was measured again. If a session measured several commits, each commit has its own value. Sessions of a series that began
// at the same time, to the microsecond, have no order: their runs become one value, with the id of one of them, and without a commit if
// they have several.
//
// Change points are corrected for the number of series with the Benjamini-Hochberg procedure at 5 %, applied to the smallest p of each
// series: of the series called changed, at most 5 % are expected to be false. Otava does not correct.
//
// A step after the last change of a series, in 6 sessions or more, is inconclusive if it would be a change only if sessions were
// independent of each other, or if there were no other series to correct for. So is a slow change if it would be significant in a single
// test of this series.
//
// A change of a time, a rate or an energy between levels whose median clocks differ (query.Clocks) has no verdict: it is judge.Estimate, for
// the reason judge.OffClock, and counts in no gate.
//
// A filter or a method that cannot be read is an ErrInput, and so is a NoOrderError.
func Read(ctx context.Context, db *query.DB, req Request) (History, error) {
	return read(ctx, db, req, runsPerWindow)
}

func read(ctx context.Context, db *query.DB, req Request, window int) (History, error) {
	if req.Method == "" {
		req.Method = SBS
	}
	if req.Method != SBS && req.Method != Otava {
		return History{}, answer.InputError("history: unknown method %q: want %s or %s", answer.Brief(string(req.Method)), SBS, Otava)
	}
	var h *historian
	err := db.Stores().Query(ctx, func(r *scan.Reader) error {
		h = newHistorian(req, window)
		return h.find(ctx, r)
	})
	if err != nil {
		return History{}, err
	}
	err = h.emitRows(ctx)
	return h.History, err
}

// NoOrderError means that the matching ok runs cannot be ordered, because none has a start. It is an ErrInput.
type NoOrderError struct{ Runs int }

func (e *NoOrderError) Error() string { return "history: no order: " + NoStart(e.Runs) }

// Is reports whether another error is ErrInput.
func (e *NoOrderError) Is(other error) bool { return other == answer.ErrInput }

// NoStart returns the sentence that a number of runs have no start time, and how to give them one.
func NoStart(runs int) string {
	if runs == 1 {
		return "1 run has no start time; give it with ingest --at"
	}
	return strconv.Itoa(runs) + " runs have no start time; give it with ingest --at"
}

// CountAsOne returns the sentence that some sessions share a number of starts: see History.Tied.
func CountAsOne(sessions, starts int) string {
	times := "the same time"
	if starts > 1 {
		times = strconv.Itoa(starts) + " times"
	}
	return strconv.Itoa(sessions) + " sessions began at " + times + ": those of one time have no order, and count as one"
}

// LeftOut returns the sentence that sessions are left out because bisect measured them: see History.Bisected.
func LeftOut(sessions int) string {
	if sessions == 1 {
		return "1 session of bisect left out, which measured older commits"
	}
	return strconv.Itoa(sessions) + " sessions of bisect left out, which measured older commits"
}

// checkMetric rejects a metric that no run in the store has.
func (h *historian) checkMetric(ctx context.Context, r *scan.Reader) error {
	if h.req.Metric == "" || len(h.lines) > 0 || h.NoValue == 0 {
		return nil
	}
	names, err := r.Metrics(ctx)
	if err != nil || slices.Contains(names, h.req.Metric) {
		return err
	}
	return r.NoMetric(ctx, "history", h.req.Metric)
}

// find computes everything except the rows.
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
		if err := r.ExplainEmpty(ctx, sel); err != nil {
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
	if h.Known == 0 && h.Undated > 0 {
		return &NoOrderError{h.Undated}
	}
	h.findChanges()
	if err := h.useClocks(ctx, r, sel); err != nil {
		return err
	}
	h.decide()
	h.findUndecided()
	h.outline()
	if err := h.name(ctx, r); err != nil {
		return err
	}
	if err := h.departures(ctx, r); err != nil {
		return err
	}
	h.describeUndecided()
	if err := h.nameSweep(ctx, r); err != nil {
		return err
	}
	if err := h.recallBisects(ctx, r); err != nil {
		return err
	}
	if h.rates, err = r.RateUnits(ctx, func(yield func(string) bool) {
		for _, l := range h.shown {
			if !yield(l.unit) {
				return
			}
		}
	}); err != nil {
		return err
	}
	return explainChanges(ctx, r, h.Series)
}
