package scan

import (
	"context"
	"database/sql/driver"
	"strings"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
)

// CountSessions returns the number of sessions of the selected runs. Sessions that continue one another count as one, even if no run of a
// session between them is selected.
func (r *Reader) CountSessions(ctx context.Context, sel Selection) (int, error) {
	columns := []*schema.Column{schema.RunColumn("session_id"), schema.RunColumn("resumes")}
	selected, err := r.resumed(ctx, duck.Statement{SQL: "SELECT DISTINCT session_id, resumes FROM " + sel.Src.Scan(WithColumns(columns, sel.Columns), sel.Matches()), Args: sel.Args})
	if err != nil {
		return 0, err
	}
	resumes := map[string]string{}
	for next := selected; len(next) > 0; {
		var between []string // sessions that are continued, and of which no run is selected
		for id, resumed := range next {
			resumes[id] = resumed
		}
		for _, resumed := range next {
			if _, known := resumes[resumed]; resumed != "" && !known {
				between = append(between, duck.Literal(resumed))
			}
		}
		if len(between) == 0 {
			break
		}
		next, err = r.resumed(ctx, duck.Statement{SQL: "SELECT DISTINCT session_id, resumes FROM " + r.Src.Scan(columns, "session_id IN ("+strings.Join(between, ", ")+")")})
		if err != nil {
			return 0, err
		}
	}
	first := map[string]bool{}
	for id := range selected {
		for seen := map[string]bool{}; !seen[id]; { // a damaged store may have a circle
			seen[id] = true
			if resumed := resumes[id]; resumed != "" {
				id = resumed
			}
		}
		first[id] = true
	}
	return len(first), nil
}

// resumed reads sessions and, for each, the session that it continues; that is empty if there is none.
func (r *Reader) resumed(ctx context.Context, q duck.Statement) (map[string]string, error) {
	found := map[string]string{}
	err := r.Conn.Query(ctx, q, func(row []driver.Value) error {
		if id, _ := row[0].(string); id != "" {
			if resumed, _ := row[1].(string); resumed != "" || found[id] == "" {
				found[id] = resumed
			}
		}
		return nil
	})
	return found, err
}
