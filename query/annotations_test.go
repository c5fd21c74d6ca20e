package query_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// runs returns sessions a day apart of two points each, of which the sweep has given each a release from the third session on.
func runs(sessions int) (all []schema.Run) {
	for k := range sessions {
		for n := range 2 {
			all = append(all, querytest.NewRun(10*k+n, 0, func(r *schema.Run) {
				day := querytest.Start.Add(time.Duration(24*k) * time.Hour)
				r.StartedAt, r.SessionID = day.Add(time.Duration(n)*time.Second), schema.ULIDFrom(day, [10]byte{9: byte(k)}).String()
				r.RunID = schema.ULIDFrom(r.StartedAt, [10]byte{9: byte(n)}).String()
				r.BatchSize, r.Tags = new(int64(n+1)), map[string]string{"who": "ci"}
				if k >= 2 {
					r.Tags["release"] = "1.0"
				}
				r.PointID = schema.PointID(r)
			}))
		}
	}
	return all
}

// TestOf: each annotation is returned once, in the session where it begins; tags that runs were stored with are not annotations, except the
// release. Events count in their final state.
func TestOf(t *testing.T) {
	t.Parallel()
	all := runs(7)
	dir := querytest.NewStore(t, all...)
	of := func(k ...int) (ids []string) {
		for _, k := range k {
			ids = append(ids, all[2*k].RunID, all[2*k+1].RunID)
		}
		return ids
	}
	querytest.Annotate(t, dir,
		ingest.Annotation{Kind: schema.EventNote, Value: "fan", Runs: of(1)[:1]},
		ingest.Annotation{Kind: schema.EventNote, Value: "fan", Runs: of(1)}, // said twice of one run
		ingest.Annotation{Kind: schema.EventTag, Key: "cooling", Value: "water", Runs: of(3, 4, 6)},
		ingest.Annotation{Kind: schema.EventTag, Key: "release", Value: "2.0", Runs: of(5)[1:]},
		ingest.Annotation{Kind: schema.EventTag, Key: "gone", Value: "x", Runs: of(5)},
		ingest.Annotation{Kind: schema.EventUntag, Key: "gone", Runs: of(5)},
		ingest.Annotation{Kind: schema.EventUntag, Key: "release", Runs: of(6)},
	)
	texts := func(filter string) (said []string) {
		t.Helper()
		found := valuetest.Must(query.Annotations(t.Context(), querytest.Open(t, dir), filter))
		for _, a := range found {
			k := int(a.At.Sub(querytest.Start).Hours() / 24)
			valuetest.Equal(t, a.SessionID, all[2*k].SessionID, a, "begins in session", k)
			said = append(said, fmt.Sprint(k, " ", a.Kind, " ", a.Key, " ", a.Text, " ", a.Runs))
		}
		return said
	}
	for filter, want := range map[string][]string{
		"":             {"1 note  fan 2", "2 release  1.0 2", "3 tag cooling water 2", "5 release  2.0 1", "6 tag cooling water 2"},
		"batch_size=1": {"1 note  fan 1", "2 release  1.0 1", "3 tag cooling water 1", "6 tag cooling water 1"},
		"tag.gone=x":   nil,
	} {
		valuetest.DeepEqual(t, texts(filter), want, filter)
	}
}

// TestNothing: a store without annotations returns none, and runs without a session are left out.
func TestNothing(t *testing.T) {
	t.Parallel()
	all := runs(1)
	all[0].SessionID = ""
	dir := querytest.NewStore(t, all...)
	querytest.Annotate(t, dir, ingest.Annotation{Kind: schema.EventNote, Value: "alone", Runs: []string{all[0].RunID}})
	for _, of := range []string{dir, querytest.NewStore(t)} {
		if found, err := query.Annotations(t.Context(), querytest.Open(t, of), ""); len(found) > 0 || err != nil {
			t.Errorf("%s: %v, %v", filepath.Base(of), found, err)
		}
	}
}
