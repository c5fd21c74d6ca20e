package check

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/neurolens/neurolens/ingest/internal/layout"
	"github.com/neurolens/neurolens/ingest/internal/sealing"
	"github.com/neurolens/neurolens/schema"
)

// replan takes a claim over that cannot be finished by its plan: the plan is damaged, or names a run that is not there
// any more. Without it whoever goes on makes another plan. That the claim has another attempt now keeps the one who
// has it from going on by the old one.
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

// complete tells whether all runs that a plan seals are in the claim.
func (r *repairer) complete(c schema.Claim, plan schema.Plan) (bool, error) {
	segments, err := layout.ListSegments(r.files, c.Path())
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

// finish goes on with the claims that nobody else works at, and says which are settled now.
func (r *repairer) finish(ctx context.Context, claims []schema.Claim) error {
	var open []schema.Claim
	for _, c := range claims {
		settled, _, err := r.sealer.Settled(c)
		switch {
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, schema.ErrDamaged): // moved, or on a dry run left so
		case err != nil:
			return err
		case !settled:
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
	now, err := layout.ListClaims(r.files)
	if err != nil {
		return err
	}
	for _, c := range open {
		at := slices.IndexFunc(now, func(n schema.Claim) bool { return n.ID == c.ID })
		if at >= 0 {
			if settled, _, err := r.sealer.Settled(now[at]); err != nil || !settled {
				continue
			}
		}
		r.did(Repair{Action: ActionFinish, Path: c.Path(), Reason: "its runs are sealed now"})
	}
	return ctx.Err()
}
