package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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

// planFile is the plan with the hash of its JSON text without that hash.
type planFile struct {
	Plan
	SHA256 string `json:"sha256"`
}

// Has tells whether a run is in the plan: it is, or will be, in a sealed file.
func (p *Plan) Has(run ULID) bool {
	id := run.String()
	_, sealed := slices.BinarySearch(p.Runs, id)
	_, dropped := slices.BinarySearch(p.Dropped, id)
	return sealed || dropped
}

// Encode prints the plan as one JSON object with a hash of itself.
func (p Plan) Encode() ([]byte, error) {
	sum, err := hashJSON(p)
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(planFile{p, sum})
	return append(b, '\n'), err
}

// ReadPlan reads the plan of a claim. The error wraps fs.ErrNotExist where it has none, and ErrDamaged.
func ReadPlan(store fs.FS, c Claim) (Plan, error) {
	name := path.Join(c.Path(), PlanFile)
	b, err := fs.ReadFile(store, name)
	if err != nil {
		return Plan{}, err
	}
	var file planFile
	if err := json.Unmarshal(b, &file); err != nil {
		return Plan{}, fmt.Errorf("%w: %s: %w", ErrDamaged, name, err)
	}
	if sum, err := hashJSON(file.Plan); err != nil || sum != file.SHA256 {
		return Plan{}, fmt.Errorf("%w: %s does not match its own hash", ErrDamaged, name)
	}
	return file.Plan, nil
}

// hashJSON is the hex SHA-256 of a value's compact JSON text.
func hashJSON(v any) (string, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}
