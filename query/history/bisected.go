package history

import (
	"context"
	"database/sql/driver"
	"maps"
	"slices"
	"time"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// headOf is a point on a machine at a commit that bisect tested.
type headOf struct {
	pointOn
	commit string
}

// addBisected adds a run that bisect measured; the row has the same columns as the argument of add.
func (h *historian) addBisected(row []driver.Value) error {
	session := h.sessions.place(duck.Text(row[5]))
	h.bisected[session] = true
	run, err := parseRunID(row[8])
	if err != nil {
		return err
	}
	head := headOf{pointOn{duck.Text(row[0]), duck.Text(row[1])}, duck.Text(row[6])}
	if h.heads[head] == nil {
		h.heads[head] = map[int32]schema.ULID{}
	}
	h.heads[head][session] = run
	return nil
}

// recallBisects fills in Change.Bisected: bisect tags the runs that compared the ends of a search with its answer.
func (h *historian) recallBisects(ctx context.Context, r *scan.Reader) error {
	if len(h.heads) == 0 {
		return nil
	}
	columns, err := scan.RunColumns([]string{"started_at", "tags"})
	if err != nil {
		return err
	}
	for i, l := range h.shown {
		for k := range h.Series[i].Changes {
			c := &h.Series[i].Changes[k]
			runs := slices.SortedFunc(maps.Values(h.heads[headOf{l.pointOn(), c.Head}]), scan.CompareIDs)
			if len(runs) == 0 || c.Base == "" {
				continue
			}
			t, err := r.Rows(ctx, runs, columns)
			if err != nil {
				return err
			}
			for _, row := range t.Rows { // the newest last
				tags, _ := row[1].(map[string]any)
				if found, ok := tags[schema.TagBisectFound].(string); ok && tags[schema.TagBisectGood] == c.Base && tags[schema.TagBisectMetric] == l.metric {
					c.Bisected = &Bisected{Found: found}
					if at, ok := row[0].(time.Time); ok {
						c.Bisected.At = &at
					}
				}
			}
		}
	}
	return nil
}
