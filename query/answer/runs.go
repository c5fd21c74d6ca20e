package answer

import (
	"fmt"

	"github.com/neurolens/neurolens/schema"
)

// RunColumns returns the columns of RunRow: all columns of runs. The registry in package schema describes them.
func RunColumns() []Column {
	names := make([]string, len(schema.Runs.Columns))
	for i, c := range schema.Runs.Columns {
		names[i] = c.Name
	}
	columns := ColumnsNamed(names...)
	for i, c := range schema.Runs.Columns {
		columns[i].Unit = c.Unit
	}
	return columns
}

// RunRow converts a run to a row of an answer with the columns of runs. The summary is the summary of its primary metric.
func RunRow(r *schema.Run, digest string) []any {
	row := schema.RunRow(r, digest)
	for i, value := range row {
		row[i] = Cell(schema.Runs.Columns[i], value)
	}
	return row
}

// Cell converts the value of a column of runs, as schema.RunRow makes it, to a cell of an answer.
func Cell(column *schema.Column, value any) any {
	switch value := value.(type) {
	case map[string]string:
		return Texts(value)
	case []string:
		return List(value)
	case [][]any:
		return structs(column.Children[0], value)
	}
	return value
}

// structs converts rows, with one value per field of a struct, to a list of maps.
func structs(c *schema.Column, rows [][]any) []any {
	list := make([]any, len(rows))
	for i, row := range rows {
		fields := make(map[string]any, len(row))
		for k, value := range row {
			fields[c.Children[k].Name] = value
		}
		list[i] = fields
	}
	return list
}

// Arranged returns the rows of runs, in the order of their ids, with only the given columns. The table must have the column run_id and a
// row for each id; otherwise it is an error. If a run has two rows, one of them is used.
func (t *Table) Arranged(ids []schema.ULID, columns []*schema.Column) (Table, error) {
	byID := make(map[string][]any, len(t.Rows))
	runID := t.Index("run_id")
	for _, row := range t.Rows {
		id, _ := row[runID].(string)
		byID[id] = row
	}
	places := make([]int, len(columns))
	out := Table{Rows: make([][]any, len(ids))}
	for i, column := range columns {
		places[i] = t.Index(column.Name)
		out.Columns = append(out.Columns, t.Columns[places[i]])
	}
	for i, id := range ids {
		row := byID[id.String()]
		if row == nil {
			return Table{}, fmt.Errorf("run %s is not in its file", id)
		}
		for _, at := range places {
			out.Rows[i] = append(out.Rows[i], row[at])
		}
	}
	out.SetUnits(nil)
	return out, nil
}
