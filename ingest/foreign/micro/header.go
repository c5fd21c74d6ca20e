package micro

import (
	"bytes"

	"github.com/neurolens/neurolens/ingest/foreign"
)

// header reads those members of a file's object that hold for all its records, wherever they stand: member reads or skips
// the value of each. The file is read once more for that, unless its beginning has members at all of the paths. What is
// returned is to be read for the records, and to be closed.
func header(in *foreign.Input, out *foreign.Output, member func(j *foreign.JSON, name string) error, paths ...string) (*foreign.Input, error) {
	first, second := in, in
	var err error
	if in.Head.Whole || in.Head.Has(paths...) {
		first, err = foreign.FromReader(bytes.NewReader(in.Head.Bytes), in.Name, in.Location)
	} else {
		first, second, err = twice(in)
	}
	if err != nil {
		return nil, err
	}
	j, err := first.JSON()
	if err != nil {
		return nil, err
	}
	_ = j.Members(func(name string) error { // what cannot be read on is said when the records are read
		return out.RefuseMismatch(member(j, name))
	})
	return second, nil
}
