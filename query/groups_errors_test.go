package query_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/querytest"
)

func TestGroupsSort(t *testing.T) {
	t.Parallel()
	db := groupStore(t)
	for _, c := range []struct {
		sort []string
		best bool
		want string
	}{
		{nil, true, "bf16 fp32 fp64"},
		{[]string{"-precision"}, true, "fp64 fp32 bf16"},
		{[]string{"-prec"}, false, "fp64 fp32 bf16"},
		{[]string{"-median"}, true, "fp64 fp32 bf16"},
		{[]string{"median"}, false, "fp32 fp64 bf16"},
		{[]string{"-highest"}, false, "fp32 fp64 bf16"},
		{[]string{"runs"}, false, "bf16 fp64 fp32"},
		{[]string{"failed_runs", "-points"}, false, "bf16 fp32 fp64"},
	} {
		g, got := groups(t, db, query.GroupRequest{By: []string{"precision"}, Best: c.best, Sort: c.sort}, "precision")
		if strings.Join(got, " ") != c.want {
			t.Errorf("sort %q: got %s, want %s", c.sort, got, c.want)
		}
		limited, got := groups(t, db, query.GroupRequest{By: []string{"precision"}, Best: c.best, Sort: c.sort, Limit: 2}, "precision")
		if !slices.Equal(got, strings.Fields(c.want)[:2]) || limited.Total != 3 || limited.Runs != g.Runs {
			t.Errorf("sort %q, at most 2: got %s of %d groups, %d runs", c.sort, got, limited.Total, limited.Runs)
		}
	}
}

func TestGroupsErrors(t *testing.T) {
	t.Parallel()
	db := groupStore(t)
	ctx := context.Background()
	for _, c := range []struct {
		req  query.GroupRequest
		says string
	}{
		{query.GroupRequest{By: []string{""}}, `by: "" is neither a column nor a parameter`},
		{query.GroupRequest{By: []string{"-dim"}}, `by: "-dim" is neither a column nor a parameter`},
		{query.GroupRequest{By: []string{"baseline"}}, `by: "baseline" is neither a column nor a parameter`},
		{query.GroupRequest{By: []string{"warnings"}}, "by: warnings is a list, and runs cannot be grouped by lists"},
		{query.GroupRequest{By: []string{"tags"}}, "by: tags is a map: name one of its entries, as in tag.name"},
		{query.GroupRequest{By: []string{"p99"}}, "by: p99 is a measured value: want a key that runs share, such as backend"},
		{query.GroupRequest{By: []string{"bs", "batch_size"}}, "by: batch_size is given twice"},
		{query.GroupRequest{By: []string{"dim", "param.dim"}}, "by: param.dim is given twice"},
		{query.GroupRequest{By: []string{"precsion"}}, `by: no column or parameter is called "precsion"; did you mean precision?`},
		{query.GroupRequest{Filter: "batch_size=77", By: []string{"dmi"}}, `by: no column or parameter is called "dmi"; did you mean dim?`},
		{query.GroupRequest{Filter: "dmi=3", By: []string{"dim"}}, `filter: dmi=3  (offset 0): no column or parameter is called "dmi"; did you mean dim?`},
		{query.GroupRequest{By: []string{"dim"}, Sort: []string{"precision"}}, `sort: "precision" is not a column of the groups: want one of dim points runs`},
		{query.GroupRequest{By: []string{"dim"}, Sort: []string{"statuses"}}, `sort: "statuses" is not a column of the groups: want one of dim points runs`},
		{query.GroupRequest{By: []string{"dim"}, Sort: []string{"p99"}}, `sort: "p99" is not a column of the groups: want one of dim points runs`},
	} {
		_, err := db.Groups(ctx, c.req)
		querytest.WantInput(t, err, c.says)
	}
	// Nothing matches, or there is nothing.
	for what, db := range map[string]*query.DB{"no match": db, "no runs": querytest.Open(t, querytest.NewStore(t))} {
		for _, req := range []query.GroupRequest{{Filter: "batch_size=77", By: []string{"dim"}}, {Filter: "batch_size=77", Best: true}, {Since: querytest.Start.Add(time.Hour), By: []string{"dim"}}} {
			g, err := db.Groups(ctx, req)
			if err != nil || len(g.Groups) != 0 || g.Total != 0 || g.Runs != 0 {
				t.Errorf("%s, %+v: %v, %v", what, req, g, err)
			}
		}
	}
	g, _ := groups(t, db, query.GroupRequest{By: []string{"precision"}, Since: querytest.Start.Add(9 * time.Second), Until: querytest.Start.Add(11 * time.Second)})
	if g.Runs != 2 || g.Total != 2 {
		t.Errorf("between two times: %d runs, %d groups", g.Runs, g.Total)
	}
	_, err := db.Groups(ctx, query.GroupRequest{Filter: "dim>=100", By: []string{"dim"}})
	if err != nil {
		t.Error(err)
	}
	odd := querytest.Open(t, querytest.NewStore(t, groupRun(0, 1, "fp32", "64", nil), groupRun(1, 1, "fp32", "big", nil)))
	if g, _ := groups(t, odd, query.GroupRequest{Filter: "dim>=32", By: []string{"dim"}, Since: querytest.Start.Add(-time.Hour)}); g.Runs != 1 || g.NotNumbers["dim"] != 1 {
		t.Errorf("%d runs match, no numbers: %v", g.Runs, g.NotNumbers)
	}
}
