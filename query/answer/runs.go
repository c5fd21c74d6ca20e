package answer

import "github.com/neurolens/neurolens/schema"

// RunColumns are the columns of RunRow: all columns of runs. The registry in package schema describes them.
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

// RunRow converts a run to a row of an answer with the columns of runs. The summary is that of its primary metric.
func RunRow(r *schema.Run, digest string) []any {
	row := schema.RunRow(r, digest)
	RunCells(row)
	return row
}

// RunCells converts the values of a row of runs, as schema.RunRow makes it, to those of an answer.
func RunCells(row []any) {
	for i, value := range row {
		switch value := value.(type) {
		case map[string]string:
			row[i] = Texts(value)
		case []string:
			row[i] = List(value)
		case [][]any:
			row[i] = structs(schema.Runs.Columns[i].Children[0], value)
		}
	}
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
