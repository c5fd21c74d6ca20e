package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/damage"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/screens"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/check"
	"github.com/neurolens/neurolens/query/answer"
)

func newStoreVerifyCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Read every file of the store and say what is wrong with any",
		Long: `Compare every file of the store with its hash, every run with its digest, names
with what is in the files, packs with what they repeat. One row for each thing
found: a notice, where what is there is read right; damage; unreadable, where
the system does not let a file be read, which says nothing about its content;
newer, where a file is of a later version. All but notices end with exit status
5. Nothing is changed.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return runStoreVerify(a, cmd) },
	}
}

func runStoreVerify(a *app, cmd *cobra.Command) error {
	format, err := a.outputFormat()
	if err != nil {
		return err
	}
	dir, err := a.writeStore()
	if err != nil {
		return err
	}
	t := answer.Table{Columns: []answer.Column{
		{Name: "severity", Type: answer.TypeText}, {Name: "path", Type: answer.TypeText}, {Name: "problem", Type: answer.TypeText},
	}}
	t.Columns = append(t.Columns, damage.Columns()...)
	var remedies []string
	done, err := check.Verify(cmd.Context(), dir, func(f check.Finding) {
		t.Rows = append(t.Rows, append([]any{string(f.Severity), f.Path, f.Problem}, damage.Values(f.Loss)...))
		remedies = append(remedies, f.Remedy())
	})
	if err != nil {
		return storeError{err}
	}
	if err := a.print(format, t, func() term.View { return screens.Care(format, t, remedies, a.page()) }); err != nil {
		return err
	}
	if err := damage.Of(dir, done); err != nil {
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
	return &cobra.Command{
		Use:   "merge OTHER...",
		Short: "Copy what other stores have and this one lacks",
		Long: `Copy the runs, events and artifacts that other stores have and this one lacks.
The others are only read. A run that both have is skipped; one that has lost its
samples or ops here gets them again (healed). A run of a file that was imported
here from another path, or with other tags, is the same run. What is damaged, or
is here under the same id with other values, is refused and named on standard
error; the rest is merged, and the exit status is 4. Merging again, or after an
interruption, does what is left.`,
		Example: "  neurolens store merge /mnt/lab3/runs_store",
		Args:    arguments(1, 1<<10, "the stores to merge into this one"),
		RunE:    func(cmd *cobra.Command, args []string) error { return runStoreMerge(a, cmd, args) },
	}
}

func runStoreMerge(a *app, cmd *cobra.Command, others []string) error {
	return a.bringIn(others, "store", func(s *ingest.Store, other string, refused func(ingest.LeftOut)) (ingest.Merged, error) {
		damaged := false
		done, err := s.Merge(cmd.Context(), other, func(f ingest.LeftOut) {
			damaged = damaged || f.Damaged
			refused(f)
		})
		if damaged {
			fmt.Fprintf(a.stderr, "store %s is damaged: store repair keeps what is whole in it; then merge again\n", other)
		}
		return done, err
	})
}

func newStoreRestoreCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "unquarantine",
		Short: "Bring back what lies whole in quarantine/",
		Long: `Bring back what store repair set aside and is whole: put a good copy of a
damaged file, of the same name, in its place in quarantine/ before. Runs that
are not in the store are added, and runs that lost samples or ops get them
again. A file that is still damaged is named on standard error, and the exit
status is 4. Nothing is removed from quarantine/: when all is back, you may.`,
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
	t := answer.Table{Columns: []answer.Column{
		{Name: heading, Type: answer.TypeText},
		{Name: "added", Type: answer.TypeInteger},
		{Name: "skipped", Type: answer.TypeInteger},
		{Name: "refused", Type: answer.TypeInteger},
		{Name: "events", Type: answer.TypeInteger},
		{Name: "artifacts", Type: answer.TypeInteger},
		{Name: "healed", Type: answer.TypeInteger},
	}}
	refused, differing := 0, 0
	return a.withStore(func(_ string, s *ingest.Store) error {
		for _, other := range others {
			done, err := merge(s, other, func(f ingest.LeftOut) {
				fmt.Fprintf(a.stderr, "refused %s/%s: %s\n", other, f.Path, f.Problem)
			})
			if err != nil {
				return storeError{err}
			}
			refused, differing = refused+done.Refused, differing+done.Differing
			t.Rows = append(t.Rows, []any{
				other, int64(done.Added), int64(done.Skipped), int64(done.Refused), int64(done.Events), int64(done.Artifacts), int64(done.Healed),
			})
		}
		if _, err := s.Pack(); err != nil {
			return storeError{err}
		}
		if err := a.print(format, t, func() term.View { return output.TableView(t, a.page()) }); err != nil {
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
		Short: "Make a new store without the removed runs, one file a month",
		Long: `Make a new store in a directory that is empty or not there, with the runs of
this one that are not removed: one sealed file of runs, samples and ops a month,
every run once. This store is only read. What is damaged is named on standard
error and left out, and the exit status is 4; the rest of it is there, as store
repair would keep it. What is interrupted is no store: the same command begins
anew in its place.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return runStoreCompact(a, cmd, into) },
	}
	cmd.Flags().StringVar(&into, "into", "", "make the new store in `NEWDIR`")
	return cmd
}

func runStoreCompact(a *app, cmd *cobra.Command, into string) error {
	if into == "" {
		return usageErrorf("compact: --into NEWDIR is missing")
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
	done, err := ingest.Compact(cmd.Context(), dir, into, version, func(f ingest.LeftOut) {
		left++
		fmt.Fprintf(a.stderr, "damaged %s/%s: %s\n", dir, f.Path, f.Problem)
	})
	if err != nil {
		return storeError{err}
	}
	t := answer.Table{
		Columns: []answer.Column{
			{Name: "store", Type: answer.TypeText},
			{Name: "runs", Type: answer.TypeInteger},
			{Name: "removed", Type: answer.TypeInteger},
			{Name: "files", Type: answer.TypeInteger},
			{Name: "events", Type: answer.TypeInteger},
		},
		Rows: [][]any{append([]any{into, int64(done.Runs), int64(done.Removed), int64(done.Files), int64(done.Events)}, damage.Values(done.Loss)...)},
	}
	t.Columns = append(t.Columns, damage.Columns()...)
	if err := a.print(format, t, func() term.View { return output.RecordsView(t) }); err != nil {
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
		Short: "Set aside what is damaged, and keep the rest",
		Long: `Move what verify finds damaged into quarantine/ of the store, put back events
that packs still have, and finish what sealers that died left behind. What is
left of a damaged file stays: every run and every row of samples and ops that
matches its hash or its page's checksum. A run of which samples or ops are gone
is marked: see env_missing in show and query. Nothing is deleted, and what only
verify's notices name stays.

The exit status is 4 where something was lost, and 5 where damage is left, or a
file cannot be read or is of a newer version. What was lost comes back by store
merge from a good copy of the store, or by store unquarantine.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return runStoreRepair(a, cmd, dryRun) },
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only say what would be done")
	return cmd
}

func runStoreRepair(a *app, cmd *cobra.Command, dryRun bool) error {
	format, err := a.outputFormat()
	if err != nil {
		return err
	}
	t := answer.Table{Columns: []answer.Column{
		{Name: "action", Type: answer.TypeText}, {Name: "path", Type: answer.TypeText}, {Name: "reason", Type: answer.TypeText},
	}}
	t.Columns = append(t.Columns, damage.Columns()...)
	did := func(r check.Repair) {
		t.Rows = append(t.Rows, append([]any{string(r.Action), r.Path, r.Reason}, damage.Values(r.Loss)...))
	}
	repaired := func(dir, verb, where string, done check.Repaired, err error) error {
		if err != nil {
			return storeError{err}
		}
		if err := a.print(format, t, func() term.View { return screens.Care(format, t, nil, a.page()) }); err != nil {
			return err
		}
		if done.Loss != (check.Loss{}) {
			fmt.Fprintf(a.stderr, "store %s: %s; the damaged files %s %s/, and store merge from a good copy brings back what is lost\n",
				dir, damage.Text(done.Loss, verb), where, ingest.QuarantineDir)
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
