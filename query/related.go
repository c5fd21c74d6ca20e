package query

import (
	"context"
	"strings"
	"time"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/facts"
	"github.com/neurolens/neurolens/query/filter"
)

// Related is what a run is to be seen beside.
type Related struct {
	// Before is the newest run of the same point on the same machine, of a session before: one row of RelatedFacts, env
	// and session_id; no row where there is none.
	Before answer.Table
	// Against is the commit that the session of the run compared with; empty where it compared nothing.
	Against string
}

// RelatedFacts are the columns in which a run is told from the one before it, beside env.
var RelatedFacts = facts.Columns(facts.Hardware, facts.Code, facts.Environment)

// Related finds what a run is to be seen beside.
func (db *DB) Related(ctx context.Context, d Detail) (Related, error) {
	var r Related
	var err error
	if r.Before, err = db.runBefore(ctx, d.Run); err != nil {
		return Related{}, err
	}
	r.Against, err = db.baseCommit(ctx, d.Run)
	return r, err
}

// textOf is a text of the only row of a table; empty for NULL.
func textOf(t answer.Table, column string) string {
	text, _ := t.Rows[0][t.Index(column)].(string)
	return text
}

// runBefore finds Related.Before. A run that does not say its machine, session or start has none.
func (db *DB) runBefore(ctx context.Context, run answer.Table) (answer.Table, error) {
	machine, session := textOf(run, "machine"), textOf(run, "session_id")
	until, ok := run.Rows[0][run.Index("started_at")].(time.Time)
	if machine == "" || session == "" || !ok {
		return answer.Table{}, nil
	}
	otherSide := "side!=base" // which has another commit
	if textOf(run, "side") == "base" {
		otherSide = "side!=head"
	}
	words := []string{"point_id=" + filter.Quote(textOf(run, "point_id")), "machine=" + filter.Quote(machine), "session!=" + session, otherSide}
	list, err := db.List(ctx, ListRequest{
		Filter: strings.Join(words, " "), Until: until, Columns: append([]string{"session_id", "env"}, RelatedFacts...), Limit: 1,
	})
	return list.Table, err
}

// baseCommit finds Related.Against.
func (db *DB) baseCommit(ctx context.Context, run answer.Table) (string, error) {
	if textOf(run, "side") == "" {
		return "", nil
	}
	list, err := db.List(ctx, ListRequest{Filter: "side=base session=" + textOf(run, "session_id"), Columns: []string{"git_commit"}, Limit: 1})
	if err != nil || len(list.Rows) == 0 {
		return "", err
	}
	return textOf(list.Table, "git_commit"), nil
}

// Newest is the id of the run that started last; empty where there is none.
func (db *DB) Newest(ctx context.Context) (string, error) {
	list, err := db.List(ctx, ListRequest{Columns: []string{"run_id"}, Limit: 1})
	if err != nil || len(list.Rows) == 0 {
		return "", err
	}
	return textOf(list.Table, "run_id"), nil
}
