package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/help"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/check"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/sql"
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
store that exists is not changed.

It tries what a store needs of a file system, and warns of what is missing: see
neurolens doctor --store DIR.`,
			Args: noArguments,
			RunE: func(cmd *cobra.Command, _ []string) error {
				dir, err := a.newStore()
				if err != nil {
					return err
				}
				if err := ingest.Init(dir); err != nil {
					return storeError{err}
				}
				fmt.Fprintf(a.stderr, "store %s is ready\n", dir)
				promises, err := ingest.Promises(cmd.Context(), dir)
				if err != nil { // an existing store may be one that only others write
					fmt.Fprintf(a.stderr, "warning: %v\n", err)
				}
				for _, p := range promises {
					if !p.Kept {
						fmt.Fprintf(a.stderr, "warning: file system: %s: %s: %s; %s\n", p.Name, p.Seen, p.Without, p.Remedy)
					}
				}
				return nil
			},
		},
		&cobra.Command{
			Use:   "info",
			Short: "Count what is in the store",
			Long: `Count the runs, sessions, points, files and bytes of the store, and name its
format and its last writer. Several stores (--store) are described one by one.`,
			Args: noArguments,
			RunE: a.printing(func(cmd *cobra.Command, _ []string, format string) error {
				var infos []views.StoreInfo
				var failed error
				for _, dir := range a.readStores() {
					i, err := inspectStore(cmd.Context(), dir)
					if i == nil {
						return storeError{fmt.Errorf("store %s: %w", dir, err)}
					}
					infos, failed = append(infos, *i), errors.Join(failed, err)
				}
				t := views.StoreTable(infos)
				return errors.Join(a.print(format, t, func() term.View {
					v := term.RecordsView(t)
					for i := range infos {
						v.Below = append(v.Below, infos[i].Claims()...)
					}
					return v
				}), failed)
			}),
		},
		newStoreSealCommand(a), newStoreVerifyCommand(a), newStoreMergeCommand(a), newStorePushCommand(a), newStorePullCommand(a), newStoreSyncCommand(a), newStoreCompactCommand(a), newStoreRepairCommand(a), newStoreUnquarantineCommand(a), newStorePruneCommand(a),
		newStoreViewsCommand(a),
	)
	return cmd
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
	return closeStore(s, do(dir, s))
}

// closeStore closes a store after a command that ended with an error or nil, and returns it with the error of closing.
func closeStore(s io.Closer, err error) error {
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
		RunE: a.printing(func(cmd *cobra.Command, _ []string, format string) error {
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
				if err := s.Pack(); err != nil {
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
		}),
	}
	cmd.Flags().BoolVar(&now, "now", false, "seal even a small number of runs")
	return cmd
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

// inspectStore counts from names and sizes, and at the same time reads the runs for the rest. Where that fails, what names say
// is given all the same.
func inspectStore(ctx context.Context, dir string) (*views.StoreInfo, error) {
	i := &views.StoreInfo{Dir: dir}
	var err error
	if i.Header, err = schema.ReadHeader(schema.Dir(dir)); err != nil {
		return nil, err
	}
	inspected := make(chan error, 1)
	go func() {
		var err error
		i.Inspected, err = check.Inspect(dir)
		inspected <- err
	}()
	census, failed := takeCensus(ctx, dir)
	if err := <-inspected; err != nil {
		return nil, err
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
		RunE: func(cmd *cobra.Command, _ []string) error {
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
				t := answer.TableOf(pruneFields(), []prunedRow{{store: dir, dryRun: dryRun, done: done}})
				return a.print(format, t, func() term.View { return term.RecordsView(t) })
			})
		},
	}
	cmd.Flags().StringVar(&older, "older", "", "remove the files of runs older than `AGE` (90d), or from before a date")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only count what would be removed")
	return cmd
}

func newStoreVerifyCommand(a *app) *cobra.Command {
	var full bool
	cmd := &cobra.Command{
		Use:   "verify [URL]",
		Short: "Check every file of the store, or of a bucket",
		Long: `Check every file of the store, and list every problem. Each file is compared
with its hash, each run with its digest, names with contents, and packs with
what they repeat. Nothing is changed.

Each problem is one row. notice: the data is still read correctly. damage:
something is broken. unreadable: the system does not let the file be read, so
its content is unknown. newer: the file is of a later version. If there is any
row but notices, the exit status is 5.

With the URL of a bucket (see store push), its manifests are read, and each
object that they name has to be there with its size. With --full, all objects
are read and compared with their hashes. No store is needed then.`,
		Example: "  neurolens store verify\n  neurolens store verify s3://bench/team",
		Args:    arguments(0, 1, "at most the URL of a bucket"),
		RunE: a.printing(func(cmd *cobra.Command, args []string, format string) error {
			if len(args) > 0 {
				if _, err := os.Stat(filepath.Join(args[0], schema.HeaderFile)); err == nil {
					return usageErrorf("store verify: want the URL of a bucket, got %q; --store %s names the store", args[0], args[0])
				}
				return a.verifyBucket(cmd.Context(), args[0], full, format)
			}
			if full {
				return usageErrorf("store verify: --full is for a bucket; every file of a store is read in any case")
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
		}),
	}
	cmd.Flags().BoolVar(&full, "full", false, "read every object of a bucket and compare its hash")
	return cmd
}

// maintenanceMemory is how many bytes are in memory before garbage is collected more often.
const maintenanceMemory = 200 << 20

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
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.bringIn(args, "store", func(s *ingest.Store, other string, refused func(ingest.LeftOut)) (ingest.Merged, error) {
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
		},
	}
	cmd.Flags().BoolVar(&restore, "restore-pruned", false, "bring back files that were pruned here")
	return cmd
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
			rows = append(rows, mergedRow{from: other, done: done})
		}
		if err := s.Pack(); err != nil {
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
		RunE: func(cmd *cobra.Command, _ []string) error {
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
			t := answer.TableOf(compactFields(), []compactedRow{{into: into, done: done}})
			if err := a.print(format, t, func() term.View { return term.RecordsView(t) }); err != nil {
				return err
			}
			if left > 0 {
				return errRunsFailed
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&into, "into", "", "create the new store in `NEWDIR`")
	return cmd
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
		RunE: a.printing(func(cmd *cobra.Command, _ []string, format string) error {
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
		}),
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only list what would be done")
	return cmd
}

// withoutLoss returns the remark about a repair that costs no run and no row. An event that was set aside may be lost.
func withoutLoss(actions int, dryRun bool) string {
	switch {
	case actions == 0:
		return "nothing to repair"
	case dryRun:
		return "no runs, samples or operators would be lost"
	}
	return "no runs, samples or operators were lost"
}

// The dialects.
const (
	duckdb = "duckdb"
	spark  = "spark"
	trino  = "trino"
)

// viewsFlags are those of the command.
type viewsFlags struct{ dialect, location string }

// newStoreViewsCommand is store views.
func newStoreViewsCommand(a *app) *cobra.Command {
	f := viewsFlags{}
	cmd := &cobra.Command{
		Use:   "views",
		Short: "Print the SQL of the views, for DuckDB, Spark and Trino",
		Long: `Print SQL that makes the views of query in another program: runs, samples,
samples_long and ops.

duckdb  For DuckDB's own shell and for Python, with num(x). The views show the
        files of the store at the moment the text is loaded; tags and removed
        runs are those of the moment it is printed: print it again later.
spark   For Spark SQL 4, with num(x). Files, tags and removed runs are those of
        the moment the text is loaded.
trino   For the Hive connector of Trino. The views show sealed runs only, and
        tags and removed runs as they are at each query.

Spark and Trino need a path that every machine of the cluster can read:
--location names the store as they see it. It may be elsewhere, so no store has
to be here then. The topic spark says more.`,
		Example: `  neurolens store views > views.sql && duckdb -init views.sql
  python3 -ic "import duckdb; duckdb.execute(open('views.sql').read())"
  neurolens store views --dialect spark > views.sql && spark-sql -i views.sql
  neurolens store views --dialect trino --location s3://bench/runs_store`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := a.viewsText(f, cmd.Flags().Changed("location"))
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(a.stdout, text)
			return err
		},
	}
	cmd.Flags().StringVar(&f.dialect, "dialect", duckdb, "print SQL for `PROGRAM`: duckdb, spark or trino")
	cmd.Flags().StringVar(&f.location, "location", "", "the store as Spark or Trino finds it: an absolute path or a `URL`")
	help.Words(cmd, "dialect", []cobra.Completion{duckdb + "\tDuckDB's shell and Python", spark + "\tSpark SQL", trino + "\tTrino, Hive connector"})
	help.Beginnings(cmd, "location", []cobra.Completion{"file:///", "hdfs://", "s3://", "s3a://"})
	return cmd
}

// viewsText returns the SQL for the dialect.
func (a *app) viewsText(f viewsFlags, located bool) (string, error) {
	dialects := map[string]func(location string) string{spark: sql.SparkViews, trino: sql.TrinoViews}
	views, ok := dialects[f.dialect]
	switch {
	case !ok && f.dialect != duckdb:
		return "", usageErrorf("--dialect %q: want duckdb, spark or trino", f.dialect)
	case !ok && located:
		return "", usageErrorf("--location: DuckDB reads the store of --store; want --dialect spark or trino")
	case located:
		if !isLocation(f.location) {
			return "", usageErrorf("--location %q: want an absolute path or a URL, such as s3a://bench/runs_store", f.location)
		}
		return views(f.location), nil
	}
	dir, err := a.writeStore()
	if err != nil {
		return "", err
	}
	if !ok {
		return sql.Views(dir)
	}
	location, err := sql.Location(dir)
	if err != nil {
		return "", err
	}
	return views(location), nil
}

// isLocation tells whether a text can be where a store is.
func isLocation(text string) bool {
	_, rest, isURL := strings.Cut(text, "://")
	return utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl) && (isURL && rest != "" || strings.HasPrefix(text, "/"))
}

// counted returns a column with a number.
func counted[Row any](name, meaning string, of func(*Row) int) answer.Field[Row] {
	return answer.NewField(name, answer.TypeInteger, meaning, func(r *Row) any { return int64(of(r)) })
}

// mergedRow is a store or folder whose runs were merged.
type mergedRow struct {
	from string
	done ingest.Merged
}

// mergeFields returns the columns of store merge and of store unquarantine; the first has the name of its own.
func mergeFields(first string) []answer.Field[mergedRow] {
	return []answer.Field[mergedRow]{
		answer.NewField(first, answer.TypeText, "folder that the runs come from", func(b *mergedRow) any { return b.from }),
		counted("added", "runs that were added", func(b *mergedRow) int { return b.done.Added }),
		counted("skipped", "runs that are here already", func(b *mergedRow) int { return b.done.Skipped }),
		counted("refused", "damaged files, and runs that are here with other values under the same id; standard error names each", func(b *mergedRow) int { return b.done.Refused }),
		counted("events", "events that were added, such as tags and removals", func(b *mergedRow) int { return b.done.Events }),
		counted("artifacts", "stored files of runs that were added", func(b *mergedRow) int { return b.done.Artifacts }),
		counted("pruned", "stored files of the other store that were pruned here and stay so", func(b *mergedRow) int { return b.done.Pruned }),
		counted("healed", "runs here that got back samples or operators which they had lost to damage", func(b *mergedRow) int { return b.done.Healed }),
	}
}

// compactedRow is a new store that store compact made.
type compactedRow struct {
	into string
	done ingest.Compacted
}

// compactFields returns the columns of store compact.
func compactFields() []answer.Field[compactedRow] {
	return append([]answer.Field[compactedRow]{
		answer.NewField("store", answer.TypeText, "folder of the new store", func(c *compactedRow) any { return c.into }),
		counted("runs", "runs in the new store", func(c *compactedRow) int { return c.done.Runs }),
		counted("removed", "removed runs, which are not in the new store", func(c *compactedRow) int { return c.done.Removed }),
		counted("files", "sealed files of the new store, one per month", func(c *compactedRow) int { return c.done.Files }),
		counted("events", "events in the new store", func(c *compactedRow) int { return c.done.Events }),
	}, views.LossFields(func(c *compactedRow) check.Loss { return c.done.Loss })...)
}

// prunedRow is a store from which stored files of old runs were removed.
type prunedRow struct {
	store  string
	dryRun bool
	done   ingest.Pruned
}

// pruneFields returns the columns of store prune-artifacts.
func pruneFields() []answer.Field[prunedRow] {
	return []answer.Field[prunedRow]{
		answer.NewField("store", answer.TypeText, "folder of the store", func(p *prunedRow) any { return p.store }),
		answer.NewField("dry_run", answer.TypeBoolean, "true if nothing was removed (--dry-run): the numbers are those that a removal would have", func(p *prunedRow) any { return p.dryRun }),
		counted("removed", "files that were removed", func(p *prunedRow) int { return p.done.Files }),
		answer.NewField("removed_bytes", answer.TypeInteger, "size of the removed files, as stored", func(p *prunedRow) any { return p.done.Bytes }).In("B"),
		counted("left", "files that remain", func(p *prunedRow) int { return p.done.Left }),
		answer.NewField("left_bytes", answer.TypeInteger, "size of the files that remain, as stored", func(p *prunedRow) any { return p.done.LeftBytes }).In("B"),
		counted("left_too_new", "remaining files that no younger run has, but that were stored within the last day", func(p *prunedRow) int { return p.done.Young }),
	}
}
