package check

import (
	"context"
	"errors"
	"fmt"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/layout"
	"github.com/neurolens/neurolens/ingest/internal/sealing"
	"github.com/neurolens/neurolens/schema"
)

// Action is what Repair did, or would do.
type Action string

// The actions.
const (
	ActionAside   Action = "set aside" // moved into QuarantineDir, under the same name
	ActionKeep    Action = "kept"      // what is left of a sealed file, in one of the same id
	ActionFound   Action = "found"     // an event: lost rows are there again
	ActionRestore Action = "restored"  // an event, from a pack that has it again
	ActionReplan  Action = "taken over"
	ActionFinish  Action = "finished" // a claim: its runs are sealed
	ActionLeave   Action = "left"     // nothing can be done about it here
)

// Repair is one thing that was done.
type Repair struct {
	Action Action
	Path   string // in the store
	Reason string
	Loss   Loss
}

// Repaired counts what a repair did.
type Repaired struct {
	Left int // things that were left as they are
	Loss Loss
}

// Repair makes a store that has damage one that can be read: it moves what Verify finds damaged into QuarantineDir, with
// files that no store has where a glob over the tables finds them; it puts back events that packs still have; and it
// finishes claims that were abandoned. Nothing is deleted, and no link to a directory is moved.
//
// What is left of a damaged sealed file stays in the store: every run and every row of samples and ops that matches its
// hash or its page's checksum. Runs of which samples or ops are gone are named in an event before that. What cannot be
// read, or is of a later version, is left as it is.
//
// Each thing done is handed to did. Repairs and merges of one store take turns. Whatever stops a repair, the next one does
// the rest.
func (r *Repairer) Repair(ctx context.Context, did func(Repair)) (Repaired, error) {
	unlock, err := r.files.Lock(ctx)
	if errors.Is(err, schema.ErrDamaged) { // the header is no plain file, so that nobody else has the store open
		unlock, err = func() {}, nil
	}
	if err != nil {
		return Repaired{}, fmt.Errorf("repairing store %s: %w", r.dir, err)
	}
	defer unlock()
	work := &repairer{files: r.files, sealer: &r.sealer, did: did, moved: map[string]bool{}}
	if err := work.all(ctx); err != nil {
		return work.done, fmt.Errorf("repairing store %s: %w", r.dir, err)
	}
	return work.done, nil
}

// PlanRepair says what Repair would do with the store in a directory, without doing it: nothing is written.
func PlanRepair(ctx context.Context, dir string, would func(Repair)) (Repaired, error) {
	files, err := disk.NewOS(dir)
	var planned Repaired
	if err == nil {
		planned, err = planFiles(ctx, files, would)
	}
	if err != nil {
		return planned, fmt.Errorf("repairing store %s: %w", dir, err)
	}
	return planned, nil
}

// planFiles is PlanRepair of a store of these files.
func planFiles(ctx context.Context, f disk.Files, would func(Repair)) (Repaired, error) {
	if err := headerError(f); err != nil && !errors.Is(err, schema.ErrDamaged) {
		return Repaired{}, err
	}
	r := &repairer{files: f, sealer: &sealing.Sealer{Files: f, Rules: sealing.StandardRules()}, dryRun: true, did: would, moved: map[string]bool{}}
	err := r.all(ctx)
	return r.done, err
}

// repairer is one call of Repair.
type repairer struct {
	files  disk.Files
	sealer *sealing.Sealer
	dryRun bool
	did    func(Repair)
	moved  map[string]bool // what was set aside
	done   Repaired
}

func (r *repairer) all(ctx context.Context) error {
	var found []Finding
	verified, err := verifyFiles(ctx, r.files, func(f Finding) { found = append(found, f) })
	if err != nil {
		return err
	}
	for _, f := range found {
		if f.remedy == remedyHeader {
			err = r.header(f, verified.Newer)
		} else {
			err = r.remedy(f)
		}
		if err != nil {
			return err
		}
	}
	if err := r.restoreEvents(); err != nil {
		return err
	}
	claims, err := layout.ListClaims(r.files)
	if err != nil {
		return err
	}
	for i, c := range claims {
		if claims[i], err = r.replan(c); err != nil {
			return err
		}
	}
	return r.finish(ctx, claims)
}

// remedy does what can be done about a finding.
func (r *repairer) remedy(f Finding) error {
	switch f.remedy {
	case remedyAside:
		return r.asideFor(f.Path, f.Problem, f.Loss)
	case remedySealed:
		return r.sealed(f)
	case remedyFound:
		return r.found(f)
	case remedyRestore:
		return nil // when all files that stand in the way are set aside
	}
	if f.Severity != SeverityNotice {
		r.leave(f.Path, f.Problem)
	}
	return nil
}
