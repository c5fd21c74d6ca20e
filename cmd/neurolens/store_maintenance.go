package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/check"
	"github.com/neurolens/neurolens/query/answer"
)

func newStoreVerifyCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Check every file of the store",
		Long: `Check every file of the store, and list every problem. Each file is compared
with its hash, each run with its digest, names with contents, and packs with
what they repeat. Nothing is changed.

Each problem is one row. notice: the data is still read correctly. damage:
something is broken. unreadable: the system does not let the file be read, so
its content is unknown. newer: the file is of a later version. If there is any
row but notices, the exit status is 5.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return runStoreVerify(a, cmd) },
	}
}

// maintenanceMemory is how many bytes are in memory before garbage is collected more often.
const maintenanceMemory = 200 << 20

func runStoreVerify(a *app, cmd *cobra.Command) error {
	format, err := a.outputFormat()
	if err != nil {
		return err
	}
	dir, err := a.writeStore()
	if err != nil {
		return err
	}
	collectSeldom(maintenanceMemory)
	var found []check.Finding
	var remedies []string
	done, err := check.Verify(cmd.Context(), dir, func(f check.Finding) {
		found = append(found, f)
		remedies = append(remedies, f.Remedy())
	})
	if err != nil {
		return storeError{err}
	}
	t := answer.TableOf(views.FindingFields(), found)
	if err := a.print(format, t, func() term.View { return views.StoreProblems(format, t, remedies, a.page()) }); err != nil {
		return err
	}
	if err := views.DamageOf(dir, done); err != nil {
		return storeError{err}
	}
	said := ""
	if done.Lost > 0 {
		said = fmt.Sprintf("; %s lost samples or ops to damage before", term.Count(done.Lost, "run"))
	}
	fmt.Fprintf(a.stderr, "store %s is whole: %s in %s%s\n", dir, term.Count(done.Runs, "run"), term.Count(done.Files, "file"), said)
	return nil
}

func newStoreMergeCommand(a *app) *cobra.Command {
	var restore bool
	cmd := &cobra.Command{
		Use:   "merge OTHER...",
		Short: "Copy runs from other stores into this one",
		Long: `Copy runs, events and artifacts from other stores into this one, if it lacks
them. The other stores are only read.

A run that both stores have is skipped. If this store lost samples or operators
of a run to damage, it gets them back (healed). The same imported file counts as
the same run, even if its path or tags differ. A run is refused, and named on
standard error, if it is damaged, or if this store has other values under the
same id. Everything else is merged, and the exit status is 4. You can repeat a
merge, for example after an interruption: it continues with what is left.

Files that store prune-artifacts removed here stay removed, unless the other
store got them later. --restore-pruned brings them back.`,
		Example: "  neurolens store merge /mnt/lab3/runs_store",
		Args:    arguments(1, 1<<10, "the stores to merge into this one"),
		RunE:    func(cmd *cobra.Command, args []string) error { return runStoreMerge(a, cmd, args, restore) },
	}
	cmd.Flags().BoolVar(&restore, "restore-pruned", false, "bring back files that were pruned here")
	return cmd
}

func runStoreMerge(a *app, cmd *cobra.Command, others []string, restore bool) error {
	return a.bringIn(others, "store", func(s *ingest.Store, other string, refused func(ingest.LeftOut)) (ingest.Merged, error) {
		damaged := false
		done, err := s.Merge(cmd.Context(), other, ingest.Merging{RestorePruned: restore, Refused: func(f ingest.LeftOut) {
			damaged = damaged || f.Damaged
			refused(f)
		}})
		if done.Pruned > 0 {
			fmt.Fprintf(a.stderr, "%s of %s %s pruned here: store merge --restore-pruned brings them back\n", term.Count(done.Pruned, "file"), other, term.IsAre(done.Pruned))
		}
		if damaged {
			fmt.Fprintf(a.stderr, "store %s is damaged: store repair keeps what is whole in it; then merge again\n", other)
		}
		return done, err
	})
}

func newStoreUnquarantineCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "unquarantine",
		Short: "Bring back intact files from quarantine/",
		Long: `Bring back intact files from quarantine/, where store repair puts damaged ones.
First replace the damaged file in quarantine/ by a good copy of the same name.
Missing runs are then added, and runs that lost samples or operators get them
back. A file that is still damaged is named on standard error, and the exit
status is 4. Nothing is deleted from quarantine/; you can delete it when all
runs are back.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.bringIn([]string{ingest.QuarantineDir}, "from", func(s *ingest.Store, _ string, refused func(ingest.LeftOut)) (ingest.Merged, error) {
				return s.RestoreQuarantine(cmd.Context(), refused)
			})
		},
	}
}

// bringIn merges what comes from elsewhere into the store; heading is what that is called.
func (a *app) bringIn(others []string, heading string, merge func(s *ingest.Store, other string, refused func(ingest.LeftOut)) (ingest.Merged, error)) error {
	format, err := a.outputFormat()
	if err != nil {
		return err
	}
	var rows []mergedRow
	refused, differing := 0, 0
	return a.withStore(func(_ string, s *ingest.Store) error {
		for _, other := range others {
			done, err := merge(s, other, func(f ingest.LeftOut) {
				fmt.Fprintf(a.stderr, "refused %s/%s: %s\n", other, f.Path, f.Problem)
			})
			if errors.Is(err, ingest.ErrSameStore) {
				return usageError{err}
			}
			if err != nil {
				return storeError{err}
			}
			refused, differing = refused+done.Refused, differing+done.Differing
			rows = append(rows, mergedRow{From: other, Done: done})
		}
		if _, err := s.Pack(); err != nil {
			return storeError{err}
		}
		t := answer.TableOf(mergeFields(heading), rows)
		if err := a.print(format, t, func() term.View { return term.TableView(t, a.page()) }); err != nil {
			return err
		}
		if differing > 0 {
			fmt.Fprintf(a.stderr, "%s of files %s here with another path or other tags, and stay as they are\n", term.Count(differing, "run"), term.IsAre(differing))
		}
		if refused > 0 {
			return errRunsFailed
		}
		return nil
	})
}

func newStoreCompactCommand(a *app) *cobra.Command {
	var into string
	cmd := &cobra.Command{
		Use:   "compact --into NEWDIR",
		Short: "Make a new store without removed runs, one file per month",
		Long: `Make a new, smaller store without the removed runs: one sealed file of runs,
samples and operators per month, and one of the newest runs, which most
questions are about. NEWDIR must be empty or not exist. This store is only read.

Damaged data is named on standard error and left out, as by store repair; the
exit status is then 4. If you interrupt it, NEWDIR is no store yet, and the same
command continues. It keeps finished files that still agree with this store, and
leaves a NEWDIR that is complete as it is.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return runStoreCompact(a, cmd, into) },
	}
	cmd.Flags().StringVar(&into, "into", "", "create the new store in `NEWDIR`")
	return cmd
}

func runStoreCompact(a *app, cmd *cobra.Command, into string) error {
	if into == "" {
		return usageErrorf("compact: want --into NEWDIR")
	}
	format, err := a.outputFormat()
	if err != nil {
		return err
	}
	dir, err := a.writeStore()
	if err != nil {
		return err
	}
	left := 0
	collectSeldom(maintenanceMemory)
	done, err := ingest.Compact(cmd.Context(), dir, into, version, func(f ingest.LeftOut) {
		left++
		fmt.Fprintf(a.stderr, "damaged %s/%s: %s\n", dir, f.Path, f.Problem)
	})
	if err != nil {
		return storeError{err}
	}
	if done.Already {
		fmt.Fprintf(a.stderr, "%s is complete already\n", into)
	}
	t := answer.TableOf(compactFields(), []compactedRow{{Into: into, Done: done}})
	if err := a.print(format, t, func() term.View { return term.RecordsView(t) }); err != nil {
		return err
	}
	if left > 0 {
		return errRunsFailed
	}
	return nil
}

func newStoreRepairCommand(a *app) *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "repair",
		Short: "Set damaged files aside, and keep the rest",
		Long: `Move damaged files to quarantine/ in the store, and keep everything that is
intact. From a damaged file, each run is kept, and each row of samples and
operators, that still matches its hash or its checksum. A run that lost samples
or operators is marked (env_missing in show and query). Events that packs still
have are restored, and interrupted sealing is finished. Nothing is deleted.
Notices of store verify are left alone.

The exit status is 4 if data was lost, and 5 if damage is left, or a file cannot
be read or is of a newer version. To get lost data back, use store merge with a
good copy of the store, or store unquarantine.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return runStoreRepair(a, cmd, dryRun) },
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only list what would be done")
	return cmd
}

// withoutLoss is the remark about a repair that costs no run and no row. An event that was set aside may be lost.
func withoutLoss(actions int, dryRun bool) string {
	switch {
	case actions == 0:
		return "nothing to repair"
	case dryRun:
		return "no runs, samples or operators would be lost"
	}
	return "no runs, samples or operators were lost"
}

func runStoreRepair(a *app, cmd *cobra.Command, dryRun bool) error {
	format, err := a.outputFormat()
	if err != nil {
		return err
	}
	var rows []check.Repair
	did := func(r check.Repair) { rows = append(rows, r) }
	repaired := func(dir, verb, where string, done check.Repaired, err error) error {
		if err != nil {
			return storeError{err}
		}
		t := answer.TableOf(views.RepairFields(), rows)
		if err := a.print(format, t, func() term.View { return views.StoreProblems(format, t, nil, a.page()) }); err != nil {
			return err
		}
		if done.Loss != (check.Loss{}) {
			fmt.Fprintf(a.stderr, "store %s: %s; the damaged files %s %s/, and store merge from a good copy brings back what is lost\n",
				dir, views.LossText(done.Loss, verb), where, ingest.QuarantineDir)
		}
		if done.Loss == (check.Loss{}) && done.Left == 0 {
			fmt.Fprintf(a.stderr, "store %s: %s\n", dir, withoutLoss(len(t.Rows), dryRun))
		}
		switch {
		case done.Left > 0:
			return storeError{fmt.Errorf("store %s: %s cannot be repaired here", dir, term.Count(done.Left, "problem"))}
		case done.Loss != (check.Loss{}):
			return errRunsFailed
		}
		return nil
	}
	if dryRun { // which needs no more than to read
		dir, err := a.writeStore()
		if err != nil {
			return err
		}
		done, err := check.PlanRepair(cmd.Context(), dir, did)
		return repaired(dir, "repair would lose", "would go to", done, err)
	}
	return withOpened(a, check.OpenToRepair, func(dir string, r *check.Repairer) error {
		done, err := r.Repair(cmd.Context(), did)
		return repaired(dir, "repair lost", "are in", done, err)
	})
}
