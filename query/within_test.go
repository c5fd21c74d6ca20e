package query_test

import (
	"testing"
	"time"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestNoneWithin: if no run is within bounds, the newest run that the filter matches gives bounds that have some.
func TestNoneWithin(t *testing.T) {
	t.Parallel()
	untimed := querytest.NewRun(10, 0, func(r *schema.Run) {
		r.Status, r.StartedAt, r.TimeSource = schema.StatusTimeout, time.Time{}, ""
	})
	dir := querytest.NewStore(t, append(querytest.ManyRuns(10), untimed)...)
	late, later := querytest.Start.AddDate(0, 0, 1), querytest.Start.AddDate(0, 0, 2)
	since, until := late.Format("2006-01-02 15:04"), later.Format("2006-01-02 15:04")
	began := querytest.Start.Format("2006-01-02 15:04")
	for _, c := range []struct {
		req  query.ListRequest
		want []string
	}{
		{query.ListRequest{Since: late}, []string{"no run since " + since + " UTC; the newest started at " + began + " UTC"}},
		{query.ListRequest{Since: late, Until: later}, []string{"no run from " + since + " UTC to " + until + " UTC; the newest started at " + began + " UTC"}},
		{query.ListRequest{Until: querytest.Start}, []string{"no run before " + began + " UTC; the newest started at " + began + " UTC"}},
		{query.ListRequest{Since: late.In(time.FixedZone("ACST", 34200)), Limit: 3}, []string{
			"no run since " + late.Add(9*time.Hour+30*time.Minute).Format("2006-01-02 15:04") + " ACST; the newest started at " +
				querytest.Start.Add(9*time.Hour+30*time.Minute).Format("2006-01-02 15:04") + " ACST",
		}},
		{query.ListRequest{Since: late, Filter: "batch_size=16 precision=fp32"}, []string{"no such run since " + since + " UTC; the newest started at " + began + " UTC"}},
		{query.ListRequest{Since: late, Filter: "status=timeout"}, []string{"no such run since " + since + " UTC; none has a start time"}},
		{query.ListRequest{Since: querytest.Start}, nil},
	} {
		for _, groups := range []bool{false, true} {
			var said []string
			db, err := query.Open(t.Context(), []string{dir}, query.Options{Remark: func(text string) { said = append(said, text) }})
			valuetest.OK(t, err)
			if groups {
				_, err = db.Groups(t.Context(), query.GroupRequest{Filter: c.req.Filter, Since: c.req.Since, Until: c.req.Until, By: []string{"machine"}})
			} else {
				_, err = db.List(t.Context(), c.req)
			}
			valuetest.NoError(t, err)
			valuetest.DeepEqual(t, said, c.want, c.req, "groups", groups)
			valuetest.NoError(t, db.Close())
		}
	}
}
