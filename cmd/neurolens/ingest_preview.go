package main

import (
	"context"
	"errors"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// preview prints the runs that would be stored as ls would print them, in the order of the files.
func (in *ingesting) preview(ctx context.Context, format string) error {
	if !output.ForPeople(format) {
		return in.previewPages(ctx, format)
	}
	var list query.Listing
	for run, err := range in.reading.Preview(ctx) {
		if err != nil {
			return err
		}
		if list.Total++; format != output.FormatTable || len(list.Runs) < lsTableLimit {
			list.Runs = append(list.Runs, query.ListedRunOf(&run))
		}
	}
	in.progress.End()
	v := in.listing(lsOptions{}).Runs(list)
	v.Below = in.report(ingest.Appended{}).Summary()
	v.Compact = nil
	err := in.printer().View(format, v)
	in.report(ingest.Appended{}).Explain(in.stderr)
	return errors.Join(err, in.outcome())
}

// previewPages is preview for programs: the rows of runs.
func (in *ingesting) previewPages(ctx context.Context, format string) error {
	pages, t := in.printer().Pages(format), answer.Table{Columns: answer.RunColumns()}
	for run, err := range in.reading.Preview(ctx) {
		if err != nil {
			return err
		}
		if t.Rows = append(t.Rows, answer.RunRow(&run, schema.DigestOf(&run))); len(t.Rows) == previewPage {
			if err := pages.Page(t); err != nil {
				return err
			}
			t.Rows = nil
		}
	}
	in.progress.End()
	err := errors.Join(pages.Page(t), pages.End())
	in.report(ingest.Appended{}).Explain(in.stderr) // the rows are runs: nothing else says what was refused
	return errors.Join(err, in.outcome())
}

// previewPage is how many runs are printed at once.
const previewPage = 1000
