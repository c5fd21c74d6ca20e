package term

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/query/answer"
)

// keys returns the names of columns, each once: what stands again is followed by a number, as DuckDB does in a subquery.
func keys(columns []answer.Column) []string {
	taken := map[string]bool{}
	for _, c := range columns {
		taken[c.Name] = true
	}
	all := make([]string, len(columns))
	seen := map[string]bool{}
	for i, c := range columns {
		name := c.Name
		for n := 1; seen[c.Name] && taken[name]; n++ {
			name = c.Name + "_" + strconv.Itoa(n)
		}
		seen[c.Name], taken[name], all[i] = true, true, name
	}
	return all
}

// writeObject writes a row as a JSON object with its keys in column order. NULL is null.
func writeObject(w *bytes.Buffer, columns []answer.Column, keys []string, row []any) error {
	w.WriteByte('{')
	for i, c := range columns {
		if i > 0 {
			w.WriteString(", ")
		}
		if err := writeJSON(w, keys[i]); err != nil {
			return err
		}
		w.WriteString(": ")
		if err := writeJSON(w, row[i]); err != nil {
			return fmt.Errorf("column %s: %w", c.Name, err)
		}
	}
	w.WriteByte('}')
	return nil
}

// writeJSON writes a value as jsonText has it. Nearly all values are plain, and an encoder would take most of the time of an answer.
func writeJSON(w *bytes.Buffer, v any) error {
	start := w.Len()
	if writePlain(w, v) || writeFlat(w, v) {
		return nil
	}
	w.Truncate(start)
	text, err := jsonText(v)
	w.WriteString(text)
	return err
}

// writePlain writes a value that needs no encoder: NULL, a boolean, an integer, a number without an exponent, a time, or a text of printable
// ASCII in which nothing is escaped. For every other value it writes nothing, and returns false.
func writePlain(w *bytes.Buffer, v any) bool {
	switch v := v.(type) {
	case nil:
		w.WriteString("null")
	case bool:
		w.Write(strconv.AppendBool(w.AvailableBuffer(), v))
	case int64:
		w.Write(strconv.AppendInt(w.AvailableBuffer(), v, 10))
	case float64:
		return writeReal(w, v)
	case time.Time:
		w.Write(v.UTC().AppendFormat(w.AvailableBuffer(), `"`+time.RFC3339Nano+`"`))
	case string:
		for i := range len(v) {
			if c := v[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
				return false
			}
		}
		w.WriteByte('"')
		w.WriteString(v)
		w.WriteByte('"')
	default:
		return false
	}
	return true
}

// writeFlat writes a list or a map of values that writePlain writes, as jsonText has it. It returns false for everything else, of which a
// part may be written then.
func writeFlat(w *bytes.Buffer, v any) bool {
	switch v := v.(type) {
	case []any:
		return writeList(w, v, writeEntry)
	case []float64:
		return writeList(w, v, writeReal)
	case map[string]any:
		return writeFlatMap(w, v)
	}
	return false
}

// writeList is writeFlat for a list of values that write writes.
func writeList[T any](w *bytes.Buffer, list []T, write func(*bytes.Buffer, T) bool) bool {
	w.WriteByte('[')
	for i, v := range list {
		if i > 0 {
			w.WriteByte(',')
		}
		if !write(w, v) {
			return false
		}
	}
	w.WriteByte(']')
	return true
}

// writeEntry is writePlain for a value in a list or a map, where the encoder writes a time in its own zone.
func writeEntry(w *bytes.Buffer, v any) bool {
	_, isTime := v.(time.Time)
	return !isTime && writePlain(w, v)
}

// writeReal is writePlain for a number.
func writeReal(w *bytes.Buffer, v float64) bool {
	if size := math.Abs(v); v != 0 && !(size >= 1e-6 && size < 1e21) { // NaN, or with an exponent
		return false
	}
	w.Write(strconv.AppendFloat(w.AvailableBuffer(), v, 'f', -1, 64))
	return true
}

// writeFlatMap is writeFlat for a map: its keys ascend.
func writeFlatMap(w *bytes.Buffer, m map[string]any) bool {
	const few = 16 // keys for which no memory of the heap is needed
	var space [few]string
	keys := space[:0]
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	w.WriteByte('{')
	for i, key := range keys {
		if i > 0 {
			w.WriteByte(',')
		}
		if !writePlain(w, key) {
			return false
		}
		w.WriteByte(':')
		if !writeEntry(w, m[key]) {
			return false
		}
	}
	w.WriteByte('}')
	return true
}

// jsonText returns a value as JSON. What JSON has no number for is a string: "NaN", "Infinity", "-Infinity". What would steer
// a terminal is escaped.
func jsonText(v any) (string, error) {
	if t, ok := v.(time.Time); ok {
		v = t.UTC().Format(time.RFC3339Nano)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(forJSON(v)); err != nil {
		return "", err
	}
	return Escaped(strings.TrimSuffix(b.String(), "\n"), IsControl), nil
}

// forJSON returns a value with text in place of the numbers that JSON has not; the value itself where that does.
func forJSON(v any) any {
	if fitsJSON(v) {
		return v
	}
	switch v := v.(type) {
	case float64:
		switch {
		case math.IsNaN(v):
			return "NaN"
		case math.IsInf(v, 1):
			return "Infinity"
		case math.IsInf(v, -1):
			return "-Infinity"
		}
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = forJSON(v[i])
		}
		return out
	case []float64:
		out := make([]any, len(v))
		for i := range v {
			out[i] = forJSON(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[k] = forJSON(v[k])
		}
		return out
	}
	return v
}

// fitsJSON tells whether JSON has a value as it is: each number is finite, and no list or map is nil, which would become
// null although it is but empty.
func fitsJSON(v any) bool {
	switch v := v.(type) {
	case float64:
		return !math.IsNaN(v) && !math.IsInf(v, 0)
	case []any:
		return v != nil && !slices.ContainsFunc(v, func(e any) bool { return !fitsJSON(e) })
	case []float64:
		return v != nil && !slices.ContainsFunc(v, func(e float64) bool { return !fitsJSON(e) })
	case map[string]any:
		for _, e := range v {
			if !fitsJSON(e) {
				return false
			}
		}
		return v != nil
	}
	return true
}

// WriteLines writes rows as JSON objects, one a line.
func WriteLines(b *bytes.Buffer, t answer.Table) error {
	keys := keys(t.Columns)
	for _, row := range t.Rows {
		if err := writeObject(b, t.Columns, keys, row); err != nil {
			return err
		}
		b.WriteString("\n")
	}
	return nil
}
