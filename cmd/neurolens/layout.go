package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/layouts"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/screens/reporting"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/summary"
)

// writeLayout writes runs in the layout of another system.
func (a *app) writeLayout(cmd *cobra.Command, f reportFlags, asked *reporting.Asked, req summary.Request) error {
	if err := f.layouts.Refused(f.md == "-" || f.json == "-", f.baseline != "" || len(f.by)+len(f.metrics) > 0, req.Base); err != nil {
		return usageErrorf("report: %w", err)
	}
	return a.queryBase(cmd, f.layouts.Against, func(db, base *query.DB, against string) error {
		if err := asked.Sessions(cmd.Context(), db, &req); err != nil {
			return err
		}
		line, notNumbers, err := f.layouts.Write(cmd.Context(), db, base, req.Filter, against, f.md, f.json)
		if err != nil {
			return err
		}
		a.reportNotNumbers(notNumbers)
		fmt.Fprintln(a.stderr, line)
		return nil
	})
}

// checkLayout checks files by the schemas of the layout that they are of.
func (a *app) checkLayout(f *layouts.Flags, args []string) error {
	format, err := a.outputFormat()
	if err != nil {
		return err
	}
	report, err := f.Checked(args)
	if err != nil {
		return usageErrorf("report: %w", err)
	}
	table := answer.TableOf(layouts.ProblemFields(), report.Problems)
	if err := a.print(format, table, layouts.Show(report, format, a.stderr)); err != nil || len(report.Problems) == 0 {
		return err
	}
	return errRunsFailed
}
