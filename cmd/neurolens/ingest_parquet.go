package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/ingest/foreign/formats"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/schema"
)

// ingestParquet stores the runs of a folder of Parquet files that another engine has written. The runs keep their ids and digests, so it
// takes no option that would change them. A run whose values do not have its digest is refused.
func (a *app) ingestParquet(ctx context.Context, flags *pflag.FlagSet, args []string, format string) error {
	var refused string
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed && f.Name != "from" {
			refused = f.Name
		}
	})
	switch {
	case refused != "":
		return usageErrorf("ingest: --from %s takes no --%s: its runs stay as they are", formats.NeurolensParquet, refused)
	case len(args) != 1:
		return usageErrorf("ingest: --from %s: want one folder with runs, samples and ops, got %d", formats.NeurolensParquet, len(args))
	}
	if _, err := os.Stat(filepath.Join(args[0], schema.Runs.Name)); err != nil { // before a store is made for it
		return usageErrorf("ingest: --from %s: %w", formats.NeurolensParquet, err)
	}
	store, err := a.openToIngest()
	if err != nil {
		return err
	}
	report := ingest.FileReport{
		Report: foreign.Report{Name: args[0], Format: formats.NeurolensParquet}, State: ingest.FileRead, Named: true,
	}
	done, err := store.AppendAll(a.parquetRuns(ctx, args[0], func(r *schema.Run, err error) {
		if err != nil {
			report.Refuse(r.RunID, err)
			return
		}
		report.Count(r)
	}))
	if closeErr := store.Close(); closeErr != nil && err == nil {
		err = storeError{closeErr}
	}
	if err != nil {
		if done.Added > 0 {
			fmt.Fprintf(a.stderr, "%s stored before that\n", term.Count(done.Added, "run"))
		}
		return err
	}
	if report.Refused > 0 {
		report.State = ingest.FilePartly
	}
	reports := []ingest.FileReport{report}
	shown := views.IngestReport{Files: reports, Stored: done}
	if len(a.stores) == 1 {
		shown.Dir = a.stores[0]
	}
	err = a.print(format, views.IngestTable(reports), shown.View)
	shown.Explain(a.stderr)
	if !term.ForPeople(format) {
		fmt.Fprintln(a.stderr, "neurolens: ingest: "+shown.StoredText())
	}
	if report.Refused > 0 {
		err = errors.Join(errRunsFailed, err)
	}
	return err
}

// errStopped ends a reading whose runs nobody takes any more.
var errStopped = errors.New("stopped")

// parquetRuns yields the runs of a folder that are whole. count gets every run, and why it is not yielded.
func (a *app) parquetRuns(ctx context.Context, dir string, count func(r *schema.Run, err error)) iter.Seq2[schema.Valid, error] {
	return func(yield func(schema.Valid, error) bool) {
		o := query.Options{MemoryLimit: memoryLimit}
		if temporary, err := a.temporary.Dir(); err == nil && temporary != nil {
			o.TempDir = temporary.Path
		}
		err := query.ReadParquet(ctx, dir, o, func(r schema.Run, digest string) error {
			valid, err := schema.Check(r)
			if schema.DigestOf(&r) != digest { // the digest explains an incomplete run better than its first invalid value
				err = errors.New("its values do not have its digest: columns, samples or parts of times are missing, or were changed")
			}
			count(&r, err)
			if err != nil {
				return nil
			}
			if !yield(valid, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(schema.Valid{}, err)
		}
	}
}
