package query_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// tagsOf returns the tags of the nth run of a store in which all runs have one.
func tagsOf(n int) map[string]string {
	tags := map[string]string{"wide": "yes"}
	if n%3 == 0 {
		tags["kept"] = "yes"
	}
	if n%4 == 0 {
		tags["size"] = fmt.Sprint(n)
	}
	return tags
}

// taggedStores returns stores of the same runs: one that has the tags in the rows, and one that has them in events.
func taggedStores(t *testing.T) (rows, events string) {
	all := querytest.ManyRuns(24)
	events = querytest.LiveStore(t, all[20:]...)
	querytest.Seal(t, events, all[:20]...)
	var said []ingest.Annotation
	for n := range all {
		for key, value := range tagsOf(n) {
			said = append(said, ingest.Annotation{Runs: []string{all[n].RunID}, Kind: schema.EventTag, Key: key, Value: value})
		}
		own := all[n].Tags
		all[n].Tags = tagsOf(n)
		maps.Copy(all[n].Tags, own)
	}
	querytest.Annotate(t, events, said...)
	return querytest.NewStore(t, all...), events
}

// TestTagsOfFilters: whichever tags a filter reads, the answer is what it is with the tags in the rows of the runs: the runs, their tags,
// what is remarked and what is meant.
func TestTagsOfFilters(t *testing.T) {
	t.Parallel()
	rows, events := taggedStores(t)
	answer := func(dir string, req query.ListRequest) (said []string) {
		db, err := query.Open(t.Context(), []string{dir}, query.Options{Remark: func(text string) { said = append(said, text) }})
		valuetest.OK(t, err)
		defer db.Close()
		err = db.Pages(t.Context(), req, []string{"run_id", "tags"}, func(p query.Page) error {
			said = append(said, fmt.Sprint(p.Total, p.NotNumbers, p.Rows))
			return nil
		})
		return append(said, fmt.Sprint(err))
	}
	remarked := 0
	for _, req := range []query.ListRequest{
		{Filter: "tag.kept=yes", Limit: 3, Count: true},
		{Filter: "tag.kept=yes tag.size>5"},
		{Filter: "tag.kept=yes or tag.wide=no"},
		{Filter: "not tag.kept=yes", Sort: []string{"-tag.size"}},
		{Filter: "tag.kept=null", Sort: []string{"tag.wide"}, Limit: 5},
		{Filter: "tag.kept!=yess tag.size>=8"},
		{Filter: "tag.kept=yes,no tag.wide=yes"},
		{Filter: "tag.kept!=no tag.wide!=no"}, // absent values
		{Filter: "tags=null"},
		{Filter: "tags!=null tag.kept=yes"},
		{Sort: []string{"tag.size"}, Since: querytest.Start},
		{Filter: "tag.kpt=yes"},
		{Filter: "tag.kept=yes tag.wid=yes"},
		{Filter: "tag.kept=yess"}, // what is meant is found among all tags
		{Filter: "tag.kept=yes wide=yes"},
		{Filter: "tag.size>100"},
	} {
		got, want := answer(events, req), answer(rows, req)
		valuetest.Equal(t, fmt.Sprint(got), fmt.Sprint(want), req, got, want)
		if len(got) > 2 {
			remarked++
		}
	}
	if remarked < 3 {
		t.Errorf("%d answers have a remark", remarked)
	}
}

// TestTagsThatFiltersRead: for a filter the tags that it reads are looked up, and no others; several filters of a question share a table.
func TestTagsThatFiltersRead(t *testing.T) {
	t.Parallel()
	_, dir := taggedStores(t)
	err := querytest.Open(t, dir).Stores().Query(t.Context(), func(r *scan.Reader) error {
		count := func(from string, args []any) string {
			row, err := r.Conn.One(t.Context(), duck.Statement{SQL: "SELECT count(*) FROM " + from, Args: args})
			return fmt.Sprint(row, err)
		}
		var all []scan.Selection
		for i, filter := range []string{"tag.kept=yes", "tag.size>=8", "tag.kept=yes"} {
			sel, err := r.Selected(t.Context(), scan.Question{Filter: filter, Bounds: scan.Period{Until: 1 << 47}})
			if err != nil {
				return err
			}
			all = append(all, sel)
			if i == 0 {
				valuetest.Equal(t, count(r.Src.Tables+"some1_tag_changes", nil), "[8] <nil>", filter, "is looked up")
			}
		}
		if err := r.ApplyEvents(t.Context()); err != nil {
			return err
		}
		for i, want := range []string{"[8] <nil>", "[4] <nil>", "[8] <nil>"} {
			valuetest.Equal(t, count(all[i].Src.Scan(all[i].Columns, all[i].SQL), all[i].Args), want, "filter", i, "matches")
		}
		if got := count(r.Src.Scan([]*schema.Column{schema.RunColumn("tags")}, "tags['wide'] = 'yes'"), nil); got != "[24] <nil>" {
			t.Errorf("of all tags: %s", got)
		}
		return nil
	})
	valuetest.NoError(t, err)
}
