package summary

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// Origin says where a baseline comes from.
type Origin string

// The origins.
const (
	FromAsked   Origin = "asked"   // the request
	FromSweep   Origin = "sweep"   // baseline: of the sweep that measured the runs
	FromVariant Origin = "variant" // there is a variant of that name
	FromSides   Origin = "sides"   // the base of bench --against
	FromGuess   Origin = "guess"   // nobody named one: query.ContrastOf

	FromSelections Origin = "selections" // the request: one selection is compared with another
)

// baseline is an axis and the value that the others are compared with.
type baseline struct {
	axis, value string
	reference   string // the value as a filter has it
	from        Origin
}

// sweeps finds the sweep files of the runs and the baselines that these name. Because facts are large, it reads one run per session, of
// the newest sessions.
func (r *reading) sweeps(ctx context.Context, s *scan.Reader) error {
	const maxSessions = 200
	r.baselines, r.report.Selection.Sweeps, r.report.Selection.Unswept = nil, []string{}, false
	runs, err := r.runsSQL("run_id", "session_id")
	if err != nil {
		return err
	}
	firsts, err := s.ListIDs(ctx, duck.Statement{
		SQL: "SELECT max(run_id) AS id FROM " + runs + " GROUP BY session_id ORDER BY id DESC LIMIT " + strconv.Itoa(maxSessions), Args: r.sel.Args,
	})
	if err != nil || len(firsts) == 0 {
		return err
	}
	q, err := s.Some(ctx, firsts, []*schema.Column{schema.RunColumn("run_id"), schema.RunColumn("env")})
	if err != nil {
		return err
	}
	q.SQL = "SELECT DISTINCT env['" + schema.FactBaseline + "'] AS baseline, env['sweep.file'] AS file FROM (" + q.SQL + ") ORDER BY ALL"
	return s.Conn.Query(ctx, q, func(row []driver.Value) error {
		axis, value, ok := strings.Cut(duck.Text(row[0]), "=")
		b := baseline{axis, value, filter.QuoteFor(axis, value), FromSweep}
		if ok && !slices.Contains(r.baselines, b) {
			r.baselines = append(r.baselines, b)
		}
		file := duck.Text(row[1])
		r.report.Selection.Unswept = r.report.Selection.Unswept || file == ""
		if file != "" && !slices.Contains(r.report.Selection.Sweeps, file) {
			r.report.Selection.Sweeps = append(r.report.Selection.Sweeps, file)
		}
		return nil
	})
}

// chosen returns the baselines to compare with: the requested one, or else those that are known from the runs.
func (r *reading) chosen() []baseline {
	switch {
	case r.req.Base != "":
		return []baseline{{axis: axisSide, value: baseSide, from: FromSelections}}
	case r.req.Axis != "":
		return []baseline{{r.req.Axis, filter.Unquote(r.req.Reference), r.req.Reference, FromAsked}}
	}
	var all []baseline
	if r.among(axisSide, baseSide) {
		all = append(all, baseline{axis: axisSide, value: baseSide, from: FromSides})
	}
	named := len(all)
	for _, b := range r.baselines {
		if r.among(b.axis, b.value) {
			all = append(all, b)
		}
	}
	if len(all) == named && r.among("variant", query.BaselineVariant) {
		all = append(all, baseline{"variant", query.BaselineVariant, filter.Quote(query.BaselineVariant), FromVariant})
	}
	return all
}

// guessed returns the baseline of one session for which nobody named one; none if there is nothing to compare but functions, or amounts
// of work.
func (r *reading) guessed() []baseline {
	if r.report.Selection.Sessions != 1 {
		return nil
	}
	var points []query.Point
	var medians []*float64
	for i := range r.report.Points {
		if p := &r.report.Points[i]; p.OKRuns > 0 && p.primary() != nil {
			points, medians = append(points, p.Subject.Point()), append(medians, p.primary().Median)
		}
	}
	c, work := query.ContrastOf(points, medians)
	switch {
	case c.Axis == "":
		return nil
	case work, c.Axis == "benchmark":
		r.report.amount = c
		return nil
	}
	return []baseline{{c.Axis, c.Value, filter.QuoteFor(c.Axis, c.Value), FromGuess}}
}

// among reports whether some points have a value of an axis and others have another value.
func (r *reading) among(axis, value string) bool {
	has, others := false, false
	for i := range r.report.Points {
		own, ok := r.report.Points[i].AxisValue(axis)
		has, others = has || ok && own == value, others || ok && own != value
	}
	return has && others
}

// AxisValue returns the value of an axis as text; ok is false if the point has none.
func (s *Subject) AxisValue(axis string) (text string, ok bool) {
	if axis == axisSide {
		return string(s.Side), s.Side != ""
	}
	f := filter.FieldOf(axis)
	p := s.Point()
	value := p.Value(f.Column.Name)
	if f.Entry != "" {
		value = p.Parameter(f.Entry)
	}
	if value == nil {
		return "", false
	}
	return fmt.Sprint(value), true
}
