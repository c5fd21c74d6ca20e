package scan

import (
	"context"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
)

// OfRuns follows a subquery and restricts it to the runs of a list of ids, which is parameter $1.
const OfRuns = " SEMI JOIN (SELECT unnest($1::VARCHAR[]) AS run_id) USING (run_id)"

// OnlyProfiles reports whether a selection without a measured run has runs under a profiler. A profiler slows what it measures, so its
// times are no evidence of speed.
func (r *Reader) OnlyProfiles(ctx context.Context, sel Selection) (bool, error) {
	columns := WithColumns([]*schema.Column{schema.RunColumn("purpose")}, sel.Columns)
	text := "SELECT count(*) > 0 FROM " + r.Src.Scan(columns, sel.RestrictedTo("purpose = 'profile'"))
	row, err := r.Conn.One(ctx, duck.Statement{SQL: text, Args: sel.Args})
	return err == nil && len(row) > 0 && row[0] == true, err
}

// SessionRuns is the SQL condition of the runs of a session and of the counted runs of other sessions.
func SessionRuns(session string, counted []string) string {
	own := "session_id = " + duck.Literal(session)
	if len(counted) > 0 {
		own += " OR run_id IN (SELECT unnest(" + duck.TextList(counted) + "))"
	}
	return own
}
