package formats

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

// rowOf reads the members of an object as the columns of a table. A member that is not a column is an error, because it
// would be lost; others are names that the caller reads. Warnings, digests and summaries are read if they are there, and
// computed again when the run is stored.
func rowOf(columns []*schema.Column, members map[string]jsontext.Value, others ...string) ([]any, error) {
	row := make([]any, len(columns))
	read := 0
	for i, c := range columns {
		text, ok := members[c.Name]
		if !ok {
			continue
		}
		read++
		if text.Kind() == jsontext.KindNull {
			continue
		}
		value, err := valueOf(c, text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		row[i] = value
	}
	if read < len(members) {
		return nil, unknownMember(columns, members, others)
	}
	return row, nil
}

func unknownMember(columns []*schema.Column, members map[string]jsontext.Value, others []string) error {
	names := slices.Clone(others)
	known := map[string]bool{}
	for _, c := range columns {
		names = append(names, c.Name)
		known[c.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !known[name] {
			if near := schema.Nearest(name, names); near != "" {
				return fmt.Errorf("unknown key %q: did you mean %q?", name, near)
			}
			return fmt.Errorf("unknown key %q: values without a column go into params, tags or env", name)
		}
	}
	return nil
}

func valueOf(c *schema.Column, text jsontext.Value) (any, error) {
	switch c.Kind {
	case schema.KindString:
		return stringOf(text)
	case schema.KindInt:
		return integerOf(text)
	case schema.KindReal:
		return realOf(text)
	case schema.KindBool:
		var b bool
		err := foreign.Decode(text, &b)
		return b, err
	case schema.KindTime:
		return timeOf(text)
	case schema.KindList:
		return listValue(c.Children[0], text)
	default:
		return mapValue(c.Children[1], text)
	}
}

func stringOf(text jsontext.Value) (any, error) {
	var s string
	if text.Kind() != jsontext.KindString {
		return nil, fmt.Errorf("%.40s is not a string", text)
	}
	if err := foreign.Decode(text, &s); err != nil {
		return nil, err
	}
	if s == "" {
		return nil, nil
	}
	return s, nil
}

func integerOf(text jsontext.Value) (any, error) {
	if text.Kind() == jsontext.KindNumber {
		if n := foreign.Number(text).Int64(); n != nil {
			return *n, nil
		}
	}
	return nil, fmt.Errorf("%.40s is not a 64-bit integer", text)
}

// realOf reads a number, or a word for one that JSON does not have.
func realOf(text jsontext.Value) (any, error) {
	switch string(text) {
	case `"NaN"`:
		return math.NaN(), nil
	case `"Infinity"`:
		return math.Inf(1), nil
	case `"-Infinity"`:
		return math.Inf(-1), nil
	}
	if text.Kind() != jsontext.KindNumber {
		return nil, fmt.Errorf("%.40s is not a number", text)
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return nil, fmt.Errorf("%.40s is not a 64-bit number", text)
	}
	return v, nil
}

func timeOf(text jsontext.Value) (any, error) {
	var s string
	if err := foreign.Decode(text, &s); err != nil {
		return nil, err
	}
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return nil, fmt.Errorf("%q is not a time with a time zone: want 2026-01-31T10:00:00Z", s)
	}
	return at.UTC(), nil
}

func listValue(element *schema.Column, text jsontext.Value) (any, error) {
	var all []jsontext.Value
	if err := foreign.Decode(text, &all); err != nil {
		return nil, err
	}
	switch element.Kind {
	case schema.KindInt:
		return listAs[int64](element, all)
	case schema.KindReal:
		return listAs[float64](element, all)
	case schema.KindString:
		return textsOf(all)
	default:
		rows := make([][]any, len(all))
		for i, one := range all {
			members, err := membersOf(one)
			if err != nil {
				return nil, err
			}
			if rows[i], err = rowOf(element.Children, members); err != nil {
				return nil, err
			}
		}
		return rows, nil
	}
}

func listAs[T any](element *schema.Column, all []jsontext.Value) (any, error) {
	list := make([]T, len(all))
	for i, one := range all {
		value, err := valueOf(element, one)
		if err != nil {
			return nil, err
		}
		list[i] = value.(T) // guaranteed by the kind of the column
	}
	return list, nil
}

func textsOf(all []jsontext.Value) (any, error) {
	list := make([]string, len(all))
	for i, one := range all {
		if err := foreign.Decode(one, &list[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// mapValue reads a map of numbers, or of texts; then numbers and other values become canonical text.
func mapValue(value *schema.Column, text jsontext.Value) (any, error) {
	members, err := membersOf(text)
	if err != nil {
		return nil, err
	}
	if value.Kind == schema.KindReal {
		numbers := make(map[string]float64, len(members))
		for name, one := range members {
			n, err := realOf(one)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			numbers[name] = n.(float64) // by realOf
		}
		return numbers, nil
	}
	texts := make(map[string]string, len(members))
	for name, one := range members {
		if one.Kind() != jsontext.KindNull {
			texts[name] = foreign.TextOf(one)
		}
	}
	return texts, nil
}
