// Package layouts has the flags for files in the layouts of other systems, and shows the result of checking such files.
package layouts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/completion"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/export"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/layout"
)

// Flags are the flags about files of other systems.
type Flags struct{ Layout, OutDir, Against, Check string }

// Define defines those of a report.
func (f *Flags) Define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.Layout, "layout", "", "write the files of another system, `NAME`: chapters, kernels, matrix, grid")
	flags.StringVar(&f.OutDir, "out-dir", "", "with --layout: write to `DIR` (default: that of the other system)")
	flags.StringVar(&f.Against, "against", "", "compare with the runs that match `BASE`; with --layout kernels, which takes a file too, write regressions.md")
	flags.StringVar(&f.Check, "check", "", "check the files of a layout in `DIR`, or one file")
	completion.Words(cmd, "layout", words(layout.All))
}

// DefineSession defines those of a session.
func (f *Flags) DefineSession(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.OutDir, "out-dir", "", "also write result files to `DIR`; see --layout")
	cmd.Flags().StringVar(&f.Layout, "layout", "", "layout `NAME` for --out-dir: runs, chapters, kernels, matrix or grid (default: runs)")
	completion.Words(cmd, "layout", words(ofSession))
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
func (f *Flags) Asked() bool { return f.Layout+f.OutDir != "" }

// Base is the filter of the runs that a report in no layout compares with.
func (f *Flags) Base() string {
	if f.Asked() {
		return ""
	}
	return f.Against
}

// Session is the layout of the folder of a session. Where one is named and no folder, the folder is that of the system.
func (f *Flags) Session() (layout.Layout, error) {
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
func (f *Flags) Write(ctx context.Context, db, base *query.DB, selection, against, markdown, json string) (line string, notNumbers map[string]int, err error) {
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
func (f *Flags) Refused(streams, tables bool, base string) error {
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
func (f *Flags) Checked(args []string) (layout.CheckReport, error) {
	if len(args) > 0 {
		return layout.CheckReport{}, fmt.Errorf("--check reads files and takes no filter, got %s", strings.Join(args, " "))
	}
	report, err := layout.Check(f.Check)
	if err == nil && report.Files() == 0 {
		err = fmt.Errorf("--check %s: found no file of a known layout", f.Check)
	}
	return report, err
}
