package main

import (
	"context"
	"errors"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// preview prints the runs that would be stored as ls would print them, in the order of the files.
func (in *ingesting) preview(ctx context.Context, format string) error {
	list := query.Listing{Table: answer.Table{Columns: runsColumns()}}
	pages := in.printer().Pages(format)
	for run, err := range in.reading.Preview(ctx) {
		if err == nil && output.ForPeople(format) {
			list.Total++
			if format == output.FormatTable && len(list.Rows) == lsTableLimit {
				continue
			}
		}
		if err != nil {
			return err
		}
		list.Rows = append(list.Rows, previewRow(run))
		if !output.ForPeople(format) && len(list.Rows) == previewPage {
			if err := pages.Page(list.Table); err != nil {
				return err
			}
			list.Rows = nil
		}
	}
	in.progress.End()
	if !output.ForPeople(format) {
		err := errors.Join(pages.Page(list.Table), pages.End())
		in.report(ingest.Appended{}).Explain(in.stderr) // the rows are runs: nothing else says what was refused
		return errors.Join(err, in.outcome())
	}
	err := in.print(format, list.Table, func() term.View {
		v := in.lsView(list, lsOptions{}, nil)
		v.Below = in.report(ingest.Appended{}).Summary()
		v.Compact = nil
		return v
	})
	in.report(ingest.Appended{}).Explain(in.stderr)
	return errors.Join(err, in.outcome())
}

// previewPage is how many runs are printed at once.
const previewPage = 1000

// previewRow is the row of runs of a run that is not stored.
func previewRow(r schema.Run) []any {
	row := schema.RunRow(&r, schema.DigestOf(&r))
	for i, value := range row {
		switch v := value.(type) {
		case map[string]string:
			m := make(map[string]any, len(v))
			for key, text := range v {
				m[key] = text
			}
			row[i] = m
		case []string:
			row[i] = listOfAny(v)
		case [][]any:
			row[i] = listOfAny(v)
		}
	}
	return row
}

func listOfAny[T any](list []T) []any {
	all := make([]any, len(list))
	for i, v := range list {
		all[i] = v
	}
	return all
}

// runsColumns are the columns of runs as a result has them.
func runsColumns() []answer.Column {
	columns := make([]answer.Column, len(schema.Runs.Columns))
	types := map[schema.Kind]answer.Type{
		schema.KindString: answer.TypeText, schema.KindInt: answer.TypeInteger, schema.KindReal: answer.TypeReal, schema.KindBool: answer.TypeBoolean,
		schema.KindTime: answer.TypeTime, schema.KindList: answer.TypeList, schema.KindMap: answer.TypeMap,
	}
	for i, c := range schema.Runs.Columns {
		columns[i] = answer.Column{Name: c.Name, Unit: c.Unit, Type: types[c.Kind]}
	}
	return columns
}
