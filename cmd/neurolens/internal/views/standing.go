package views

import (
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/compare"
)

// Standing has the change of each point of a session as columns of a table with a row per point.
type Standing struct {
	Columns []term.Column
	Heads   map[string][]term.Cell // by point
	Bases   map[string][]term.Cell // by point, of the references
}

// standing makes the columns of the change, its interval and the verdict. The row of a reference says so instead. If metrics were asked
// for, the header names them.
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
