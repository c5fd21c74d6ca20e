package main

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/export"
	"github.com/neurolens/neurolens/query/files"
	"github.com/neurolens/neurolens/query/filter"
)

type exportOptions struct {
	dest      string
	filter    string
	format    export.Format
	tables    []string
	overwrite bool
	flat, si  bool
}

func newExportCommand(a *app) *cobra.Command {
	var o exportOptions
	cmd := &cobra.Command{
		Use:   "export DEST|- [FILTER...]",
		Short: "Write runs and samples as Parquet, Arrow, CSV, JSON or OpenMetrics",
		Long: `Write the matching runs and their samples to files, for pandas, Spark or a
spreadsheet. DEST is a folder, or - to write one table to standard output.

--format is parquet (the default), arrow (files in a folder, a stream on
standard output), csv, jsonl or openmetrics. A folder gets the tables runs and
samples, and ops if any run has operators. --table chooses among runs, samples,
samples_long and ops; repeat it to write several into a folder. As jsonl on
standard output, each line is a whole run with its samples and operators
(--table whole), which ingest can read again. In csv, a text that begins like a
formula gets a leading apostrophe, unless you add --csv-raw.

openmetrics, for Prometheus and GitLab, is written to standard output: the
medians of the newest ok run of each point, in seconds and bytes.

--flat is for notebooks: each axis and each tag is a column of its own, also in
the tables of samples and ops. --si writes seconds, joules, watts and hertz in
place of ns, mJ, mW and MHz.`,
		Example: `  neurolens export notebook/ --flat --si suite=quickstart
  neurolens export - --format csv status=ok > runs.csv
  neurolens export - --format arrow --table samples > samples.arrows
  neurolens export - --format openmetrics suite=nightly > neurolens.prom
  neurolens export - --format jsonl session=last | neurolens ingest - --store b`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageErrorf("export: want a directory or - for standard output")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.dest, o.filter = args[0], filter.JoinArguments(args[1:]...)
			var err error
			if o.format, err = exportFormat(a); err != nil {
				return err
			}
			return runExport(a, cmd, o)
		},
	}
	cmd.Flags().StringArrayVar(&o.tables, "table", nil, "write the `TABLE`: runs, samples, samples_long, ops or whole; repeatable for a folder (default with -: runs; jsonl: whole)")
	cmd.Flags().BoolVar(&o.flat, "flat", false, "write a column for each parameter and tag; env, applied and artifacts are left out")
	cmd.Flags().BoolVar(&o.si, "si", false, "with --flat, write SI units: s, J, W and Hz")
	cmd.Flags().BoolVar(&o.overwrite, "overwrite", false, "replace existing files of the same names; others stay, except an old table of ops if the runs have none")
	// It hides the flag of all commands, whose formats are those of answers.
	cmd.Flags().StringVar(&a.format, "format", "", "write files as `FORMAT`: parquet arrow csv jsonl openmetrics (default: parquet)")
	return cmd
}

// exportFormat returns the file format asked for with --format; NEUROLENS_FORMAT is about what is printed.
func exportFormat(a *app) (export.Format, error) {
	format := export.Format(a.format)
	if a.json {
		return "", usageErrorf("export: --json would be one document: want --format jsonl")
	}
	switch format {
	case "":
		return export.Parquet, nil
	case export.Parquet, export.Arrow, export.CSV, export.JSONL, export.OpenMetrics:
		return format, nil
	}
	return "", usageErrorf("export: --format %q: want parquet, arrow, csv, jsonl or openmetrics", a.format)
}

func runExport(a *app, cmd *cobra.Command, o exportOptions) error {
	if o.si && !o.flat {
		return usageErrorf("export: --si: needs --flat")
	}
	if o.dest == "-" && (o.format == export.Parquet || o.format == export.Arrow) && a.terminal {
		return usageErrorf("export: %s cannot be shown on a terminal: name a folder, or redirect the output", o.format)
	}
	_ = files.SweepScratch() // what it cannot remove is for the next one
	db, err := a.open(cmd.Context(), a.readStores())
	if err != nil {
		return err
	}
	defer db.Close()
	done, err := export.Write(cmd.Context(), db, export.Request{
		Dest: o.dest, Format: o.format, Tables: o.tables, Filter: o.filter, Overwrite: o.overwrite, Stdout: a.exportStream(o.format), CSVRaw: a.csvRaw,
		Flat: o.flat, SI: o.si,
	})
	if err != nil {
		return err
	}
	a.reportNotNumbers(done.NotNumbers)
	for _, name := range slices.Sorted(maps.Keys(done.Renamed)) {
		fmt.Fprintf(a.stderr, "neurolens: export: the parameter %s is the column %s\n", term.OneLine(name), term.OneLine(done.Renamed[name]))
	}
	if o.dest == "-" {
		return nil
	}
	format, err := a.defaultFormat()
	if err != nil {
		return err
	}
	return a.print(format, answer.TableOf(views.ExportedFields(), done.Files), func() term.View { return views.Exported(done.Files) })
}

// exportStream is standard output for a format: JSON never steers a terminal, other text does not where there is one.
func (a *app) exportStream(format export.Format) io.Writer {
	if format == export.JSONL || (format == export.CSV || format == export.OpenMetrics) && a.terminal {
		return &term.Escaper{To: a.stdout}
	}
	return a.stdout
}
