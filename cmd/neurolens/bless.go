package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/schema"
)

func newBlessCommand(a *app) *cobra.Command {
	var file string
	var metrics []string
	cmd := &cobra.Command{
		Use:   "bless SELECTION NAME | bless [SELECTION] --to FILE",
		Short: "Make runs a baseline, under a name or in a file",
		Long: `Make runs the baseline NAME. Later, the filter baseline=NAME selects them. If
NAME is used again, it stands for the runs that were blessed last. At least one
run has to be ok, and in none may requests have failed.

With --to, write the points of one session (default: session=last) into FILE,
for 'compare FILE session=last'. FILE holds the location and interval of each
point, the location of each run, and the session, commit, machine and versions.
Points that FILE already has for that machine are replaced; all others stay, so
one file can serve many machines. Failed runs are refused. The same runs always
give the same text, so you can keep FILE in the repository and review its
changes. {machine} in the name of FILE is replaced by the machine
(docs/baselines.md).
` + selectionHelp,
		Example: `  neurolens bless session=last release-1.4
  neurolens bless --to baseline.json
  neurolens bless 'session=last side=head' --to b.json --metric latency,rmse`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case file != "" && len(args) < 2:
				return a.blessTo(cmd, append(args, "session=last")[0], metrics, file)
			case file != "":
				return usageErrorf("bless: want one selection with --to, got %s; quote a filter of several words", term.Count(len(args), "argument"))
			case len(args) != 2:
				return usageErrorf("bless: want a selection and a name, or --to FILE, got %s", term.Count(len(args), "argument"))
			case args[1] == "":
				return usageErrorf("bless: the name is empty")
			case len(metrics) > 0:
				return usageErrorf("bless: --metric needs --to FILE")
			}
			if strings.HasSuffix(args[1], ".json") {
				a.remarks()(fmt.Sprintf("%s is a name in the store, selected by baseline=%s; bless %s --to %s writes a file", args[1], args[1], term.ShellWord(args[0]), args[1]))
			}
			return annotate(a, cmd, annotation{selection: args[0], baseline: true, events: []ingest.Annotation{{Kind: schema.EventBless, Key: args[1]}}})
		},
	}
	cmd.Flags().StringVar(&file, "to", "", "write the points of one session to `FILE`")
	metricFlag(cmd, &metrics, "with --to, write metrics `NAMES` (default: the primary metric)")
	return cmd
}

// blessTo writes the runs of a selection into a file of a baseline.
func (a *app) blessTo(cmd *cobra.Command, selection string, metrics []string, file string) error {
	names, err := metricNames(metrics)
	if err != nil {
		return err
	}
	return a.queryStores(cmd, func(db *query.DB, format string) error {
		b, err := compare.ReadBaseline(cmd.Context(), db, compare.BaselineRequest{Filter: selectionFilter(selection), Metrics: names})
		if err != nil {
			return err
		}
		w, err := b.Write(file)
		if err != nil {
			return err
		}
		return a.print(format, answer.TableOf(compare.BaselineFields(), []compare.BaselineWritten{w}), func() term.View { return views.Blessed(&w) })
	})
}
