package main

import (
	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/runner/prepare"
	"github.com/neurolens/neurolens/runner/probe"
)

type explainFlags struct {
	metric             string
	thresholds         []string
	strict, worst, all bool
}

func newExplainCommand(a *app) *cobra.Command {
	var f explainFlags
	cmd := &cobra.Command{
		Use:   "explain BASE [HEAD]",
		Short: "Rank what else differs at a point that changed",
		Long: `Take the point that differs most between two selections of runs, and list what
else differs there, most likely causes first: facts that only slow runs have,
hardware, clocks, operators of profiled runs, code, configuration, environment,
warnings, other metrics and stages. These are correlations, not proven causes.
Metrics and stages are called changed at a false discovery rate of 5 %
(Benjamini-Hochberg).

A contrast is a fact (environment, configuration, tag, block, clock, load) that
some runs of a side have and others lack, and that separates fast runs from slow
ones. Runs of one side have everything else in common. PART is the share of the
difference between the sides that the fact accounts for. A fact that is equally
frequent on both sides is called noise. The chance of any false contrast is at
most 5 % over all facts (permutation tests, Westfall-Young). A fact that changes
only between sessions is tested between sessions, which takes many of them.
Measure 10 or more runs per side; with fewer, contrasts are not found.

BASE, HEAD, --metric, --threshold and --strict are those of compare; BASE and
HEAD may be files. The point is the one that regressed most. If none regressed,
it is the one that failed, changed or improved most; if nothing changed, the one
with the largest difference. To explain another point, name it in BASE and HEAD:
'session=last bs=4'. The exit status does not depend on whether anything
changed.`,
		Example: `  neurolens explain session=last~1 session=last
  neurolens explain session=last --worst
  neurolens explain 'commit=9f3c1d2 bs=4' 'commit=4be77a1 bs=4' --metric energy`,
		Args: arguments(1, 2, "BASE and HEAD, or one selection that has two sides"),
		RunE: func(cmd *cobra.Command, args []string) error {
			req := compare.ExplainRequest{
				Request:   compare.Request{Base: filter.JoinArguments(args[0]), Rules: judge.Rules{Strict: f.strict}},
				Regressed: f.worst, Facts: factWriter(),
			}
			if len(args) == 2 {
				req.Head = filter.JoinArguments(args[1])
			}
			if f.metric != "" {
				req.Metrics = []string{f.metric}
			}
			var err error
			if req.Thresholds, err = judge.ParseThresholds(f.thresholds); err != nil {
				return err
			}
			return a.querySides(cmd, &req.Request, func(db *query.DB, format string) error {
				x, err := compare.Explain(cmd.Context(), db, req)
				if err != nil {
					return err
				}
				w := views.NewExplanation(a.display(), &x, f.all)
				return a.print(format, answer.TableOf(compare.ExplainFields(), x.Rows), w.View)
			})
		},
	}
	flags := cmd.Flags()
	oneMetricFlag(cmd, &f.metric, "explain a difference of metric `NAME` (default: the primary metric)")
	flags.StringArrayVar(&f.thresholds, "threshold", nil, "smallest change that counts: `5%`, latency=10%, rmse=0.001; repeatable (default: 2%)")
	flags.BoolVar(&f.strict, "strict", false, "require a change to exceed the threshold significantly")
	flags.BoolVar(&f.worst, "worst", false, "explain only a point that got worse; none if no point did")
	flags.BoolVar(&f.all, "all", false, "show all lines in a table")
	return cmd
}

// factWriter returns the rules for the facts that the runner writes.
func factWriter() query.FactWriter {
	return query.FactWriter{Volatile: probe.IsVolatile, Setting: prepare.IsSetting}
}
