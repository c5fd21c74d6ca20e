package imports

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// Options say how files are read.
type Options struct {
	Formats  []foreign.Format
	From     *foreign.Format // of all files; nil: each is recognised by its content
	Added    foreign.Added   // what the files do not say
	Location *time.Location  // of times without a zone; nil: UTC, and marked
}

// Watcher is told how far a reading is.
type Watcher interface {
	Add(s foreign.Source)         // it will be read
	File(i int)                   // source i is read now
	Reading(input *foreign.Input) // of which so much is consumed
	Run()                         // one more
}

// Reading reads sources, once.
type Reading struct {
	Reports []Report // of the sources that were read
	Source  string   // what the first run came from; empty before

	options Options
	watch   Watcher
	sources []foreign.Source
	listed  map[string]bool // the sources, by their real paths; nil until that is asked
	reader  *foreign.Reader
	failed  error // of the store, while it was asked what it has
}

// New prepares a reading. The watcher knows the sources; it is told of those that become known on the way.
func New(sources []foreign.Source, o Options, watch Watcher) *Reading {
	return &Reading{sources: sources, options: o, watch: watch}
}

// Into stores all runs that are not in the store yet. The error is that of the store or the context; what was stored
// before stays, and the reports say where the reading was stopped.
func (r *Reading) Into(ctx context.Context, store *ingest.Store) (ingest.Appended, error) {
	r.reader = foreign.NewReader(r.options.Added, imported{store.Imported()})
	done, err := store.AppendAll(r.runs(ctx))
	done.Skipped += r.Known()
	return done, err
}

// Preview gives the runs as they would be stored, whatever is in a store.
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

// imported tells package foreign, which knows no store, what is in one.
type imported struct{ *ingest.Imported }

// Run is what a run is that is there.
func (i imported) Run(id schema.ULID) (foreign.ImportedRun, error) {
	r, samples, err := i.Imported.Run(id)
	return foreign.ImportedRun{Session: r.SessionID, Point: r.PointID, Samples: samples}, err
}

// runs yields the runs of all sources, and leaves a report of each.
func (r *Reading) runs(ctx context.Context) iter.Seq2[schema.Valid, error] {
	return func(yield func(schema.Valid, error) bool) {
		more := true
		for i := 0; i < len(r.sources); i++ { // some become known while others are read
			s := r.sources[i]
			r.watch.File(i)
			report := r.read(ctx, s, func(run schema.Valid) bool {
				if ctx.Err() != nil {
					return false
				}
				r.Source = cmp.Or(r.Source, run.Run().Source)
				r.watch.Run()
				more = yield(run, nil)
				return more
			})
			if err := cmp.Or(ctx.Err(), r.failed); err != nil && more {
				more = false
				yield(schema.Valid{}, err)
			}
			if !more {
				report.State, report.Why = Partly, "reading was stopped"
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

// alsoRead adds the files that say more of what a file says which was named alone, so that it is stored once and whole,
// whichever of them is named.
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
func (r *Reading) read(ctx context.Context, s foreign.Source, yield func(schema.Valid) bool) Report {
	failed := func(state State, err error) Report {
		return Report{Report: foreign.Report{Name: s.Name}, State: state, Why: err.Error()}
	}
	input, err := s.Open(ctx, r.options.Location)
	if s.Store {
		return failed(Store, err)
	}
	if err != nil {
		return failed(Failed, err)
	}
	defer input.Close()
	r.watch.Reading(input)
	format := r.options.From
	if format == nil {
		if format, err = foreign.FormatOf(r.options.Formats, input.Head); err != nil {
			return failed(Unknown, err)
		}
	}
	if format.Read == nil {
		return Report{Report: foreign.Report{Name: s.Name, Format: format.Name}, State: Side, Why: format.Side}
	}
	report, err := r.reader.Read(input, format, yield)
	if failed, ok := errors.AsType[*foreign.StoreError](err); ok {
		r.failed = failed
	}
	done := Report{Report: report, State: Read}
	switch {
	case err != nil:
		done.State, done.Why = Partly, err.Error()
	case report.Refused > 0:
		done.State = Partly
	}
	return done
}
