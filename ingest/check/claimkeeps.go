package check

import (
	"io/fs"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
)

// claimKeeps reports whether the claim of a sealed file still exists and has all its runs intact. Then the file can be
// made again.
func claimKeeps(f fs.FS, sealed schema.SealedFile) (bool, error) {
	claims, err := disk.ListClaims(f)
	if err != nil {
		return false, err
	}
	for _, c := range claims {
		if c.ID != sealed.ID {
			continue
		}
		plan, err := schema.ReadPlan(f, c)
		if err != nil || plan.File != sealed.Name() {
			return false, nil // a damaged plan is a finding of its own
		}
		return claimHas(f, c, plan)
	}
	return false, nil
}

// claimHas reports whether the claim has all runs that its plan seals, intact.
func claimHas(f fs.FS, c schema.Claim, plan schema.Plan) (bool, error) {
	segments, err := disk.ListSegments(f, c.Path())
	if err != nil {
		return false, err
	}
	there := map[string]bool{}
	for _, segment := range segments {
		for _, run := range segment.Runs {
			if _, err := runfile.ReadLiveFile(f, schema.LiveFile{Claim: &c, Segment: segment.ID, Run: run}); err == nil {
				there[run.String()] = true
			}
		}
	}
	for _, run := range plan.Runs {
		if !there[run] {
			return false, nil
		}
	}
	return true, nil
}
