package filter

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// compare compiles the comparison of a column of numbers.
func (c *compiler) compare(w *Word, f Field, op string, v Value) (string, error) {
	n, err := c.number(w, f, v)
	if err != nil {
		return "", err
	}
	number := integerWherePossible(f, n.Value, v.Text)
	value := c.bind(number)
	if f.Metric != "" {
		condition := "value " + op + " " + value
		switch {
		case f.Column.Unit != schema.UnitOfRow:
		case n.Unit == "":
			condition += " AND coalesce(unit, 'ratio') IN ('', 'ratio')"
		default:
			condition += " AND unit = " + c.bind(n.Unit)
		}
		return c.ofMetric(f, condition)
	}
	text := c.expression(f) + " " + op + " " + value
	if f.Column != columnAliases["spread"] {
		c.test(f, compares(op, number))
	}
	if slices.Contains(schema.OfSeveral, f.Column.Name) {
		c.test(Field{Column: schema.RunColumn("n_samples")}, func(n any) bool { return n != int64(1) })
	}
	if f.Column.Unit == schema.UnitOfRow {
		unit := Field{Column: schema.RunColumn("unit")}
		c.test(unit, isAny([]string{n.Unit}))
		text = "(" + text + " AND " + c.expression(unit) + " = " + c.bind(n.Unit) + ")"
	}
	return text, nil
}

// ofMetric returns the SQL of the runs for which a statistic of a metric meets a condition.
func (c *compiler) ofMetric(f Field, condition string) (string, error) {
	table, err := c.lookups.Metric(f.Metric, f.valueSQL())
	if err != nil {
		return "", err
	}
	return "(" + c.read(schema.RunColumn("run_id")) + " IN (SELECT of_run FROM " + table + " WHERE " + condition + "))", nil
}

// integerWherePossible keeps all digits of an integer, and saves DuckDB the cast of every row.
func integerWherePossible(f Field, number float64, text string) any {
	if f.Column.Kind != schema.KindInt {
		return number
	}
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return i
	}
	if number == math.Trunc(number) && math.Abs(number) < 1<<63 {
		return int64(number)
	}
	return number
}

// number parses the number that a field is compared with and converts it to the stored unit. If a column has a fixed unit, a number
// without a unit is in that unit. If the unit depends on the row, the number must have one.
func (c *compiler) number(w *Word, f Field, v Value) (schema.Quantity, error) {
	none := schema.Quantity{}
	n, err := schema.ParseQuantity(v.Text)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return none, w.fail(v, "%s is out of range", quoteOnce(v))
	case err != nil || v.quoted:
		return none, w.fail(v, "%s is not a number", quoteOnce(v))
	}
	unit, factor, known := storedUnit(n.Unit)
	want := ""
	if f.Entry == "" {
		want = f.Column.Unit
	}
	switch {
	case n.Unit == "" && f.Metric != "" && !f.needsUnit():
		return n, nil
	case n.Unit == "" && want == schema.UnitOfRow:
		return none, w.fail(v, "%s needs a unit, as in %s%s%s%s", w.Key, w.Key, w.Op, v.Text, f.exampleUnit())
	case n.Unit == "":
		return n, nil
	case twoNumbers.MatchString(v.Text):
		return none, w.fail(v, "a range is written with two dots: did you mean %s%s%s?", w.Key, w.Op, strings.Replace(v.Text, "-", dots, 1))
	case want == "":
		return none, w.fail(v, "%s has no unit, but %q has %s", w.Key, answer.Brief(v.Text), answer.Brief(n.Unit))
	case want != schema.UnitOfRow && !known:
		return none, w.fail(v, "unit %q is not known", answer.Brief(n.Unit))
	case want != schema.UnitOfRow && unit != want:
		return none, w.fail(v, "%s is in %s, but %q is in %s", w.Key, want, answer.Brief(v.Text), unit)
	}
	if !known {
		c.PossibleTypos = append(c.PossibleTypos, PossibleTypo{Word: w, Offset: v.offset, Unit: unit})
	}
	return schema.Quantity{Value: n.Value * factor, Unit: unit}, nil
}

// ratePerSecond matches the unit of a rate as tables print it, such as tok/s.
var ratePerSecond = regexp.MustCompile(`^([kMG]?)(?:tok|req|samples?|images?|query|queries|op|items?)/s$`)

// multipleOfRate matches a multiple of the unit of a rate that is stored under another name, such as ktokens/s.
var multipleOfRate = regexp.MustCompile(`^([kMG])([a-z]{2,}/s)$`)

// storedUnit is like schema.StoredUnit, but also accepts rates as tables print them: ktok/s.
func storedUnit(name string) (stored string, factor float64, known bool) {
	if rate := ratePerSecond.FindStringSubmatch(name); rate != nil {
		name = rate[1] + "/s"
	} else if rate := multipleOfRate.FindStringSubmatch(name); rate != nil {
		if _, _, known := schema.StoredUnit(name); !known {
			_, factor, _ = schema.StoredUnit(rate[1] + "/s")
			return rate[2], factor, false
		}
	}
	return schema.StoredUnit(name)
}

// UnitOf returns the stored unit of a number with a unit; empty if the text has no unit or is not a number.
func UnitOf(text string) string {
	n, err := schema.ParseQuantity(text)
	if err != nil || n.Unit == "" {
		return ""
	}
	stored, _, _ := storedUnit(n.Unit)
	return stored
}

// exampleUnit returns a suitable unit for a number of the field.
func (f Field) exampleUnit() string {
	k, known := schema.KindOfMetric(f.Metric)
	if !known {
		return "ms"
	}
	if usual, ok := map[string]string{"ns": "ms", "B": "MiB", "1/s": "/s", "mJ": "J", "mW": "W"}[k.Unit]; ok {
		return usual
	}
	return k.Unit
}

// twoNumbers matches a range as other tools write it: 1-5.
var twoNumbers = regexp.MustCompile(`^[0-9.]+-[0-9.]+$`)

func quoteOnce(v Value) string {
	if v.quoted {
		return fmt.Sprintf("the text %q", answer.Brief(v.Text))
	}
	return fmt.Sprintf("%q", answer.Brief(v.Text))
}

// timeLayouts are the accepted layouts of a time; without an offset it is UTC.
var timeLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04", "2006-01-02 15:04",
	"2006-01-02", "2006-01",
}

// parseTime parses a time. after is the end (exclusive) of the period that the text means: the next day for a date.
func parseTime(text string) (t, after time.Time, err error) {
	for _, layout := range timeLayouts {
		t, err := time.Parse(layout, text)
		switch {
		case err != nil:
			continue
		case layout == "2006-01":
			return t, t.AddDate(0, 1, 0), nil
		case layout == time.DateOnly:
			return t, t.AddDate(0, 0, 1), nil
		case strings.HasSuffix(layout, ":04"):
			return t, t.Add(time.Minute), nil
		case t.Nanosecond() == 0:
			return t, t.Add(time.Second), nil
		}
		return t, t.Add(time.Microsecond), nil
	}
	return t, t, fmt.Errorf("%q is not a time like 2026-11-21 or 2026-11-21T06:45:12Z", answer.Brief(text))
}
