package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/help"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/report"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/export"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/layout"
	"github.com/neurolens/neurolens/query/summary"
)

// writeLayout writes runs in the layout of another system.
func (a *app) writeLayout(cmd *cobra.Command, f reportFlags, asked *report.Asked, req summary.Request) error {
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
func (a *app) checkLayout(f *layoutFlags, args []string) error {
	format, err := a.outputFormat()
	if err != nil {
		return err
	}
	report, err := f.Checked(args)
	if err != nil {
		return usageErrorf("report: %w", err)
	}
	table := answer.TableOf(problemFields(), report.Problems)
	if err := a.print(format, table, showProblems(report, format, a.stderr)); err != nil || len(report.Problems) == 0 {
		return err
	}
	return errRunsFailed
}

// layoutFlags are the flags about files of other systems.
type layoutFlags struct{ Layout, OutDir, Against, Check string }

// Define defines those of a report.
func (f *layoutFlags) Define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.Layout, "layout", "", "write the files of another system, `NAME`: chapters, kernels, matrix, grid")
	flags.StringVar(&f.OutDir, "out-dir", "", "with --layout: write to `DIR` (default: that of the other system)")
	flags.StringVar(&f.Against, "against", "", "compare with the runs that match `BASE`; with --layout kernels, which takes a file too, write regressions.md")
	flags.StringVar(&f.Check, "check", "", "check the files of a layout in `DIR`, or one file")
	help.Words(cmd, "layout", words(layout.All))
}

// DefineSession defines those of a session.
func (f *layoutFlags) DefineSession(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.OutDir, "out-dir", "", "also write result files to `DIR`; see --layout")
	cmd.Flags().StringVar(&f.Layout, "layout", "", "layout `NAME` for --out-dir: runs, chapters, kernels, matrix or grid (default: runs)")
	help.Words(cmd, "layout", words(ofSession))
}

// ofSession are the layouts of sessions.
var ofSession = append([]layout.Layout{layout.Runs}, layout.All...)

// words are layouts, each with the system that has it.
func words(of []layout.Layout) []cobra.Completion {
	var all []cobra.Completion
	for _, l := range of {
		all = append(all, cobra.CompletionWithDesc(string(l), l.System()))
	}
	return all
}

// Asked tells whether a report is to be written in a layout.
func (f *layoutFlags) Asked() bool { return f.Layout+f.OutDir != "" }

// Base is the filter of the runs that a report in no layout compares with.
func (f *layoutFlags) Base() string {
	if f.Asked() {
		return ""
	}
	return f.Against
}

// Session is the layout of the folder of a session. Where one is named and no folder, the folder is that of the system.
func (f *layoutFlags) Session() (layout.Layout, error) {
	l, err := layout.Named(cmp.Or(f.Layout, string(layout.Runs)), ofSession)
	if err != nil {
		return "", fmt.Errorf("--%w", err)
	}
	if f.Layout != "" && f.OutDir == "" {
		f.OutDir = l.Folder()
	}
	return l, nil
}

// Write writes the selected runs and returns a line for the user. markdown and json replace the usual paths of the summary files. base has the
// runs to compare with; nil means db.
func (f *layoutFlags) Write(ctx context.Context, db, base *query.DB, selection, against, markdown, json string) (line string, notNumbers map[string]int, err error) {
	l, err := layout.Named(f.Layout, layout.All)
	if err != nil {
		return "", nil, err
	}
	done, err := export.WriteFolder(ctx, db, export.FolderRequest{
		Layout: l, Dir: cmp.Or(f.OutDir, l.Folder()), Filter: selection, Against: filter.Arguments(against), AgainstDB: base,
		JSON: json, Markdown: markdown, SummaryOnly: f.OutDir == "" && markdown+json != "",
	})
	if err != nil {
		return "", nil, err
	}
	line = fmt.Sprintf("%s in %s of layout %s: %s", term.Count(done.Runs, "run"), term.Count(len(done.Files), "file"), l, done.Where())
	return term.OneLine(line), done.NotNumbers, nil
}

// Refused says why flags cannot go together: where files go to, words that are about other forms of a report, or the base of two selections.
func (f *layoutFlags) Refused(streams, tables bool, base string) error {
	_, err := layout.Named(f.Layout, layout.All)
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

// Checked is what is wrong in files. There has to be one of a layout that is known.
func (f *layoutFlags) Checked(args []string) (layout.CheckReport, error) {
	if len(args) > 0 {
		return layout.CheckReport{}, fmt.Errorf("--check reads files and takes no filter, got %s", strings.Join(args, " "))
	}
	report, err := layout.Check(f.Check)
	if err == nil && report.Files() == 0 {
		err = fmt.Errorf("--check %s: found no file of a known layout", f.Check)
	}
	return report, err
}

// showProblems is what is wrong with files of layouts for people, with how much was checked; for programs that is written beside the table.
func showProblems(r layout.CheckReport, format string, stderr io.Writer) func() term.View {
	if !term.ForPeople(format) {
		fmt.Fprintln(stderr, countedProblems(r))
	}
	return func() term.View { return problems(r) }
}

// problems shows what is wrong with files of layouts, a line a problem.
func problems(r layout.CheckReport) term.View {
	var v term.View
	for _, p := range r.Problems {
		words := []string{p.File}
		if p.Pointer != "" {
			words = append(words, p.Pointer)
		}
		v.Commands = append(v.Commands, term.OneLine(strings.Join(append(words, p.Why), ": ")))
	}
	v.Commands = append(v.Commands, countedProblems(r))
	return v
}

// countedProblems says how much was checked.
func countedProblems(r layout.CheckReport) string {
	var layouts []string
	for _, l := range slices.Sorted(maps.Keys(r.Layouts)) {
		layouts = append(layouts, fmt.Sprintf("%s of layout %s", term.Count(r.Layouts[l], "file"), l))
	}
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

// problemFields are the columns of what is wrong with files of layouts.
func problemFields() []answer.Field[layout.Problem] {
	text := func(name, meaning string, of func(*layout.Problem) string) answer.Field[layout.Problem] {
		return answer.Field[layout.Problem]{
			Column: answer.Column{Name: name, Type: answer.TypeText}, Meaning: meaning, Of: func(p *layout.Problem) any { return answer.Text(of(p)) },
		}
	}
	return []answer.Field[layout.Problem]{
		text("file", "the file", func(p *layout.Problem) string { return p.File }),
		text("pointer", "the place in the file: a JSON pointer, or a line of a table; empty: the whole file", func(p *layout.Problem) string { return p.Pointer }),
		text("problem", "what is wrong", func(p *layout.Problem) string { return p.Why }),
	}
}
