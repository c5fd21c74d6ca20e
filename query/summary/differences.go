package summary

import (
	"cmp"
	"context"
	"database/sql/driver"
	"math"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// maxDifferences is the number of operators that are listed for a distance. Differences of shares below minDifference are ignored.
const (
	maxDifferences = 10
	minDifference  = 1e-9
)

// mixPart is one operator of a mix.
type mixPart struct {
	share float64
	size  *float64
	unit  string
}

// mix are the operators of a run.
type mix map[string]mixPart

// hasSizes reports whether the size of any operator is known.
func (m mix) hasSizes() bool {
	for _, p := range m {
		if p.size != nil {
			return true
		}
	}
	return false
}

// explain adds the differing operators to each row.
func (n *nearest) explain(ctx context.Context, ids []schema.ULID, rows []*SimilarRun) error {
	mixes, err := n.mixes(ctx, ids)
	for _, row := range rows {
		row.Differences = differences(n.to, mixes[row.RunID])
	}
	return err
}

// mixes reads the mixes of runs, by id. A run without operators has none.
func (n *nearest) mixes(ctx context.Context, ids []schema.ULID) (map[string]mix, error) {
	all := make(map[string]mix, len(ids))
	q := duck.Statement{SQL: mixSQL(n.reader.Src.Of(ids).Nested(schema.Ops, "")), Args: []any{scan.IDTexts(ids)}}
	err := n.reader.Conn.Query(ctx, q, func(row []driver.Value) error {
		id := duck.Text(row[0])
		if all[id] == nil {
			all[strings.Clone(id)] = mix{}
		}
		all[id].add(row[1:])
		return nil
	})
	return all, err
}

// add adds a row: operator, share, size, unit.
func (m mix) add(row []driver.Value) {
	var p mixPart
	p.share, _ = row[1].(float64)
	if size, ok := row[2].(float64); ok {
		p.size, p.unit = &size, duck.Text(row[3])
	}
	m[strings.Clone(duck.Text(row[0]))] = p
}

// differences returns the operators in which two mixes differ, sorted by the difference of their shares, then of their sizes.
func differences(to, of mix) []OperatorDifference {
	var all []OperatorDifference
	for operator, a := range to {
		d := OperatorDifference{Operator: operator, To: &a.share}
		if b, ok := of[operator]; ok {
			d.Share = &b.share
			if a.size != nil && b.size != nil && a.unit == b.unit {
				d.ToSize, d.Size, d.Unit = a.size, b.size, a.unit
			}
		}
		all = append(all, d)
	}
	for operator, b := range of {
		if _, both := to[operator]; !both {
			all = append(all, OperatorDifference{Operator: operator, Share: &b.share})
		}
	}
	all = slices.DeleteFunc(all, func(d OperatorDifference) bool { return math.Abs(d.change()) < minDifference && d.ratio() == 1 })
	slices.SortFunc(all, func(a, b OperatorDifference) int {
		return cmp.Or(
			cmp.Compare(math.Abs(b.change()), math.Abs(a.change())), cmp.Compare(math.Abs(math.Log(b.ratio())), math.Abs(math.Log(a.ratio()))),
			strings.Compare(a.Operator, b.Operator))
	})
	return all[:min(len(all), maxDifferences)]
}

// change returns the share in the row minus the share in the requested run. An operator that a run lacks has a share of 0.
func (d *OperatorDifference) change() float64 {
	change := 0.0
	if d.Share != nil {
		change += *d.Share
	}
	if d.To != nil {
		change -= *d.To
	}
	return change
}

// ratio returns the size in the row / the size in the requested run; 1 if sizes are not compared.
func (d *OperatorDifference) ratio() float64 {
	if d.Size == nil || d.ToSize == nil {
		return 1
	}
	return *d.Size / *d.ToSize
}
