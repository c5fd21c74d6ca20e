package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/help"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/export"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/layout"
	"github.com/neurolens/neurolens/query/summary"
)

// writeLayout writes runs in the layout of another system.
func (a *app) writeLayout(cmd *cobra.Command, f reportFlags, req summary.Request) error {
	if err := f.layouts.refused(f.MD == "-" || f.JSON == "-", f.Baseline != "" || len(f.By)+len(f.Metrics) > 0, req.Base); err != nil {
		return usageErrorf("report: %w", err)
	}
	return a.queryBase(cmd, f.layouts.against, func(db, base *query.DB, against string) error {
		if err := f.Settle(cmd.Context(), db, &req); err != nil {
			return err
		}
		line, notNumbers, err := f.layouts.Write(cmd.Context(), db, base, req.Filter, against, f.MD, f.JSON)
		if err != nil {
			return err
		}
		a.reportNotNumbers(notNumbers)
		fmt.Fprintln(a.stderr, line)
		return nil
	})
}

// checkLayout checks files against the schemas of their layout.
func (a *app) checkLayout(f *layoutFlags, args []string) error {
	format, err := a.outputFormat()
	if err != nil {
		return err
	}
	report, err := f.checked(args)
	if err != nil {
		return usageErrorf("report: %w", err)
	}
	if !term.ForPeople(format) { // the view for people ends with it
		fmt.Fprintln(a.stderr, checkSummary(report))
	}
	table := answer.TableOf(problemFields(), report.Problems)
	if err := a.print(format, table, func() term.View { return problemsView(report) }); err != nil || len(report.Problems) == 0 {
		return err
	}
	return errRunsFailed
}

// layoutFlags are the flags for files of other systems.
type layoutFlags struct{ layout, outDir, against, check string }

// define defines the flags of report.
func (f *layoutFlags) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.layout, "layout", "", "write the files of another system, `NAME`: chapters, kernels, matrix, grid")
	flags.StringVar(&f.outDir, "out-dir", "", "with --layout: write to `DIR` (default: that of the other system)")
	flags.StringVar(&f.against, "against", "", "compare with the runs that match `BASE`; with --layout kernels, which takes a file too, write regressions.md")
	flags.StringVar(&f.check, "check", "", "check the files of a layout in `DIR`, or one file")
	help.Words(cmd, "layout", layoutWords(layout.All))
}

// defineSession defines the flags of bench.
func (f *layoutFlags) defineSession(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.outDir, "out-dir", "", "also write result files to `DIR`; see --layout")
	cmd.Flags().StringVar(&f.layout, "layout", "", "layout `NAME` for --out-dir: runs, chapters, kernels, matrix or grid (default: runs)")
	help.Words(cmd, "layout", layoutWords(sessionLayouts))
}

// sessionLayouts are the layouts that bench writes.
var sessionLayouts = append([]layout.Layout{layout.Runs}, layout.All...)

// layoutWords returns completions of layouts, each with its system.
func layoutWords(of []layout.Layout) []cobra.Completion {
	return term.Texts(of, func(l layout.Layout) cobra.Completion { return cobra.CompletionWithDesc(string(l), l.System()) })
}

// asked reports whether a report is to be written in a layout.
func (f *layoutFlags) asked() bool { return f.layout+f.outDir != "" }

// base returns the filter of the runs that a report without a layout compares with.
func (f *layoutFlags) base() string {
	if f.asked() {
		return ""
	}
	return f.against
}

// session returns the layout of the folder of a session. If a layout is named and no folder, the folder is the usual one of the system.
func (f *layoutFlags) session() (layout.Layout, error) {
	l, err := layout.Named(cmp.Or(f.layout, string(layout.Runs)), sessionLayouts)
	if err != nil {
		return "", fmt.Errorf("--%w", err)
	}
	if f.layout != "" && f.outDir == "" {
		f.outDir = l.Folder()
	}
	return l, nil
}

// Write writes the selected runs and returns a line for the user. markdown and json replace the usual paths of the summary files. base has the
// runs to compare with; nil means db.
func (f *layoutFlags) Write(ctx context.Context, db, base *query.DB, selection, against, markdown, json string) (line string, notNumbers map[string]int, err error) {
	l, err := layout.Named(f.layout, layout.All)
	if err != nil {
		return "", nil, err
	}
	done, err := export.WriteFolder(ctx, db, export.FolderRequest{
		Layout: l, Dir: cmp.Or(f.outDir, l.Folder()), Filter: selection, Against: filter.JoinArguments(against), AgainstDB: base,
		JSON: json, Markdown: markdown, SummaryOnly: f.outDir == "" && markdown+json != "",
	})
	if err != nil {
		return "", nil, err
	}
	line = fmt.Sprintf("%s in %s of layout %s: %s", term.Count(done.Runs, "run"), term.Count(len(done.Files), "file"), l, done.Where())
	return term.OneLine(line), done.NotNumbers, nil
}

// refused returns an error if other flags of report do not work with --layout: output to a stream, options of tables, or two selections.
func (f *layoutFlags) refused(streams, tables bool, base string) error {
	_, err := layout.Named(f.layout, layout.All)
	switch {
	case err != nil:
		return fmt.Errorf("--%w", err)
	case streams:
		return errors.New("--layout writes files: want a file, got -")
	case tables:
		return errors.New("--baseline, --by and --metric do not work with --layout, whose tables are fixed")
	case base != "":
		return fmt.Errorf("--layout takes one selection, and no run matches both: --against %s makes the first the base of --layout kernels", term.ShellWord(base))
	}
	return nil
}

// checked returns the problems of files, of which at least one has to be in a known layout.
func (f *layoutFlags) checked(args []string) (layout.CheckReport, error) {
	if len(args) > 0 {
		return layout.CheckReport{}, fmt.Errorf("--check reads files and takes no filter, got %s", strings.Join(args, " "))
	}
	report, err := layout.Check(f.check)
	if err == nil && report.Files() == 0 {
		err = fmt.Errorf("--check %s: found no file of a known layout", f.check)
	}
	return report, err
}

// problemsView shows each problem of the files in a line.
func problemsView(r layout.CheckReport) term.View {
	var v term.View
	for _, p := range r.Problems {
		words := []string{p.File}
		if p.Pointer != "" {
			words = append(words, p.Pointer)
		}
		v.Commands = append(v.Commands, term.OneLine(strings.Join(append(words, p.Why), ": ")))
	}
	v.Commands = append(v.Commands, checkSummary(r))
	return v
}

// checkSummary counts the checked files and their problems.
func checkSummary(r layout.CheckReport) string {
	layouts := term.Texts(slices.Sorted(maps.Keys(r.Layouts)), func(l string) string {
		return fmt.Sprintf("%s of layout %s", term.Count(r.Layouts[l], "file"), l)
	})
	text := strings.Join(layouts, ", ") + ": "
	switch len(r.Problems) {
	case 0:
		text += "as its schema says"
		if r.Files() > 1 {
			text = strings.TrimSuffix(text, "as its schema says") + "as their schemas say"
		}
	default:
		text += term.Count(len(r.Problems), "problem")
	}
	if r.Unknown > 0 {
		text += fmt.Sprintf("; %s ignored, of no layout", term.Count(r.Unknown, "file"))
	}
	return text
}

// problemFields returns the columns of the problems of files.
func problemFields() []answer.Field[layout.Problem] {
	text := answer.TextField[layout.Problem]
	return []answer.Field[layout.Problem]{
		text("file", "the file", func(p *layout.Problem) string { return p.File }),
		text("pointer", "the place in the file: a JSON pointer, or a line of a table; empty: the whole file", func(p *layout.Problem) string { return p.Pointer }),
		text("problem", "what is wrong", func(p *layout.Problem) string { return p.Why }),
	}
}
