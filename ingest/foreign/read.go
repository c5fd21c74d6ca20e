package foreign

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// Reader reads files one after the other. It knows the runs of earlier files, and of a store.
type Reader struct {
	added Added
	known *known
}

// NewReader creates a reader. store is nil if there is no store.
func NewReader(added Added, store ImportedRuns) *Reader { return &Reader{added, newKnown(store)} }

// Read yields the new runs of a file, and returns a report. The report's error is the reason why the file ended early. A StoreError
// means that looking up stored runs failed.
func (r *Reader) Read(in *Input, format *Format, yield func(schema.Valid) bool) (Report, error) {
	added := r.added
	stored, on, err := r.former(in, format, &added)
	if err != nil {
		return Report{Name: in.Name, Format: format.Name}, err
	}
	r.known.names = append(r.known.names, in.Given)
	o, err := r.read(in, format, func(in *Input) *Output {
		return &Output{in: in, added: added, yield: yield, former: stored, identity: identity{known: r.known}}
	})
	if o.held != nil {
		yield(*o.held)
	}
	if o.Report.Runs > o.Report.Known {
		o.Report.OnMachines = on
	}
	if part := o.identity.part; part != (schema.ULID{}) {
		o.Note(fmt.Sprintf("a record that was cut off in an earlier import is complete now; remove the old one with neurolens rm %s", part), 1)
	}
	return o.Report, err
}

// former returns the stored runs that runs of a file may replace, by the number of the record from 1. These are the same runs
// without a start, and the runs to which the user gave a start in an earlier import. The latter count only if the file was not changed
// since: a changed file is another measurement, even if its content is equal. If the user gives a machine, the same runs without one count
// too, and the only start of an earlier import becomes the one in added. former reads the file once for each start and machine, up to
// the first record that is not stored. It finds nothing for a pipe, which cannot be read twice. The same runs on other machines stay; on
// has their ids by machine.
func (r *Reader) former(in *Input, format *Format, added *Added) (found map[int][]former, on map[string][]string, err error) {
	found, on = map[int][]former{}, map[string][]string{}
	if r.known.store == nil || !in.canBeReadAgain() {
		return found, on, nil
	}
	var starts []Start
	machines := []string{added.Machine}
	if added.Machine != "" {
		machines = append(machines, "")
	}
	if added.Start != nil || added.Machine != "" {
		starts = append(starts, nil) // without a start
	}
	if changed := in.changed(); changed != "" {
		given, err := r.known.store.Starts(in.Given, changed)
		if err != nil {
			return nil, nil, &StoreError{wrapLookup(err)}
		}
		before := startsGiven(given)
		if starts = append(starts, before...); added.Start == nil && added.Machine != "" && len(before) == 1 {
			added.Start = before[0]
		}
	}
	if added.Start != nil && added.Machine != "" {
		starts = append(starts, added.Start)
	}
	for _, start := range starts {
		for _, machine := range machines {
			if err := r.look(in, format, start, machine, found); err != nil {
				return nil, nil, err
			}
		}
	}
	if added.Machine == "" {
		return found, on, nil
	}
	others, err := r.known.store.Machines(in.Given)
	if err != nil {
		return nil, nil, &StoreError{wrapLookup(err)}
	}
	for _, machine := range others {
		same := map[int][]former{}
		for _, start := range starts {
			if machine == added.Machine {
				continue
			}
			if err := r.look(in, format, start, machine, same); err != nil {
				return nil, nil, err
			}
		}
		for record, runs := range same {
			for _, one := range runs {
				if !slices.ContainsFunc(found[record], func(own former) bool { return own.id == one.id }) { // the record names its machine
					on[machine] = append(on[machine], one.id)
				}
			}
		}
	}
	return found, on, nil
}

// startsGiven returns the starts that the user gave a file in earlier imports. stored are the starts of its runs, by their commits. A start
// that runs of all commits have was given for the whole file. The others are the times of the commits, of which each commit has one.
func startsGiven(stored map[string][]time.Time) (starts []Start) {
	commits := map[time.Time]int{} // number of commits with a start
	for _, all := range stored {
		for _, at := range all {
			if commits[at.UTC()]++; commits[at.UTC()] == len(stored) {
				starts = append(starts, StartAt(at))
			}
		}
	}
	if len(starts) == len(commits) {
		return starts
	}
	own := map[string]time.Time{}
	for commit, all := range stored {
		own[commit] = all[0] // may be the time of the commit, too
		for _, at := range all {
			if commits[at.UTC()] < len(stored) {
				own[commit] = at
			}
		}
	}
	return append(starts, func(*Input) RunStart {
		return func(r *schema.Run) (time.Time, error) { return own[r.Env.GitCommit], nil }
	})
}

// look reads a file as if the user gave this start and machine, and adds the runs of the records at its beginning that are stored with
// them.
func (r *Reader) look(in *Input, format *Format, start Start, machine string, all map[int][]former) error {
	again, err := in.reopen()
	if err != nil {
		return err
	}
	defer again.Close()
	added := r.added
	added.Start, added.Machine = start, machine
	var found map[int][]former
	_, err = r.read(again, format, func(in *Input) *Output {
		found = map[int][]former{}
		return &Output{in: in, added: added, looks: true, former: found, identity: identity{known: newKnown(r.known.store)}}
	})
	if failed, is := errors.AsType[*StoreError](err); is {
		return failed
	}
	for record, runs := range found {
		for _, one := range runs {
			if !slices.ContainsFunc(all[record], func(other former) bool { return other.id == one.id }) {
				all[record] = append(all[record], one)
			}
		}
	}
	return nil // an error of the file is reported when it is read
}

// read reads a file. If the file turns out to be another one than its first records suggest, read reads it again with a seed. begin makes
// the output of each reading.
func (r *Reader) read(in *Input, format *Format, begin func(in *Input) *Output) (*Output, error) {
	heads, err := headingsOf(in, format.OwnHeadings)
	if err != nil {
		o := begin(in)
		o.Report = Report{Name: in.Name, Path: in.Given, Format: format.Name}
		return o, err
	}
	if heads != nil {
		heads.find(in, format)
	}
	seed, noOld := "", false
	for n := 0; ; n++ {
		o := begin(in)
		o.Report, o.path, o.sessions = Report{Name: in.Name, Path: in.Given, Format: format.Name}, newPathFact(in), newFileSessions(format.Log)
		o.headings = heads
		i := &o.identity
		i.place, i.seed, i.noOld, i.log, i.keyed, i.name = place{chain: newChain(seed)}, seed, noOld, format.Log, format.Keyed, in.Given
		i.again = n < maxSeeds && in.canBeReadAgain()
		matches := true
		o.fromPath, matches = pathParams(r.added.FromPath, in.Given)
		o.Report.NoParams = !matches
		err := format.Read(in, o)
		if err == nil {
			err = i.end()
		}
		if errors.Is(err, errOther) {
			if in, err = in.reopen(); err != nil {
				return o, err
			}
			defer in.Close()
			seed, noOld = i.seed, i.noOld
			continue
		}
		if err == nil && o.Report.nothing() {
			o.Refuse("", errors.New("no result in it"))
		}
		if errors.Is(err, errStopped) {
			err = nil
		} else if n := in.further(); err == nil && n > 0 {
			o.LeaveOut("further JSON documents of the file", n)
		}
		if in.passedOver > 0 {
			o.LeaveOut("lines of text between and after the JSON", in.passedOver)
		}
		if i.failed != nil {
			return o, &StoreError{i.failed}
		}
		return o, inWords(err)
	}
}

// A StoreError is an error of looking up runs in the store.
type StoreError struct{ Err error }

func (e *StoreError) Error() string { return e.Err.Error() }
func (e *StoreError) Unwrap() error { return e.Err }

// canBeReadAgain reports whether reopen works. The content of a pipe is gone.
func (in *Input) canBeReadAgain() bool { return in.Folder != nil || in.Head.Whole }

// reopen returns the file from its beginning.
func (in *Input) reopen() (*Input, error) {
	if in.Folder == nil {
		return FromReader(bytes.NewReader(in.Head.Bytes), in.Name, in.Location)
	}
	again, err := Open(in.raw.ctx, in.Folder, in.Path, in.Location)
	if err != nil {
		return nil, cause(err)
	}
	again.Name, again.Given = in.Name, in.Given
	return again, nil
}
