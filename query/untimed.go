package query

import (
	"context"
	"fmt"
	"slices"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// untimedOrder is the order of runs without a start, whose ids have no time: by session, newest first, then by their position in the
// imported file, if known.
const untimedOrder = "session_id DESC NULLS LAST, env['source.path'] NULLS LAST, position_index NULLS LAST, run_id DESC"

// untimed reports whether the run of an id has no start.
func untimed(id schema.ULID) bool { return id.Time().UnixMilli() == 0 }

// orderUntimed sorts the runs without a start, which come after all others. With a limit, other runs of them may be listed than
// before. Nothing is read if there is no such run.
func (l *lister) orderUntimed(ctx context.Context, r *scan.Reader, found *scan.Chosen) error {
	timed := slices.IndexFunc(found.IDs, untimed)
	if timed < 0 {
		return nil
	}
	sel, err := r.Selected(ctx, l.question)
	if err != nil {
		return err
	}
	alone := scan.Period{Until: 1}
	sel.Restrict(alone)
	columns := scan.WithColumns(scan.WithRunID(sel.Columns), []*schema.Column{schema.RunColumn("session_id"), schema.RunColumn("env"), schema.RunColumn("position_index")})
	text := "SELECT run_id FROM " + sel.Src.Within(alone).Scan(columns, sel.SQL) + " ORDER BY " + untimedOrder
	if l.req.Limit > 0 {
		text += fmt.Sprintf(" LIMIT %d", l.req.Limit-timed)
	}
	last, err := r.ListIDs(ctx, duck.Statement{SQL: text, Args: sel.Args})
	found.IDs = append(found.IDs[:timed], last...)
	l.only = nil
	return err
}
