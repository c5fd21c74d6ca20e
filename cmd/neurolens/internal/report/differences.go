package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/chartdata"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/summary"
)

// differences returns tables of what operators took in points and in their baselines, one for each comparison in which both are profiled.
func (a *pictureMaker) differences(profiles []chartdata.Profile) (all []*Table) {
	byPoint := map[[3]string]*chartdata.Profile{}
	for i := range profiles {
		r := &profiles[i].Run
		byPoint[[3]string{r.PointID, r.Env.Machine, r.Side}] = &profiles[i]
	}
	for i := range a.report.Comparisons {
		c := &a.report.Comparisons[i]
		var both [][2]*chartdata.Profile
		for k := range a.report.Pairs {
			p := &a.report.Pairs[k]
			if p.Comparison != i {
				continue
			}
			side := string(p.Side)
			if c.From == summary.FromSides || c.From == summary.FromSelections {
				side = "base"
			}
			base, head := byPoint[[3]string{string(p.BaseID), string(p.Machine), side}], byPoint[[3]string{string(p.PointID), string(p.Machine), string(p.Side)}]
			if base != nil && head != nil {
				both = append(both, [2]*chartdata.Profile{base, head})
			}
		}
		if len(both) > 0 {
			all = append(all, a.difference(i, c.Name(), both))
		}
	}
	return all
}

// difference returns a table of operators of points beside those of their baselines, that which differs most first.
func (a *pictureMaker) difference(place int, baseline string, both [][2]*chartdata.Profile) *Table {
	t := &Table{ID: fmt.Sprintf("operators-%d", place+1), Title: "Operators against " + baseline, Command: a.ofProfile(), Columns: []Column{
		{Header: "point"},
		{Header: "operator"},
		{Header: "base", Unit: "ns", Right: true, Stored: true},
		{Header: "value", Unit: "ns", Right: true, Stored: true},
		{Header: "change", Unit: "ns", Right: true, Stored: true},
		{Header: "of base", Right: true},
		{Header: "count", Right: true},
	}, Text: []string{"Operators against " + baseline + ", the largest difference first. There is one profiled run per side, so there is no interval and no verdict."}}
	slices.SortStableFunc(both, func(x, y [2]*chartdata.Profile) int {
		return cmp.Compare(distance(y), distance(x))
	})
	if n := len(both) - maxProfiles; n > 0 {
		t.Below = append(t.Below, term.Count(n, "more pair")+" "+term.IsAre(n)+" left out, with smaller differences.")
		both = both[:maxProfiles]
	}
	for _, pair := range both {
		all := changesOf(pair)
		shown := all[:min(len(all), maxOperators)]
		for i := range shown {
			t.Rows = append(t.Rows, changeRow(pair[1], &shown[i]))
		}
		if rest := all[len(shown):]; len(rest) > 0 {
			t.Rows = append(t.Rows, changeRow(pair[1], together(rest)))
		}
	}
	return t
}

// change is what an operator took on two sides; nil: the side does not have it.
type change struct {
	operator   string
	base, head *summary.MixPart
}

// by returns how much longer the head took.
func (c *change) by() (ns int64) {
	if c.head != nil {
		ns += c.head.DurationNS
	}
	if c.base != nil {
		ns -= c.base.DurationNS
	}
	return ns
}

// changesOf returns the operators of two runs, those that differ most first.
func changesOf(pair [2]*chartdata.Profile) (all []change) {
	at := map[string]int{}
	for side, p := range pair {
		for i := range p.Parts {
			part := &p.Parts[i]
			place, known := at[part.Operator]
			if !known {
				place = len(all)
				at[part.Operator], all = place, append(all, change{operator: part.Operator})
			}
			if side == 0 {
				all[place].base = part
			} else {
				all[place].head = part
			}
		}
	}
	size := func(c *change) int64 { return max(c.by(), -c.by()) }
	slices.SortStableFunc(all, func(a, b change) int {
		return cmp.Or(cmp.Compare(size(&b), size(&a)), strings.Compare(a.operator, b.operator))
	})
	return all
}

// distance is by how much the largest difference of two runs is.
func distance(pair [2]*chartdata.Profile) int64 {
	all := changesOf(pair)
	return max(all[0].by(), -all[0].by())
}

// together returns several operators as one.
func together(rest []change) *change {
	side := func(of func(*change) *summary.MixPart) *summary.MixPart {
		var parts []summary.MixPart
		for i := range rest {
			if p := of(&rest[i]); p != nil {
				parts = append(parts, *p)
			}
		}
		if len(parts) == 0 {
			return nil
		}
		return new(sumOf(parts))
	}
	base, head := side(func(c *change) *summary.MixPart { return c.base }), side(func(c *change) *summary.MixPart { return c.head })
	return &change{term.Count(len(rest), "other operator"), base, head}
}

// changeRow returns a row about an operator on two sides.
func changeRow(head *chartdata.Profile, c *change) Row {
	side := func(p *summary.MixPart) (Cell, string) {
		if p == nil {
			return Cell{Text: term.Unknown}, term.Unknown
		}
		return took(p.DurationNS), operatorCount(p.Count)
	}
	base, was := side(c.base)
	value, is := side(c.head)
	if was != is {
		is = was + " → " + is
	}
	ratio := ""
	switch {
	case c.base == nil:
		ratio = "new"
	case c.head == nil:
		ratio = "gone"
	case c.base.DurationNS > 0:
		ratio = views.Signed(float64(c.by()) / float64(c.base.DurationNS))
	}
	return Row{Key: head.Run.RunID, Cells: []Cell{
		{Text: head.Name},
		{Text: c.operator},
		base, value,
		{Text: views.SignedQuantity(float64(c.by()), "ns"), Stored: strconv.FormatInt(c.by(), 10)},
		{Text: ratio},
		{Text: is},
	}}
}

const (
	maxProfiles  = 12 // points, or pairs of points, whose operators stand in a table
	maxOperators = 8  // of each: those that take most, or differ most
)

// operators returns a section about where the time of profiled runs goes, and what of that differs between a point and its baseline.
func (a *pictureMaker) operators(ctx context.Context) []Section {
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
		part.Figures = a.chart(f, err, func(*chart.Figure) string { return "Where the time goes" }, "ops", selection)
	}
	part.Tables = append(a.differences(profiles), a.parts(profiles))
	return []Section{part}
}

// ofBoth returns the profiled runs of two selections, each with its side.
func (a *pictureMaker) ofBoth(ctx context.Context, base string, head []chartdata.Profile) ([]chartdata.Profile, error) {
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

// ofProfile returns the command that lists the operators of the run of a row.
func (a *pictureMaker) ofProfile() string { return "neurolens show KEY --ops" + a.reader.OfStores() }

// parts returns a table of the operators of each run.
func (a *pictureMaker) parts(profiles []chartdata.Profile) *Table {
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

// partRow returns a row about some operators of a run together.
func partRow(p *chartdata.Profile, name string, of []summary.MixPart) Row {
	sum := sumOf(of)
	return Row{Key: p.Run.RunID, Cells: []Cell{
		{Text: p.Name}, {Text: name}, took(sum.DurationNS), {Text: views.Share(sum.Share), Stored: strconv.FormatFloat(sum.Share, 'g', -1, 64)}, {Text: operatorCount(sum.Count)},
	}}
}

// sumOf returns what some operators took together.
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

// took returns a cell of a time.
func took(ns int64) Cell {
	return Cell{Text: term.Quantity(ns, "ns"), Stored: strconv.FormatInt(ns, 10)}
}

func operatorCount(n *int64) string {
	if n == nil {
		return term.Unknown
	}
	return term.Thousands(int(*n))
}
