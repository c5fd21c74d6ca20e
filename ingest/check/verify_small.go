package check

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"slices"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/ingest/internal/sealing"
	"github.com/neurolens/neurolens/schema"
)

// checkSmall checks a file that does not contain runs.
func (v *verifier) checkSmall(s disk.StoreFile) (err error) {
	switch s.Kind {
	case disk.KindOwner:
		_, err = sealing.ReadOwner(v.files, path.Dir(s.Path))
	case disk.KindPlan:
		err = v.checkPlan(s)
	case disk.KindOut:
		err = v.checkOut(s)
	case disk.KindPackedEvents:
		err = v.checkPackedEvents(s)
	case disk.KindWideEvent:
		err = v.checkWideEvent(s)
	case disk.KindFolderNames:
		err = schema.CheckFolderNames(v.files, s.ID)
	case disk.KindEvent:
		_, err = schema.ReadEvent(v.files, s.ID)
	case disk.KindArtifact:
		err = runfile.CheckArtifact(v.files, s.Path)
	}
	return err
}

// checkPackedEvents compares the lines of packed events with the events.
func (v *verifier) checkPackedEvents(s disk.StoreFile) error {
	return schema.ReadPackedEvents(v.files, s.Path, func(line []byte) error {
		e, err := schema.DecodeEvent(line)
		if err != nil {
			return err
		}
		id, err := schema.ParseULID(e.EventID)
		if err != nil {
			return fmt.Errorf("%w: %w", schema.ErrDamaged, err)
		}
		original, err := schema.ReadNames(v.files, schema.EventFile(id))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			v.add(Finding{Severity: SeverityDamage, Path: schema.EventFile(id), Problem: "it is missing, but " + s.Path + " has a copy", remedy: remedyRestore})
		case err != nil:
			return err
		case !bytes.Equal(line, original) && isEvent(v.files, id):
			return runfile.Damagedf(s.Path, "its copy of event %s differs from %s", e.EventID, schema.EventFile(id))
		}
		return nil
	})
}

// checkWideEvent compares the wide form of an event with the event.
func (v *verifier) checkWideEvent(s disk.StoreFile) error {
	e, err := schema.ReadWholeWide(v.files, s.ID)
	if err != nil {
		return err
	}
	original, err := schema.ReadEvent(v.files, s.ID)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		v.add(Finding{Severity: SeverityDamage, Path: schema.EventFile(s.ID), Problem: "it is missing, but " + s.Path + " has a copy", remedy: remedyRestore})
		return nil
	case err != nil:
		return nil // it is reported itself
	}
	original.Runs = slices.Compact(slices.Sorted(slices.Values(original.Runs)))
	if !reflect.DeepEqual(e, original) {
		return runfile.Damagedf(s.Path, "it differs from %s", schema.EventFile(s.ID))
	}
	return nil
}

// isEvent reports whether the file of an event is intact.
func isEvent(f fs.FS, id schema.ULID) bool {
	_, err := schema.ReadEvent(f, id)
	return err == nil
}

// checkPlan compares a plan with its claim.
func (v *verifier) checkPlan(s disk.StoreFile) error {
	plan, err := schema.ReadPlan(v.files, s.Claim)
	if err == nil && plan.File != "" {
		_, err = disk.PlannedFile(s.Claim, plan)
	}
	return err
}

// checkOut checks a file of a claim that is not a part of the store yet. If its sealer has died, the file is written
// again, so a damaged one is not damage of the store.
func (v *verifier) checkOut(s disk.StoreFile) error {
	err := runfile.CheckHash(v.files, s.Path)
	if errors.Is(err, schema.ErrDamaged) {
		v.add(Finding{Severity: SeverityNotice, Path: s.Path, Problem: "it is incomplete; the process that continues this claim writes it again"})
		return nil
	}
	return err
}
