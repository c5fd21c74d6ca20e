package views

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/ingest/check"
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
	check.Inspected
}

// StoreTable has a row for each store.
func StoreTable(infos []StoreInfo) answer.Table {
	var zones []string
	for _, i := range infos {
		for _, z := range i.Zones {
			if !slices.Contains(zones, z.Name) {
				zones = append(zones, z.Name)
			}
		}
	}
	return answer.TableOf(StoreFields(zones), infos)
}

// StoreFields returns the columns of store info, with two for each of the zones.
func StoreFields(zones []string) []answer.Field[StoreInfo] {
	fields := slices.Concat(identityFields(), runFields(), fileFields())
	for _, zone := range zones {
		fields = append(fields,
			answer.NewField(zone+"_files", answer.TypeInteger, "files in the folder "+zone+" of the store", func(i *StoreInfo) any { return int64(i.zone(zone).Files) }),
			answer.NewField(zone+"_bytes", answer.TypeInteger, "size of the files in the folder "+zone+" of the store", func(i *StoreInfo) any { return i.zone(zone).Bytes }).In("B"))
	}
	return fields
}

// identityFields say which store it is.
func identityFields() []answer.Field[StoreInfo] {
	return []answer.Field[StoreInfo]{
		answer.NewField("store", answer.TypeText, "folder of the store", func(i *StoreInfo) any { return filepath.ToSlash(i.Dir) }),
		answer.NewField("format", answer.TypeInteger, "version of its format", func(i *StoreInfo) any { return int64(i.Header.Format) }),
		answer.NewField("store_id", answer.TypeText, "id of the store", func(i *StoreInfo) any { return i.Header.StoreID }),
		answer.NewField("created", answer.TypeTime, "when it was created", func(i *StoreInfo) any { return i.Header.Created }),
	}
}

// censusField returns a column of what has to be read. It is NULL where that fails.
func censusField(name, meaning string, of func(*StoreInfo) any) answer.Field[StoreInfo] {
	return answer.NewField(name, answer.TypeInteger, meaning+"; NULL if the runs cannot be read", func(i *StoreInfo) any {
		if i.Census == nil {
			return nil
		}
		return of(i)
	})
}

// runFields count runs.
func runFields() []answer.Field[StoreInfo] {
	live := func(i *StoreInfo) int64 { return int64(len(i.Listing.Live)) }
	return []answer.Field[StoreInfo]{
		answer.NewField("runs", answer.TypeInteger, "stored runs, removed ones included", func(i *StoreInfo) any { return i.runs() }),
		answer.NewField("live_runs", answer.TypeInteger, "runs in a file of their own, which are not sealed yet", func(i *StoreInfo) any { return live(i) }),
		answer.NewField("sealed_runs", answer.TypeInteger, "runs in sealed files", func(i *StoreInfo) any { return i.runs() - live(i) }),
		censusField("removed_runs", "runs that rm removed; they are still stored", func(i *StoreInfo) any { return max(i.runs()-i.Census.Runs, 0) }),
		censusField("machines", "machines that measured the runs", func(i *StoreInfo) any { return i.Census.Machines }),
		censusField("samples", "number of samples of the primary metrics of the runs, added up. If the file of an imported run has only aggregates, it is the number in the file, although the samples are not stored", func(i *StoreInfo) any { return i.Census.Samples }),
		answer.NewField("oldest", answer.TypeTime, "start of the oldest run, of those whose start is known", func(i *StoreInfo) any { oldest, _ := i.span(); return oldest }),
		answer.NewField("newest", answer.TypeTime, "start of the newest run", func(i *StoreInfo) any { _, newest := i.span(); return newest }),
	}
}

// fileFields count files.
func fileFields() []answer.Field[StoreInfo] {
	bytes := answer.NewField("bytes", answer.TypeInteger, "size of the files of the store", func(i *StoreInfo) any { return i.total(nil).Bytes })
	perSample := answer.NewField("bytes_per_sample", answer.TypeReal, "size of the files of runs, samples, operators and events, divided by samples. It is too small if the store has imported runs without samples. NULL if there are no samples, or the runs cannot be read", func(i *StoreInfo) any {
		if i.Census == nil || i.Census.Samples == 0 {
			return nil
		}
		return float64(i.total(sampleZones).Bytes) / float64(i.Census.Samples)
	})
	bytes.Unit, perSample.Unit = "B", "B"
	return []answer.Field[StoreInfo]{
		censusField("events", "events: tags, notes, blessings and removals", func(i *StoreInfo) any { return i.Census.Events }),
		answer.NewField("packs", answer.TypeInteger, "packs, files that repeat live runs and events so that queries are fast", func(i *StoreInfo) any { return int64(len(i.Listing.Packs)) }),
		answer.NewField("files", answer.TypeInteger, "files of the store", func(i *StoreInfo) any { return int64(i.total(nil).Files) }),
		bytes, perSample,
		answer.NewField("unfinished_claims", answer.TypeInteger, "claims, which are groups of runs that a process is sealing; the claim of a process that was killed is finished by the next one", func(i *StoreInfo) any { return int64(i.Unfinished) }),
		answer.NewField("temporary_files", answer.TypeInteger, "files that are being written, or that a killed process left", func(i *StoreInfo) any { return int64(i.Temporary) }),
		answer.NewField("foreign_files", answer.TypeInteger, "files that do not belong to a store; they are ignored", func(i *StoreInfo) any { return int64(i.Foreign) }),
	}
}

// zone counts the files of a zone.
func (i *StoreInfo) zone(name string) check.Zone {
	if at := slices.IndexFunc(i.Zones, func(z check.Zone) bool { return z.Name == name }); at >= 0 {
		return i.Zones[at]
	}
	return check.Zone{}
}

// total counts the files of some zones, or of all of them.
func (i *StoreInfo) total(zones []string) (sum check.Zone) {
	for _, z := range i.Zones {
		if zones == nil || slices.Contains(zones, z.Name) {
			sum.Files, sum.Bytes = sum.Files+z.Files, sum.Bytes+z.Bytes
		}
	}
	return sum
}

// Claims explains the files in claims, if there are some. They hold runs that are also in sealed files, and would look like a waste of
// space.
func (i *StoreInfo) Claims() []string {
	claims := i.zone(schema.ClaimsDir)
	if claims.Files == 0 {
		return nil
	}
	return []string{"", fmt.Sprintf("%s/ has %s (%s) of runs that are sealed or being sealed: the first write after ten minutes removes it all",
		schema.ClaimsDir, term.Count(claims.Files, "file"), term.Quantity(claims.Bytes, "B"))}
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

// span returns the time of the oldest and the newest run whose time is known: from names, and of the runs that were read.
func (i *StoreInfo) span() (oldest, newest any) {
	var first, last int64
	note := func(from, to int64) {
		if from != 0 && (first == 0 || from < first) { // 0 is that of a run without a time
			first = from
		}
		last = max(last, to)
	}
	if i.Census != nil && !i.Census.Oldest.IsZero() {
		note(i.Census.Oldest.UnixMilli(), 0)
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

// timeOrNull returns the time of a run's id, in Unix milliseconds; 0 is not known.
func timeOrNull(ms int64) any {
	if ms == 0 {
		return nil
	}
	return time.UnixMilli(ms).UTC()
}

// StoreProblems lists problems of a store, or what was done about them. Columns: what it is, the path, and why; remedies, if any, has
// one more text per row. In Markdown each is a row. On a screen each has lines of its own, because a path must not be cut.
func StoreProblems(format string, t answer.Table, remedies []string, page term.Page) term.View {
	table := term.TableViewOr(t, page, "no problem")
	if format == term.FormatMD {
		return table
	}
	var v term.View
	for i, row := range t.Rows {
		what, path, why := term.ValueString(row[0]), term.ValueString(row[1]), term.ValueString(row[2])
		v.Commands = append(v.Commands, what+term.Gap+path)
		v.Commands = append(v.Commands, term.Wrapped(adviceIndent+why, page.Width)...)
		if remedies != nil && remedies[i] != "" {
			v.Commands = append(v.Commands, term.Wrapped(adviceIndent+remedies[i], page.Width)...)
		}
	}
	if len(t.Rows) > 0 {
		v.Commands = append(v.Commands, "")
	}
	v.Commands = append(v.Commands, table.Below...)
	return v
}

// DamageOf returns what is wrong with a store that was verified; nil where nothing is.
func DamageOf(dir string, done check.Verified) error {
	read := fmt.Sprintf("%s in %s", term.Count(done.Runs+done.Loss.Runs, "run"), term.Count(done.Files, "file"))
	var more []string
	if done.Unreadable > 0 {
		more = append(more, fmt.Sprintf("%s could not be read", term.Count(done.Unreadable, "file")))
	}
	if done.Newer > 0 {
		more = append(more, fmt.Sprintf("%s of a newer version", term.Count(done.Newer, "file")))
	}
	switch {
	case done.Damage > 0:
		if done.Loss != (check.Loss{}) {
			more = slices.Insert(more, 0, LossText(done.Loss, "lost:"))
		}
		more = append(more, "store repair sets damaged files aside and keeps the rest")
		return fmt.Errorf("store %s is damaged: %s found in %s; %s",
			dir, term.Count(done.Damage, "problem"), read, strings.Join(more, "; "))
	case len(more) > 0:
		return fmt.Errorf("store %s: %s; all other files are intact: %s", dir, strings.Join(more, "; "), read)
	}
	return nil
}

// LossFields returns the columns that say how much was lost to damage.
func LossFields[Row any](of func(*Row) check.Loss) []answer.Field[Row] {
	field := func(name, meaning string, n func(check.Loss) int) answer.Field[Row] {
		return answer.NewField(name, answer.TypeInteger, meaning, func(row *Row) any { return int64(n(of(row))) })
	}
	return []answer.Field[Row]{
		field("runs_lost", "runs that are lost", func(l check.Loss) int { return l.Runs }),
		field("samples_lost", "runs whose samples are lost, while the runs are kept", func(l check.Loss) int { return l.Samples }),
		field("ops_lost", "runs whose operators are lost, while the runs are kept", func(l check.Loss) int { return l.Ops }),
	}
}

// FindingFields returns the columns of store verify.
func FindingFields() []answer.Field[check.Finding] {
	return append([]answer.Field[check.Finding]{
		text("severity", "notice (the data is still read correctly), damage, unreadable (the system does not let the file be read) or newer (a file of a later version)",
			func(f *check.Finding) string { return string(f.Severity) }),
		text("path", "file, from the folder of the store", func(f *check.Finding) string { return f.Path }),
		text("problem", "description of the problem", func(f *check.Finding) string { return f.Problem }),
	}, LossFields(func(f *check.Finding) check.Loss { return f.Loss })...)
}

// RepairFields returns the columns of store repair.
func RepairFields() []answer.Field[check.Repair] {
	return append([]answer.Field[check.Repair]{
		text("action", "set aside (in quarantine/), kept (intact rows of a damaged file), found (lost rows that are back), restored (an event) or removed (an empty folder of a claim); taken over or finished (sealing); left (not repaired)",
			func(r *check.Repair) string { return string(r.Action) }),
		text("path", "file, from the folder of the store", func(r *check.Repair) string { return r.Path }),
		text("reason", "why it was done", func(r *check.Repair) string { return r.Reason }),
	}, LossFields(func(r *check.Repair) check.Loss { return r.Loss })...)
}

// text returns a column with words.
func text[Row any](name, meaning string, of func(*Row) string) answer.Field[Row] {
	return answer.NewField(name, answer.TypeText, meaning, func(row *Row) any { return of(row) })
}

// LossText says what damage costs.
func LossText(l check.Loss, verb string) string {
	var parts []string
	for _, lost := range []struct {
		runs int
		what string
	}{{l.Runs, ""}, {l.Samples, "the samples of "}, {l.Ops, "the ops of "}} {
		if lost.runs > 0 {
			parts = append(parts, lost.what+term.Count(lost.runs, "run"))
		}
	}
	return verb + " " + strings.Join(parts, ", ")
}

// SealedTable has a row for each sealed file that was not there before, newest first.
func SealedTable(before, after []schema.SealedFile) answer.Table {
	known := map[schema.SealedFile]bool{}
	for _, f := range before {
		known[f] = true
	}
	added := slices.DeleteFunc(slices.Clone(after), func(f schema.SealedFile) bool { return known[f] })
	return answer.TableOf(SealedFields(), added)
}

// SealedFields returns the columns of store seal.
func SealedFields() []answer.Field[schema.SealedFile] {
	field := answer.NewField[schema.SealedFile]
	return []answer.Field[schema.SealedFile]{
		field("file", answer.TypeText, "new file, from the folder of the store", func(f *schema.SealedFile) any { return f.Path(schema.RunsDir) }),
		field("runs", answer.TypeInteger, "runs in it", func(f *schema.SealedFile) any { return int64(f.Rows) }),
		field("oldest", answer.TypeTime, "start of the oldest of them", func(f *schema.SealedFile) any { return timeOrNull(f.First) }),
		field("newest", answer.TypeTime, "start of the newest of them", func(f *schema.SealedFile) any { return timeOrNull(f.Last) }),
	}
}
