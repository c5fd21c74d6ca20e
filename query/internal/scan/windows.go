package scan

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/period"
	"github.com/neurolens/neurolens/query/internal/projection"
)

// Windows divides all time into windows with about this many matching runs each. How many match in which part of the time is counted
// first, because reading the few matching runs of a large store window by window takes longer than reading all of them at once.
func (r *Reader) Windows(ctx context.Context, sel Selection, runs int) ([]period.Bounds, error) {
	all := sel.Src.windows(runs)
	if sel.SQL == "" || len(all) == 1 {
		return all, nil
	}
	ends := make([]string, len(all)-1)
	for i, b := range all[1:] {
		ends[i] = firstID(b.Since)
	}
	text := fmt.Sprintf("SELECT coalesce(map_values(histogram(run_id, $%d::VARCHAR[])), [])::BIGINT[] FROM %s",
		len(sel.Args)+1, sel.Src.Scan(projection.WithRunID(sel.Columns), sel.SQL))
	row, err := r.Conn.One(ctx, duck.Statement{SQL: text, Args: append(slices.Clone(sel.Args), ends)})
	if err != nil {
		return nil, err
	}
	return joined(all, duck.List(row[0]), int64(runs)), nil
}

// joined joins neighbouring windows with at most so many runs together. The last count is missing if the last window has no runs.
func joined(windows []period.Bounds, counts []any, runs int64) []period.Bounds {
	var all []period.Bounds
	held := int64(0)
	for i, b := range windows {
		n := int64(0)
		if i < len(counts) {
			n = duck.Integer(counts[i])
		}
		if i > 0 && held+n <= runs {
			all[len(all)-1].Until, held = b.Until, held+n
		} else {
			all, held = append(all, b), n
		}
	}
	return all
}

// windows divides all time into windows with about this many runs each, estimated from file names.
func (s *Sources) windows(runs int) []period.Bounds {
	type start struct{ at, runs int64 }
	var starts []start
	for _, files := range [][]file{s.Live, s.sealed} {
		for i := range files {
			first, _ := files[i].span()
			starts = append(starts, start{first, int64(max(files[i].sealed.Rows, 1))})
		}
	}
	slices.SortFunc(starts, func(a, b start) int { return cmp.Compare(a.at, b.at) })
	all := []period.Bounds{{}}
	held := int64(0)
	for _, f := range starts {
		if last := &all[len(all)-1]; held >= int64(runs) && f.at > last.Since {
			last.Until = f.at
			all, held = append(all, period.Bounds{Since: f.at}), 0
		}
		held += f.runs
	}
	return all
}
