package main

import (
	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/care"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
)

func newStorePruneCommand(a *app) *cobra.Command {
	var older string
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "prune-artifacts --older AGE",
		Short: "Remove stored files of old runs, to save space",
		Long: `Remove stored files (artifacts) of old runs to save space. AGE is an age (90d,
2w, 12h) or a date: files of runs that started before it are removed from
artifacts/. A file is kept if a younger run has it too, or if it was stored
within the last day. Runs, samples and everything else stay, and show marks such
a file as pruned. store merge --restore-pruned with another store that still has
the file brings it back.`,
		Example: "  neurolens store prune-artifacts --older 90d --dry-run",
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runStorePrune(a, cmd, older, dryRun) },
	}
	cmd.Flags().StringVar(&older, "older", "", "remove the files of runs older than `AGE` (90d), or from before a date")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only count what would be removed")
	return cmd
}

func runStorePrune(a *app, cmd *cobra.Command, older string, dryRun bool) error {
	if older == "" {
		return usageErrorf("prune-artifacts: want --older AGE")
	}
	format, err := a.outputFormat()
	if err != nil {
		return err
	}
	before, err := filter.Time("--older", older, a.now())
	if err != nil {
		return err
	}
	return a.withStore(func(dir string, s *ingest.Store) error {
		db, err := openForReading(cmd.Context(), []string{dir})
		if err != nil {
			return err
		}
		defer db.Close()
		kept, err := query.ArtifactsKeptSince(cmd.Context(), db, before)
		if err != nil {
			return err
		}
		done, err := s.PruneArtifacts(cmd.Context(), ingest.Pruning{Keep: kept, Before: before, DryRun: dryRun})
		if err != nil {
			return storeError{err}
		}
		t := answer.TableOf(care.PruneFields(), []care.PrunedStore{{Store: dir, DryRun: dryRun, Done: done}})
		return a.print(format, t, func() term.View { return output.RecordsView(t) })
	})
}
