package plotting

import (
	"math"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/figure"
	"github.com/neurolens/neurolens/query/answer"
)

// row is a mark with what it belongs to.
type row struct {
	panel  string
	series string
	tone   figure.Tone
	mark   figure.Mark
}

// marksOf are the marks of a figure as a table, in stored units.
func marksOf(f *figure.Figure) answer.Table {
	var rows []row
	for _, p := range f.Parts() {
		for _, s := range p.Series {
			for _, k := range s.Marks {
				r := row{p.Title, s.Name, k.Tone, k}
				if r.tone == figure.Plain {
					r.tone = s.Tone
				}
				rows = append(rows, r)
			}
		}
	}
	return answer.TableOf(MarkFields(f), rows)
}

// MarkFields are the columns of marks. A heatmap has one more.
func MarkFields(f *figure.Figure) []answer.Field[row] {
	text := func(name, meaning string, of func(r *row) string) answer.Field[row] {
		return answer.Field[row]{Column: answer.Column{Name: name, Type: answer.TypeText}, Meaning: meaning, Of: func(r *row) any { return answer.Text(of(r)) }}
	}
	number := func(name, unit, meaning string, of func(r *row) float64) answer.Field[row] {
		return answer.Field[row]{Column: answer.Column{Name: name, Type: answer.TypeReal, Unit: unit}, Meaning: meaning, Of: func(r *row) any {
			if v := of(r); !math.IsNaN(v) {
				return v
			}
			return nil
		}}
	}
	along := f.Y.Unit
	if f.Kind == figure.Forest {
		along = f.X.Unit
	}
	fields := []answer.Field[row]{
		text("panel", "the panel, if there are several", func(r *row) string { return r.panel }),
		text("series", "the series that the mark belongs to; in plot pareto front, of points that no other point is better than in both metrics, or beaten", func(r *row) string { return r.series }),
		text("word", "the verdict or the state", func(r *row) string { return r.mark.Word }),
		text("tone", "the meaning of its colour: neutral, regressed, improved, warned or failed", func(r *row) string { return string(r.tone) }),
		text("x_name", "horizontal position in words: a category or a time", func(r *row) string { return nameOf(f.X, r.mark.X) }),
		number("x", f.X.Unit, "horizontal position", func(r *row) float64 { return r.mark.X }),
		text("y_name", "vertical position in words", func(r *row) string { return nameOf(f.Y, r.mark.Y) }),
		number("y", f.Y.Unit, "vertical position", func(r *row) float64 { return r.mark.Y }),
		number("low", along, "the lower end of its interval", func(r *row) float64 { return r.mark.Low }),
		number("high", along, "the upper end", func(r *row) float64 { return r.mark.High }),
	}
	if f.Kind == figure.Heatmap {
		fields = append(fields, number("value", f.Values.Unit, "its value", func(r *row) float64 { return r.mark.Value }))
	}
	return append(fields,
		answer.Field[row]{Column: answer.Column{Name: "count", Type: answer.TypeInteger}, Meaning: "how many values it combines", Of: func(r *row) any { return int64(max(r.mark.Count, 1)) }},
		text("run_id", "the id of its run", func(r *row) string { return r.mark.Run }),
		text("point_id", "the id of its point", func(r *row) string { return r.mark.Point }),
		text("text", "a description of the mark", func(r *row) string { return r.mark.Text }),
		text("command", "the command that shows it", func(r *row) string { return r.mark.Command }))
}

// nameOf is a place of an axis that has words for it.
func nameOf(a figure.Axis, at float64) string {
	switch {
	case math.IsNaN(at):
	case a.Scale == figure.Categories && at >= 0 && int(at) < len(a.Categories):
		return a.Categories[int(at)]
	case a.Scale == figure.Time:
		return time.UnixMicro(int64(math.Round(at * 1e6))).UTC().Format(time.RFC3339)
	}
	return ""
}
