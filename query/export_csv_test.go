package query_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"testing"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/schema"
)

// TestExportFormulas: a text that a spreadsheet takes for a formula gets an apostrophe before it, unless it is wanted raw;
// numbers with a sign, and all other texts, stay.
func TestExportFormulas(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"=1+1": "'=1+1", "@SUM(1)": "'@SUM(1)", "+a": "'+a", "-a": "'-a", "\t=1": "'\t=1", "-1.5e3": "-1.5e3", "+7": "+7", "a=b": "a=b",
	} {
		run := manyRuns(1)[0]
		run.Variant = text
		run.PointID = schema.PointID(&run)
		db := open(t, newStore(t, run))
		for _, raw := range []bool{false, true} {
			var out bytes.Buffer
			_, err := db.Export(context.Background(), query.ExportRequest{Dest: "-", Format: query.FormatCSV, Stdout: &out, CSVRaw: raw})
			if err != nil {
				t.Fatal(err)
			}
			records, err := csv.NewReader(&out).ReadAll()
			if err != nil || len(records) != 2 {
				t.Fatalf("%v, %v", records, err)
			}
			if raw {
				want = text
			}
			for i, name := range records[0] {
				if name == "variant" && records[1][i] != want {
					t.Errorf("%q became %q, want %q (raw: %t)", text, records[1][i], want, raw)
				}
			}
		}
	}
}
