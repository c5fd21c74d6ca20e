package summary

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// PivotRequest selects the points of a pivot, its axis and its metric.
type PivotRequest struct {
	Filter       string
	Since, Until time.Time // the zero time: no bound
	Axis         string    // key of a parameter, of a column that identifies a point, of the machine or of the side
	Metric       string    // empty: the primary metric of each point
}

// Pivot has the points of a selection in a grid: a column for each value of one axis, a row for each combination of all others.
type Pivot struct {
	Axis       string   // the axis, as query.Point.With takes it
	Values     []string // of the axis: numbers by size; other values in the order of their first runs, after the baseline
	Reference  int      // the value that factors are relative to: the baseline, or else the first one that was measured
	Baseline   bool     // it is the baseline that a sweep names
	Rows       []PivotRow
	Total      int // number of rows, before Limit
	Points     int // in cells
	Sessions   int // as in Selection
	Without    int // points that have no value of the axis, and are in no row
	Statuses   map[string]int
	NotNumbers map[string]int // as in query.Found
}

// PivotRow is a combination of all axes but one. PointID is empty.
type PivotRow struct {
	Subject
	Metric, Unit, Better string // of all values; empty if there is none
	Cells                []PivotCell
}

// PivotCell is a point in a pivot.
type PivotCell struct {
	Point  *Point   // nil: it was not measured
	Median *float64 // nil: unknown, or the result is wrong
	Runs   int      // ok runs that have a value
	Factor *float64 // Median / median of the reference; nil if one is unknown, or not above zero
}

// ReadPivot makes a pivot. It is an ErrInput if no run matches, or no point has the axis.
func ReadPivot(ctx context.Context, db *query.DB, req PivotRequest) (Pivot, error) {
	var p Pivot
	field := filter.FieldOf(req.Axis)
	switch name := field.Column.Name; {
	case name == "params" && field.Entry != "":
		p.Axis = filter.ParamPrefix + field.Entry
	case field.Entry == "" && (name == axisSide || slices.Contains(query.Identity, name)):
		p.Axis = name
	default:
		return p, answer.InputError("pivot: %q is no axis: want a parameter, %s or %s", answer.Brief(req.Axis), strings.Join(query.Identity, ", "), axisSide)
	}
	r := &reading{req: Request{Filter: req.Filter}, asker: "pivot", bounds: scan.NewPeriod(req.Since, req.Until)}
	err := db.Stores().Query(ctx, func(s *scan.Reader) error {
		err := r.gather(ctx, s)
		if err != nil {
			return err
		}
		if err = r.sweeps(ctx, s); err != nil {
			return err
		}
		if p.Sessions, err = s.CountSessions(ctx, r.sel); err != nil {
			return err
		}
		p.NotNumbers, err = s.CountNotNumbers(ctx, r.sel)
		return err
	})
	if err != nil {
		return p, err
	}
	if req.Metric != "" && !slices.ContainsFunc(r.report.Points, func(one Point) bool { return one.valueOf(req.Metric) != nil }) {
		return p, answer.InputError("pivot: none of these runs has the metric %q; they have %s", answer.Brief(req.Metric), strings.Join(metricsOf(r.report.Points), ", "))
	}
	p.fill(r, req.Metric)
	if len(p.Values) == 0 {
		return p, r.noAxis(field)
	}
	return p, nil
}

// noAxis returns the error for an axis that no point has.
func (r *reading) noAxis(field filter.Field) error {
	if field.Entry == "" {
		return answer.InputError("pivot: none of these runs has %s", field.Column.Name)
	}
	names := map[string]bool{}
	for i := range r.report.Points {
		for name := range r.report.Points[i].Params {
			names[name] = true
		}
	}
	return answer.InputError("pivot: none of these runs has a parameter %q%s", answer.Brief(field.Entry), scan.SuggestKey(field.Entry, slices.Sorted(maps.Keys(names))))
}

// valueOf returns a metric of the point; the primary one if metric is empty. It is nil if the point has none.
func (p *Point) valueOf(metric string) *Value {
	if metric == "" {
		return p.primary()
	}
	if at := slices.IndexFunc(p.Metrics, func(v Value) bool { return v.Metric == metric }); at >= 0 {
		return &p.Metrics[at]
	}
	return nil
}

// fill makes the grid of the points that were read.
func (p *Pivot) fill(r *reading, metric string) {
	var cells []*Point
	var points []query.Point
	var values []string
	p.Statuses = map[string]int{}
	for i := range r.report.Points {
		one := &r.report.Points[i]
		value, has := one.AxisValue(p.Axis)
		if !has {
			p.Without++
			continue
		}
		cells, points, values = append(cells, one), append(points, one.Subject.Point()), append(values, value)
		p.Points++
		for status, n := range one.ByStatus {
			p.Statuses[status] += n
		}
		if !slices.Contains(p.Values, value) {
			p.Values = append(p.Values, value)
		}
	}
	p.order(r)
	rows := map[string][]int{} // by the axes that all cells of a row share, without the metric
	for i, rest := range query.WithoutAxis(points, p.Axis) {
		p.put(rows, cells[i], &rest, slices.Index(p.Values, values[i]), cells[i].valueOf(metric))
	}
	if !p.Baseline { // a value that failed everywhere is no reference
		measured := func(column int) bool {
			return slices.ContainsFunc(p.Rows, func(row PivotRow) bool { return row.Cells[column].Median != nil })
		}
		for p.Reference < len(p.Values)-1 && !measured(p.Reference) {
			p.Reference++
		}
	}
	for i := range p.Rows {
		p.Rows[i].relate(p.Reference)
	}
	p.Total = len(p.Rows)
	p.Rows = sorted(p.Rows, func(a, b *PivotRow) int {
		return cmp.Or(subjects{}.compare(&a.Subject, &b.Subject), byMetric(a.Metric, b.Metric))
	})
}

// Limit leaves out rows after the first ones; 0: none.
func (p *Pivot) Limit(rows int) {
	if rows > 0 && rows < len(p.Rows) {
		p.Rows = p.Rows[:rows]
	}
}

// order sorts the values of the axis by size if they are numbers; other values stay in the order of their first runs. It finds the
// reference, and puts it first unless they are numbers.
func (p *Pivot) order(r *reading) {
	numbers := !slices.ContainsFunc(p.Values, func(text string) bool { _, ok := magnitude(text); return !ok })
	if numbers {
		slices.SortFunc(p.Values, Naturally)
	}
	for _, b := range r.chosen() {
		if field := filter.FieldOf(b.axis); b.axis != p.Axis && filter.ParamPrefix+field.Entry != p.Axis && field.Column.Name != p.Axis {
			continue
		}
		if at := slices.Index(p.Values, b.value); at >= 0 {
			p.Reference, p.Baseline = at, true
			break
		}
	}
	if !numbers && p.Reference > 0 {
		first := p.Values[p.Reference]
		p.Values = slices.Insert(slices.Delete(p.Values, p.Reference, p.Reference+1), 0, first)
		p.Reference = 0
	}
}

// put puts a point into the row of its other axes, rest, and its metric in which its column is free.
func (p *Pivot) put(rows map[string][]int, one *Point, rest *query.Point, column int, v *Value) {
	subject := subjectOf("", string(one.Side), *rest)
	if p.Axis == axisSide {
		subject.Side = ""
	}
	key := rest.Key() + string(subject.Side)
	free := slices.IndexFunc(rows[key], func(i int) bool {
		row := &p.Rows[i]
		return row.Cells[column].Point == nil && (v == nil || row.Metric == "" || row.Metric == v.Metric && row.Unit == string(v.Unit))
	})
	if free < 0 {
		free = len(rows[key])
		rows[key] = append(rows[key], len(p.Rows))
		p.Rows = append(p.Rows, PivotRow{Subject: subject, Cells: make([]PivotCell, len(p.Values))})
	}
	row := &p.Rows[rows[key][free]]
	cell := &row.Cells[column]
	cell.Point = one
	if v == nil {
		return
	}
	row.Metric, row.Unit, row.Better = v.Metric, string(v.Unit), cmp.Or(row.Better, string(v.Better))
	if one.Wrong == 0 {
		cell.Median, cell.Runs = v.Median, v.Runs
	}
}

// relate sets the factors of a row.
func (row *PivotRow) relate(reference int) {
	base := row.Cells[reference].Median
	if base == nil || *base <= 0 {
		return
	}
	for i := range row.Cells {
		if v := row.Cells[i].Median; v != nil && *v > 0 {
			factor := *v / *base
			row.Cells[i].Factor = &factor
		}
	}
}

// Table returns the pivot for programs: the columns that identify a point, less the axis, then the metric, then four columns for each
// value of the axis.
func (p *Pivot) Table() answer.Table {
	names := append(query.IdentityColumns(), "machine", axisSide)
	names = slices.DeleteFunc(names, func(name string) bool { return name == p.Axis })
	t := answer.Table{Columns: append(answer.ColumnsNamed(names...), answer.ColumnsNamed("metric", "unit", "better")...)}
	for _, value := range p.Values {
		name := strings.TrimPrefix(p.Axis, filter.ParamPrefix) + "=" + value
		t.Columns = append(
			t.Columns,
			answer.Column{Name: name, Type: answer.TypeReal, Unit: schema.UnitOfRow},
			answer.Column{Name: name + ".factor", Type: answer.TypeReal, Unit: "ratio"},
			answer.Column{Name: name + ".ok_runs", Type: answer.TypeInteger},
			answer.Column{Name: name + ".runs", Type: answer.TypeInteger},
		)
	}
	for i := range p.Rows {
		row := &p.Rows[i]
		point := row.Subject.Point()
		var cells []any
		for _, name := range names {
			if name == axisSide {
				cells = append(cells, answer.Text(string(row.Side)))
			} else {
				cells = append(cells, point.Value(name))
			}
		}
		cells = append(cells, answer.Text(row.Metric), answer.Text(row.Unit), answer.Text(row.Better))
		for _, c := range row.Cells {
			okRuns, runs := 0, 0
			if c.Point != nil {
				okRuns, runs = c.Point.OKRuns, c.Point.Runs
			}
			cells = append(cells, answer.Statistic(c.Median), answer.ComputedValue(c.Factor), int64(okRuns), int64(runs))
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}
