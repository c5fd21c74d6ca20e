// Package plotting is the command plot: what is drawn, for which runs, and where the picture goes.
//
// Each kind of chart is a command below plot with flags of its own. It queries the stores, has package figures make a
// figure of the result, and passes that to a renderer: figure/draw for files, figure/cells for terminals.
package plotting

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/figure"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/figures"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/wording"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/compare"
)

// Host is the program that the command is part of.
type Host struct {
	Query      func(cmd *cobra.Command, answer func(db *query.DB) error) error                       // opens the stores
	QuerySides func(cmd *cobra.Command, req *compare.Request, answer func(db *query.DB) error) error // those of a comparison
	Format     *string                                                                               // --format as it was typed; that of a picture is taken away
	Formatted  func() (string, error)                                                                // what is printed otherwise
	Print      func(format string, t answer.Table, view func() term.View) error
	Stdout     io.Writer
	Stderr     io.Writer
	Terminal   bool // Stdout is one
	Page       func() term.Page
	Reader     func() wording.Reader
	Getenv     func(string) string
	NotNumbers func(map[string]int) // says what an ordering of a filter could not use
	Wrong      func(error) error    // makes an error one of the command line
	NoKind     cobra.PositionalArgs // refuses what is no kind
}

// drawing is one call of the command.
type drawing struct {
	Host
	kind figure.Kind
	to   target
}

// Command is plot.
func Command(h Host) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plot KIND",
		Short: "Draw charts of runs, points, comparisons and histories",
		Long: `Draw a chart of runs, in the terminal or, with -o, as a file. The ending of the
file is .svg or .png. -o - writes to standard output, in the format of --format
svg or --format png. docs/plots.md explains the numbers of each kind of chart.

In an SVG, each mark has its stored numbers as data, a description, and the
command that shows it. With --format json, jsonl, csv or plain, the marks
themselves are printed, in stored units. A chart has at most 2,000 marks. If
there are more values, some are combined, and a note below the chart says how.`,
		Example: `  neurolens plot forest session=last~1 session=last -o change.svg
  neurolens plot history benchmark=matmul
  neurolens plot heatmap session=last --x batch_size --y precision -o grid.png
  neurolens plot ecdf session=last dim=64 -o - --format svg > ecdf.svg`,
		Args: h.NoKind,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, k := range kinds {
		cmd.AddCommand(k(h))
	}
	return cmd
}

// kinds are all kinds of charts.
var kinds = []func(Host) *cobra.Command{forest, scatter, trend, ecdf, runs, strip, heatmap, lines, pareto, operators}

// of makes the command of a kind, with the flags that all have. draw draws.
func (h Host) of(kind figure.Kind, cmd *cobra.Command, draw func(d *drawing, cmd *cobra.Command, args []string) error) *cobra.Command {
	d := &drawing{Host: h, kind: kind}
	d.to.define(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := d.to.read(h.Format, h.Terminal); err != nil {
			return h.Wrong(fmt.Errorf("plot %s: %w", kind, err))
		}
		err := draw(d, cmd, args)
		if refusal, is := errors.AsType[figures.Refusal](err); is {
			return h.Wrong(fmt.Errorf("plot %s: %w", kind, refusal))
		}
		return err
	}
	return cmd
}

func (d *drawing) maker() figures.Maker { return figures.Maker{Reader: d.Reader()} }
