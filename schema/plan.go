package schema

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
)

// Plan assigns the runs of a claim. It is written once, before the sealed file is made, and stays the same in a take-over: so two
// sealers of one claim make the same file with the same name.
type Plan struct {
	File    string   `json:"file"`    // name of the sealed file; empty if there is nothing to seal
	Runs    []string `json:"runs"`    // ids of its runs, ascending
	Dropped []string `json:"dropped"` // ids of runs that an earlier sealed file has already, ascending
}

// Has reports whether a run is in the plan: it is in a sealed file, or will be.
func (p *Plan) Has(run ULID) bool {
	id := run.String()
	_, sealed := slices.BinarySearch(p.Runs, id)
	_, dropped := slices.BinarySearch(p.Dropped, id)
	return sealed || dropped
}

// Encode prints the plan as one JSON object that ends with its SHA-256.
func (p Plan) Encode() ([]byte, error) { return SignJSON(p) }

// ReadPlan reads the plan of a claim. The error wraps fs.ErrNotExist if there is no plan, and ErrDamaged if it is damaged.
func ReadPlan(store fs.FS, c Claim) (Plan, error) {
	name := path.Join(c.Path(), PlanFile)
	b, err := ReadNames(store, name)
	if err != nil {
		return Plan{}, err
	}
	var p Plan
	if err := ReadSignedJSON(b, &p); err != nil {
		return Plan{}, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}
