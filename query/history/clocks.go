package history

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// sessionOn identifies the runs of a point on a machine in a session.
type sessionOn struct {
	pointOn
	session int32
}

// useClocks takes the verdict from changes between levels that were measured at different clocks, and drops departures to another clock.
func (h *historian) useClocks(ctx context.Context, r *scan.Reader, sel scan.Selection) error {
	var lines []*line
	var ids []schema.ULID
	for _, l := range h.lines {
		if !query.DependsOnClock(l.unit, l.level) {
			continue
		}
		changed := slices.Concat(l.series.points, l.series.visible, l.series.slow, l.gated.points)
		if l.departure != nil {
			changed = append(changed, stat.ChangePoint{By: len(l.entries) - 1})
		}
		for _, p := range changed {
			ids = append(ids, l.entries[p.By].first)
		}
		if len(changed) > 0 {
			lines = append(lines, l)
		}
	}
	with, err := haveReadings(ctx, r, ids)
	if err != nil || !with {
		return err
	}
	clocks, err := h.readClocks(ctx, r, sel, lines)
	if err != nil {
		return err
	}
	for _, l := range lines {
		l.clocks = make([]query.DeviceClocks, len(l.entries))
		for i, e := range l.entries {
			l.clocks[i] = clocks[sessionOn{l.pointOn(), e.session}]
		}
		for _, t := range []*trend{&l.series, &l.gated} {
			for i := range t.marks {
				if m := &t.marks[i]; m.verdict != Spike {
					if m.clocks = l.offClock(t, m.ChangePoint); m.clocks != nil {
						m.verdict = judge.Estimate
					}
				}
			}
		}
		if l.departure != nil && l.between(l.series.lastLevel, len(l.entries)-l.departure.Sessions, len(l.entries)-l.departure.Sessions, len(l.entries)).Differ() {
			l.departure = nil
		}
	}
	h.departed = slices.DeleteFunc(h.departed, func(l *line) bool { return l.departure == nil })
	return nil
}

// haveReadings reports whether one of the runs with these ids has readings of a device.
func haveReadings(ctx context.Context, r *scan.Reader, ids []schema.ULID) (bool, error) {
	columns, err := scan.RunColumns([]string{"env"})
	if err != nil {
		return false, err
	}
	slices.SortFunc(ids, scan.CompareIDs)
	for some := range slices.Chunk(slices.Compact(ids), explainedAtOnce) {
		t, err := r.Rows(ctx, some, columns)
		if err != nil {
			return false, err
		}
		for _, row := range t.Rows {
			if env, _ := row[0].(map[string]any); env[schema.FactDevice] != nil {
				return true, nil
			}
		}
	}
	return false, nil
}

// readClocks reads the clocks in the sessions of series: the median of the runs of a point.
func (h *historian) readClocks(ctx context.Context, r *scan.Reader, sel scan.Selection, lines []*line) (map[sessionOn]query.DeviceClocks, error) {
	columns, err := scan.RunColumns([]string{"run_id", "session_id", "point_id", "machine", "side", "purpose", "status"})
	if err != nil {
		return nil, err
	}
	var points []string
	for _, l := range lines {
		points = append(points, l.point)
	}
	args := append(slices.Clone(sel.Args), points)
	runs := fmt.Sprintf("(SELECT run_id, session_id, point_id, machine FROM %s SEMI JOIN (SELECT unnest($%d::VARCHAR[]) AS point_id) USING (point_id))",
		sel.Src.Scan(scan.WithColumns(columns, sel.Columns), sel.RestrictedTo(historyChosen+" AND status = 'ok'")), len(args))
	text := "SELECT point_id, machine, session_id, s.metric, median(s.p50) FROM " + query.ReadingsOfClocks(sel.Src, runs) + " GROUP BY ALL"
	clocks := map[sessionOn]query.DeviceClocks{}
	err = r.Conn.Query(ctx, duck.Statement{SQL: text, Args: args}, func(row []driver.Value) error {
		key := sessionOn{pointOn{duck.Text(row[0]), duck.Text(row[1])}, h.sessions.place(duck.Text(row[2]))}
		if clocks[key] == nil {
			clocks[key] = query.DeviceClocks{}
		}
		clocks[key][duck.Text(row[3])], _ = row[4].(float64)
		return nil
	})
	return clocks, err
}

// offClock returns the clocks of the levels before and after a change if they differ; else nil.
func (l *line) offClock(t *trend, p stat.ChangePoint) *query.Clocks {
	first, before, after, last := l.bounds(t, p)
	if c := l.between(first, before, after, last); c.Differ() {
		return c
	}
	return nil
}

// between returns the clocks of the entries first to before-1 and after to last-1; nil if they are not known of both.
func (l *line) between(first, before, after, last int) *query.Clocks {
	if l.clocks == nil {
		return nil
	}
	return query.ClocksOf(medians(l.clocks[first:before]), medians(l.clocks[after:last]))
}

// medians returns the median clock of each device over sessions.
func medians(of []query.DeviceClocks) query.DeviceClocks {
	all := map[string][]float64{}
	for _, clocks := range of {
		for metric, clock := range clocks {
			all[metric] = append(all[metric], clock)
		}
	}
	level := query.DeviceClocks{}
	for metric, clocks := range all {
		level[metric] = stat.Median(clocks)
	}
	return level
}
