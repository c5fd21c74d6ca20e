package summary

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// sortPoints sorts points by group and identity, baselines first, and the metrics of each point.
func sortPoints(points []Point, metrics []string, baselines []baseline) []Point {
	order := subjects{baselines}
	points = sorted(points, func(a, b *Point) int {
		if c := byName(string(a.Group), string(b.Group)); c != 0 {
			return c
		}
		return order.compare(&a.Subject, &b.Subject)
	})
	for i := range points {
		p := &points[i]
		if len(metrics) > 0 {
			p.Metrics = slices.DeleteFunc(p.Metrics, func(v Value) bool { return v.Metric != string(p.Metric) && !slices.Contains(metrics, v.Metric) })
		}
		slices.SortFunc(p.Metrics, func(a, b Value) int {
			if a.Metric == string(p.Metric) || b.Metric == string(p.Metric) {
				return boolOrder(a.Metric == string(p.Metric), b.Metric == string(p.Metric))
			}
			return byMetric(a.Metric, b.Metric)
		})
	}
	return points
}

// sorted sorts rows stably. Because rows are large, their indexes are sorted, and each row is moved once.
func sorted[Row any](rows []Row, order func(a, b *Row) int) []Row {
	places := make([]int, len(rows))
	for i := range places {
		places[i] = i
	}
	slices.SortFunc(places, func(a, b int) int { return cmp.Or(order(&rows[a], &rows[b]), a-b) })
	all := make([]Row, len(rows))
	for i, at := range places {
		all[i] = rows[at]
	}
	return all
}

// byMetric returns the order of metrics: known metrics in the order of the registry, then others by name.
func byMetric(a, b string) int {
	return cmp.Or(cmp.Compare(rankOf(a), rankOf(b)), strings.Compare(a, b))
}

func rankOf(metric string) int {
	at := slices.IndexFunc(schema.MetricKinds, func(k schema.MetricKind) bool { return k.Name == metric })
	if at < 0 {
		return len(schema.MetricKinds)
	}
	return at
}

// boolOrder puts true first.
func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// subjects sorts points within a group: points that only differ in a compared axis are next to each other, the baseline first.
type subjects struct{ baselines []baseline }

// first reports whether a point is a baseline.
func (o subjects) first(s *Subject) bool {
	return slices.ContainsFunc(o.baselines, func(b baseline) bool {
		value, ok := s.AxisValue(b.axis)
		return ok && value == b.value && b.axis != axisSide // sides of a point are next to each other anyway
	})
}

// compared reports whether a parameter is a compared axis.
func (o subjects) compared(param string) bool {
	return slices.ContainsFunc(o.baselines, func(b baseline) bool { return filter.FieldOf(b.axis).Entry == param })
}

func (o subjects) compare(a, b *Subject) int {
	for _, compare := range []func() int{
		func() int { return Naturally(string(a.Benchmark), string(b.Benchmark)) },
		func() int { return Naturally(string(a.Model), string(b.Model)) },
		func() int { return byParams(a.Params, b.Params, o.compared) },
		func() int { return compareInts(a.BatchSize, b.BatchSize) },
		func() int { return compareInts(a.SeqLen, b.SeqLen) },
		func() int { return boolOrder(o.first(a), o.first(b)) },
		func() int { return byParams(a.Params, b.Params, func(string) bool { return false }) },
		func() int { return Naturally(string(a.Precision), string(b.Precision)) },
		func() int { return Naturally(string(a.Variant), string(b.Variant)) },
		func() int { return Naturally(string(a.Backend), string(b.Backend)) },
		func() int { return Naturally(string(a.Machine), string(b.Machine)) },
	} {
		if c := compare(); c != 0 {
			return c
		}
	}
	return strings.Compare(string(a.Side), string(b.Side))
}

// byParams compares parameters in the order of their names, except some.
func byParams(a, b map[string]string, but func(name string) bool) int {
	names := slices.Collect(maps.Keys(a))
	for name := range b {
		if _, ok := a[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if c := Naturally(a[name], b[name]); c != 0 && !but(name) {
			return c
		}
	}
	return 0
}

// compareInts orders integers, NULL first.
func compareInts(a, b *int64) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return cmp.Compare(*a, *b)
}

// byName returns the order of groups. An empty name comes last.
func byName(a, b string) int {
	if a == "" || b == "" {
		return boolOrder(a != "", b != "")
	}
	return Naturally(a, b)
}

// Naturally compares texts in natural order: ch2 comes before ch10. Sizes come first, in the order of their size: 64k before 1M.
func Naturally(a, b string) int {
	x, sized := magnitude(a)
	y, both := magnitude(b)
	if c := boolOrder(sized, both); c != 0 {
		return c
	}
	if c := cmp.Compare(x, y); c != 0 {
		return c
	}
	for a != "" && b != "" {
		x, y := digits(a), digits(b)
		switch {
		case x > 0 && y > 0:
			p, q := strings.TrimLeft(a[:x], "0"), strings.TrimLeft(b[:y], "0")
			if c := cmp.Or(cmp.Compare(len(p), len(q)), strings.Compare(p, q)); c != 0 {
				return c
			}
			a, b = a[x:], b[y:]
		case a[0] != b[0]:
			return cmp.Compare(a[0], b[0])
		default:
			a, b = a[1:], b[1:]
		}
	}
	return cmp.Compare(len(a), len(b))
}

// digits returns the number of digits at the beginning of a text.
func digits(text string) int {
	n := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if n < 0 {
		return len(text)
	}
	return n
}

// magnitude returns the number that a text is with its prefix and its unit, as in 64k, 1M or 4KiB; ok is false for other texts.
func magnitude(text string) (size float64, ok bool) {
	if text == "" || text[0] < '0' || text[0] > '9' {
		return 0, false
	}
	number := strings.TrimRight(text, "bB")
	base := 1000.
	if strings.HasSuffix(number, "i") {
		number, base = number[:len(number)-1], 1024
	}
	power := strings.IndexByte("kMGTP", cmp.Or(lastOf(number), ' ')) + 1
	if lastOf(number) == 'K' {
		power = 1
	}
	if power > 0 {
		number = number[:len(number)-1]
	}
	size, err := strconv.ParseFloat(number, 64)
	return size * math.Pow(base, float64(power)), err == nil
}

// lastOf returns the last byte of a text; 0 of an empty one.
func lastOf(text string) byte {
	if text == "" {
		return 0
	}
	return text[len(text)-1]
}

// Baseline is a value of an axis with which the others are compared.
type Baseline struct{ Axis, Value string }

// Baselines returns the baselines that the sweeps of a selection name, and variant=baseline.
func Baselines(ctx context.Context, db *query.DB, selection string) ([]Baseline, error) {
	r := &reading{req: Request{Filter: selection}}
	err := db.Stores().Query(ctx, func(s *scan.Reader) error {
		if err := r.selects(ctx, s, selection); err != nil {
			return err
		}
		return r.sweeps(ctx, s)
	})
	all := []Baseline{{"variant", query.BaselineVariant}}
	for _, b := range r.baselines {
		all = append(all, Baseline{b.axis, b.value})
	}
	return all, err
}

// InOrder returns the order of points in a report: points that only differ in a compared axis are next to each other, the baseline first.
func InOrder(baselines []Baseline) func(a, b *query.Point) int {
	var order subjects
	for _, b := range baselines {
		order.baselines = append(order.baselines, baseline{axis: b.Axis, value: b.Value})
	}
	return func(a, b *query.Point) int {
		x, y := subjectOf("", "", *a), subjectOf("", "", *b)
		return order.compare(&x, &y)
	}
}
