package sql

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// taggedStore returns a store whose events name some runs, and as many others that it does not have.
func taggedStore(t *testing.T, others int) *query.DB {
	t.Helper()
	runs := querytest.VariousRuns()
	dir := querytest.LiveStore(t, runs[40:]...)
	querytest.Seal(t, dir, runs[:40]...)
	var named []string
	for i := range runs {
		if i%3 > 0 {
			named = append(named, runs[i].RunID)
		}
	}
	for i := range others {
		named = append(named, schema.ULIDFrom(querytest.Start.Add(time.Duration(i)*time.Millisecond), [10]byte{1, 2, 3}).String())
	}
	first := named[:5]
	named = slices.Sorted(slices.Values(named))
	for i, e := range []schema.Event{
		{Kind: schema.EventTag, Key: "kept", Value: "yes"}, {Kind: schema.EventUntag, Key: "who"}, {Kind: schema.EventTag, Key: "kept", Value: "no"},
	} {
		at := querytest.Start.Add(time.Duration(i) * time.Hour)
		if e.At, e.Runs = at, named; i == 2 {
			e.Runs = first
		}
		querytest.WriteEvent(t, dir, schema.ULIDFrom(at, [10]byte{9: byte(i)}), e)
	}
	return querytest.Open(t, dir)
}

// TestTagsOfVeryManyRuns: whatever a text reads, its answer does not depend on how many runs the events name besides. Tags are made for the
// texts that need them, and for no others.
func TestTagsOfVeryManyRuns(t *testing.T) {
	t.Parallel()
	few, many := taggedStore(t, 0), taggedStore(t, 5000)
	var names []string
	for i := range schema.Runs.Columns {
		names = append(names, fmt.Sprintf("c%03d", i))
	}
	renamed := fmt.Sprint(names)
	renamed = string(bytes.ReplaceAll([]byte(renamed[1:len(renamed)-1]), []byte(" "), []byte(", ")))
	tagsAt := names[slices.Index(schema.Runs.Columns, schema.RunColumn("tags"))]
	for text, reads := range map[string]bool{
		"SELECT count(*) FROM runs WHERE p50 > 1000":                                                                                         false,
		"SELECT run_id, p50, params FROM runs ORDER BY run_id":                                                                               false,
		"SELECT backend, count(*) FROM runs JOIN samples USING (run_id) GROUP BY ALL ORDER BY ALL":                                           false,
		"SELECT run_id FROM runs WHERE env_missing IS NOT NULL ORDER BY run_id":                                                              false,
		"SELECT * EXCLUDE (tags) FROM runs ORDER BY run_id":                                                                                  true, // it names them
		"SELECT count(*) FROM (SELECT * FROM runs)":                                                                                          false,
		"SELECT nothing FROM runs":                                                                                                           false, // an error
		"FROM runs ORDER BY run_id":                                                                                                          true,
		"SELECT run_id, tags FROM runs ORDER BY run_id":                                                                                      true,
		"SELECT run_id FROM runs WHERE tags['kept'] = 'yes' ORDER BY run_id":                                                                 true,
		"SELECT count(tags) FROM runs":                                                                                                       true,
		"SELECT count(*) FROM runs WHERE tags IS NULL":                                                                                       true,
		"SELECT to_json(t)::VARCHAR FROM runs t ORDER BY run_id":                                                                             true,
		"SELECT t::VARCHAR FROM runs t ORDER BY run_id":                                                                                      true,
		"SELECT COLUMNS('^ta.s$') FROM runs ORDER BY run_id":                                                                                 true,
		"SELECT COLUMNS(c -> c = 'ta' || 'gs')::VARCHAR FROM runs ORDER BY 1":                                                                true,
		"SELECT struct_extract(t, 'ta' || 'gs')::VARCHAR FROM runs t ORDER BY 1":                                                             true,
		"SELECT count(*) FROM runs a NATURAL JOIN runs b":                                                                                    true,
		"SELECT count(*) FROM (SELECT DISTINCT * FROM runs)":                                                                                 true,
		"SELECT count(*) FROM (FROM runs EXCEPT FROM runs WHERE p50 > 1000)":                                                                 true,
		"SELECT count(*) FROM query_table('runs') WHERE tags['kept'] = 'yes'":                                                                true,
		"SELECT " + tagsAt + "::VARCHAR FROM runs AS r(" + renamed + ") ORDER BY 1":                                                          true,
		"SELECT TRY(t::VARCHAR) FROM runs t ORDER BY run_id":                                                                                 true,
		"SELECT coalesce(TRY(" + tagsAt + "['kept']), 'none') AS x, count(*) FROM runs AS r(" + renamed + ") GROUP BY x ORDER BY x":          true,
		"SELECT count(*) FROM runs AS r(" + renamed + ") WHERE p50 < (SELECT count(" + tagsAt + ") FROM runs AS s(" + renamed + "))":         false, // an error: p50 is no more
		"SELECT (SELECT max(" + tagsAt + "::VARCHAR) FROM runs AS s(" + renamed + ") WHERE s.c000 = t.run_id) FROM runs t ORDER BY t.run_id": true,
		"SELECT neurolens_no_tags(run_id) FROM runs":                                                                                         true, // an error
	} {
		want, wantErr := Select(t.Context(), few, text)
		got, err := Select(t.Context(), many, text)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || !sameRows(&got, &want) {
			t.Errorf("%s:\n got %.2000v, %v\nwant %.2000v, %v", text, got.Rows, err, want.Rows, wantErr)
		}
		if err == nil {
			checkArrow(t, many, text, &got)
		}
		if made := tagsMade(t, many, text); made != reads {
			t.Errorf("%s: tags are made: %v", text, made)
		}
	}
}

func sameRows(a, b *answer.Table) bool {
	return slices.EqualFunc(a.Rows, b.Rows, func(x, y []any) bool { return fmt.Sprint(x) == fmt.Sprint(y) })
}

// checkArrow compares the number of rows, and the texts in them, with the same answer as a stream.
func checkArrow(t *testing.T, db *query.DB, text string, want *answer.Table) {
	t.Helper()
	var stream bytes.Buffer
	if err := SelectArrow(t.Context(), db, text, &stream); err != nil {
		t.Errorf("%s: %v", text, err)
		return
	}
	got, err := querytest.ReadArrow(t, &stream)
	if err != nil || len(got.Rows) != len(want.Rows) {
		t.Errorf("%s: %d rows, want %d, %v", text, len(got.Rows), len(want.Rows), err)
		return
	}
	for i, row := range want.Rows {
		for j, v := range row {
			if !querytest.EqualValues(got.Rows[i][j], v) {
				t.Errorf("%s: row %d, column %d: got %#v, want %#v", text, i, j, got.Rows[i][j], v)
			}
		}
	}
}

// tagsMade reports whether a text is answered with the tags of all runs.
func tagsMade(t *testing.T, db *query.DB, text string) (made bool) {
	t.Helper()
	answer := func(do func(e *duck.Engine) error) error {
		e, release, err := db.Stores().OwnEngine()
		if err != nil {
			return err
		}
		defer release()
		return do(e)
	}
	_ = answered(t.Context(), db, func(s *scan.Sources, tags bool) error { // Select gives its error
		q := question{s, text, tags}
		made = made || tags
		err := answer(func(e *duck.Engine) error {
			c, p, err := sandboxed(t.Context(), e, q)
			if err != nil {
				return err
			}
			made = made || p.tags == nil
			return c.Close()
		})
		if err != nil {
			return err
		}
		return answer(func(e *duck.Engine) error {
			_, err := answerSQL(t.Context(), e, q)
			return err
		})
	})
	return made
}
