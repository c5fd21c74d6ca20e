package check

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/sealing"
	"github.com/neurolens/neurolens/schema"
)

// replan takes over a claim that cannot be finished by its plan, because the plan is damaged or names a run that is
// missing. Without the plan, the next sealer makes another one. The take-over renames the claim to its next attempt, so
// its former owner cannot continue with the old plan.
func (r *repairer) replan(c schema.Claim) (schema.Claim, error) {
	name := path.Join(c.Path(), schema.PlanFile)
	plan, err := schema.ReadPlan(r.files, c)
	switch {
	case r.moved[name]:
	case errors.Is(err, fs.ErrNotExist):
		return c, nil
	case err != nil:
		return c, err
	default:
		committed, err := r.sealer.Committed(c, plan)
		if err != nil || committed {
			return c, err
		}
		complete, err := r.complete(c, plan)
		if err != nil || complete {
			return c, err
		}
	}
	r.did(Repair{Action: ActionReplan, Path: c.Path(), Reason: "its plan is damaged or names missing runs"})
	if r.dryRun {
		return c, nil
	}
	next, err := r.sealer.TakeOver(c)
	if errors.Is(err, sealing.ErrFenced) {
		return c, nil
	}
	if err != nil || r.moved[name] {
		return next, err
	}
	return next, r.aside(path.Join(next.Path(), schema.PlanFile), "it names missing runs")
}

// removeEmpty removes the folder of a claim in which no files are left. A folder that has files again stays.
func (r *repairer) removeEmpty(f Finding) error {
	r.did(Repair{Action: ActionRemove, Path: f.Path, Reason: f.Problem})
	if r.dryRun {
		return nil
	}
	entries, err := fs.ReadDir(r.files, f.Path)
	for _, e := range entries {
		if err == nil {
			err = r.files.Remove(path.Join(f.Path, e.Name()))
		}
	}
	if err == nil {
		err = r.files.Remove(f.Path)
	}
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// complete reports whether the claim has all runs that its plan seals.
func (r *repairer) complete(c schema.Claim, plan schema.Plan) (bool, error) {
	segments, err := disk.ListSegments(r.files, c.Path())
	if err != nil {
		return false, err
	}
	there := map[string]bool{}
	for _, segment := range segments {
		for _, run := range segment.Runs {
			f := schema.LiveFile{Claim: &c, Segment: segment.ID, Run: run}
			there[run.String()] = there[run.String()] || !r.moved[f.Path()]
		}
	}
	return !slices.ContainsFunc(plan.Runs, func(run string) bool { return !there[run] }), nil
}

// finish continues the claims that no other process works on, and reports which are finished now.
func (r *repairer) finish(ctx context.Context, claims []schema.Claim) error {
	var open []schema.Claim
	for _, c := range claims {
		finished, _, err := r.sealer.Finished(c)
		switch {
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, schema.ErrDamaged): // moved, or still damaged in a dry run
		case err != nil:
			return err
		case !finished:
			open = append(open, c)
		}
	}
	if r.dryRun {
		for _, c := range open {
			if abandoned, err := r.sealer.Abandoned(c.Path()); err == nil && abandoned {
				r.did(Repair{Action: ActionFinish, Path: c.Path(), Reason: "no process is working on it any more"})
			}
		}
		return nil
	}
	r.sealer.Tidy(ctx)
	now, err := disk.ListClaims(r.files)
	if err != nil {
		return err
	}
	for _, c := range open {
		at := slices.IndexFunc(now, func(n schema.Claim) bool { return n.ID == c.ID })
		if at >= 0 {
			if finished, _, err := r.sealer.Finished(now[at]); err != nil || !finished {
				continue
			}
		}
		r.did(Repair{Action: ActionFinish, Path: c.Path(), Reason: "its runs are sealed now"})
	}
	return ctx.Err()
}
