package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/bucket"
	"github.com/neurolens/neurolens/ingest/check"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/schema"
)

// bucketHelp is the end of the help of the commands about buckets.
const bucketHelp = `
URL is s3://BUCKET/PREFIX. AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL names the
server; without them it is Amazon S3. The region is AWS_REGION. Credentials come
from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, from AWS_PROFILE, or from the
role of the machine. The topic buckets says more.`

func newStorePushCommand(a *app) *cobra.Command {
	var compacted, garbage bool
	cmd := a.bucketCommand(&cobra.Command{
		Use:   "push URL",
		Short: "Put new runs into a bucket that others pull from",
		Long: `Put the runs, events and files of this store that the bucket lacks into it.
Runs are sealed first. A push is few objects, and its manifest is put last: when
the command ends with exit status 0, everybody who pulls gets all of it. After
an interruption, push again. Any number of machines may push at the same time.

With --compacted, a copy of the store in few files is put beside the pushes. Who
pulls for the first time, and engines such as Spark, read it instead of them.
Pull first: it stands for all pushes that this store has. The column compacted
of the answer is the URL of the newest one.
` + bucketHelp,
		Example: "  neurolens store push s3://bench/team",
	}, func(t *transfer) error {
		if err := t.push(compacted); err != nil || !garbage {
			return err
		}
		n, err := t.bucket.RemoveLeftovers(t)
		if err != nil {
			return storeError{err}
		}
		fmt.Fprintf(t.stderr, "%s of pushes that did not finish removed\n", term.Count(n, "object"))
		return nil
	})
	cmd.Flags().BoolVar(&compacted, "compacted", false, "also put a compacted copy of the store")
	cmd.Flags().BoolVar(&garbage, "gc", false, "also remove what pushes left that did not finish, after 7 days")
	return cmd
}

func newStorePullCommand(a *app) *cobra.Command {
	var expression string
	cmd := a.bucketCommand(&cobra.Command{
		Use:   "pull URL",
		Short: "Merge new runs of a bucket into this store",
		Long: `Merge into this store what was pushed to the bucket and is not here. If there is
no store, the first run that is merged creates it. Only what is missing is read.
Of a push that is damaged nothing is merged; it is named on standard error, the
others are merged, and the exit status is 4. After an interruption, pull again.

With --filter, only runs that match are copied, with all their samples,
operators and files, and the tags and removals of all runs.
` + bucketHelp,
		Example: `  neurolens store pull s3://bench/team
  neurolens --store mine store pull s3://bench/team --filter 'machine=lab3'`,
	}, func(t *transfer) error {
		if err := filter.Check(expression); err != nil {
			return err
		}
		return t.pull(expression)
	})
	cmd.Flags().StringVar(&expression, "filter", "", "copy only runs that match `EXPR`, a filter as for ls")
	return cmd
}

func newStoreSyncCommand(a *app) *cobra.Command {
	return a.bucketCommand(&cobra.Command{
		Use:     "sync URL",
		Short:   "Pull from a bucket, then push to it",
		Long:    "Do store pull, then store push. If there is no store, it is created, unless\nnothing was pushed to URL yet. Then a store is only pushed.\n" + bucketHelp,
		Example: "  neurolens store sync s3://bench/team",
	}, func(t *transfer) error {
		if err := t.pull(""); errors.Is(err, bucket.ErrEmpty) {
			if _, none := schema.ReadHeader(schema.Dir(t.dir)); errors.Is(none, schema.ErrNoStore) {
				return fmt.Errorf("%w, and there is no store here to push", err)
			}
		} else if err != nil || t.store == nil { // all was refused, and no store was made
			return err
		}
		return t.push(false)
	})
}

// transfer is a command that copies runs between a store and a bucket, with the numbers of runs and objects that were copied.
type transfer struct {
	*app
	context.Context
	dir     string
	store   *ingest.Store // nil: not open, or there is none
	bucket  *bucket.Bucket
	address string
	pulled  *bucket.Pulled // nil if the command does not pull
	pushed  *bucket.Pushed // nil if the command does not push
	place   *string        // URL of the newest compacted store; nil if none was asked for
}

// bucketCommand completes a command that copies between a store and the bucket of its argument.
func (a *app) bucketCommand(cmd *cobra.Command, do func(t *transfer) error) *cobra.Command {
	cmd.Args = arguments(1, 1, "the URL of a bucket")
	cmd.RunE = a.printing(func(cmd *cobra.Command, args []string, format string) error {
		b, err := a.openBucket(args[0])
		if err != nil {
			return err
		}
		dir, err := a.writeStore()
		if err != nil {
			return err
		}
		t := &transfer{app: a, Context: cmd.Context(), dir: dir, bucket: b, address: args[0]}
		err = do(t)
		if err == nil {
			err = t.print(format)
		}
		if t.store == nil {
			return err
		}
		return closeStore(t.store, err)
	})
	return cmd
}

// openBucket prepares requests to a bucket.
func (a *app) openBucket(address string) (*bucket.Bucket, error) {
	b, err := bucket.Open(address, bucket.Options{Getenv: a.getenv, Program: version, Quiet: func(server string) {
		fmt.Fprintf(a.stderr, "%s does not answer; waiting for at most two minutes\n", server)
	}})
	if errors.Is(err, bucket.ErrLocation) {
		return nil, usageError{err}
	}
	return b, err
}

func (t *transfer) push(compacted bool) (err error) {
	if t.store == nil {
		if t.store, err = ingest.Open(t.dir, version); err != nil {
			return storeError{err}
		}
	}
	var done bucket.Pushed
	if compacted {
		var key string
		if done, key, err = t.bucket.PushCompacted(t, t.dir, t.store); key != "" {
			key = t.bucket.URL(key)
		}
		t.place = &key
	} else {
		done, err = t.bucket.Push(t, t.dir, t.store)
	}
	t.pushed = &done
	if err != nil {
		return storeError{err}
	}
	if done.Live > 0 {
		fmt.Fprintf(t.stderr, "%s not pushed: the writer is at work, or its end is not certain; push again when it has ended\n", term.Count(done.Live, "run")+" "+term.IsAre(done.Live))
	}
	return nil
}

// pull merges what the bucket has. If there is no store, the first run or event makes it.
func (t *transfer) pull(expression string) error {
	if err := t.bucket.Reach(t); err != nil {
		return storeError{err}
	}
	open := func() (_ *ingest.Store, err error) {
		t.store, err = openForWriting(t.dir)
		return t.store, err
	}
	stores := []string{t.dir}
	if _, err := schema.ReadHeader(schema.Dir(t.dir)); errors.Is(err, schema.ErrNoStore) {
		stores = nil
	} else if _, err := open(); err != nil {
		return err
	}
	o := bucket.Pulling{
		Make: open,
		Refused: func(f ingest.LeftOut) {
			fmt.Fprintf(t.stderr, "refused %s/%s: %s\n", t.address, f.Path, f.Problem)
		},
	}
	if expression != "" {
		o.Choose = func(ctx context.Context, dir string) ([]string, error) {
			db, err := openForReading(ctx, append(stores, dir))
			if err != nil {
				return nil, err
			}
			defer db.Close()
			ids, err := db.RunIDs(ctx, expression)
			if err == nil && len(ids) == 0 {
				fmt.Fprintf(t.stderr, "no run matches %s\n", answer.Brief(expression))
			}
			return ids, err
		}
	}
	done, err := t.bucket.Pull(t, t.dir, t.store, o)
	t.pulled = &done
	if err != nil {
		return storeError{err}
	}
	if t.store == nil {
		return nil
	}
	if err := t.store.Pack(); err != nil {
		return storeError{err}
	}
	return nil
}

// verifyBucket checks the objects of a bucket.
func (a *app) verifyBucket(ctx context.Context, address string, full bool, format string) error {
	b, err := a.openBucket(address)
	if err != nil {
		return err
	}
	var found []check.Finding
	done, err := b.Verify(ctx, full, func(f check.Finding) { found = append(found, f) })
	if err != nil {
		return storeError{err}
	}
	t := answer.TableOf(views.FindingFields()[:3], found) // nothing is read of which a loss could be counted
	if err := a.print(format, t, func() term.View { return views.StoreProblems(format, t, nil, a.page()) }); err != nil {
		return err
	}
	has := fmt.Sprintf("%s and %s in %s, of %s", term.Count(done.Runs, "run"), term.Count(done.Events, "event"), term.Count(done.Objects, "object"), term.Count(done.Pushes, "manifest"))
	if done.Damage > 0 {
		return storeError{fmt.Errorf("bucket %s is damaged: %s found in %s", address, term.Count(done.Damage, "problem"), has)}
	}
	if done.Repeated > 0 {
		has += fmt.Sprintf("; %s in several pushes, which count once", term.Count(done.Repeated, "run"))
	}
	if done.Leftovers > 0 {
		has += fmt.Sprintf("; %s of pushes that did not finish", term.Count(done.Leftovers, "object"))
	}
	fmt.Fprintf(a.stderr, "bucket %s is whole: %s\n", address, has)
	return nil
}

// print prints what was done. Its error is that something was refused.
func (t *transfer) print(format string) error {
	fields := []answer.Field[transfer]{answer.NewField("bucket", answer.TypeText, "URL of the bucket", func(t *transfer) any { return t.address })}
	if t.pulled != nil {
		fields = append(fields, pullFields()...)
	}
	if t.pushed != nil {
		fields = append(fields, pushFields()...)
	}
	if t.place != nil {
		fields = append(fields, answer.TextField("compacted", "URL of the newest compacted store", func(t *transfer) string { return *t.place }))
	}
	fields = append(fields, counted("requests", "requests to the server, repetitions included", func(t *transfer) int { return t.bucket.Requests() }))
	table := answer.TableOf(fields, []transfer{*t})
	if err := t.app.print(format, table, func() term.View { return term.RecordsView(table) }); err != nil {
		return err
	}
	if t.pulled != nil && t.pulled.Refused > 0 {
		return errRunsFailed
	}
	return nil
}

// pullFields returns the columns of store pull.
func pullFields() []answer.Field[transfer] {
	return []answer.Field[transfer]{
		counted("added", "runs that were added to the store", func(t *transfer) int { return t.pulled.Added }),
		counted("events", "events that were added, such as tags and removals", func(t *transfer) int { return t.pulled.Events }),
		counted("artifacts", "stored files of runs that were added", func(t *transfer) int { return t.pulled.Artifacts }),
		counted("refused", "damaged pushes, and runs that are here with other values under the same id; standard error names each", func(t *transfer) int { return t.pulled.Refused }),
		counted("pulled_objects", "objects that were read, without manifests", func(t *transfer) int { return t.pulled.Objects }),
		answer.NewField("pulled_bytes", answer.TypeInteger, "size of these objects", func(t *transfer) any { return t.pulled.Bytes }).In("B"),
	}
}

// pushFields returns the columns of store push.
func pushFields() []answer.Field[transfer] {
	return []answer.Field[transfer]{
		counted("pushed", "runs that were put into the bucket", func(t *transfer) int { return t.pushed.Runs }),
		counted("pushed_events", "events that were put into the bucket", func(t *transfer) int { return t.pushed.Events }),
		counted("pushed_objects", "objects that were put, with manifests", func(t *transfer) int { return t.pushed.Objects }),
		answer.NewField("pushed_bytes", answer.TypeInteger, "size of these objects", func(t *transfer) any { return t.pushed.Bytes }).In("B"),
	}
}
