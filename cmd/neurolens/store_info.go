package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/ingest/check"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// infoColumns are those of store info before the ones of each zone.
var infoColumns = []answer.Column{
	{Name: "store", Type: answer.TypeText},
	{Name: "format", Type: answer.TypeInteger},
	{Name: "store_id", Type: answer.TypeText},
	{Name: "created", Type: answer.TypeTime},
	{Name: "runs", Type: answer.TypeInteger},
	{Name: "live_runs", Type: answer.TypeInteger},
	{Name: "sealed_runs", Type: answer.TypeInteger},
	{Name: "removed_runs", Type: answer.TypeInteger},
	{Name: "machines", Type: answer.TypeInteger},
	{Name: "samples", Type: answer.TypeInteger},
	{Name: "oldest", Type: answer.TypeTime},
	{Name: "newest", Type: answer.TypeTime},
	{Name: "events", Type: answer.TypeInteger},
	{Name: "packs", Type: answer.TypeInteger},
	{Name: "files", Type: answer.TypeInteger},
	{Name: "bytes", Unit: "B", Type: answer.TypeInteger},
	{Name: "bytes_per_sample", Unit: "B", Type: answer.TypeReal},
	{Name: "unfinished_claims", Type: answer.TypeInteger},
	{Name: "temporary_files", Type: answer.TypeInteger},
	{Name: "foreign_files", Type: answer.TypeInteger},
}

func runStoreInfo(a *app, ctx context.Context) error {
	format, err := a.outputFormat()
	if err != nil {
		return err
	}
	t := answer.Table{Columns: infoColumns}
	var failed error
	for _, dir := range a.readStores() {
		i, err := inspectStore(ctx, dir)
		if i == nil {
			return storeError{fmt.Errorf("store %s: %w", dir, err)}
		}
		failed = errors.Join(failed, err)
		row, columns := i.row(dir)
		t.Rows, t.Columns = append(t.Rows, row), append(infoColumns[:len(infoColumns):len(infoColumns)], columns...)
	}
	return errors.Join(a.print(format, t, func() term.View { return output.RecordsView(t) }), failed)
}

// sampleZones are those whose bytes count for the samples. What is in claims is in runs too, or will be.
var sampleZones = []string{schema.LiveDir, schema.RunsDir, schema.SamplesDir, schema.OpsDir, schema.PacksDir, schema.EventsDir}

// storeInfo is what store info says of one store.
type storeInfo struct {
	header  schema.Header
	listing *schema.Listing
	files   check.Inspected
	runs    int           // from names alone: what is removed is among them
	census  *query.Census // nil: runs could not be read
}

// inspectStore counts from names and sizes, and reads the runs for the rest. Where that fails, what names say
// is given all the same.
func inspectStore(ctx context.Context, dir string) (*storeInfo, error) {
	i := &storeInfo{}
	var err error
	if i.header, err = schema.ReadHeader(schema.Dir(dir)); err != nil {
		return nil, err
	}
	if i.listing, err = schema.List(schema.Dir(dir), schema.Scope{}); err != nil {
		return nil, err
	}
	if i.files, err = check.Inspect(dir); err != nil {
		return nil, err
	}
	i.runs = len(i.listing.Live)
	for _, f := range i.listing.Sealed {
		i.runs += f.Rows
	}
	db, err := query.Open(ctx, []string{dir}, query.Options{})
	if err != nil {
		return i, err
	}
	defer db.Close()
	census, err := db.Census(ctx)
	if err != nil {
		return i, err
	}
	i.census = &census
	return i, nil
}

func (i *storeInfo) row(dir string) ([]any, []answer.Column) {
	var files, bytes, forSamples int64
	var zones []any
	var columns []answer.Column
	for _, z := range i.files.Zones {
		files += int64(z.Files)
		bytes += z.Bytes
		if slices.Contains(sampleZones, z.Name) {
			forSamples += z.Bytes
		}
		zones = append(zones, int64(z.Files), z.Bytes)
		columns = append(columns,
			answer.Column{Name: z.Name + "_files", Type: answer.TypeInteger}, answer.Column{Name: z.Name + "_bytes", Unit: "B", Type: answer.TypeInteger})
	}
	var removed, machines, samples, perSample any
	if c := i.census; c != nil {
		removed, machines, samples = max(int64(i.runs)-c.Runs, 0), c.Machines, c.Samples
		if c.Samples > 0 {
			perSample = float64(forSamples) / float64(c.Samples)
		}
	}
	oldest, newest := i.span()
	live := int64(len(i.listing.Live))
	return append([]any{
		filepath.ToSlash(dir), int64(i.header.Format), i.header.StoreID, i.header.Created,
		int64(i.runs), live, int64(i.runs) - live, removed, machines, samples, oldest, newest,
		int64(len(i.listing.Events.Files)), int64(len(i.listing.Packs)), files, bytes, perSample,
		int64(i.files.Unfinished), int64(i.files.Temporary), int64(i.files.Foreign),
	}, zones...), columns
}

// span is the time of the oldest and the newest run, from names.
func (i *storeInfo) span() (oldest, newest any) {
	var first, last int64
	note := func(from, to int64) {
		if first == 0 || from < first {
			first = from
		}
		last = max(last, to)
	}
	for _, f := range i.listing.Live {
		ms := f.Run.Time().UnixMilli()
		note(ms, ms)
	}
	for _, f := range i.listing.Sealed {
		note(f.First, f.Last)
	}
	return timeOrNull(first), timeOrNull(last)
}

// timeOrNull is the time of a run's id, in Unix milliseconds; 0 is not known.
func timeOrNull(ms int64) any {
	if ms == 0 {
		return nil
	}
	return time.UnixMilli(ms).UTC()
}
