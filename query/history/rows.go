package history

import (
	"context"
	"iter"
	"math"
	"time"

	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// historyPage is the largest number of rows that Request.Pages is given at a time.
const historyPage = 1000

// handOut makes the rows, and keeps them in History.Rows or gives them to Request.Pages: those of the next page are made while it has one.
func (h *historian) handOut(ctx context.Context) error {
	if h.req.Pages != nil {
		return scan.Prefetch(ctx, h.pages(historyPage), h.req.Pages)
	}
	for page := range h.pages(h.rowCount()) {
		h.Rows = page
	}
	return nil
}

// rowCount is the number of rows of all series.
func (h *historian) rowCount() int {
	if len(h.Series) == 0 {
		return 0
	}
	return h.Series[len(h.Series)-1].End
}

// pages makes the rows, so many at a time, each page in the memory of the page before the last. The last page may be empty.
func (h *historian) pages(size int) iter.Seq[[]Row] {
	return func(yield func([]Row) bool) {
		page, last := make([]Row, 0, size), []Row(nil)
		for _, l := range h.shown {
			for i, m := range h.rowsOf(l) {
				if len(page) == size {
					if !yield(page) {
						return
					}
					page, last = last[:0], page
				}
				page = append(page, h.row(l, i, m))
			}
		}
		yield(page)
	}
}

// row is the row of entry i of a series.
func (h *historian) row(l *line, i int, m *mark) Row {
	e := l.entries[i]
	row := Row{
		PointID: l.point, Point: l.of, Metric: l.metric, Unit: l.unit, Better: schema.Better(l.better), Scale: l.scale,
		SessionID: h.sessions.text(e.session), Runs: int(e.runs), Location: l.scale.InUnit(e.location), GitCommit: h.commits.text(e.commit),
		FailedSessions: l.failed,
	}
	row.StartedAt = e.time()
	if m == nil {
		return row
	}
	row.Verdict, row.ChangePoint = m.verdict, m.isChange()
	change := func(v float64) *float64 { return finite(l.scale.Change(v)) }
	row.Shift, row.ShiftLow, row.ShiftHigh = change(m.Shift.Value), change(m.Shift.Low), change(m.Shift.High)
	if m.verdict != Spike {
		row.AfterSession, row.BySession, row.RampSessions = h.sessions.text(l.entries[m.After].session), h.sessions.text(l.entries[m.By].session), m.rampSessions()
	}
	if m.isChange() {
		row.P, row.PAdjusted = finite(m.P), finite(max(m.P, l.series.adjusted))
	}
	return row
}

// time is when the session of an entry started, in UTC; nil if unknown.
func (e *entry) time() *time.Time {
	if !e.dated {
		return nil
	}
	return new(time.UnixMicro(e.began).UTC())
}

// finite is v, or nil if v is NaN or infinite.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// verdictOf is the direction of a change: regressed, improved, or changed if the better direction is unknown.
func (l *line) verdictOf(change stat.ChangePoint) judge.Verdict {
	better := schema.Better(l.better)
	switch {
	case better != schema.BetterLower && better != schema.BetterHigher:
		return judge.Changed
	case change.Shift.Value > 0 == (better == schema.BetterLower):
		return judge.Regressed
	}
	return judge.Improved
}
