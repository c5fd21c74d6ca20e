package formats

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

// The kinds of tables that a mapping can describe.
const (
	CSV   = "csv"
	jsonl = "jsonl"
)

// Mapped is the format of tables with one layout: comma-separated values (a header and rows; also tabs, semicolons or
// bars), or JSON lines. The columns of JSON lines are their members; those of nested objects are joined by a dot:
// "config.batch".
func Mapped(table string, mapping []byte) (foreign.Format, error) {
	m, err := parseMapping(mapping)
	if err != nil {
		return foreign.Format{}, err
	}
	f := foreign.Format{Name: m.Source, Log: true}
	if f.Name == "" {
		f.Name = table
	}
	switch table {
	case CSV:
		f.Read = func(in *foreign.Input, out *foreign.Output) error { return m.readCSV(in, out) }
	case jsonl:
		f.Read = func(in *foreign.Input, out *foreign.Output) error { return m.readJSONLines(in, out) }
	default:
		return foreign.Format{}, fmt.Errorf("a mapping needs --from csv or jsonl, got %q", table)
	}
	return f, nil
}

// mappedRow is a row of a table: the text of its columns, and its place.
type mappedRow struct {
	where string
	cells map[string]string
	lists map[string]jsontext.Value // columns of JSON lines that are arrays
}

// separators may separate the values of a table. The one that is most frequent in the header is used.
const separators = ",\t;|"

func (m *mapping) readCSV(in *foreign.Input, out *foreign.Output) error {
	c := in.CSV()
	if m.Comment != "" {
		c.Comment(rune(m.Comment[0]))
	}
	separator, count := ',', 0
	heading := m.heading(in.Head)
	for _, s := range separators {
		if n := strings.Count(heading, string(s)); n > count {
			separator, count = s, n
		}
	}
	c.Separator(separator)
	header, err := c.Record()
	if err != nil {
		return fmt.Errorf("reading the header: %w", err)
	}
	columns := make([]string, len(header))
	for i, name := range header {
		columns[i] = strings.TrimSpace(name)
	}
	if err := errors.Join(m.checkColumns(columns), m.checkNames(columns)); err != nil {
		return err
	}
	t := newMappedTable(m, in, out)
	for record, err := range c.Records() {
		if err != nil {
			return errors.Join(t.flush(), err)
		}
		row := mappedRow{where: fmt.Sprintf("line %d", c.Line()), cells: make(map[string]string, len(columns))}
		if len(record) != len(columns) {
			out.Refuse(row.where, fmt.Errorf("%d values for %d columns", len(record), len(columns)))
			continue
		}
		for i, text := range record {
			row.cells[columns[i]] = strings.TrimSpace(text)
		}
		if err := t.add(row); err != nil {
			return err
		}
	}
	return t.flush()
}

// heading is the first line of a table that is no comment.
func (m *mapping) heading(head *foreign.Head) string {
	for line := range bytes.Lines(head.Bytes) {
		if text := strings.TrimSpace(string(line)); text != "" && (m.Comment == "" || !strings.HasPrefix(string(line), m.Comment)) {
			return text
		}
	}
	return ""
}

func (m *mapping) readJSONLines(in *foreign.Input, out *foreign.Output) error {
	j, err := in.JSON()
	if err != nil {
		return err
	}
	t := newMappedTable(m, in, out)
	j.Strict()
	for n := 1; j.More(); n++ {
		text, err := j.Value()
		if err != nil {
			return errors.Join(t.flush(), fmt.Errorf("object %d: %w", n, err))
		}
		row := mappedRow{where: fmt.Sprintf("object %d", n), cells: map[string]string{}, lists: map[string]jsontext.Value{}}
		if err := row.flatten("", text, 0); err != nil {
			out.Refuse(row.where, err)
			continue
		}
		columns := slices.Sorted(maps.Keys(row.cells))
		for name := range row.lists {
			columns = append(columns, name)
		}
		if err := m.checkColumns(columns); err != nil {
			out.Refuse(row.where, err)
			continue
		}
		if err := t.add(row); err != nil {
			return err
		}
	}
	return t.flush()
}

// maxDepth limits the nesting of objects.
const maxDepth = 16

// flatten takes the members of an object as columns.
func (r *mappedRow) flatten(prefix string, text jsontext.Value, depth int) error {
	if depth == maxDepth {
		return fmt.Errorf("%s: its objects are nested more than %d levels deep", prefix, depth)
	}
	members, err := membersOf(text)
	if err != nil {
		return err
	}
	for name, value := range members {
		switch value.Kind() {
		case jsontext.KindBeginObject:
			if err := r.flatten(prefix+name+".", value, depth+1); err != nil {
				return err
			}
		case jsontext.KindBeginArray:
			r.lists[prefix+name] = value
		default:
			r.cells[prefix+name] = foreign.TextOf(value)
		}
	}
	return nil
}

// checkColumns returns an error if the table has a column that the mapping does not list.
func (m *mapping) checkColumns(columns []string) error {
	var forgotten []string
	seen := map[string]bool{}
	for _, c := range columns {
		if seen[c] {
			return fmt.Errorf("column %q appears twice", c)
		}
		seen[c] = true
		if !m.has(c) {
			forgotten = append(forgotten, c)
		}
	}
	if len(forgotten) > 0 {
		const maxShown = 10
		shown := forgotten[:min(len(forgotten), maxShown)]
		return fmt.Errorf("the mapping does not list the columns %q: add them to fields, metrics or ignore", shown)
	}
	return nil
}

// checkNames returns an error if the mapping names a column that the table does not have: a misspelt one could be an
// axis.
func (m *mapping) checkNames(columns []string) error {
	names := slices.Sorted(maps.Keys(m.Fields))
	names = slices.AppendSeq(names, maps.Keys(m.Metrics))
	if m.Long != nil {
		names = append(names, m.Long.Metric, m.Long.Value)
		if m.Long.Unit != "" {
			names = append(names, m.Long.Unit)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if slices.Contains(columns, name) {
			continue
		}
		if near := schema.Nearest(name, columns); near != "" {
			return fmt.Errorf("the table has no column %q, which the mapping names; did you mean %q?", name, near)
		}
		return fmt.Errorf("the table has no column %q, which the mapping names", name)
	}
	return nil
}

func (m *mapping) has(column string) bool {
	if _, ok := m.Fields[column]; ok {
		return true
	}
	if _, ok := m.Metrics[column]; ok {
		return true
	}
	if m.Long != nil && slices.Contains([]string{m.Long.Metric, m.Long.Value, m.Long.Unit}, column) {
		return true
	}
	return slices.Contains(m.Ignore, column) || slices.Contains(m.Ignore, "*")
}
