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

// bisectAnswer is what bisect found at a point between the commit good and the one that it tested.
type bisectAnswer struct {
	headOf
	good, metric string
	Bisected
}

// recallBisects fills in Change.Bisected: bisect tags the runs that compared the ends of a search with its answer. If it searched at other
// points only, the commit that it found there is the answer: it is the first to look at.
func (h *historian) recallBisects(ctx context.Context, r *scan.Reader) error {
	answers, err := h.bisectAnswers(ctx, r)
	if err != nil {
		return err
	}
	for i, l := range h.shown {
		for k := range h.Series[i].Changes {
			c := &h.Series[i].Changes[k]
			var own, other *Bisected
			for _, a := range answers[c.Head] {
				switch {
				case c.Base == "" || a.good != c.Base || a.metric != l.metric || a.machine != l.machine:
				case a.point == l.point:
					own = &a.Bisected
				case schema.BisectedCommit(a.Found) != "":
					other = &a.Bisected
				}
			}
			if c.Bisected = own; other != nil && (own == nil || own.Found == schema.BisectUndecided) {
				c.Bisected = other
			}
		}
	}
	return nil
}

// bisectAnswers returns the answers at the ends of changes by the commit that was tested, the newest last.
func (h *historian) bisectAnswers(ctx context.Context, r *scan.Reader) (map[string][]bisectAnswer, error) {
	ends := map[string]bool{}
	for _, s := range h.Series {
		for _, c := range s.Changes {
			ends[c.Head] = true
		}
	}
	heads := map[schema.ULID]headOf{}
	for head, sessions := range h.heads {
		if ends[head.commit] {
			for _, run := range sessions {
				heads[run] = head
			}
		}
	}
	if len(heads) == 0 {
		return nil, nil
	}
	columns, err := scan.RunColumns([]string{"started_at", "tags"})
	if err != nil {
		return nil, err
	}
	runs := slices.SortedFunc(maps.Keys(heads), scan.CompareIDs)
	t, err := r.Rows(ctx, runs, columns)
	if err != nil {
		return nil, err
	}
	answers := map[string][]bisectAnswer{}
	for i, row := range t.Rows {
		tags, _ := row[1].(map[string]any)
		text := func(key string) string { value, _ := tags[key].(string); return value }
		a := bisectAnswer{headOf: heads[runs[i]], good: text(schema.TagBisectGood), metric: text(schema.TagBisectMetric)}
		a.Found = text(schema.TagBisectFound)
		if a.Found != schema.BisectNothing && a.Found != schema.BisectUndecided && schema.BisectedCommit(a.Found) == "" {
			continue
		}
		if at, ok := row[0].(time.Time); ok {
			a.At = &at
		}
		answers[a.commit] = append(answers[a.commit], a)
	}
	return answers, nil
}
