package summary

import (
	"context"
	"slices"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
)

// axisSide is the column of runs with the sides of a comparison; its values are baseSide and headSide.
const (
	axisSide = "side"
	baseSide = "base"
	headSide = "head"
)

// side is one of two selections; a single selection has no name.
type side struct{ name, filter string }

// sides returns the selections of the report.
func (r *reading) sides() []side {
	if r.req.Base == "" {
		return []side{{"", r.req.Filter}}
	}
	return []side{{baseSide, r.req.Base}, {headSide, r.req.Filter}}
}

// whole returns the filter of all runs of the report.
func (r *reading) whole() string {
	if r.req.Base == "" {
		return r.req.Filter
	}
	return "(" + r.req.Base + ") or (" + r.req.Filter + ")"
}

// head returns the filter of the head if there are two selections.
func (r *reading) head() Text {
	if r.req.Base == "" {
		return ""
	}
	return Text(r.req.Filter)
}

// Period is when a side of a comparison was measured, and of which commits.
type Period struct {
	Side    string   `json:"side" doc:"base or head"`
	Since   *Time    `json:"since" doc:"start of its first run"`
	Until   *Time    `json:"until" doc:"start of its last run"`
	Commits []string `json:"commits" doc:"commits that were measured, ascending, at most 5"`
	Runs    int      `json:"runs" doc:"number of its runs"`
	Dirty   int      `json:"uncommitted" doc:"number of these whose code had uncommitted changes"`
}

// period reads when the selected runs of a side of bench --against, or all if the side is empty, were measured.
func (r *reading) period(ctx context.Context, s *scan.Reader, name, of string) error {
	runs, err := r.runsSQL("side", "started_at", "git_commit", "git_dirty")
	if err != nil {
		return err
	}
	where := ""
	if of != "" {
		where = " WHERE side = " + duck.Literal(of)
	}
	row, err := s.Conn.One(ctx, duck.Statement{
		SQL: "SELECT epoch_us(min(started_at)), epoch_us(max(started_at)), list_slice(list_sort(list(DISTINCT git_commit)), 1, 5), count(*), count(*) FILTER (git_dirty) FROM " + runs + where, Args: r.sel.Args,
	})
	if err != nil {
		return err
	}
	p := Period{Side: name, Since: timeOf(row[0]), Until: timeOf(row[1]), Commits: []string{}, Runs: int(duck.Integer(row[3])), Dirty: int(duck.Integer(row[4]))}
	for _, commit := range duck.List(duck.Plain(row[2])) {
		if text, _ := commit.(string); text != "" {
			p.Commits = append(p.Commits, text)
		}
	}
	r.periods = append(r.periods, p)
	return nil
}

// gatherSide adds the points of a selection, with all of their metrics.
func (r *reading) gatherSide(ctx context.Context, s *scan.Reader, of side) error {
	if err := r.selects(ctx, s, of.filter); err != nil {
		return err
	}
	first := len(r.report.Points)
	places, err := r.points(ctx, s)
	if err != nil {
		return err
	}
	if len(r.report.Points) == first {
		return r.nothing(ctx, s, of.filter)
	}
	if err := r.metrics(ctx, s, places); err != nil || of.name == "" {
		return err
	}
	own := r.report.Points[first:]
	both := onSide(own, baseSide) && onSide(own, headSide)
	only := ""
	if both {
		only = headSide
	}
	if err := r.period(ctx, s, of.name, only); err != nil {
		return err
	}
	if both { // as in compare: of a session with two sides, the head is meant
		own = slices.DeleteFunc(own, func(p Point) bool { return p.Side == baseSide })
		r.report.Points = r.report.Points[:first+len(own)]
	}
	for i := range own {
		own[i].Side = Text(of.name)
	}
	return nil
}

// onSide reports whether some points are on a side of bench --against.
func onSide(points []Point, name Text) bool {
	return slices.ContainsFunc(points, func(p Point) bool { return p.Side == name })
}

// Difference is a fact that differs between two selections.
type Difference struct {
	Kind query.FactKind `json:"kind" doc:"hardware, code, configuration or environment"`
	Name string         `json:"name" doc:"name of the column of runs, env.NAME or applied.NAME"`
	Base []string       `json:"base" doc:"values among the runs of the base, ascending; empty: unknown"`
	Head []string       `json:"head" doc:"values among the runs of the head, ascending; empty: unknown"`
}

// addDifferences adds the differences of a part of the selections. If a fact differs in several parts, their values are combined.
func (c *Comparison) addDifferences(found []query.FactDifference) {
	for _, d := range found {
		at := slices.IndexFunc(c.Differs, func(own Difference) bool { return own.Name == d.Name })
		if at < 0 {
			c.Differs = append(c.Differs, Difference{d.Kind, d.Name, merged(nil, d.Base), merged(nil, d.Head)})
			continue
		}
		c.Differs[at].Base, c.Differs[at].Head = merged(c.Differs[at].Base, d.Base), merged(c.Differs[at].Head, d.Head)
	}
}

// merged returns the sorted union of two lists. It is never nil, so that it is a list in JSON.
func merged(a, b []string) []string {
	all := slices.Concat([]string{}, a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
