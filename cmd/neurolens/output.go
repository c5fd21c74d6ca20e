package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// The formats of a result. table and md are for people: units that suit the value, short ids, local time. The others
// are for programs: stored units, full ids, RFC 3339 times, every row.
const (
	formatTable = "table"
	formatPlain = "plain"
	formatJSON  = "json"
	formatJSONL = "jsonl"
	formatCSV   = "csv"
	formatMD    = "md"
)

var formats = []string{formatTable, formatPlain, formatJSON, formatJSONL, formatCSV, formatMD}

// outputFormat is the format asked for, else the one that suits where stdout goes.
func (a *app) outputFormat() (string, error) {
	switch format := a.format; {
	case a.json:
		return formatJSON, nil
	case format != "":
		return knownFormat("--format", format)
	}
	return a.defaultFormat()
}

// defaultFormat is the format of a result for which no flag asks for one.
func (a *app) defaultFormat() (string, error) {
	switch format := a.getenv("NEUROLENS_FORMAT"); {
	case format != "":
		return knownFormat("NEUROLENS_FORMAT", format)
	case a.terminal:
		return formatTable, nil
	}
	return formatPlain, nil
}

func knownFormat(source, format string) (string, error) {
	if !slices.Contains(formats, format) {
		return "", usageErrorf("%s %q: want one of %s", source, format, strings.Join(formats, " "))
	}
	return format, nil
}

// forPeople tells whether a format shows a view rather than the table itself.
func forPeople(format string) bool { return format == formatTable || format == formatMD }

// print writes a result in a format. people makes the view that table and md show.
func (a *app) print(format string, t answer.Table, people func() term.View) error {
	if forPeople(format) {
		return a.printView(format, people())
	}
	var b bytes.Buffer
	p := a.pagePrinter(format)
	if err := p.page(&b, t); err != nil {
		return err
	}
	p.end(&b)
	return a.write(b.Bytes())
}

// printView writes a view as table or md.
func (a *app) printView(format string, v term.View) error {
	var b bytes.Buffer
	if format == formatMD {
		v.Markdown(&b)
	} else {
		v.Render(&b, a.width, a.color())
	}
	return a.write(b.Bytes())
}

// write writes to standard output.
func (a *app) write(b []byte) error {
	if _, err := a.stdout.Write(b); err != nil {
		return fmt.Errorf("writing to standard output: %w", err)
	}
	return nil
}

func (a *app) color() bool { return a.terminal && a.getenv("NO_COLOR") == "" }

// keys are the names of columns, each once: what stands again is followed by a number, as DuckDB does in a subquery.
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
		key, err := jsonText(keys[i])
		if err != nil {
			return err
		}
		value, err := jsonText(row[i])
		if err != nil {
			return fmt.Errorf("column %s: %w", c.Name, err)
		}
		w.WriteString(key + ": " + value)
	}
	w.WriteByte('}')
	return nil
}

// machineText is a value for a program: stored units, the shortest digits that give the number back, RFC 3339 in UTC,
// lists and maps as JSON, nothing for NULL.
func machineText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return strconv.FormatFloat(v, 'g', -1, 64)
		}
		return schema.CanonicalFloat(v)
	case bool:
		return strconv.FormatBool(v)
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	}
	text, err := jsonText(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return text
}

// jsonText is a value as JSON. What JSON has no number for is a string: "NaN", "Infinity", "-Infinity". What would steer
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
	return term.Escaped(strings.TrimSuffix(b.String(), "\n"), term.Steers), nil
}

// forJSON is a value with text in place of the numbers that JSON has not; the value itself where that does.
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
