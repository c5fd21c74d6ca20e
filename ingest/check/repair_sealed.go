package check

import (
	"slices"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
)

// sealed repairs a sealed file. If its claim still has the runs, the file is set aside and the claim is finished again.
// If an earlier repair has already published a replacement, only the remaining steps are done.
func (r *repairer) sealed(f Finding) error {
	file := disk.Classify(f.Path).Sealed
	kept, err := claimKeeps(r.files, file)
	if err != nil {
		return err
	}
	if kept || r.moved[file.Path(schema.RunsDir)] {
		return r.asideSet(file, f, Loss{})
	}
	if by, err := r.superseded(file); err != nil || by {
		return err
	}
	s := &salvaging{repairer: r, file: file, finding: f, lost: map[*schema.Table][]string{}}
	if err := s.read(); err != nil {
		return err
	}
	if s.out != nil {
		defer s.out.Remove()
	}
	return s.replace()
}

// superseded completes an interrupted repair: it moves the file that another one has replaced.
func (r *repairer) superseded(file schema.SealedFile) (bool, error) {
	listed, err := schema.ListZone(r.files, schema.RunsDir)
	if err != nil {
		return false, err
	}
	for _, f := range listed {
		if f.ID == file.ID && f != file {
			if whole, err := runfile.Salvage(runfile.InputOf(r.files, file), runfile.ReadLost(r.files), func(runfile.Salvaged) error { return nil }); err != nil {
				return true, err
			} else if whole.Loss == (Loss{}) && len(whole.Damages()) == 0 { // somebody restored the original
				return true, r.asideSet(f, Finding{Path: f.Path(schema.RunsDir), Problem: file.Path(schema.RunsDir) + " is intact again"}, Loss{})
			}
			reason := Finding{Path: file.Path(schema.RunsDir), Problem: f.Path(schema.RunsDir) + " replaces it"}
			return true, r.asideSet(file, reason, Loss{Runs: file.Rows - f.Rows})
		}
	}
	return false, nil
}

// asideSet sets aside the files of a sealed file, the file of runs first: without it, the others do not count.
func (r *repairer) asideSet(file schema.SealedFile, f Finding, loss Loss) error {
	for _, t := range slices.Backward(runfile.Tables[:]) {
		name, reason := file.Path(schema.TableZones[t]), f.Problem
		if name != f.Path {
			reason = "it belongs to " + f.Path
		}
		if r.moved[name] || !isFile(r.files, name) {
			continue
		}
		if err := r.asideFor(name, reason, loss); err != nil {
			return err
		}
		if loss = (Loss{}); !r.moved[name] { // the file of runs stays, so the others have to stay too
			return nil
		}
	}
	return nil
}

// recordFound writes events for runs whose lost rows are there again.
func (r *repairer) recordFound(f Finding) error {
	if !r.dryRun {
		if err := runfile.WriteFoundEvents(r.files, f.complete); err != nil {
			return err
		}
	}
	r.did(Repair{Action: ActionFound, Path: f.Path, Reason: "the samples and ops of " + counted(len(f.complete), "run") + " are complete again"})
	return nil
}
