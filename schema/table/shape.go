package table

import (
	"slices"

	"github.com/neurolens/neurolens/schema"
)

// shape identifies the columns of a live file: the indices, in a row, of the columns that are not NULL for its run; and for samples and
// ops, whose rows are nested in it, of the columns that are not NULL in every row.
//
// Leaving out a column saves its page and its part of the footer, and every reader the time for them. Readers request the columns that
// they know, and get NULL for columns that a file lacks, including fields of nested rows.
type shape struct {
	run, samples, ops []byte
}

// shapeOf returns the shape of a row with the columns of schema.LiveColumns; samples and ops are the last two.
func shapeOf(row []any) shape {
	samples, _ := row[len(row)-2].([][]any)
	ops, _ := row[len(row)-1].([][]any)
	return shape{present([][]any{row}), present(samples), present(ops)}
}

// present returns the indices that are not nil in some row.
func present(rows [][]any) []byte {
	if len(rows) == 0 {
		return nil
	}
	var places []byte
	for i := range rows[0] {
		if slices.ContainsFunc(rows, func(row []any) bool { return row[i] != nil }) {
			places = append(places, byte(i))
		}
	}
	return places
}

// key identifies the shape. No table has 255 columns.
func (s shape) key() string {
	return string(s.run) + "\xff" + string(s.samples) + "\xff" + string(s.ops)
}

// fields returns the columns of the shape, in the order of the format.
func (s shape) fields() []*field {
	columns := schema.LiveColumns()
	var fields []*field
	leaves := 0
	for _, place := range s.run {
		var kept []byte
		switch columns[place].Name {
		case schema.Samples.Name:
			kept = s.samples
		case schema.Ops.Name:
			kept = s.ops
		}
		f := newField(columns[place], int(place), leaves, kept)
		fields = append(fields, f)
		leaves += f.leaves
	}
	return fields
}

// liveRow returns the values of a run in the order of schema.LiveColumns.
func liveRow(r *schema.Run, digest string) []any {
	row := schema.RunRow(r, digest)
	return append(row, nestedRows(r.Metrics, schema.MetricRow), nestedRows(r.Ops, schema.OpRow))
}

// nestedRows returns the rows of items, or nil, which is NULL, if there are none.
func nestedRows[T any](items []T, row func(*T) []any) any {
	if len(items) == 0 {
		return nil
	}
	rows := make([][]any, len(items))
	for i := range items {
		rows[i] = row(&items[i])
	}
	return rows
}
