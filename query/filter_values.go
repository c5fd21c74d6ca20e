package query

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// canonicalText is the canonical text of a parameter's value written without quotes; the text itself where it has none.
func canonicalText(text string) string {
	if canonical, err := schema.CanonicalNumber(text); err == nil {
		return canonical
	}
	if text[0] != '[' && text[0] != '{' {
		return text
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return text
	}
	if _, err := decoder.Token(); err != io.EOF {
		return text
	}
	if canonical, err := schema.CanonicalJSON(v); err == nil {
		return canonical
	}
	return text
}

// compare compiles the comparison of a column of numbers.
func (c *compiler) compare(w *word, f field, op string, v value) (string, error) {
	n, err := c.number(w, f, v)
	if err != nil {
		return "", err
	}
	text := c.expression(f) + " " + op + " " + c.bind(integerWherePossible(f, n.Value, v.text))
	if f.column.Unit == schema.UnitOfRow {
		text = "(" + text + " AND " + c.read(runColumn("unit")) + " = " + c.bind(n.Unit) + ")"
	}
	return text, nil
}

// integerWherePossible keeps all digits of an integer literal and spares DuckDB the cast of every row.
func integerWherePossible(f field, number float64, text string) any {
	if f.column.Kind != schema.KindInt {
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
func (c *compiler) number(w *word, f field, v value) (schema.Quantity, error) {
	none := schema.Quantity{}
	n, err := schema.ParseQuantity(v.text)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return none, w.fail(v, "%s is out of range", quoteOnce(v))
	case err != nil || v.quoted:
		return none, w.fail(v, "%s is not a number", quoteOnce(v))
	}
	unit, factor, known := schema.StoredUnit(n.Unit)
	want := ""
	if f.entry == "" {
		want = f.column.Unit
	}
	switch {
	case n.Unit == "" && want == schema.UnitOfRow:
		return none, w.fail(v, "%s is in the unit of its metric: say which, as in %s%s%sms", w.key, w.key, w.op, v.text)
	case n.Unit == "":
		return n, nil
	case want == "":
		return none, w.fail(v, "%s has no unit, but %q has %s", w.key, brief(v.text), brief(n.Unit))
	case want != schema.UnitOfRow && !known:
		return none, w.fail(v, "unit %q is not known", brief(n.Unit))
	case want != schema.UnitOfRow && unit != want:
		return none, w.fail(v, "%s is in %s, but %q is in %s", w.key, want, brief(v.text), unit)
	}
	if !known {
		c.unsure = append(c.unsure, unsure{word: w, offset: v.offset, unit: unit})
	}
	return schema.Quantity{Value: n.Value * factor, Unit: unit}, nil
}

func quoteOnce(v value) string {
	if v.quoted {
		return fmt.Sprintf("the text %q", brief(v.text))
	}
	return fmt.Sprintf("%q", brief(v.text))
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
	return time.Time{}, fmt.Errorf("%q is not a time like 2026-11-21 or 2026-11-21T06:45:12Z", brief(text))
}
