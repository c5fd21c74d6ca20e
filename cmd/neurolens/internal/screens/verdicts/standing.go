package verdicts

import (
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/compare"
)

// Standing is how points stand to those that they are compared with, as columns of a table that has a row for each.
type Standing struct {
	Columns []term.Column
	Heads   map[string][]term.Cell // by point
	Bases   map[string][]term.Cell // likewise, of the points that others are compared with
}

// standing has the change of each point, its interval and its verdict; a reference has none. The change of a metric that was asked for
// names it.
func standing(c *compare.Comparison, metrics []string) Standing {
	change := strings.ToUpper(strings.Join(append([]string{"CHANGE"}, metrics...), " "))
	s := Standing{
		Columns: []term.Column{{Header: change, Right: true}, {Header: Comparison{C: c}.confidence(), Right: true}, {Header: "VERDICT"}},
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
