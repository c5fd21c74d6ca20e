package history

import (
	"slices"
	"time"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/facts"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// historyColumns are the columns of a history, in the order of what row gives.
func historyColumns() []answer.Column {
	columns := answer.ColumnsNamed(slices.Concat([]string{"point_id"}, facts.IdentityColumns(), []string{"machine", "metric", "unit", "better"})...)
	return append(columns, []answer.Column{
		{Name: "scale", Type: answer.TypeText},
		{Name: "session_id", Type: answer.TypeText},
		{Name: "started_at", Type: answer.TypeTime},
		{Name: "runs", Type: answer.TypeInteger},
		{Name: "location", Unit: schema.UnitOfRow, Type: answer.TypeReal},
		{Name: "git_commit", Type: answer.TypeText},
		{Name: "change_point", Type: answer.TypeBoolean},
		{Name: "shift", Type: answer.TypeReal},
		{Name: "shift_low", Type: answer.TypeReal},
		{Name: "shift_high", Type: answer.TypeReal},
		{Name: "p", Type: answer.TypeReal},
		{Name: "p_adjusted", Type: answer.TypeReal},
		{Name: "verdict", Type: answer.TypeText},
		{Name: "failed_sessions", Type: answer.TypeInteger},
	}...)
}

// historyPage is how many rows are handed out at a time.
const historyPage = 1000

// handOut makes the rows.
func (h *historian) handOut() error {
	page := answer.Table{Columns: h.Columns}
	for _, l := range h.shown {
		for i, m := range h.rowsOf(l) {
			page.Rows = append(page.Rows, h.row(l, i, m))
			if h.req.Pages == nil || len(page.Rows) < historyPage {
				continue
			}
			if err := h.req.Pages(page); err != nil {
				return err
			}
			page.Rows = page.Rows[:0]
		}
	}
	if h.req.Pages != nil {
		return h.req.Pages(page)
	}
	h.Rows = page.Rows
	return nil
}

// row is the row of entry i of a series.
func (h *historian) row(l *line, i int, m *mark) []any {
	e := l.entries[i]
	started := any(nil)
	if e.told {
		started = time.UnixMicro(e.began).UTC()
	}
	row := make([]any, 0, len(h.Columns))
	row = append(row, l.before...)
	row = append(row, h.sessions.values[e.session], started, int64(e.runs), l.scale().InUnit(e.location), h.commits.values[e.commit], m != nil && m.settled())
	if m == nil {
		return append(row, nil, nil, nil, nil, nil, nil, int64(l.failed))
	}
	for _, v := range []float64{m.Shift.Value, m.Shift.Low, m.Shift.High} {
		row = append(row, answer.Real(l.scale().Change(v)))
	}
	if m.settled() {
		row = append(row, answer.Real(m.P), answer.Real(max(m.P, l.series.adjusted)))
	} else {
		row = append(row, nil, nil)
	}
	return append(row, string(m.verdict), int64(l.failed))
}

// verdictOf says which way a change goes.
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
