package compare

import (
	"testing"
	"time"

	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestSelectNarrows: after selectSide, a side reads the files of the time of its runs alone. A store has 8 files of 5 runs, each a session.
func TestSelectNarrows(t *testing.T) {
	t.Parallel()
	dir := querytest.NewStore(t)
	for session := range 8 {
		var runs []schema.Run
		for n := range 5 {
			runs = append(runs, querytest.NewRun(5*session+n, 100, func(r *schema.Run) {
				r.SessionID, r.StartedAt = querytest.SessionID(session), querytest.Start.Add(time.Duration(5*session+n)*time.Hour)
				r.Params = map[string]string{"dim": "big"}
			}))
		}
		querytest.Seal(t, dir, runs...)
	}
	tests := []struct {
		filter             string
		matching, inSource int
	}{
		{"session=" + querytest.SessionID(3), 5, 5},
		{"session=" + querytest.SessionID(2) + "," + querytest.SessionID(4), 10, 15},
		{"session=last", 5, 5},
		{"", 40, 40},
		{"session=" + querytest.SessionID(3) + " not dim>5", 5, 40}, // values that are not numbers are counted in all files
	}
	for _, test := range tests {
		err := querytest.Open(t, dir).Stores().Query(t.Context(), func(r *scan.Reader) error {
			s, err := selectSide(t.Context(), r, test.filter, scan.IsMeasurement)
			if err != nil {
				return err
			}
			valuetest.Equal(t, s.Runs, test.matching, test.filter)
			valuetest.Equal(t, s.sel.Src.Runs(), test.inSource, test.filter)
			return nil
		})
		valuetest.NoError(t, err, test.filter)
	}
}
