package sweep

import (
	"fmt"
	"strings"

	"github.com/neurolens/neurolens/runner/builtin"
)

// maxLaunches bounds the points of a sweep times its repeats.
const maxLaunches = 100_000

// valuesOf are the values of an axis in the grid, or those that an entry of include gives it.
func (g *grid) valuesOf(e *entry, axis int) []value {
	if e != nil {
		if values, ok := e.values[axis]; ok {
			return values
		}
	}
	return g.axes[axis].values
}

// count multiplies, before anything is expanded. A real, because it has to hold any product.
func (g *grid) count(e *entry) float64 {
	points := 1.0
	for _, dim := range g.dims {
		points *= float64(len(g.valuesOf(e, dim[0])))
	}
	return points
}

// rows is how many rows the grids have together: points, but for those that are taken out. runs is how many runs these have.
func (e *expansion) rows() (rows, runs float64) {
	for _, p := range e.sections {
		rows, runs = rows+p.rows(), runs+p.runs()
	}
	return rows, runs
}

func (p *section) rows() float64 {
	n := p.grid.count(nil)
	for i := range p.grid.include {
		n += p.grid.count(&p.grid.include[i])
	}
	return n
}

func (p *section) runs() float64 { return p.rows() * float64(p.settings.point.Repeats) }

// checkSize refuses more launches than anyone waits for.
func (e *expansion) checkSize(against bool) error {
	_, launches := e.rows()
	if e.calibrate.given() {
		launches += float64(len(builtin.Calibrations()) * e.mostRepeats())
	}
	factors := "points x repeats"
	if against {
		launches *= 2
		factors += " x sides"
	}
	if launches > maxLaunches {
		amount := fmt.Sprintf("%.0f", launches)
		if launches > 1e15 {
			amount = fmt.Sprintf("%.1g", launches)
		}
		return e.errorf(e.sections[0].grid.line, "%s runs (%s): want at most %d", amount, factors, maxLaunches)
	}
	return nil
}

// rows calls yield with every combination of the grid, or of an entry of include, the last dimension moving fastest.
// A row holds a value for each axis.
func (g *grid) rows(e *entry, yield func(row []*value) error) error {
	at := make([]int, len(g.dims))
	for {
		row := make([]*value, len(g.axes))
		for d, dim := range g.dims {
			for _, axis := range dim {
				row[axis] = &g.valuesOf(e, axis)[at[d]]
			}
		}
		if err := yield(row); err != nil {
			return err
		}
		d := len(at) - 1
		for ; d >= 0; d-- {
			if at[d]++; at[d] < len(g.valuesOf(e, g.dims[d][0])) {
				break
			}
			at[d] = 0
		}
		if d < 0 {
			return nil
		}
	}
}

// matches reports whether an entry of exclude removes a row.
func (e *entry) matches(row []*value) bool {
	if e.foreign {
		return false
	}
	for _, f := range e.filters {
		if !f.texts[row[f.axis].text] {
			return false
		}
	}
	return true
}

// block names the coordinates of a row apart from the compared dimension: rows of one block have the same name.
func (p *section) block(row []*value) string {
	var name strings.Builder
	for d, dim := range p.grid.dims {
		if d == p.grid.compared {
			continue
		}
		for _, axis := range dim {
			column := p.grid.axes[axis].name
			if p.coordinates != nil && !p.coordinates[column] {
				continue
			}
			name.WriteString(column)
			name.WriteByte('=')
			name.WriteString(row[axis].text)
			name.WriteByte(0) // no text holds one
		}
	}
	return name.String()
}

// describe names a point as people write it.
func (g *grid) describe(row []*value) string {
	var words []string
	for i, a := range g.axes {
		if len(a.values) > 1 {
			words = append(words, a.name+"="+shorten(row[i].text))
		}
	}
	return strings.Join(words, " ")
}
