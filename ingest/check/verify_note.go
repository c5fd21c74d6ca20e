package check

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
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
	v.report(f)
}

// note reports an error about the content of a file, and returns all other errors. A file that is gone was moved after it
// was listed.
func (v *verifier) note(name string, r remedy, err error) error {
	return v.noteLoss(name, r, Loss{}, err)
}

// noteLoss is note for a file whose repair loses data.
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
		if at, ok := errors.AsType[*fs.PathError](err); ok && at.Path != name && at.Path != schema.HeaderFile && disk.IsFolder(at.Path) {
			v.add(Finding{Severity: SeverityDamage, Path: name, Problem: "it needs files in " + at.Path + ", which is not a plain directory"})
			return nil
		}
		v.add(Finding{Severity: SeverityDamage, Path: name, Problem: runfile.ProblemText(err), Loss: loss, remedy: r})
		return nil
	}
	if cause, ok := errors.AsType[*fs.PathError](err); ok && name != "" {
		// A file that cannot be read says nothing about the others, so verification continues.
		if fs.ValidPath(cause.Path) { // of a file that belongs to this one
			name = cause.Path
		}
		v.add(Finding{Severity: SeverityUnreadable, Path: name, Problem: "reading it: " + cause.Err.Error()})
		return nil
	}
	return err
}

// newer reports an intact file with content that this version does not know. Columns may be added in any format, so this
// is only a notice, unless the file has another format than the store.
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
