package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/screens"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/schema"
)

func newStoreCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "store",
		Short: "Create, check, merge and repair a store",
		Long: `A store is a folder in which bench and ingest keep runs, by default runs_store.
These commands create, check, merge, repair and shrink one. None of them is
needed day by day: bench and ingest create the store, and runs are written
safely without them. store info says what is in it.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		&cobra.Command{
			Use:   "init",
			Short: "Create an empty store; an existing one is not changed",
			Long: `Create an empty store, by default runs_store in this folder. bench and ingest
create one by themselves, so you need this only to choose its place before. A
store that exists is not changed.`,
			Args: noArguments,
			RunE: func(*cobra.Command, []string) error { return runStoreInit(a) },
		},
		&cobra.Command{
			Use:   "info",
			Short: "Count what is in the store",
			Long: `Count the runs, sessions, points, files and bytes of the store, and name its
format and its last writer. Several stores (--store) are described one by one.`,
			Args: noArguments,
			RunE: func(cmd *cobra.Command, _ []string) error { return runStoreInfo(a, cmd.Context()) },
		},
		newStoreSealCommand(a), newStoreVerifyCommand(a), newStoreMergeCommand(a), newStoreCompactCommand(a), newStoreRepairCommand(a), newStoreUnquarantineCommand(a), newStorePruneCommand(a),
		views.Command(views.Host{Store: a.writeStore, Stdout: a.stdout, Wrong: usageErrorf}, noArguments),
	)
	return cmd
}

func runStoreInit(a *app) error {
	dir, err := a.newStore()
	if err != nil {
		return err
	}
	if err := ingest.Init(dir); err != nil {
		return storeError{err}
	}
	fmt.Fprintf(a.stderr, "store %s is ready\n", dir)
	return nil
}

// withStore opens the store that a command writes to.
func (a *app) withStore(do func(dir string, s *ingest.Store) error) error {
	return withOpened(a, ingest.Open, do)
}

// withOpened is withStore of one that is opened in another way.
func withOpened[S io.Closer](a *app, open func(dir, writer string) (S, error), do func(dir string, s S) error) error {
	dir, err := a.writeStore()
	if err != nil {
		return err
	}
	s, err := open(dir, version)
	if err != nil {
		return storeError{err}
	}
	err = do(dir, s)
	closeErr := s.Close()
	if _, said := errors.AsType[storeError](err); closeErr == nil || said { // that sealing does not work is said once
		return err
	}
	return errors.Join(err, storeError{closeErr})
}

func newStoreSealCommand(a *app) *cobra.Command {
	var now bool
	cmd := &cobra.Command{
		Use:   "seal",
		Short: "Move finished runs into sealed files, for notebooks",
		Long: `Move finished runs into sealed files, where notebooks that read the files
directly see them. You rarely need this: commands that write do it by
themselves. Without --now, a small number of runs is left for later. Runs of a
process that is still writing are never touched.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return runStoreSeal(a, cmd, now) },
	}
	cmd.Flags().BoolVar(&now, "now", false, "seal even a small number of runs")
	return cmd
}

func runStoreSeal(a *app, cmd *cobra.Command, now bool) error {
	format, err := a.outputFormat()
	if err != nil {
		return err
	}
	return a.withStore(func(dir string, s *ingest.Store) error {
		before, err := schema.ListZone(schema.Dir(dir), schema.RunsDir)
		if err != nil {
			return storeError{err}
		}
		seal := s.SealDue
		if now {
			seal = s.Seal
		}
		if _, err := seal(cmd.Context()); err != nil {
			return storeError{err}
		}
		if _, err := s.Pack(); err != nil {
			return storeError{err}
		}
		after, err := schema.ListZone(schema.Dir(dir), schema.RunsDir)
		if err != nil {
			return storeError{err}
		}
		t := screens.SealedTable(before, after)
		if err := a.reportLive(dir, now); err != nil {
			return err
		}
		return a.print(format, t, func() term.View { return output.TableViewOr(t, a.page(), "nothing to seal") })
	})
}

// reportLive says how many runs are not sealed, and when they will be.
func (a *app) reportLive(dir string, now bool) error {
	l, err := schema.List(schema.Dir(dir), schema.Scope{})
	if err != nil {
		return storeError{err}
	}
	switch n := len(l.Live); {
	case n == 0:
	case now:
		fmt.Fprintf(a.stderr, "%s not sealed: the writer is at work, or its end is not certain; seal again when it has ended\n", term.Count(n, "run")+" "+term.IsAre(n))
	default:
		fmt.Fprintf(a.stderr, "%s not sealed yet; --now seals any number\n", term.Count(n, "run")+" "+term.IsAre(n))
	}
	return nil
}
