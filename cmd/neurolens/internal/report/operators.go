package report

import (
	"context"
	"slices"
	"strconv"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/chartdata"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/summary"
)

const (
	maxProfiles  = 12 // points, or pairs of points, whose operators stand in a table
	maxOperators = 8  // of each: those that take most, or differ most
)

// operators is a section about where the time of profiled runs goes, and what of that differs between a point and its baseline.
func (a *artist) operators(ctx context.Context) []Section {
	if a.err != nil || !slices.ContainsFunc(a.report.Points, func(p summary.Point) bool { return p.Profiled > 0 }) {
		return nil
	}
	base, selection := a.selections()
	head, err := a.maker.Profiles(ctx, a.db, selection)
	profiles := head
	if err == nil && base != "" {
		profiles, err = a.ofBoth(ctx, base, head)
	}
	if err != nil {
		a.err = err
		return nil
	}
	if len(profiles) == 0 { // none is ok, or has operators
		return nil
	}
	part := Section{ID: "operators", Title: "Operators of profiled runs", Text: []string{
		"Operators of one type are combined, as in neurolens ls --like. The command of a row lists them one by one.",
	}}
	if len(head) > 1 {
		f, err := a.maker.Operators(head)
		part.Figures = a.chart(drawnChart{f, err}, func(*chart.Figure) string { return "Where the time goes" }, "ops", selection)
	}
	part.Tables = append(a.differences(profiles), a.parts(profiles))
	return []Section{part}
}

// ofBoth are the profiled runs of two selections, each with its side.
func (a *artist) ofBoth(ctx context.Context, base string, head []chartdata.Profile) ([]chartdata.Profile, error) {
	first, err := a.maker.Profiles(ctx, a.db, base)
	if err != nil {
		return nil, err
	}
	var all []chartdata.Profile
	for side, profiles := range [][]chartdata.Profile{first, head} {
		for _, p := range profiles {
			p.Run.Side = []string{"base", "head"}[side]
			p.Name += " " + p.Run.Side
			all = append(all, p)
		}
	}
	return all, nil
}

// ofProfile is the command that lists the operators of the run of a row.
func (a *artist) ofProfile() string { return "neurolens show KEY --ops" + a.reader.OfStores() }

// parts is a table of the operators of each run.
func (a *artist) parts(profiles []chartdata.Profile) *Table {
	t := &Table{ID: "operators", Title: "Operators of each point", Command: a.ofProfile(), Text: []string{
		"The newest profiled run of each point: slowest operators first, the others combined.",
	}, Columns: []Column{
		{Header: "point"},
		{Header: "operator"},
		{Header: "time", Unit: "ns", Right: true, Stored: true},
		{Header: "share", Unit: "ratio", Right: true, Stored: true},
		{Header: "count", Right: true},
	}}
	if n := len(profiles) - maxProfiles; n > 0 {
		t.Below = append(t.Below, term.Count(n, "more point")+" "+term.IsAre(n)+" left out, profiled earlier. A narrower filter shows them.")
		profiles = profiles[:maxProfiles]
	}
	for i := range profiles {
		p := &profiles[i]
		shown := p.Parts[:min(len(p.Parts), maxOperators)]
		for k := range shown {
			t.Rows = append(t.Rows, partRow(p, shown[k].Operator, shown[k:k+1]))
		}
		if rest := p.Parts[len(shown):]; len(rest) > 0 {
			t.Rows = append(t.Rows, partRow(p, term.Count(len(rest), "other operator"), rest))
		}
	}
	return t
}

// partRow is a row about some operators of a run together.
func partRow(p *chartdata.Profile, name string, of []summary.MixPart) Row {
	sum := sumOf(of)
	return Row{Key: p.Run.RunID, Cells: []Cell{
		{Text: p.Name}, {Text: name}, took(sum.DurationNS), {Text: views.Share(sum.Share), Stored: operatorNumber(sum.Share)}, {Text: operatorCount(sum.Count)},
	}}
}

// sumOf is what some operators took together.
func sumOf(of []summary.MixPart) (sum summary.MixPart) {
	counted, n := true, int64(0)
	for i := range of {
		sum.DurationNS, sum.Share = sum.DurationNS+of[i].DurationNS, sum.Share+of[i].Share
		if counted = counted && of[i].Count != nil; counted {
			n += *of[i].Count
		}
	}
	if counted && len(of) > 0 {
		sum.Count = &n
	}
	return sum
}

// took is a cell of a time.
func took(ns int64) Cell {
	return Cell{Text: term.Quantity(ns, "ns"), Stored: strconv.FormatInt(ns, 10)}
}

func operatorNumber(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func operatorCount(n *int64) string {
	if n == nil {
		return term.Unknown
	}
	return term.Thousands(int(*n))
}
