package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/query/summary"
)

// maxPairs is how many pairs a table of changes has; all of them stand in the table of points.
const maxPairs = 100

// changes are the comparisons: what changed, the worst first, and then the rest.
func (s *sheet) changes() {
	for i := range s.d.Comparisons {
		c := &s.d.Comparisons[i]
		part := Section{ID: fmt.Sprintf("changes-%d", i+1), Title: "What changed against " + c.Name(), Text: []string{verdictsText(c)}}
		changed, rest := s.ranked(i)
		byChange := slices.Concat(changed, rest)
		for _, chart := range []*Chart{s.forest(c, byChange), s.scatter(c, byChange)} {
			if chart != nil {
				part.Figures = append(part.Figures, chart)
			}
		}
		if len(changed) > 0 {
			part.Tables = append(part.Tables, s.pairs(part.ID, part.Title, changed))
		}
		restTable := func() *Table {
			return s.pairs(part.ID+"-rest", "No change by verdict, against "+c.Name(), rest)
		}
		switch {
		case len(rest) == 0:
		case len(changed) == 0:
			part.Tables = append(part.Tables, restTable())
		default:
			part.Details = append(part.Details, Detail{
				Title: "The rest: " + term.Count(len(rest), "pair") + " without a change by verdict", Part: Section{Tables: []*Table{restTable()}},
			})
		}
		s.add(part)
		s.differences(c)
	}
}

// maxDifferences is how many facts a table has in which two selections differ.
const maxDifferences = 40

// differences are the facts in which two selections differ.
func (s *sheet) differences(c *summary.Comparison) {
	if len(c.Differs) == 0 {
		return
	}
	t := &Table{ID: "differs", Title: "What differs between base and head", Columns: []Column{{Header: "kind"}, {Header: "fact"}, {Header: "base", Long: true}, {Header: "head", Long: true}}}
	changing := func(d summary.Difference) bool { return max(len(d.Base), len(d.Head)) > maxFactValues } // from run to run, as the load does
	steady := func(d summary.Difference) bool { return !changing(d) }
	differs := slices.Concat(slices.DeleteFunc(slices.Clone(c.Differs), changing), slices.DeleteFunc(slices.Clone(c.Differs), steady))
	for i := range differs[:min(len(differs), maxDifferences)] {
		d := &differs[i]
		name := cmp.Or(environmentNames[d.Name], d.Name)
		t.Rows = append(t.Rows, Row{Cells: []Cell{{Text: string(d.Kind)}, {Text: name}, {Text: factValues(d.Name, d.Base)}, {Text: factValues(d.Name, d.Head)}}})
	}
	if more := len(c.Differs) - len(t.Rows); more > 0 {
		t.Below = append(t.Below, term.Count(more, "more fact")+" "+term.IsAre(more)+" in the JSON form (--json).")
	}
	s.add(Section{
		ID: "differs", Title: t.Title, Tables: []*Table{t},
		Items: []Item{{Text: "A different fact may cause a change, or only coincide with it. This command ranks them:", Command: explaining(s.Maker, s.d)}},
	})
}

// maxFactValues is how many values of a fact on a side are told.
const maxFactValues = 3

// factValues are the values of a fact on a side.
func factValues(name string, values []string) string {
	const most = maxFactValues
	texts := make([]string, 0, most)
	for _, v := range values[:min(len(values), most)] {
		texts = append(texts, cmp.Or(environmentText(name, v), v))
	}
	text := strings.Join(texts, ", ")
	if more := len(values) - most; more > 0 {
		text += fmt.Sprintf(" and %s more", term.Thousands(more))
	}
	return views.OrUnknown(text)
}

// trends is what changed over sessions, what got worse first.
func (s *sheet) trends(trends []Trend) {
	names := map[summary.Text]string{}
	for i := range s.d.Points {
		names[s.d.Points[i].PointID] = s.names.name(&s.d.Points[i].Subject)
	}
	part := Section{ID: "trends", Title: "What changed over sessions"}
	for _, verdict := range []judge.Verdict{judge.Regressed, judge.Improved} {
		for i := range trends {
			if t := &trends[i]; t.Verdict == verdict {
				part.Items = append(part.Items, Item{
					Text: fmt.Sprintf("%s of %s %s since session %s (%s), and still is.", capital(t.Metric), views.OrUnknown(names[t.Point]), verdict, t.Session, t.By),
					Tone: toneOf(string(verdict)), Command: s.command("history", s.d.words("point_id="+string(t.Point))...),
				})
			}
		}
	}
	if len(part.Items) > 0 {
		s.add(part)
	}
}

// ranked are the pairs of a comparison: those that changed by verdict, the worst first, and the rest.
func (s *sheet) ranked(comparison int) (changed, rest []*summary.Pair) {
	for i := range s.d.Pairs {
		p := &s.d.Pairs[i]
		switch {
		case p.Comparison != comparison:
		case toneOf(p.Verdict) == chart.Neutral:
			rest = append(rest, p)
		default:
			changed = append(changed, p)
		}
	}
	order := func(a, b *summary.Pair) int {
		place := func(p *summary.Pair) int { return slices.Index(verdictOrder, judge.Verdict(p.Verdict)) }
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(factor(b), factor(a)))
	}
	slices.SortStableFunc(changed, order)
	slices.SortStableFunc(rest, order)
	return changed, rest
}

// factor is how many times as fast, or as slow, a pair is.
func factor(p *summary.Pair) float64 {
	if p.Speedup == nil || *p.Speedup <= 0 {
		return 0
	}
	return max(*p.Speedup, 1 / *p.Speedup)
}

// pairs is a table of pairs.
func (s *sheet) pairs(id, title string, pairs []*summary.Pair) *Table {
	shown := pairs[:min(len(pairs), maxPairs)]
	t := &Table{ID: id, Title: title, Command: s.ofPoint(), Columns: []Column{
		{Header: "point"},
		{Header: "base", Unit: unitOf(shown, func(p *summary.Pair) summary.Text { return p.Unit }), Right: true, Stored: true},
		{Header: "value", Unit: unitOf(shown, func(p *summary.Pair) summary.Text { return p.Unit }), Right: true, Stored: true},
		{Header: "change", Unit: "ratio", Right: true, Stored: true},
		{Header: "95 % interval", Right: true},
		{Header: "verdict"},
	}}
	for _, p := range shown {
		interval := cmp.Or(changeInterval(p), term.Unknown)
		verdict := p.Verdict
		if p.Reason != "" {
			verdict += " (" + reasonText(string(p.Reason)) + ")"
		}
		t.Rows = append(t.Rows, Row{Key: string(p.PointID), Cells: []Cell{
			{Text: s.names.pair(p)},
			amount(p.Base, p.Unit), amount(p.Value, p.Unit), changeCell(p),
			{Text: interval},
			{Text: verdict, Tone: toneOf(p.Verdict)},
		}})
	}
	if more := len(pairs) - len(shown); more > 0 {
		t.Below = append(t.Below, term.Count(more, "more pair")+" "+term.IsAre(more)+" in the table of all points.")
	}
	return t
}

// ofPoint is the command that shows the runs of a point.
func (s *sheet) ofPoint() string { return s.command("ls", s.d.words("point_id~^KEY")...) }

// unitOf is the unit that rows have; empty where they differ.
func unitOf[Row any](rows []*Row, unit func(r *Row) summary.Text) string {
	known := summary.Text("")
	for _, r := range rows {
		switch u := unit(r); {
		case u == "" || u == known:
		case known == "":
			known = u
		default:
			return ""
		}
	}
	return string(known)
}
