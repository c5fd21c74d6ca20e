package check

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/neurolens/neurolens/ingest/internal/layout"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/ingest/table"
	"github.com/neurolens/neurolens/schema"
)

func (v *verifier) add(f Finding) {
	switch f.Severity {
	case SeverityDamage:
		v.done.Damage++
	case SeverityUnreadable:
		v.done.Unreadable++
	case SeverityNewer:
		v.done.Newer++
	case SeverityNotice:
	}
	v.done.Loss.Add(f.Loss)
	v.found(f)
}

// note makes a finding of an error that comes from what is in a file, and gives back all others. What went away since it
// was listed was moved.
func (v *verifier) note(name string, r remedy, err error) error {
	return v.noteLoss(name, r, Loss{}, err)
}

// noteLoss is note of a file that costs something when it is repaired.
func (v *verifier) noteLoss(name string, r remedy, loss Loss, err error) error {
	if in, ok := errors.AsType[*runfile.FileError](err); ok {
		name, err = in.Path, in.Err
	}
	switch {
	case err == nil || errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, table.ErrNewer):
		return v.newer(name, err)
	case errors.Is(err, schema.ErrDamaged):
		if at, ok := errors.AsType[*fs.PathError](err); ok && at.Path != name && at.Path != schema.HeaderFile && layout.IsFolder(at.Path) {
			v.add(Finding{Severity: SeverityDamage, Path: name, Problem: "it needs files in " + at.Path + ", which is not a plain directory"})
			return nil
		}
		v.add(Finding{Severity: SeverityDamage, Path: name, Problem: runfile.ProblemText(err), Loss: loss, remedy: r})
		return nil
	}
	if cause, ok := errors.AsType[*fs.PathError](err); ok && name != "" {
		// It says nothing about the content of this file, and is no reason not to look at the others.
		if fs.ValidPath(cause.Path) { // of a file that belongs to this one
			name = cause.Path
		}
		v.add(Finding{Severity: SeverityUnreadable, Path: name, Problem: "reading it: " + cause.Err.Error()})
		return nil
	}
	return err
}

// newer makes a finding of a file that is whole and has what this version does not know. Columns are added in every
// format; but nobody writes a file of another format into a store of this one.
func (v *verifier) newer(name string, cause error) error {
	_, file, err := runfile.OpenTable(v.files, name, schema.Runs) // of whatever table it is, the format is looked at first
	switch {
	case err == nil:
		_ = file.Close()
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, table.ErrNewer):
		problem := fmt.Sprintf("%v, but the store has format %d; a later version of neurolens can read it", cause, schema.Format)
		v.add(Finding{Severity: SeverityNewer, Path: name, Problem: problem})
		return nil
	}
	v.add(Finding{Severity: SeverityNotice, Path: name, Problem: cause.Error()})
	return nil
}
