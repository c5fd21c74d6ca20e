package foreign

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/neurolens/neurolens/schema"
)

// Reader reads files one after the other. It knows what it read, and what a store has of earlier ones.
type Reader struct {
	added Added
	known *known
}

// NewReader reads for a store; nil where there is none.
func NewReader(added Added, store ImportedRuns) *Reader { return &Reader{added, newKnown(store)} }

// Read yields the runs of a file that are not known, and reports what came of all. Its error says why the file ended
// early; a StoreError says that nobody knows what the store has.
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

// A StoreError is one of the store that was asked which runs it has.
type StoreError struct{ Err error }

func (e *StoreError) Error() string { return e.Err.Error() }
func (e *StoreError) Unwrap() error { return e.Err }

// canBeReadAgain tells whether reopen works: what comes from a pipe is gone.
func (in *Input) canBeReadAgain() bool { return in.Folder != nil || in.Head.Whole }

// reopen is the file from its beginning.
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
