package main

import (
	"cmp"
	"context"
	"errors"
	"iter"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// importedRuns tells package foreign, which knows no store, what is in one.
type importedRuns struct{ *ingest.Imported }

// Run is what a run is that is there.
func (i importedRuns) Run(id schema.ULID) (foreign.ImportedRun, error) {
	r, samples, err := i.Imported.Run(id)
	return foreign.ImportedRun{Session: r.SessionID, Point: r.PointID, Samples: samples}, err
}

// fileReport is what came of a source.
type fileReport struct {
	foreign.Report
	state fileState
	why   string // where it was not read to its end
}

// fileState is how far a file was read.
type fileState string

const (
	fileRead    fileState = "read"
	filePartly  fileState = "partly"  // something of it was refused
	fileSide    fileState = "side"    // it only goes with others
	fileUnknown fileState = "unknown" // nobody recognises it
	fileStore   fileState = "store"   // a store in a folder that was walked
	fileFailed  fileState = "failed"  // it cannot be read
)

// runs yields the runs of all sources, and leaves a report of each.
func (in *ingesting) runs(ctx context.Context) iter.Seq2[schema.Run, error] {
	return func(yield func(schema.Run, error) bool) {
		more := true
		for i := 0; i < len(in.sources); i++ { // some become known while others are read
			s := in.sources[i]
			in.progress.file(i)
			report := in.read(ctx, s, func(r schema.Run) bool {
				if ctx.Err() != nil {
					return false
				}
				if in.source == "" {
					in.source = r.Source
				}
				in.progress.run()
				more = yield(r, nil)
				return more
			})
			if err := cmp.Or(ctx.Err(), in.storeFailed); err != nil && more {
				more = false
				yield(schema.Run{}, err)
			}
			if !more {
				report.state, report.why = filePartly, "the reading was stopped"
			}
			in.reports = append(in.reports, report)
			in.alsoRead(s, report.Elsewhere)
			if !more {
				return
			}
		}
	}
}

// alsoRead adds the files that say more of what a file says which was named alone, so that it is stored once and whole,
// whichever of them is named.
func (in *ingesting) alsoRead(s foreign.Source, elsewhere []string) {
	if !s.Named || len(elsewhere) == 0 {
		return
	}
	if in.listed == nil {
		in.listed = map[string]bool{}
		for _, listed := range in.sources {
			in.listed[listed.Real()] = true
		}
	}
	for _, name := range elsewhere {
		beside := s.Beside(name)
		real := beside.Real()
		if in.listed[real] {
			continue
		}
		in.listed[real], beside.Named = true, true
		in.sources = append(in.sources, beside)
		in.progress.add(beside)
	}
}

// read reads one source.
func (in *ingesting) read(ctx context.Context, s foreign.Source, yield func(schema.Run) bool) fileReport {
	failed := func(state fileState, err error) fileReport {
		return fileReport{Report: foreign.Report{Name: s.Name}, state: state, why: err.Error()}
	}
	input, err := s.Open(ctx, in.location)
	if s.Store {
		return failed(fileStore, err)
	}
	if err != nil {
		return failed(fileFailed, err)
	}
	defer input.Close()
	in.progress.reading(input)
	format := in.from
	if format == nil {
		if format, err = foreign.FormatOf(in.formats, input.Head); err != nil {
			return failed(fileUnknown, err)
		}
	}
	if format.Read == nil {
		return fileReport{Report: foreign.Report{Name: s.Name, Format: format.Name}, state: fileSide, why: format.Side}
	}
	report, err := in.reader.Read(input, format, yield)
	if failed, ok := errors.AsType[*foreign.StoreError](err); ok {
		in.storeFailed = failed
	}
	done := fileReport{Report: report, state: fileRead}
	switch {
	case err != nil:
		done.state, done.why = filePartly, err.Error()
	case report.Refused > 0:
		done.state = filePartly
	}
	return done
}
