package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"runtime"
	"slices"

	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
)

// checkRuns reads all runs in order of time. So it needs to remember only runs of overlapping files to find those that
// are stored twice. Several files are read at once.
func (v *verifier) checkRuns(ctx context.Context) error {
	checks := v.ordered(ctx)
	queue := make(chan chan *runsCheck, runtime.GOMAXPROCS(0))
	go func() {
		defer close(queue)
		for _, c := range checks {
			done := make(chan *runsCheck, 1)
			queue <- done // blocks while that many files are being read
			go func() {
				if ctx.Err() == nil {
					v.readRuns(c)
				}
				done <- c
			}()
		}
	}()
	var failed error
	at := 0
	for done := range queue {
		c := <-done
		at++
		if failed == nil {
			failed = cmp.Or(ctx.Err(), v.take(c))
		}
		if failed == nil {
			horizon := int64(math.MaxInt64)
			if at < len(checks) {
				horizon = checks[at].first()
			}
			v.runs.sweep(horizon)
		}
		c.runs, c.states = nil, nil
	}
	if failed != nil {
		return failed
	}
	v.runs.sweep(math.MaxInt64)
	return v.reportTwice()
}

// ordered gives the files of runs, by the time of their first run.
func (v *verifier) ordered(ctx context.Context) []*runsCheck {
	var checks []*runsCheck
	artifact := func(a schema.Artifact) (artifactState, error) { return v.artifact(ctx, a) }
	for _, c := range v.all {
		checks = append(checks, &runsCheck{sealed: c, counted: c.superseded == nil, artifact: artifact})
	}
	for _, f := range v.live {
		checks = append(checks, &runsCheck{live: f, counted: !v.isSealed(f), artifact: artifact})
	}
	slices.SortFunc(checks, func(a, b *runsCheck) int {
		return cmp.Or(cmp.Compare(a.first(), b.first()), cmp.Compare(a.path(), b.path()))
	})
	return checks
}

// isSealed reports whether a live file is in a claim that is already committed.
func (v *verifier) isSealed(f schema.LiveFile) bool {
	if f.Claim == nil || v.sealed[f.Claim.ID] == nil {
		return false
	}
	plan, err := schema.ReadPlan(v.files, *f.Claim)
	return err != nil || plan.Has(f.Run)
}

// take adds the result of a file to what is known.
func (v *verifier) take(c *runsCheck) error {
	if c.counted {
		v.runs.add(c.path(), c.runs)
	}
	if c.err != nil {
		return v.noteLoss(c.path(), c.remedy, c.loss, c.err)
	}
	if c.sealed != nil {
		c.sealed.whole, c.sealed.sum = true, c.sum
	}
	if v.noteLost(c); c.counted {
		v.noteArtifacts(c)
	}
	return nil
}

// artifact looks for an artifact that a run names. It is not missing if the run says that it was not kept, or if it was pruned.
func (v *verifier) artifact(ctx context.Context, a schema.Artifact) (artifactState, error) {
	if !schema.IsHash(a.SHA256) {
		return artifactFine, nil
	}
	name, err := schema.FindArtifact(v.files, a.SHA256)
	if errors.Is(err, fs.ErrNotExist) {
		if _, gone := v.pruned[a.SHA256]; gone {
			return artifactFine, nil
		}
		return artifactMissing, nil
	}
	if err != nil || a.Bytes == nil {
		return artifactFine, nil // the walk reports a file that cannot be read
	}
	same, err := runfile.ArtifactHas(ctx, v.files, name, *a.Bytes)
	if err != nil || same {
		return artifactFine, nil // the walk reports it, too
	}
	return artifactResized, nil
}

// noteArtifacts reports artifacts that are missing or of another size, and kinds that are no words. The runs are not damaged.
func (v *verifier) noteArtifacts(c *runsCheck) {
	of := func(all []schema.Artifact) string {
		return fmt.Sprintf("%s of its runs, such as %q", counted(len(all), "artifact"), all[0].Path)
	}
	if len(c.absent) > 0 { // only a copy of the store has them
		v.add(Finding{Severity: SeverityNotice, Path: c.path(), Problem: fmt.Sprintf(
			"missing from %s/, though never pruned: %s; store merge from a store that has them restores them", schema.ArtifactsDir, of(c.absent))})
	}
	if len(c.resized) > 0 {
		v.add(Finding{Severity: SeverityDamage, Path: c.path(), Problem: "not of the size that the run says: " + of(c.resized)})
	}
	if len(c.unnamed) > 0 {
		v.add(Finding{Severity: SeverityNotice, Path: c.path(), Problem: fmt.Sprintf(
			"the kind %.70q is not a word of up to 64 letters, digits and _ . -: %s; NeuroLens makes no name of a file of it", c.unnamed[0].Kind, of(c.unnamed))})
	}
}

// noteLost reports runs that an event records as having lost rows.
func (v *verifier) noteLost(c *runsCheck) {
	v.done.Lost += c.lacking
	if c.lacking > 0 {
		problem := fmt.Sprintf("%d of its %s lost samples or ops to earlier damage, as an event records; the rest of them is intact", c.lacking, counted(len(c.runs), "run"))
		v.add(Finding{Severity: SeverityNotice, Path: c.path(), Problem: problem})
	}
	if len(c.complete) > 0 {
		problem := fmt.Sprintf("%s in it are complete, but an event says that they lost samples or ops", counted(len(c.complete), "run"))
		v.add(Finding{Severity: SeverityNotice, Path: c.path(), Problem: problem, remedy: remedyFound, complete: c.complete})
	}
}

// readRuns reads one file of runs.
func (v *verifier) readRuns(c *runsCheck) {
	if c.sealed == nil {
		c.remedy = remedyAside
		live, err := runfile.ReadLiveFile(v.files, c.live)
		if err == nil {
			err = c.addRun(live)
		}
		if c.err = err; err != nil && c.counted {
			c.loss = Loss{Runs: 1}
		}
		return
	}
	c.remedy = remedySealed
	if c.err = c.readSealed(v.files, v.lost); errors.Is(c.err, schema.ErrDamaged) {
		c.salvage(v.files, v.lost)
	}
}
