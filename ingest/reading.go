package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// ReadOptions are options of reading files.
type ReadOptions struct {
	Formats  []foreign.Format
	From     *foreign.Format // format of all files; nil means that each is recognised by its content
	Added    foreign.Added   // values that the user adds to the runs
	Location *time.Location  // zone of times without one; nil means UTC, and the times are marked
}

// ReadWatcher receives the progress of a reading.
type ReadWatcher interface {
	Add(s foreign.Source)         // one more source will be read
	File(i int)                   // source i is being read
	Reading(input *foreign.Input) // its input, which counts the consumed bytes
	Run()                         // one more run was read
}

// Reading reads sources, once.
type Reading struct {
	Reports []FileReport // of the sources so far
	// Replaced is the number of stored runs without a start or a machine, or with another start, that were removed because the runs
	// with the new start and machine are stored.
	Replaced int

	options ReadOptions
	watch   ReadWatcher
	sources []foreign.Source
	listed  map[string]bool // real paths of the sources; nil until they are needed
	reader  *foreign.Reader
	failed  error // of the store, during a lookup
}

// NewReading prepares a reading. The watcher knows the sources already; it is notified of files that are found on the way.
func NewReading(sources []foreign.Source, o ReadOptions, watch ReadWatcher) *Reading {
	return &Reading{sources: sources, options: o, watch: watch}
}

// Into stores all runs that are not in the store yet. The error comes from the store or the context. Runs that were stored before it
// stay, and the reports record where reading stopped.
func (r *Reading) Into(ctx context.Context, store *Store) (Appended, error) {
	looked := store.Imported()
	r.reader = foreign.NewReader(r.options.Added, imported{looked})
	done, err := store.AppendAll(r.runs(ctx))
	done.Skipped += r.Known()
	if err != nil {
		return done, err
	}
	if err = r.nameKnown(looked); err != nil {
		return done, err
	}
	if err = r.forgetRemoved(store); err != nil {
		return done, err
	}
	all, err := r.replacements(looked)
	if err != nil {
		return done, err
	}
	for i := range r.Reports {
		if err := store.Tag(r.Reports[i].Tags); err != nil {
			return done, err
		}
	}
	r.Replaced, err = store.Replace(all) // the new runs are on disk: if this fails, the same import does it again
	return done, err
}

// maxKnown is the maximum number of known files whose names in the store are looked up.
const maxKnown = 50

// nameKnown looks up the other names under which the content of files is stored.
func (r *Reading) nameKnown(store *Imported) error {
	var ids []schema.ULID
	for i := range r.Reports {
		if one := &r.Reports[i]; one.AllKnown() && one.KnownName == "" {
			ids = append(ids, one.KnownRun)
		}
	}
	if len(ids) > maxKnown {
		return nil
	}
	paths, err := store.Paths(ids)
	if err != nil {
		return err
	}
	for i := range r.Reports {
		if one := &r.Reports[i]; one.KnownName == "" {
			one.KnownName = paths[one.KnownRun]
		}
	}
	return nil
}

// forgetRemoved leaves removed runs out of OnMachines of the reports.
func (r *Reading) forgetRemoved(store *Store) error {
	if !slices.ContainsFunc(r.Reports, func(one FileReport) bool { return len(one.OnMachines) > 0 }) {
		return nil
	}
	said, err := store.annotations()
	if err != nil {
		return fmt.Errorf("reading which runs of store %s are removed: %w", store.dir, err)
	}
	for i := range r.Reports {
		maps.DeleteFunc(r.Reports[i].OnMachines, func(_ string, ids []string) bool {
			return !slices.ContainsFunc(ids, func(id string) bool { return !said.Removed[id] })
		})
	}
	return nil
}

// replacements lists the stored runs that runs of the files replace. If several files have the content of one stored run, the file with the
// path of the stored run comes first: Replace lets the first one decide.
func (r *Reading) replacements(store *Imported) ([]Replaced, error) {
	var all []Replaced
	var ids []schema.ULID
	claims, path := map[string]int{}, map[string]string{} // files that claim a stored run, and the path of the file of a new run
	for i := range r.Reports {
		for _, one := range r.Reports[i].Replaced {
			path[one.New] = r.Reports[i].Path
			all = append(all, Replaced(one))
			if claims[one.Old]++; claims[one.Old] == 2 {
				id, err := schema.ParseULID(one.Old)
				if err != nil {
					return nil, err
				}
				ids = append(ids, id)
			}
		}
	}
	// A run that this import has read with its start is not the same run as one with another start.
	all = slices.DeleteFunc(all, func(one Replaced) bool { _, read := path[one.Old]; return read })
	paths, err := store.Paths(ids)
	if err != nil {
		return nil, err
	}
	stored, first := map[string]string{}, map[string]bool{} // paths of runs with several claims, and the new runs to put first
	for id, path := range paths {
		stored[id.String()] = path
	}
	for _, one := range all {
		if of, several := stored[one.Old]; several && path[one.New] == of {
			first[one.New] = true
		}
	}
	var sorted, others []Replaced
	for _, one := range all {
		if first[one.New] {
			sorted = append(sorted, one)
		} else {
			others = append(others, one)
		}
	}
	return append(sorted, others...), nil
}

// Preview returns the runs as they would be stored, whether or not a store has them.
func (r *Reading) Preview(ctx context.Context) iter.Seq2[schema.Run, error] {
	r.reader = foreign.NewReader(r.options.Added, nil)
	return func(yield func(schema.Run, error) bool) {
		for valid, err := range r.runs(ctx) {
			run := valid.Run()
			run.Metrics, run.Ops = slices.Clone(run.Metrics), slices.Clone(run.Ops)
			stat.Complete(&run)
			if !yield(run, err) {
				return
			}
		}
	}
}

// imported lets package foreign, which does not depend on stores, look up runs in one.
type imported struct{ *Imported }

// Run describes a stored run.
func (i imported) Run(id schema.ULID) (foreign.ImportedRun, error) {
	r, samples, err := i.Imported.Run(id)
	return foreign.ImportedRun{Session: r.SessionID, Point: r.PointID, Samples: samples, Path: r.Env.Facts[schema.FactPath]}, err
}

// runs yields the runs of all sources, and adds a report for each source.
func (r *Reading) runs(ctx context.Context) iter.Seq2[schema.Valid, error] {
	return func(yield func(schema.Valid, error) bool) {
		more := true
		for i := 0; i < len(r.sources); i++ { // reading one may add others
			s := r.sources[i]
			r.watch.File(i)
			report := r.read(ctx, s, func(run schema.Valid) bool {
				if ctx.Err() != nil {
					return false
				}
				r.watch.Run()
				more = yield(run, nil)
				return more
			})
			if err := cmp.Or(ctx.Err(), r.failed); err != nil && more {
				more = false
				yield(schema.Valid{}, err)
			}
			if !more {
				report.State, report.Why = FilePartly, "reading was stopped"
			}
			report.Named = s.Named
			r.Reports = append(r.Reports, report)
			r.alsoRead(s, report.Elsewhere)
			if !more {
				return
			}
		}
	}
}

// alsoRead adds files that have more details of the results in a file that the user named. So the results are stored once
// and completely, whichever of the files is named.
func (r *Reading) alsoRead(s foreign.Source, elsewhere []string) {
	if !s.Named || len(elsewhere) == 0 {
		return
	}
	if r.listed == nil {
		r.listed = map[string]bool{}
		for _, listed := range r.sources {
			r.listed[listed.Real()] = true
		}
	}
	for _, name := range elsewhere {
		beside := s.Beside(name)
		real := beside.Real()
		if r.listed[real] {
			continue
		}
		r.listed[real], beside.Named = true, true
		r.sources = append(r.sources, beside)
		r.watch.Add(beside)
	}
}

// read reads one source.
func (r *Reading) read(ctx context.Context, s foreign.Source, yield func(schema.Valid) bool) FileReport {
	failed := func(state FileState, err error) FileReport {
		return FileReport{Report: foreign.Report{Name: s.Name}, State: state, Why: err.Error()}
	}
	input, err := s.Open(ctx, r.options.Location)
	if s.Store {
		return failed(FileIsStore, err)
	}
	if err != nil {
		return failed(FileFailed, err)
	}
	defer input.Close()
	r.watch.Reading(input)
	format := r.options.From
	if format == nil {
		if format, err = input.Format(r.options.Formats); err != nil {
			return failed(FileUnknown, err)
		}
	}
	if format.Read == nil {
		return FileReport{Report: foreign.Report{Name: s.Name, Format: format.Name}, State: FileSide, Why: format.Side}
	}
	report, err := r.reader.Read(input, format, yield)
	if failed, ok := errors.AsType[*foreign.StoreError](err); ok {
		r.failed = failed
	}
	done := FileReport{Report: report, State: FileRead}
	if report.Undated > 0 {
		done.Changed, _ = foreign.StartOfChange(input)(nil) // a pipe has none
	}
	switch {
	case err != nil:
		done.State, done.Why = FilePartly, err.Error()
	case report.Refused > 0:
		done.State = FilePartly
	}
	return done
}
