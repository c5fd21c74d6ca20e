// Package notebook is the command notebook. It writes a Jupyter notebook about the runs that match a filter.
//
// The command asks the stores what there is to show: how many runs match, in which axes their points differ, over which
// axis a chart makes sense (decided by package figures, as for plot lines), and whether there is a history. From the
// result and a template (notebook.tmpl) it makes the cells, and from the cells a file of nbformat 4.5.
//
// The notebook keeps the filter. It calls `neurolens export` with it each time it is run, so its runs are those of
// `neurolens ls`: it includes unsealed runs and runs of several stores, and excludes removed runs. Names of runs enter the
// notebook only as Python strings, never as code, Markdown or HTML.
package notebook

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/export"
)

// Host is the program that the command is part of.
type Host struct {
	Query      func(cmd *cobra.Command, answer func(db *query.DB) error) error // opens the stores
	Stores     func() []string                                                 // as they were named
	Formatted  func() (string, error)                                          // the format of what is printed
	Print      func(format string, t answer.Table, view func() term.View) error
	Stdout     io.Writer
	NotNumbers func(map[string]int) // says what an ordering of a filter could not use
	Wrong      func(error) error    // makes an error one of the command line
}

// toStdout is the name of a file that is none.
const toStdout = "-"

// options are the flags.
type options struct {
	out, metric string
	force       bool
}

// Command is notebook.
func Command(h Host) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "notebook [FILTER...]",
		Short: "Write a Jupyter notebook about runs",
		Long: `Write a Jupyter notebook about the matching runs, as a start for your own
analysis: runs and points, a metric over an axis of the sweep, the distribution
of samples, the history over sessions, and the environment. It runs as it is
with DuckDB, pandas and matplotlib, and needs no network.

Whenever you run the notebook, it calls neurolens export with the same filter,
so it always shows what neurolens ls lists. The first cell holds the stores, the
filter and the metric; edit them there. An existing file is replaced only with
--force. docs/notebooks.md says more.`,
		Example: `  neurolens notebook session=last
  neurolens notebook benchmark=matmul 'batch_size>=8' -o matmul.ipynb
  neurolens notebook --metric peak_memory -o - > memory.ipynb`,
		RunE: func(cmd *cobra.Command, args []string) error { return h.run(cmd, o, args) },
	}
	cmd.Flags().StringVarP(&o.out, "out", "o", "neurolens.ipynb", "write to `FILE`; - for standard output")
	cmd.Flags().StringVar(&o.metric, "metric", "", "show the metric `NAME` (default: the primary metric of most points)")
	cmd.Flags().BoolVar(&o.force, "force", false, "replace an existing file")
	return cmd
}

func (h Host) run(cmd *cobra.Command, o options, args []string) error {
	format, err := h.Formatted()
	if err != nil {
		return err
	}
	if o.out != toStdout && !strings.EqualFold(filepath.Ext(o.out), ".ipynb") {
		return h.Wrong(fmt.Errorf("notebook: -o %s: want a name that ends with .ipynb, or - for standard output", term.OneLine(o.out)))
	}
	var s *subject
	err = h.Query(cmd, func(db *query.DB) error {
		if err := h.outside(db, o.out); err != nil {
			return err
		}
		s, err = h.read(cmd.Context(), db, args, o.metric)
		return err
	})
	if err != nil {
		return err
	}
	text, err := s.notebook()
	if err != nil {
		return fmt.Errorf("notebook: %w", err)
	}
	if o.out == toStdout {
		_, err := h.Stdout.Write(text)
		return err
	}
	if err := output.WriteNew(o.out, text, o.force); err != nil {
		err = fmt.Errorf("notebook: writing %s: %w", term.OneLine(o.out), err)
		if export.NotTheName(err) {
			return err
		}
		return h.Wrong(err)
	}
	return h.written(format, o.out, s)
}

// outside refuses a file in a store that is asked.
func (h Host) outside(db *query.DB, file string) error {
	if file == toStdout {
		return nil
	}
	path, err := export.Resolved(file)
	if err != nil {
		return h.Wrong(fmt.Errorf("notebook: -o %s: %w", term.OneLine(file), err))
	}
	if store := db.Stores().Holds(path); store != "" {
		return h.Wrong(fmt.Errorf("notebook: -o %s is inside the store %s", term.OneLine(file), term.OneLine(store)))
	}
	return nil
}

// written says what was written.
func (h Host) written(format, file string, s *subject) error {
	t := answer.Table{
		Columns: []answer.Column{
			{Name: "path", Type: answer.TypeText},
			{Name: "runs", Type: answer.TypeInteger},
			{Name: "points", Type: answer.TypeInteger},
			{Name: "sessions", Type: answer.TypeInteger},
		},
		Rows: [][]any{{filepath.ToSlash(file), int64(s.runs), int64(s.points), int64(s.sessions)}},
	}
	return h.Print(format, t, func() term.View {
		v := output.RecordsView(t)
		v.Next = []string{"", "next  jupyter lab " + term.ShellWord(file)}
		return v
	})
}

// errUTF8 is what is wrong with a text that no notebook can have.
var errUTF8 = errors.New("want UTF-8")
