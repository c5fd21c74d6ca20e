package scan

import (
	"context"
	"fmt"
	"slices"

	"github.com/neurolens/neurolens/query/internal/duck"
)

// Windows divides all time into windows with about this many matching runs each. How many match in which part of the time is counted
// first, because reading the few matching runs of a large store window by window takes longer than reading all of them at once.
func (r *Reader) Windows(ctx context.Context, sel Selection, runs int) ([]Period, error) {
	all := sel.Src.windows(runs)
	if sel.SQL == "" || len(all) == 1 {
		return all, nil
	}
	ends := make([]string, len(all)-1)
	for i, b := range all[1:] {
		ends[i] = firstID(b.Since)
	}
	text := fmt.Sprintf("SELECT coalesce(map_values(histogram(run_id, $%d::VARCHAR[])), [])::BIGINT[] FROM %s",
		len(sel.Args)+1, sel.Src.Scan(WithRunID(sel.Columns), sel.SQL))
	row, err := r.Conn.One(ctx, duck.Statement{SQL: text, Args: append(slices.Clone(sel.Args), ends)})
	if err != nil {
		return nil, err
	}
	var counts []int64
	for _, n := range duck.List(row[0]) {
		counts = append(counts, duck.Integer(n))
	}
	return JoinPeriods(all, counts, int64(runs)), nil
}

// windows divides all time into windows with about this many runs each, estimated from file names.
func (s *Sources) windows(runs int) []Period {
	var starts []Start
	for _, files := range [][]file{s.Live, s.sealed} {
		for i := range files {
			first, _ := files[i].span()
			starts = append(starts, Start{At: first, Runs: max(files[i].sealed.Rows, 1)})
		}
	}
	return Windows(starts, runs)
}
