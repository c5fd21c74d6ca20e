package foreign

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/neurolens/neurolens/schema"
)

// Reader reads files one after the other. It knows the runs of earlier files, and of a store.
type Reader struct {
	added Added
	known *known
}

// NewReader creates a reader. store is nil if there is no store.
func NewReader(added Added, store ImportedRuns) *Reader { return &Reader{added, newKnown(store)} }

// Read yields the new runs of a file, and gives a report. Its error says why the file ended early. A StoreError means
// that looking up stored runs failed.
func (r *Reader) Read(in *Input, format *Format, yield func(schema.Valid) bool) (Report, error) {
	seed, noOld := "", false
	for n := 0; ; n++ {
		o := &Output{
			Report: Report{Name: in.Name, Format: format.Name}, in: in, added: r.added, yield: yield, path: newPathFact(in.Given),
			sessions: newFileSessions(format.Log),
			identity: identity{
				place: place{chain: newChain(seed)}, known: r.known, seed: seed, noOld: noOld, log: format.Log,
				again: n < maxSeeds && in.canBeReadAgain(),
			},
		}
		matches := true
		o.fromPath, matches = pathParams(r.added.FromPath, in.Given)
		o.Report.NoParams = !matches
		err := format.Read(in, o)
		if errors.Is(err, errOther) {
			if in, err = in.reopen(); err != nil {
				return o.Report, err
			}
			defer in.Close()
			seed, noOld = o.identity.seed, o.identity.noOld
			continue
		}
		if o.held != nil {
			yield(*o.held)
		}
		if part := o.identity.part; part != (schema.ULID{}) {
			o.Note(fmt.Sprintf("a record that was cut off in an earlier import is complete now; remove the old one with neurolens rm %s", part), 1)
		}
		if in.passedOver > 0 {
			o.LeaveOut("lines of text between and after the JSON", in.passedOver)
		}
		if errors.Is(err, errStopped) {
			err = nil
		}
		if o.identity.failed != nil {
			return o.Report, &StoreError{o.identity.failed}
		}
		return o.Report, inWords(err)
	}
}

// A StoreError is an error of looking up runs in the store.
type StoreError struct{ Err error }

func (e *StoreError) Error() string { return e.Err.Error() }
func (e *StoreError) Unwrap() error { return e.Err }

// canBeReadAgain reports whether reopen works. The content of a pipe is gone.
func (in *Input) canBeReadAgain() bool { return in.Folder != nil || in.Head.Whole }

// reopen gives the file from its beginning.
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
