package chartdata

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/filter"
)

// The sides of two selections.
const (
	baseSide = "base"
	headSide = "head"
)

// addBase adds the runs of the base before those of the head, and puts the runs of each side of a point together.
func (s *sampled) addBase(ctx context.Context, db *query.DB) error {
	req := s.req.SamplesRequest
	req.Filter, req.Metric = s.req.Base, s.found.Metric
	of, err := query.FindSamples(ctx, db, req)
	switch {
	case err != nil:
		return err
	case len(of.Runs) == 0:
		return refused("no run of the base is ok and has samples of %s: neurolens ls shows how they ended", plain(s.found.Metric))
	case of.Unit != s.found.Unit:
		return refused("%s is in %s on the base and in %s on the head: samples with different units cannot be drawn together", plain(s.found.Metric), of.Unit, s.found.Unit)
	}
	if n := inBoth(of.Runs, s.found.Runs); n > 0 {
		return refused("%s %s both BASE and HEAD", term.Count(n, "run"), term.Verb(n, "matches", "match"))
	}
	s.bases = len(of.Runs)
	s.found.Runs = append(of.Runs, s.found.Runs...)
	s.found.Matching, s.found.Looked = s.found.Matching+of.Matching, s.found.Looked+of.Looked
	s.found.Other, s.found.Failed = s.found.Other+of.Other, s.found.Failed+of.Failed
	if s.gatherSides(); len(s.groups) == 0 {
		return refused("no point is on both sides: neurolens ls shows which points each of them has")
	}
	s.left()
	return nil
}

// inBoth counts the runs that are in two lists: a run on both sides would be compared with itself.
func inBoth(a, b []query.SampledRun) (n int) {
	ids := map[string]bool{}
	for i := range a {
		ids[a[i].RunID] = true
	}
	for i := range b {
		if ids[b[i].RunID] {
			n++
		}
	}
	return n
}

// gatherSides makes a group of the runs of each side of a point, those of a point next to one another. Points of two sides are the same
// where they agree in all but the machine, the side and, if both filters name one of these, the axes that are constant on each side, as in a
// comparison.
func (s *sampled) gatherSides() {
	constants, varying := views.Axes(s.subjects(), axisColumns)
	others := func(of []string) bool { return slices.ContainsFunc(of, func(v string) bool { return v != of[0] }) }
	constant := func(x views.Axis) bool { return !others(x.Values[:s.bases]) && !others(x.Values[s.bases:]) }
	named := slices.ContainsFunc(varying, func(x views.Axis) bool {
		return constant(x) && x.Name != "machine" && filter.Mentions(s.req.Base, x.Name) && filter.Mentions(s.req.Filter, x.Name)
	})
	varying = slices.DeleteFunc(varying, func(x views.Axis) bool { return constant(x) && (named || x.Name == "machine" || x.Name == "side") })
	s.title = plain(strings.Join(constants, " · "))
	names := plainAll(views.PointNames(varying, len(s.found.Runs)))
	at := map[[2]string]int{}
	for i, name := range names {
		side := headSide
		if i < s.bases {
			side = baseSide
		}
		s.put(at, cmp.Or(name, s.title), side, varying, i)
	}
	s.keepBoth()
}

// keepBoth orders the groups by their points, and keeps as many points that both sides have as there is room for. Each group of a base is then
// followed by the group of its head.
func (s *sampled) keepBoth() {
	last, sides := map[string]int{}, map[string]int{}
	for _, g := range s.groups {
		last[g.name] = max(last[g.name], g.places[len(g.places)-1])
		sides[g.name]++
	}
	all := len(sides)
	s.groups = slices.DeleteFunc(s.groups, func(g group) bool { return sides[g.name] < 2 })
	if both := len(s.groups) / 2; both < all {
		s.notes = append(s.notes, shown(both, all, "points", "those that both sides have"))
	}
	if len(s.groups)/2 > maxPanels {
		s.inOrder()
		kept := s.chosen(slices.DeleteFunc(slices.Clone(s.groups), func(g group) bool { return g.side != baseSide }), maxPanels, "points")
		s.groups = slices.DeleteFunc(s.groups, func(g group) bool { return !slices.ContainsFunc(kept, func(k group) bool { return k.name == g.name }) })
	}
	slices.SortStableFunc(s.groups, func(a, b group) int {
		return cmp.Or(cmp.Compare(last[a.name], last[b.name]), cmp.Compare(a.side, b.side))
	})
}

// inPanels makes a panel of the curves of each point, that of the base first, as keepBoth has the groups.
func inPanels(f *chart.Figure, groups []group) {
	f.X.Own = true
	for i := 0; i+1 < len(groups); i += 2 {
		f.Panels = append(f.Panels, chart.Panel{Title: groups[i].name, Series: f.Series[i : i+2 : i+2]})
	}
	shareTitles(f)
	if f.Series = nil; len(f.Panels) == 1 {
		f.Series, f.Panels, f.X.Own = f.Panels[0].Series, nil, false
	}
}
