package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/check"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
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
		newStoreViewsCommand(a),
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
		t := views.SealedTable(before, after)
		if err := a.reportLive(dir, now); err != nil {
			return err
		}
		return a.print(format, t, func() term.View { return term.TableViewOr(t, a.page(), "nothing to seal") })
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

func runStoreInfo(a *app, ctx context.Context) error {
	format, err := a.outputFormat()
	if err != nil {
		return err
	}
	var infos []*views.StoreInfo
	var failed error
	for _, dir := range a.readStores() {
		i, err := inspectStore(ctx, dir)
		if i == nil {
			return storeError{fmt.Errorf("store %s: %w", dir, err)}
		}
		infos, failed = append(infos, i), errors.Join(failed, err)
	}
	t := views.StoreTable(infos)
	return errors.Join(a.print(format, t, func() term.View {
		v := term.RecordsView(t)
		for _, i := range infos {
			v.Below = append(v.Below, i.Claims()...)
		}
		return v
	}), failed)
}

// inspectStore counts from names and sizes, and at the same time reads the runs for the rest. Where that fails, what names say
// is given all the same.
func inspectStore(ctx context.Context, dir string) (*views.StoreInfo, error) {
	i := &views.StoreInfo{Dir: dir}
	var err error
	if i.Header, err = schema.ReadHeader(schema.Dir(dir)); err != nil {
		return nil, err
	}
	inspected := make(chan error, 1)
	var files check.Inspected
	go func() {
		var err error
		files, err = check.Inspect(dir)
		inspected <- err
	}()
	census, failed := takeCensus(ctx, dir)
	if err := <-inspected; err != nil {
		return nil, err
	}
	i.Unfinished, i.Temporary, i.Foreign = files.Unfinished, files.Temporary, files.Foreign
	for _, z := range files.Zones {
		i.Zones = append(i.Zones, views.StoreZone{Name: z.Name, Files: z.Files, Bytes: z.Bytes})
	}
	if failed == nil {
		i.Census, i.Listing = &census, census.Listings[0]
		return i, nil
	}
	if i.Listing, err = schema.List(schema.Dir(dir), schema.Scope{}); err != nil {
		return nil, err
	}
	return i, failed
}

func takeCensus(ctx context.Context, dir string) (query.Census, error) {
	db, err := query.Open(ctx, []string{dir}, query.Options{})
	if err != nil {
		return query.Census{}, err
	}
	defer db.Close()
	return db.Census(ctx)
}

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
		t := answer.TableOf(pruneFields(), []prunedRow{{Store: dir, DryRun: dryRun, Done: done}})
		return a.print(format, t, func() term.View { return term.RecordsView(t) })
	})
}
