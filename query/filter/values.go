package filter

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/neurolens/neurolens/query/internal/fault"
	"github.com/neurolens/neurolens/schema"
)

// compare compiles the comparison of a column of numbers.
func (c *compiler) compare(w *Word, f Field, op string, v Value) (string, error) {
	n, err := c.number(w, f, v)
	if err != nil {
		return "", err
	}
	text := c.expression(f) + " " + op + " " + c.bind(integerWherePossible(f, n.Value, v.Text))
	if f.Column.Unit == schema.UnitOfRow {
		text = "(" + text + " AND " + c.read(schema.RunColumn("unit")) + " = " + c.bind(n.Unit) + ")"
	}
	return text, nil
}

// integerWherePossible keeps all digits of an integer literal and spares DuckDB the cast of every row.
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

// number reads the number that a field is compared with, in the stored unit. A column with a unit of its own takes a
// number without one as stored; one with the unit of the row needs it said.
func (c *compiler) number(w *Word, f Field, v Value) (schema.Quantity, error) {
	none := schema.Quantity{}
	n, err := schema.ParseQuantity(v.Text)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return none, w.fail(v, "%s is out of range", quoteOnce(v))
	case err != nil || v.quoted:
		return none, w.fail(v, "%s is not a number", quoteOnce(v))
	}
	unit, factor, known := schema.StoredUnit(n.Unit)
	want := ""
	if f.Entry == "" {
		want = f.Column.Unit
	}
	switch {
	case n.Unit == "" && want == schema.UnitOfRow:
		return none, w.fail(v, "%s is in the unit of its metric: say which, as in %s%s%sms", w.Key, w.Key, w.Op, v.Text)
	case n.Unit == "":
		return n, nil
	case want == "":
		return none, w.fail(v, "%s has no unit, but %q has %s", w.Key, fault.Brief(v.Text), fault.Brief(n.Unit))
	case want != schema.UnitOfRow && !known:
		return none, w.fail(v, "unit %q is not known", fault.Brief(n.Unit))
	case want != schema.UnitOfRow && unit != want:
		return none, w.fail(v, "%s is in %s, but %q is in %s", w.Key, want, fault.Brief(v.Text), unit)
	}
	if !known {
		c.Unsure = append(c.Unsure, Unsure{Word: w, Offset: v.offset, Unit: unit})
	}
	return schema.Quantity{Value: n.Value * factor, Unit: unit}, nil
}

func quoteOnce(v Value) string {
	if v.quoted {
		return fmt.Sprintf("the text %q", fault.Brief(v.Text))
	}
	return fmt.Sprintf("%q", fault.Brief(v.Text))
}

// timeLayouts are what a time may be written in; without an offset it is UTC.
var timeLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04", "2006-01-02 15:04",
	"2006-01-02", "2006-01",
}

func parseTime(text string) (time.Time, error) {
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time like 2026-11-21 or 2026-11-21T06:45:12Z", fault.Brief(text))
}
