package compare

import (
	"context"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// CheckRequests returns an ErrInput if more requests failed than are allowed in an ok run that a filter selects for a baseline with a name. The
// values of such a run are those of the completed requests alone. Read refuses it for a baseline in a file.
func CheckRequests(ctx context.Context, db *query.DB, filter string) error {
	all, requests, warning := 0, 0, ""
	err := db.Pages(ctx, query.ListRequest{Filter: filter}, []string{"status", "warnings"}, func(page query.Page) error {
		for _, row := range page.Rows {
			all++
			if row[0] != string(schema.StatusOK) {
				continue
			}
			said, _ := row[1].([]any)
			for _, w := range said {
				text, _ := w.(string)
				if _, is := schema.FailedRequests(text); is {
					requests, warning = requests+1, text
					break
				}
			}
		}
		return nil
	})
	if err != nil || requests == 0 {
		return err
	}
	return requestsFailed(requests, all, warning)
}

// requestsFailed is the error of a baseline with runs in which requests failed. warning is the warning of one of these runs.
func requestsFailed(requests, all int, warning string) error {
	return answer.InputError("bless: in %d of %d runs requests failed (%s): measure them again, or leave the point out", requests, all, answer.Brief(warning))
}
