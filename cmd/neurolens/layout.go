package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/layouts"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/screens/reporting"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/summary"
)

// writeLayout writes runs in the layout of another system.
func (a *app) writeLayout(cmd *cobra.Command, f reportFlags, asked *reporting.Asked, req summary.Request) error {
	if err := f.layouts.Refused(f.md == "-" || f.json == "-", f.baseline != "" || len(f.by)+len(f.metrics) > 0); err != nil {
		return usageErrorf("report: %w", err)
	}
	if req.Base != "" {
		return usageErrorf("report: --layout is about one selection, and no run matches both %s and %s: --against names the base of --layout kernels", req.Base, req.Filter)
	}
	return a.askWithin(cmd, compareMemory, func(db *query.DB, _ string) error {
		if err := asked.Sessions(cmd.Context(), db, &req, a.stderr); err != nil {
			return err
		}
		line, notNumbers, err := f.layouts.Write(cmd.Context(), db, req.Filter, f.md, f.json)
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
	if !output.ForPeople(format) {
		fmt.Fprintln(a.stderr, layouts.Counted(report))
	}
	if err := a.print(format, answer.TableOf(layouts.ProblemFields(), report.Problems), func() term.View { return layouts.Problems(report) }); err != nil {
		return err
	}
	if len(report.Problems) > 0 {
		return errRunsFailed
	}
	return nil
}
