package formats

import (
	"fmt"
	"slices"

	"github.com/neurolens/neurolens/ingest/foreign"
)

// containsAll reports whether a table has all of some columns.
func containsAll(columns, wanted []string) bool {
	return !slices.ContainsFunc(wanted, func(name string) bool { return !slices.Contains(columns, name) })
}

// tables are tables of comma-separated values that may follow one another in a file, each below a heading.
type tables struct {
	heading func(names, record []string) bool        // whether a record is a heading; names are the columns so far, nil at first
	begins  func(where string, names []string) error // handles a heading; nil: nothing to do
	fits    func(names, record []string) bool        // whether a record has a number of fields that is right; nil: one for each name
	row     func(out *foreign.Output, where string, names, record []string) error
}

// read reads the rows of a file. A row that does not fit, or that row refuses, is refused alone.
func (t tables) read(in *foreign.Input, out *foreign.Output) error {
	c := in.CSV()
	var names []string
	for record, err := range c.Records() {
		if err != nil {
			return err
		}
		where := fmt.Sprintf("line %d", c.Line())
		switch fits := t.fits; {
		case t.heading(names, record):
			names = append(names[:0], record...)
			if t.begins != nil {
				err = t.begins(where, names)
			}
		case fits != nil && !fits(names, record), fits == nil && len(record) != len(names):
			err = refusal(where, "%d fields for %d columns", len(record), len(names))
		default:
			err = t.row(out, where, names, record)
		}
		if err := out.RefuseMismatch(err); err != nil {
			return err
		}
	}
	return nil
}
