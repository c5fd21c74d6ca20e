package screens

import (
	"path/filepath"
	"slices"
	"time"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// StoreInfo is what is known of one store.
type StoreInfo struct {
	Dir     string
	Header  schema.Header
	Listing *schema.Listing
	Census  *query.Census // nil: runs could not be read
	Zones   []StoreZone   // in the order in which runs go through them

	Unfinished, Temporary, Foreign int // claims; files that are being written; files that no store has
}

// StoreZone counts the files of a directory of a store.
type StoreZone struct {
	Name  string
	Files int
	Bytes int64
}

// StoreTable has a row for each store.
func StoreTable(infos []*StoreInfo) answer.Table {
	t := answer.Table{Columns: infoColumns}
	for _, i := range infos {
		row, columns := i.row()
		t.Rows, t.Columns = append(t.Rows, row), append(infoColumns[:len(infoColumns):len(infoColumns)], columns...)
	}
	return t
}

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

// sampleZones are those whose bytes count for the samples. What is in claims is in runs too, or will be.
var sampleZones = []string{schema.LiveDir, schema.RunsDir, schema.SamplesDir, schema.OpsDir, schema.PacksDir, schema.EventsDir}

// runs counts the runs by the names of files alone: what is removed is among them.
func (i *StoreInfo) runs() int64 {
	n := len(i.Listing.Live)
	for _, f := range i.Listing.Sealed {
		n += f.Rows
	}
	return int64(n)
}

// row is what is said of the store, and the columns of its zones.
func (i *StoreInfo) row() ([]any, []answer.Column) {
	var files, bytes, forSamples int64
	var zones []any
	var columns []answer.Column
	for _, z := range i.Zones {
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
	if c := i.Census; c != nil {
		removed, machines, samples = max(i.runs()-c.Runs, 0), c.Machines, c.Samples
		if c.Samples > 0 {
			perSample = float64(forSamples) / float64(c.Samples)
		}
	}
	oldest, newest := i.span()
	live := int64(len(i.Listing.Live))
	return append([]any{
		filepath.ToSlash(i.Dir), int64(i.Header.Format), i.Header.StoreID, i.Header.Created,
		i.runs(), live, i.runs() - live, removed, machines, samples, oldest, newest,
		int64(len(i.Listing.Events.Files)), int64(len(i.Listing.Packs)), files, bytes, perSample,
		int64(i.Unfinished), int64(i.Temporary), int64(i.Foreign),
	}, zones...), columns
}

// span is the time of the oldest and the newest run, from names.
func (i *StoreInfo) span() (oldest, newest any) {
	var first, last int64
	note := func(from, to int64) {
		if first == 0 || from < first {
			first = from
		}
		last = max(last, to)
	}
	for _, f := range i.Listing.Live {
		ms := f.Run.Time().UnixMilli()
		note(ms, ms)
	}
	for _, f := range i.Listing.Sealed {
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
