package layout

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/neurolens/neurolens/schema"
)

// unknown is the text that the systems write for an unknown word.
const unknown = "unknown"

func orUnknown(text string) string { return cmp.Or(text, unknown) }

// timeOf returns the metric that a layout uses as the time of a run: the latency, otherwise the primary metric if it is a time. It returns
// nil if the run is not ok, because the time of a failed run does not count.
func timeOf(r *schema.Run) *schema.Metric {
	if r.Status != schema.StatusOK {
		return nil
	}
	for _, name := range []string{schema.PrimaryMetric, r.Primary} {
		if m := r.Metric(name); m != nil && m.Unit == "ns" && m.Summary.Mean != nil {
			return m
		}
	}
	return nil
}

// metricOf returns a metric of an ok run in a unit, or nil if it has none in that unit.
func metricOf(r *schema.Run, name, unit string) *schema.Metric {
	if m := r.Metric(name); m != nil && r.Status == schema.StatusOK && m.Unit == unit {
		return m
	}
	return nil
}

// middle returns the median of a metric, or its mean if only that is known.
func middle(m *schema.Metric) *float64 {
	if m == nil {
		return nil
	}
	return cmp.Or(m.Summary.P50, m.Summary.Mean)
}

// meanOf returns the mean of a metric, or its median if only that is known.
func meanOf(m *schema.Metric) *float64 {
	if m == nil {
		return nil
	}
	return cmp.Or(m.Summary.Mean, m.Summary.P50)
}

// times returns the samples of a metric in ms, or nil if there are none or one is not finite.
func times(m *schema.Metric) []number {
	if m == nil {
		return nil
	}
	values := m.Values()
	list := make([]number, len(values))
	for i, v := range values {
		if list[i] = in(&v, "ms"); list[i] == "" {
			return nil
		}
	}
	return list
}

// meanRate returns the rate that belongs to the mean time of the samples that it was computed from: their harmonic mean. Without samples
// it is the mean of the rate.
func meanRate(m *schema.Metric) *float64 {
	if m == nil {
		return nil
	}
	return cmp.Or(harmonic(m.Values()), meanOf(m))
}

// harmonic returns the harmonic mean of positive values; nil for none, or if one is not positive.
func harmonic(values []float64) *float64 {
	if len(values) == 0 || !(slices.Min(values) > 0) {
		return nil
	}
	sum := 0.0
	for _, v := range values {
		sum += 1 / v
	}
	if sum == 0 || math.IsInf(sum, 0) {
		return nil
	}
	return new(float64(len(values)) / sum)
}

// perSecond returns how often something that takes ns nanoseconds happens per second.
func perSecond(ns *float64) *float64 {
	if ns == nil || *ns <= 0 {
		return nil
	}
	return new(1e9 / *ns)
}

// mean returns the mean of values; nil for none.
func mean(values []float64) *float64 {
	if len(values) == 0 {
		return nil
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return new(sum / float64(len(values)))
}

// geometric returns the geometric mean of positive values; nil for none.
func geometric(values []float64) *float64 {
	var logs []float64
	for _, v := range values {
		logs = append(logs, math.Log(v))
	}
	m := mean(logs)
	if m == nil {
		return nil
	}
	return new(math.Exp(*m))
}

// setting returns a setting of the run by key: the applied value, otherwise the requested one.
func setting(r *schema.Run, name string) string {
	return cmp.Or(r.Applied[name], r.Env.Facts["runner."+name])
}

// why returns in one line why a run is not ok; empty if it is.
func why(r *schema.Run) string {
	if r.Status == schema.StatusOK {
		return ""
	}
	return cmp.Or(r.Error, string(r.Status))
}

// outcome returns the status of a run and why it is not ok. A run in which more requests failed than are allowed counts as an error.
func outcome(r *schema.Run) (schema.Status, string) {
	if at := slices.IndexFunc(r.Warnings, failedRequests); r.Status == schema.StatusOK && at >= 0 {
		return schema.StatusError, r.Warnings[at]
	}
	return r.Status, why(r)
}

func failedRequests(warning string) bool {
	_, is := schema.FailedRequests(warning)
	return is
}

// fileName makes a text usable as a part of a file name.
func fileName(text string) string {
	name := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.':
			return c
		}
		return '_'
	}, text)
	if name = strings.TrimLeft(name, "."); name == "" {
		return "_"
	}
	return name[:min(len(name), 100)]
}

// figure formats a value with a number of decimals or, where that would give 0, with three significant digits; a dash for
// no value.
func figure(v *float64, digits int) string {
	switch {
	case v == nil:
		return "-"
	case *v != 0 && math.Abs(*v) < math.Pow(10, -float64(digits)):
		return strconv.FormatFloat(*v, 'g', 3, 64)
	}
	return strconv.FormatFloat(*v, 'f', digits, 64)
}

// milliseconds converts a stored time; nil for nil.
func milliseconds(ns *float64) *float64 {
	if ns == nil {
		return nil
	}
	return new(*ns / 1e6)
}

// wrongPoints returns the points that have a run with a wrong result, or in which more requests failed than are allowed, by id and side.
// They are excluded from all rankings and means, however fast their other runs were.
func wrongPoints(runs []*schema.Run) map[string]bool {
	wrong := map[string]bool{}
	for _, r := range runs {
		if slices.ContainsFunc(r.Warnings, failedRequests) || schema.IsWrong(r.Status, r.Stage, r.ErrorKind) {
			wrong[r.PointID+r.Side] = true
		}
	}
	return wrong
}

// number is a JSON number in its printed form; empty means null.
type number string

// MarshalJSON prints the number.
func (n number) MarshalJSON() ([]byte, error) {
	if n == "" {
		return []byte("null"), nil
	}
	return []byte(n), nil
}

// in converts a value from a stored unit to another unit of the same kind. If the units differ by a power of ten, only the decimal
// point moves, so the value can be read back exactly. A value that is not finite becomes null.
func in(v *float64, unit string) number {
	if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
		return ""
	}
	_, factor, _ := schema.StoredUnit(unit)
	if point := math.Round(math.Log10(factor)); math.Pow(10, point) == factor {
		return plain(strconv.FormatFloat(*v, 'e', -1, 64), -int(point))
	}
	return real(*v / factor)
}

// real returns the value unchanged.
func real(v float64) number {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return plain(strconv.FormatFloat(v, 'e', -1, 64), 0)
}

// integer formats a count.
func integer(n *int64) number {
	if n == nil {
		return ""
	}
	return number(strconv.FormatInt(*n, 10))
}

// plain moves the decimal point of a number with an exponent and writes it without exponent where that is short enough. A real number
// keeps its decimal point, as in Python.
func plain(digits string, places int) number {
	mantissa, exponent, _ := strings.Cut(digits, "e")
	e, err := strconv.Atoi(exponent)
	if err != nil {
		return number(digits)
	}
	e += places
	sign := ""
	if strings.HasPrefix(mantissa, "-") {
		sign, mantissa = "-", mantissa[1:]
	}
	figures := strings.Replace(mantissa, ".", "", 1)
	if strings.Trim(figures, "0") == "" {
		return "0.0"
	}
	switch {
	case e < -7 || e > 20:
		text := sign + figures[:1]
		if len(figures) > 1 {
			text += "." + figures[1:]
		}
		return number(text + "e" + strconv.Itoa(e))
	case e < 0:
		return number(sign + "0." + strings.Repeat("0", -e-1) + figures)
	case len(figures) <= e+1:
		return number(sign + figures + strings.Repeat("0", e+1-len(figures)) + ".0")
	}
	return number(sign + figures[:e+1] + "." + figures[e+1:])
}

// float returns the value of a number; 0 for null.
func (n number) float() float64 {
	v, err := strconv.ParseFloat(string(n), 64)
	if err != nil {
		return 0
	}
	return v
}

// page is a Markdown document under construction.
type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// header starts a table. Cells have no padding, as in the original systems.
func (p *page) header(columns ...string) {
	p.row(columns...)
	p.line("|%s", strings.Repeat(" --- |", len(columns)))
}

func (p *page) row(cells ...string) {
	for i, cell := range cells {
		cells[i] = cellText(cell)
	}
	p.line("| %s |", strings.Join(cells, " | "))
}

// cellText makes a text usable as one cell of a table: it stays in one line and one column.
func cellText(text string) string {
	return strings.ReplaceAll(oneLine(text), "|", `\|`)
}

// oneLine removes characters that would end the line, act as Markdown or control a terminal.
func oneLine(text string) string {
	text = strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) && !unicode.IsSpace(c) {
			return unicode.ReplacementChar
		}
		return c
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	return strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(text)
}

// notOK lists the runs that are not ok with their reasons, under a heading.
func (p *page) notOK(runs []*schema.Run, label func(*schema.Run) string) {
	first := true
	for _, r := range runs {
		if r.Status == schema.StatusOK {
			continue
		}
		if first {
			p.line("\n## Runs That Are Not OK\n")
			p.header("Run", "What", "Status", "Reason")
		}
		first = false
		p.row(shortRun(r), label(r), string(r.Status), why(r))
	}
}
