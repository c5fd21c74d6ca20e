package export_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"maps"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/query/export"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestExportFormulas: a text that a spreadsheet would evaluate as a formula gets an apostrophe, unless raw output is requested;
// numbers with a sign and all other texts are unchanged.
func TestExportFormulas(t *testing.T) {
	t.Parallel()
	cells := map[string]string{
		"=1+1": "'=1+1", "@SUM(1)": "'@SUM(1)", "+a": "'+a", "-a": "'-a", "\t=1": "'\t=1", "-1.5e3": "-1.5e3", "+7": "+7", "a=b": "a=b",
	}
	texts := slices.Sorted(maps.Keys(cells))
	runs := querytest.ManyRuns(len(texts))
	for i, text := range texts {
		runs[i].Variant = text
		runs[i].PointID = schema.PointID(&runs[i])
	}
	db := querytest.Open(t, querytest.NewStore(t, runs...))
	for _, raw := range []bool{false, true} {
		var out bytes.Buffer
		valuetest.Must(export.Write(context.Background(), db, export.Request{Dest: "-", Format: export.CSV, Stdout: &out, CSVRaw: raw}))
		records, err := csv.NewReader(&out).ReadAll()
		if err != nil || len(records) != 1+len(texts) {
			t.Fatalf("%v, %v", records, err)
		}
		id, variant := slices.Index(records[0], "run_id"), slices.Index(records[0], "variant")
		for _, record := range records[1:] {
			text := texts[slices.IndexFunc(runs, func(r schema.Run) bool { return r.RunID == record[id] })]
			want := text
			if !raw {
				want = cells[text]
			}
			if record[variant] != want {
				t.Errorf("%q became %q, want %q (raw: %t)", text, record[variant], want, raw)
			}
		}
	}
}
