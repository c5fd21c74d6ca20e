package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/help"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/runner/discover"
)

func newDiscoverCommand(a *app) *cobra.Command {
	var rule string
	var s views.Search
	cmd := &cobra.Command{
		Use:   "discover DIR",
		Short: "List the benchmarks in a folder",
		Long: `List the benchmarks in a folder, to see what bench could run. Nothing is
executed: Python files are read as text.

The rule pairs finds ch*/baseline_X with its optimized_X and
optimized_X_TECHNIQUE, in Python and CUDA. The rule kernels finds the Python
files in kernels, src/kernels and other usual folders, with their bench.yaml.
Without --rule both are tried. For trees of pytest-benchmark, asv and Google
Benchmark, the command that runs them is printed.

A file that a rule takes by its name and that cannot run, because it is broken
or has no known function, is listed with the reason. Its runs are errors.

--json prints the manifest: one row for each variant of a benchmark, and one for
each tree of a tool.`,
		Example: `  neurolens discover .
  neurolens discover . --rule kernels --in lib/kernels -v
  neurolens discover . --json >kernel_manifest.json`,
		Args: arguments(1, 1, "a folder"),
		RunE: a.printing(func(cmd *cobra.Command, args []string, format string) error {
			asking(cmd.Context(), true)
			s.Dir, s.Rules = args[0], discover.Rules()
			if one, known := discover.RuleNamed(rule); known {
				s.Rules = []discover.Rule{one}
			} else if rule != "" {
				return usageErrorf("discover: --rule %q: want pairs or kernels", rule)
			}
			const heap = 160 << 20  // bytes after which garbage is collected all the same
			debug.SetGCPercent(800) // names of many files are a heap that doubles many times
			debug.SetMemoryLimit(heap)
			tree, err := discover.Tree(args[0])
			if err != nil {
				return usageErrorf("discover: %w", err)
			}
			if s.Found, err = discover.All(tree, s.Rules, s.Folders); err != nil {
				return usageErrorf("discover: %w", err)
			}
			rows := s.Manifest(func(b *discover.Benchmark) (map[string]any, error) { return discover.Settings(tree, b) })
			for _, text := range s.Remarks(rows, term.ForPeople(format)) {
				fmt.Fprintln(a.stderr, term.OneLine("neurolens: discover: "+text))
			}
			return a.print(format, answer.TableOf(views.ManifestFields(), rows), s.View)
		}),
	}
	cmd.Flags().StringVar(&rule, "rule", "", "use one `RULE` alone: pairs or kernels")
	cmd.Flags().StringSliceVar(&s.Folders, "in", nil, "look in `FOLDER` of DIR instead of the usual ones; repeatable")
	cmd.Flags().BoolVarP(&s.All, "verbose", "v", false, "list skipped files too, each with the reason")
	help.Words(cmd, "rule", []cobra.Completion{"pairs\ta baseline and its optimizations", "kernels\tPython files in usual folders"})
	return cmd
}
