package verdicts

import (
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/compare"
)

// Standing is how points stand to those that they are compared with, as columns of a table that has a row for each.
type Standing struct {
	Columns []term.Column
	Heads   map[string][]term.Cell // by point
	Bases   map[string][]term.Cell // likewise, of the points that others are compared with
}

// standing has the change of each point, its interval and its verdict; a reference has none.
func standing(c *compare.Comparison) Standing {
	s := Standing{
		Columns: []term.Column{{Header: "CHANGE", Right: true}, {Header: Comparison{C: c}.confidence(), Right: true}, {Header: "VERDICT"}},
		Heads:   map[string][]term.Cell{}, Bases: map[string][]term.Cell{},
	}
	for i := range c.Rows {
		r := &c.Rows[i]
		if r.BaseID != "" {
			s.Bases[r.BaseID] = []term.Cell{{Text: "reference"}, {Text: ""}, {Text: ""}}
		}
		if r.HeadID != "" {
			s.Heads[r.HeadID] = []term.Cell{{Text: pointChange(r)}, {Text: intervalText(r)}, verdictCell(r.Verdict)}
		}
	}
	return s
}
