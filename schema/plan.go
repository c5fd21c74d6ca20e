package schema

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
)

// Plan says what becomes of the runs of a claim. It is written once, before anything is made of them, and stays the
// same through take-overs: so two sealers of one claim make one file of one name.
type Plan struct {
	File    string   `json:"file"`    // name of the sealed file; empty where there is nothing to seal
	Runs    []string `json:"runs"`    // ids of the runs that go into it, ascending
	Dropped []string `json:"dropped"` // ids of runs that an earlier sealed file holds already, ascending
}

// Has tells whether a run is in the plan: it is, or will be, in a sealed file.
func (p *Plan) Has(run ULID) bool {
	id := run.String()
	_, sealed := slices.BinarySearch(p.Runs, id)
	_, dropped := slices.BinarySearch(p.Dropped, id)
	return sealed || dropped
}

// Encode prints the plan as one JSON object with a hash of itself.
func (p Plan) Encode() ([]byte, error) { return SignJSON(p) }

// ReadPlan reads the plan of a claim. The error wraps fs.ErrNotExist where it has none, and ErrDamaged.
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
