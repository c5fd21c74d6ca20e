package filter

import (
	"fmt"
	"strings"
	"time"

	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// dots separate the ends of a range. The range includes both ends; one of them may be missing.
const dots = ".."

// ends returns the ends of a range; an empty text is an open end.
func (v Value) ends() (from, to Value, isRange bool) {
	first, last, found := strings.Cut(v.Text, dots)
	if !found || v.quoted || first == "" && last == "" || strings.Contains(last, dots) {
		return from, to, false
	}
	return Value{Text: first, offset: v.offset}, Value{Text: last, offset: v.offset + len(first) + len(dots)}, true
}

// takesRange reports whether a value that looks like a range is one: always for numbers and times, and for entries of maps if both
// ends are numbers.
func (f Field) takesRange(from, to Value) bool {
	switch f.Kind() {
	case schema.KindInt, schema.KindReal, schema.KindTime:
		return true
	}
	number := func(v Value) bool { return v.Text == "" || plainNumber.MatchString(v.Text) }
	return f.Entry != "" && number(from) && number(to)
}

var plainNumber = regexp.MustCompile(`^[-+]?[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?$`)

// between compiles a range.
func (c *compiler) between(w *Word, f Field, from, to Value) (string, error) {
	if f.Kind() == schema.KindTime {
		return c.betweenTimes(w, f, from, to)
	}
	if first, err := schema.ParseQuantity(from.Text); err == nil && first.Unit == "" {
		if last, err := schema.ParseQuantity(to.Text); err == nil {
			from.Text += last.Unit // 1..2ms is 1ms..2ms
		}
	}
	var parts []string
	var bounds []float64
	for _, end := range []struct {
		op string
		v  Value
	}{{">=", from}, {"<=", to}} {
		if end.v.Text == "" {
			continue
		}
		one := *w
		one.Op, one.Values = end.op, []Value{end.v}
		text, err := c.order(&one, f)
		if err != nil {
			return "", err
		}
		n, err := c.number(&one, f, end.v)
		if err != nil {
			return "", err
		}
		parts, bounds = append(parts, text), append(bounds, n.Value)
	}
	if len(bounds) == 2 && bounds[0] > bounds[1] {
		return "", w.fail(from, "the range ends before it begins; did you mean %s=%s..%s?", w.Key, to.Text, from.Text)
	}
	return joined(parts, " AND "), nil
}

// betweenTimes compiles a range of times. The range includes the whole last day.
func (c *compiler) betweenTimes(w *Word, f Field, from, to Value) (string, error) {
	var parts []string
	var begins, ends time.Time
	var err error
	if from.Text != "" {
		if begins, _, err = parseTime(from.Text); err != nil {
			return "", w.fail(from, "%v", err)
		}
		parts = append(parts, fmt.Sprintf("epoch_us(%s) >= %s", c.expression(f), c.bind(begins.UnixMicro())))
	}
	if to.Text != "" {
		if _, ends, err = parseTime(to.Text); err != nil {
			return "", w.fail(to, "%v", err)
		}
		parts = append(parts, fmt.Sprintf("epoch_us(%s) < %s", c.expression(f), c.bind(ends.UnixMicro())))
	}
	if len(parts) == 2 && begins.After(ends) {
		return "", w.fail(from, "the range ends before it begins; did you mean %s=%s..%s?", w.Key, to.Text, from.Text)
	}
	return joined(parts, " AND "), nil
}

// needsUnit reports whether a number of the metric must be given with a unit.
func (f Field) needsUnit() bool {
	k, known := schema.KindOfMetric(f.Metric)
	return known && k.Unit != "" && k.Unit != "ratio"
}
