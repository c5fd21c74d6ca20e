package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/report"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/summary"
)

// reportFlags say what a report is of, and where it goes.
type reportFlags struct {
	report.Options
	schema  bool
	layouts layoutFlags
}

func newReportCommand(a *app) *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:   "report [FILTER... | BASE HEAD]",
		Short: "Write a report about runs as HTML, Markdown or JSON",
		Long: `Write a report about the matching runs, by default about the newest session
that no bisect measured. It begins with what changed, since when, from what to
what and how sure, or with the best setting of a sweep. Then come each point
over its sessions (if there are 8; a report of one session takes the others from
the store), changes from the baseline, commands to type next, failures with a
hint each, a table for each suite, memory and energy, findings with the rule
that found them, and where the runs were measured.

If you give two filters that no run can match at once, as for compare, they are
base and head. The report then begins with what changed between them, and
describes both. --against BASE names the base for any other selection.

Without --md, --json and --html, it prints Markdown. They write to standard
output if no FILE follows them, or if it is -. A word with = < > or ~ is a
filter and no FILE; --json=FILE takes any name. An existing file is replaced.
docs/reports.md describes the JSON.

--html writes one page that needs no other file and no network: what changed
first, then charts, and a table of all points that you can sort, filter and
copy.

The baseline is that of --baseline, else that of the sweep's key baseline, else
variant=baseline. If there is none, one session is compared along an axis that
differs, and the report calls it a guess. Speed-ups are computed as by compare;
slowdowns are listed too.

--layout writes the files of another benchmark system, with its names, fields
and units: chapters (BenchmarkHarness), kernels (QuASIM bench tools), matrix
(Swift MNIST scripts) or grid (operation grid). --json and --md name its two
summary files. ingest reads them again. --check lists the errors in files of
these layouts, and in files of bench --out-dir. docs/layouts.md has every file
and field.`,
		Example: `  neurolens report
  neurolens report --json session=last | jq .counts
  neurolens report --md report.md --json report.json
  neurolens report --html report.html
  neurolens report --html change.html session=last~1 session=last
  neurolens report suite=nightly machine=lab3 --by benchmark
  neurolens report session=last --metric peak_memory --baseline variant=eager
  neurolens report --layout kernels --out-dir reports --against baseline=main
  neurolens report --layout grid --json my_results.json
  neurolens report --layout kernels --against git:main:reports/summary.json
  neurolens report --check reports`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.layouts.check != "" {
				return a.checkLayout(&f.layouts, args)
			}
			if f.schema {
				text, err := report.JSONSchema()
				if err != nil {
					return err
				}
				return a.printer().Write(text)
			}
			if base := f.layouts.base(); isFileSide(base) {
				return usageErrorf("report: --against %s: only --layout kernels takes a file: neurolens compare %s session=last --format md reports on it", base, term.ShellWord(base))
			}
			var err error
			if f.Metrics, err = metricNames(f.Metrics); err != nil {
				return err
			}
			asked := f.Options
			asked.Against, asked.Format = f.layouts.base(), a.format
			req, err := asked.Request(args)
			if err != nil {
				return usageError{err}
			}
			if f.layouts.asked() {
				return a.writeLayout(cmd, f, req)
			}
			return a.queryStores(cmd, func(db *query.DB, _ string) error {
				db = db.Snapshot()
				if err := asked.Settle(cmd.Context(), db, &req); err != nil {
					return err
				}
				r, notNumbers, err := summary.Read(cmd.Context(), db, req)
				if err != nil {
					return err
				}
				a.reportNotNumbers(notNumbers)
				a.reportAbsent("report", query.Absent{Metrics: r.Selection.Absent, Others: r.Selection.Known})
				failed, more, err := db.WithoutWarnings().Failed(cmd.Context(), query.ListRequest{Filter: r.Selection.Filter})
				if err != nil {
					return err
				}
				measured, others, err := db.WithoutWarnings().NewestOfPoints(cmd.Context(), query.ListRequest{Filter: r.Selection.Filter})
				if err != nil {
					return err
				}
				other, later := r.OtherSession()
				m := report.Maker{Enough: views.Enough(measured, others, a.stores), Again: views.Again(failed, more, a.stores), Reader: a.display(), By: "neurolens " + version, Others: r.Stored() > r.Counts.Runs, Past: r.PastSessions(), Other: other, Later: later, Amount: r.Amount(), Series: r.Series()}
				d := m.Document(r)
				if err := report.WriteHTML(cmd.Context(), db, report.HTMLPage{Maker: m, Report: r, Document: d, Path: asked.HTML, Stdout: a.stdout}); err != nil {
					return err
				}
				return asked.Write(d, a.stdout, a.stderr)
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.MD, "md", "", "write Markdown to `FILE`, or to standard output")
	flags.StringVar(&f.JSON, "json", "", "write JSON to `FILE`, or to standard output")
	flags.StringVar(&f.HTML, "html", "", "write an HTML page to `FILE`, or to standard output")
	flags.StringVar(&f.Baseline, "baseline", "", "compare every value of an axis with one: `AXIS=VALUE`")
	flags.StringSliceVar(&f.By, "by", nil, "make a table for each group of points with equal `KEYS` (default: suite)")
	metricFlag(cmd, &f.Metrics, "show metrics `NAMES` as columns (default: all that were measured)")
	flags.BoolVar(&f.schema, "schema", false, "print the JSON Schema of the JSON form; report nothing")
	flags.BoolVar(&f.All, "all", false, "report all runs of the store, not only the last session")
	f.layouts.define(cmd)
	return cmd
}

// withStandardOutput returns the arguments of the program with - as the FILE of --md, --json and --html of report where no FILE follows.
func withStandardOutput(root *cobra.Command, args []string) []string {
	cmd, _, err := root.Find(args)
	if err != nil || cmd.Name() != "report" {
		return args
	}
	args = slices.Clone(args)
	for i, arg := range args {
		if arg == "--" {
			break
		}
		if slices.Contains([]string{"--md", "--json", "--html"}, arg) && (i == len(args)-1 || !isFile(args[i+1])) {
			args[i] += "=-"
		}
	}
	return args
}

// isFile reports whether the argument after an option can be its file: it is not another option, and not a filter. Only in the name of a
// folder may an operator be.
func isFile(arg string) bool {
	if strings.HasPrefix(arg, "-") {
		return arg == "-"
	}
	operator, slash := strings.IndexAny(arg, "=<>~"), strings.IndexByte(arg, '/')
	return operator < 0 || slash >= 0 && slash < operator
}
