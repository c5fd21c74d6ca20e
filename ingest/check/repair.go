package check

import (
	"context"
	"errors"
	"fmt"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/sealing"
	"github.com/neurolens/neurolens/schema"
)

// Action is what Repair did, or would do, with a file.
type Action string

// The actions.
const (
	ActionAside   Action = "set aside"  // moved into quarantine/, under its old path
	ActionKeep    Action = "kept"       // the intact rows of a sealed file, in a file with the same id
	ActionFound   Action = "found"      // recorded in an event that lost rows are there again
	ActionRestore Action = "restored"   // an event, from the copy in a pack
	ActionReplan  Action = "taken over" // a claim whose plan cannot be executed
	ActionFinish  Action = "finished"   // a claim: its runs are sealed now
	ActionRemove  Action = "removed"    // an empty folder of a claim
	ActionLeave   Action = "left"       // unchanged: Repair can do nothing about it
)

// Repair is one action of a repair.
type Repair struct {
	Action Action
	Path   string // in the store
	Reason string
	Loss   Loss
}

// Repaired counts what a repair did.
type Repaired struct {
	Left int // findings that Repair can do nothing about
	Loss Loss
}

// Repair makes a damaged store readable. It moves damaged files into quarantine/, and also files that do not belong to a
// store if a glob over the tables would read them. It restores events that packs still have, and finishes abandoned
// claims. It deletes nothing but empty folders of claims, and does not move links to directories.
//
// Every run, and every row of samples and ops, that matches its hash or the checksum of its page stays in the store.
// Before a damaged file is replaced, an event names the runs that lose samples or ops. Files that cannot be read, or that
// a later version wrote, are left unchanged.
//
// Repair calls did for each action. Repairs and merges of one store take turns. If a repair is interrupted, the next one
// does the rest.
func (r *Repairer) Repair(ctx context.Context, did func(Repair)) (Repaired, error) {
	unlock, err := r.files.Lock(ctx)
	if errors.Is(err, schema.ErrDamaged) { // the header is not a regular file, so nobody else can have the store open
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

// PlanRepair calls would for each action that Repair would take on the store in a directory. It writes nothing.
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

// planFiles is PlanRepair for these files.
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
	moved  map[string]bool // paths that were set aside
	absent bool            // recordAbsent has looked
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
	claims, err := disk.ListClaims(r.files)
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
		return r.recordFound(f)
	case remedyEmpty:
		return r.removeEmpty(f)
	case remedyRestore:
		return nil // restoreEvents does it, after damaged files are set aside
	}
	if f.Severity != SeverityNotice {
		r.leave(f.Path, f.Problem)
	}
	return nil
}
