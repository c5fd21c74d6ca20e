package report

import (
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
)

// pointID is how long the id of a point is: in a table of many rows, as much of it as tells points apart is enough.
const pointID = 32

// isPointID tells the ids of points from those of runs, and from others.
func isPointID(key string) bool {
	return len(key) == pointID && strings.Trim(key, "0123456789abcdef") == ""
}

// idLength is how many characters of ids of points tell those of a page apart.
func (p *Page) idLength() int {
	var ids []string
	var add func(s *Section)
	add = func(s *Section) {
		for _, t := range s.Tables {
			for i := range t.Rows {
				if key := t.Rows[i].Key; isPointID(key) {
					ids = append(ids, key)
				}
			}
		}
		for i := range s.Details {
			add(&s.Details[i].Part)
		}
	}
	for i := range p.Sections {
		add(&p.Sections[i])
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	n := 8
	for i := 1; i < len(ids); i++ {
		for n < pointID && ids[i-1][:n] == ids[i][:n] {
			n++
		}
	}
	return n
}

// short is the beginning of the id of a point; other keys stay as they are.
func (w *writing) short(key string) string {
	if isPointID(key) {
		return key[:w.id]
	}
	return key
}

// withShortIDs is a figure whose marks name points as tables do.
func (w *writing) withShortIDs(f *chart.Figure) *chart.Figure {
	shortened := func(all []chart.Series) []chart.Series {
		all = slices.Clone(all)
		for i := range all {
			all[i].Marks = slices.Clone(all[i].Marks)
			for k := range all[i].Marks {
				all[i].Marks[k].Point = w.short(all[i].Marks[k].Point)
			}
		}
		return all
	}
	other := *f
	other.Series, other.Panels = shortened(f.Series), slices.Clone(f.Panels)
	for i := range other.Panels {
		other.Panels[i].Series = shortened(other.Panels[i].Series)
	}
	return &other
}
