package main

import (
	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/illustrating"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/layouts"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/screens/reporting"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/summary"
)

// reportMemory is how many bytes the heap of a report takes, DuckDB aside, before garbage is collected all the same: all points are kept.
const reportMemory = 420 << 20

// reportFlags say what a report is of, and where it goes.
type reportFlags struct {
	md, json, html, baseline string
	by, metrics              []string
	all, schema              bool
	layouts                  layouts.Flags
}

func newReportCommand(a *app) *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:   "report [FILTER... | BASE HEAD]",
		Short: "Write a report of a selection of runs, as HTML, Markdown and JSON",
		Long: `Write a report of the runs that match, by default those of the last session: the
environment, counts, a table for each suite, speed-ups over the baseline, the
best points, memory and energy, failures with a hint each, findings with the
rule that found them, and commands to type next.

Two filters that no run can match both, as compare takes them, are a base and a
head: the report begins with what changed between them, and then has both.
--against BASE names the base of any other selection.

Without --md, --json and --html it prints Markdown; - is standard output. A file
is replaced as a whole. docs/reports.md has the members of the JSON form.

--html writes one page that needs no other file and no network: what changed
first, charts, and a table of all points to sort, filter and copy.

The baseline is what --baseline says, else what the sweep's key baseline says,
else variant=baseline. Speed-ups are those of compare, slower ones too.

With --layout it writes the files of another benchmark system, with its names,
fields and units: chapters (BenchmarkHarness), kernels (QuASIM bench tools),
matrix (Swift MNIST scripts) or grid (operation grid). ingest reads them again;
--check says of files of these layouts, and of bench --out-dir, what is wrong.
docs/layouts.md has every file and field.`,
		Example: `  neurolens report
  neurolens report --md report.md --json report.json
  neurolens report --html report.html
  neurolens report --html change.html session=last~1 session=last
  neurolens report suite=nightly machine=lab3 --by benchmark
  neurolens report session=last --metric peak_memory --baseline variant=eager
  neurolens report --layout kernels --out-dir reports --against baseline=main
  neurolens report --check reports`,
		RunE: func(cmd *cobra.Command, args []string) error { return runReport(a, cmd, f, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.md, "md", "", "write Markdown to `FILE`, - for standard output")
	flags.StringVar(&f.json, "json", "", "write JSON to `FILE`, - for standard output")
	flags.StringVar(&f.html, "html", "", "write a page of HTML to `FILE`, - for standard output")
	flags.StringVar(&f.baseline, "baseline", "", "compare each value of an axis with one: `AXIS=VALUE`")
	flags.StringSliceVar(&f.by, "by", nil, "a table for each group of points of equal `KEYS` (suite)")
	metricFlag(cmd, &f.metrics, "columns of metrics `NAMES` (default: those that are there)")
	flags.BoolVar(&f.schema, "schema", false, "print the JSON Schema of the JSON form, and report nothing")
	flags.BoolVar(&f.all, "all", false, "all runs of the store, not those of the last session")
	f.layouts.Define(cmd)
	return cmd
}

func runReport(a *app, cmd *cobra.Command, f reportFlags, args []string) error {
	if f.layouts.Check != "" {
		return a.checkLayout(&f.layouts, args)
	}
	if f.schema {
		text, err := reporting.JSONSchema()
		if err != nil {
			return err
		}
		return a.printer().Write(text)
	}
	metrics, err := metricNames(f.metrics)
	if err != nil {
		return err
	}
	asked := reporting.Asked{Against: f.layouts.Base(), MD: f.md, JSON: f.json, HTML: f.html, Format: a.format, Baseline: f.baseline, By: f.by, Metrics: metrics, All: f.all}
	req, err := asked.Request(args)
	if err != nil {
		return usageError{err}
	}
	if f.layouts.Asked() {
		return a.writeLayout(cmd, f, &asked, req)
	}
	return a.askWithin(cmd, reportMemory, func(db *query.DB, _ string) error {
		db = db.Kept()
		if err := asked.Sessions(cmd.Context(), db, &req, a.stderr); err != nil {
			return err
		}
		r, notNumbers, err := summary.Read(cmd.Context(), db, req)
		if err != nil {
			return err
		}
		a.reportNotNumbers(notNumbers)
		a.reportAbsent("report", query.Absent{Metrics: r.Selection.Absent, Others: r.Selection.Known})
		m := reporting.Maker{Reader: a.reader(), By: "neurolens " + version}
		d := m.Document(r)
		if err := illustrating.Write(cmd.Context(), db, illustrating.Page{Maker: m, Report: r, Document: d, Path: asked.HTML, Stdout: a.stdout}); err != nil {
			return err
		}
		return asked.Write(d, a.stdout)
	})
}
