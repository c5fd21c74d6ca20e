package summary

import (
	"context"
	"database/sql/driver"
	"strings"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// pointMore are the aggregates of a point in addition to those of scan.PointRows.
var pointMore = `,
	count(*) FILTER (purpose <> 'measure') AS profile_runs, count(*) FILTER (source <> ` + native + `) AS imported_runs,
	count(*) FILTER (ok AND p50 IS NULL AND mean IS NOT NULL) AS mean_only_runs,
	CASE WHEN count(coalesce(p50, mean)) FILTER (ok) >= 3
		THEN 1.4826 * mad(coalesce(p50, mean)) FILTER (ok) / nullif(abs(median(coalesce(p50, mean)) FILTER (ok)), 0) END AS runs_spread,
	list(coalesce(p50, mean)) FILTER (ok AND coalesce(p50, mean) IS NOT NULL) AS run_values,
	list_aggregate(flatten(coalesce(list(warnings) FILTER (warnings IS NOT NULL), [])), 'histogram') AS warning_runs,
	` + scan.VariedSQL(scan.Processors[0]) + " OR " + scan.VariedSQL(scan.Processors[1]) + ` AS varied`

// place identifies the entry of points that a row of samples belongs to.
type place struct{ group, machine, point, side string }

// points groups the runs of the selection by group, machine, point and side, and returns the index of each entry.
func (r *reading) points(ctx context.Context, s *scan.Reader) (map[place]int, error) {
	runs, err := r.runsSQL(pointColumns...)
	if err != nil {
		return nil, err
	}
	identity := make([]string, len(query.IdentityColumns()))
	for i, name := range query.IdentityColumns() {
		identity[i] = duck.Identifier(name)
	}
	text := "SELECT " + r.keyColumns() + "point_id, side, machine, " + strings.Join(identity, ", ") + `, runs, ok_runs, statuses, samples_min, samples_max,
	metric, unit, better, median, p99, spread, wrong_runs, failures, profile_runs, imported_runs, mean_only_runs, valued_runs, CASE WHEN comparable THEN runs_spread END, CASE WHEN comparable THEN run_values END, warning_runs, NOT comparable, varied
FROM ` + scan.PointRows(runs, r.keyColumns()+"machine, ", pointMore) + " ORDER BY first_run, point_id, machine, side"
	places, partOf, seen := map[place]int{}, map[string]int{}, map[place]bool{}
	for i := range r.parts { // those of the other side
		partOf[strings.Join(r.parts[i].values, "\x00")] = i
	}
	err = s.Conn.Query(ctx, duck.Statement{SQL: text, Args: r.sel.Args}, func(row []driver.Value) error {
		values := make([]string, len(r.req.By))
		for i := range values {
			values[i] = duck.Text(row[i])
		}
		p := r.pointOf(cells{row[len(values):]})
		p.Group = Text(r.shared.text(r.groupName(values, string(p.Benchmark))))
		key := strings.Join(values, "\x00")
		places[place{key, string(p.Machine), string(p.PointID), string(p.Side)}] = len(r.report.Points)
		if _, known := partOf[key]; !known {
			partOf[key] = len(r.parts)
			r.parts = append(r.parts, part{values, map[Text]Text{}})
		}
		r.parts[partOf[key]].groups[p.PointID] = p.Group
		anywhere := place{"", string(p.Machine), string(p.PointID), string(p.Side)}
		r.overlap, seen[anywhere] = r.overlap || seen[anywhere], true
		r.report.Points = append(r.report.Points, p)
		return nil
	})
	return places, err
}

// FailedRequests reports whether more requests failed in a run of the point than are allowed, so that the point cannot be the best. It is
// false if the metric of the point is the number of failed requests.
func (p *Point) FailedRequests() bool {
	if p.Metric == schema.MetricFailedRequests {
		return false
	}
	for warning := range p.Warnings {
		if _, is := schema.FailedRequests(warning); is {
			return true
		}
	}
	return false
}

// pointOf reads a row of points after the keys.
func (r *reading) pointOf(c cells) Point {
	var p Point
	p.PointID, p.Side, p.Machine = Text(c.text()), r.text(&c), r.text(&c)
	p.Benchmark, p.Variant, p.Backend, p.Model, p.Precision = r.text(&c), r.text(&c), r.text(&c), r.text(&c), r.text(&c)
	p.BatchSize, p.SeqLen, p.Params = c.integer(), c.integer(), r.shared.parameters(c.next())
	p.Runs, p.OKRuns, p.ByStatus, p.SamplesMin, p.SamplesMax = c.count(), c.count(), c.counts(r.shared), c.integer(), c.integer()
	v := Value{Metric: r.shared.text(c.next()), Unit: r.text(&c), Better: r.text(&c), Median: c.real(), P99: c.real(), Spread: c.real()}
	p.Wrong, p.Ended = c.count(), r.reasons(c.next())
	p.Profiled, p.Imported, p.MeanOnly = c.count(), c.count(), c.count()
	v.Runs, v.RunsSpread = c.count(), c.real()
	v.Low, v.High = c.interval()
	p.Warnings, p.Metrics = c.counts(r.shared), []Value{}
	p.mixed, _ = c.next().(bool)
	p.varied, _ = c.next().(bool)
	if p.SamplesMax != nil && *p.SamplesMax < 2 { // a single sample has no spread
		v.P99, v.Spread = nil, nil
	}
	if p.Metric = Text(v.Metric); v.Metric != "" {
		p.Metrics = []Value{v}
	}
	return p
}

// nameRates gives rates the unit of the imported files, where the files name what is counted.
func (r *reading) nameRates(ctx context.Context, s *scan.Reader) error {
	rates, err := s.RateUnits(ctx, func(yield func(string) bool) {
		for i := range r.report.Points {
			for _, v := range r.report.Points[i].Metrics {
				if !yield(string(v.Unit)) {
					return
				}
			}
		}
	})
	if err != nil || rates == nil {
		return err
	}
	for i := range r.report.Points {
		p := &r.report.Points[i]
		for k := range p.Metrics {
			v := &p.Metrics[k]
			v.Unit = Text(rates.Of(string(p.Benchmark), string(v.Metric), string(v.Unit)))
		}
	}
	return nil
}

func (r *reading) text(c *cells) Text { return Text(r.shared.text(c.next())) }

// reasons read why runs are not ok.
func (r *reading) reasons(v driver.Value) []Reason {
	all := []Reason{}
	for _, one := range duck.List(duck.Plain(v)) {
		f, _ := one.(map[string]any)
		text := func(name string) Text { return Text(r.shared.text(f[name])) }
		if f["status"] == "ok" { // a pass of a profiler
			continue
		}
		all = append(all, Reason{
			Status: r.shared.text(f["status"]), Stage: text("stage"), ErrorKind: text("error_kind"), Error: text("error"), Runs: int(duck.Integer(f["runs"])),
		})
	}
	return all
}

// metrics adds the metrics other than the primary one to the points.
func (r *reading) metrics(ctx context.Context, s *scan.Reader, places map[place]int) error {
	runs, err := r.runsSQL("run_id", "point_id", "side", "machine", "purpose", "status")
	if err != nil {
		return err
	}
	counted := "(FROM " + runs + " WHERE status = 'ok' AND " + scan.IsMeasurement + ")"
	samples, err := r.samplesOf(ctx, s, counted)
	if err != nil || samples == "" {
		return err
	}
	text := "SELECT " + r.keyColumns() + `point_id, side, machine, s.metric, min(s.unit), max(s.unit), min(s.better), count(coalesce(s.p50, s.mean)),
	median(coalesce(s.p50, s.mean)), CASE WHEN count(*) FILTER (s.n_samples = 1) = 0 THEN median(s.p99) END, median(1.4826 * s.mad / nullif(abs(s.p50), 0)) FILTER (s.n_samples IS DISTINCT FROM 1),
	CASE WHEN count(coalesce(s.p50, s.mean)) >= 3 THEN 1.4826 * mad(coalesce(s.p50, s.mean)) / nullif(abs(median(coalesce(s.p50, s.mean))), 0) END,
	list(coalesce(s.p50, s.mean)) FILTER (coalesce(s.p50, s.mean) IS NOT NULL)
FROM ` + counted + " AS r JOIN " + samples + ` AS s ON s.run_id = r.run_id
GROUP BY ` + r.keyColumns() + "point_id, side, machine, s.metric"
	return s.Conn.Query(ctx, duck.Statement{SQL: text, Args: r.sel.Args}, func(row []driver.Value) error {
		values := make([]string, len(r.req.By))
		for i := range values {
			values[i] = duck.Text(row[i])
		}
		c := cells{row[len(values):]}
		point, side, machine := c.text(), c.text(), c.text()
		at, ok := places[place{strings.Join(values, "\x00"), machine, point, side}]
		if !ok { // the run was added after the points were read
			return nil
		}
		v := Value{Metric: r.shared.text(c.next()), Unit: r.text(&c)}
		mixed := string(v.Unit) != c.text()
		v.Better, v.Runs, v.Median, v.P99, v.Spread, v.RunsSpread = r.text(&c), c.count(), c.real(), c.real(), c.real(), c.real()
		v.Low, v.High = c.interval()
		if mixed {
			v.Unit, v.Median, v.Low, v.High, v.P99, v.Spread, v.RunsSpread = "", nil, nil, nil, nil, nil, nil
		}
		if p := &r.report.Points[at]; v.Metric != string(p.Metric) {
			p.Metrics = append(p.Metrics, v)
		}
		return nil
	})
}

// manyRuns is the number of runs from which on the files of their samples are not selected one by one.
const manyRuns = 50_000

// samplesOf returns the SQL of the samples of some runs, which only reads the files that have them; empty if there are no runs. It fails if
// one of these files is missing.
func (r *reading) samplesOf(ctx context.Context, s *scan.Reader, runs string) (string, error) {
	row, err := s.Conn.One(ctx, duck.Statement{SQL: "SELECT count(*), min(run_id), max(run_id) FROM " + runs, Args: r.sel.Args})
	if err != nil || duck.Integer(row[0]) == 0 {
		return "", err
	}
	between := "run_id BETWEEN " + duck.Literal(duck.Text(row[1])) + " AND " + duck.Literal(duck.Text(row[2]))
	some := &scan.Reader{Conn: s.Conn, Src: r.sel.Src}
	if duck.Integer(row[0]) <= manyRuns {
		ids, err := s.ListIDs(ctx, duck.Statement{SQL: "SELECT run_id AS id FROM " + runs + " ORDER BY id", Args: r.sel.Args})
		if err != nil {
			return "", err
		}
		some.Src = r.sel.Src.Of(ids)
	}
	return some.Src.Nested(schema.Samples, between), some.CheckSamples(ctx)
}

// cells are those of a row that are not yet read; each call reads one or more.
type cells struct{ left []driver.Value }

func (c *cells) next() driver.Value {
	v := c.left[0]
	c.left = c.left[1:]
	return v
}

func (c *cells) text() string { return duck.Text(c.next()) }

func (c *cells) count() int { return int(duck.Integer(c.next())) }

func (c *cells) counts(s *shared) map[string]int { return s.countsOf(c.next()) }

func (c *cells) integer() *int64 {
	if n, ok := c.next().(int64); ok {
		return &n
	}
	return nil
}

// interval returns the confidence interval of the median of a list of numbers; nil if there are too few.
func (c *cells) interval() (low, high *float64) {
	var values []float64
	for _, one := range duck.List(duck.Plain(c.next())) {
		if v, is := one.(float64); is {
			values = append(values, v)
		}
	}
	from, to, ok := stat.MedianInterval(values)
	if !ok {
		return nil, nil
	}
	return known(from), known(to)
}

// real returns a computed number; nil if it is NULL or not finite.
func (c *cells) real() *float64 {
	if v, ok := c.next().(float64); ok {
		return known(v)
	}
	return nil
}
