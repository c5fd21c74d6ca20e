package check

import (
	"slices"

	"github.com/neurolens/neurolens/ingest/internal/eventlog"
	"github.com/neurolens/neurolens/ingest/internal/layout"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
)

// sealed repairs a sealed file. Where its claim still has the runs it is set aside, and the claim is finished again. Of
// one that a repair before took the place of, only the rest is done.
func (r *repairer) sealed(f Finding) error {
	file := layout.Classify(f.Path).Sealed
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

// superseded does the rest of a repair that did not come to its end: it moves what another file has taken the place of.
func (r *repairer) superseded(file schema.SealedFile) (bool, error) {
	listed, err := schema.ListZone(r.files, schema.RunsDir)
	if err != nil {
		return false, err
	}
	for _, f := range listed {
		if f.ID == file.ID && f != file {
			if whole, err := runfile.Salvage(runfile.InputOf(r.files, file), runfile.ReadLost(r.files), func(runfile.Salvaged) error { return nil }); err != nil {
				return true, err
			} else if whole.Loss == (Loss{}) && len(whole.Damages()) == 0 { // somebody brought it back
				return true, r.asideSet(f, Finding{Path: f.Path(schema.RunsDir), Problem: file.Path(schema.RunsDir) + " is intact again"}, Loss{})
			}
			reason := Finding{Path: file.Path(schema.RunsDir), Problem: f.Path(schema.RunsDir) + " replaces it"}
			return true, r.asideSet(file, reason, Loss{Runs: file.Rows - f.Rows})
		}
	}
	return false, nil
}

// asideSet moves the files of a sealed file aside, that of runs first: what is left without it does not count.
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
		if loss = (Loss{}); !r.moved[name] { // and without the runs nothing else goes
			return nil
		}
	}
	return nil
}

// found says in an event that rows are there again of which one says that they were lost.
func (r *repairer) found(f Finding) error {
	if !r.dryRun {
		if err := eventlog.SayFound(r.files, f.found); err != nil {
			return err
		}
	}
	r.did(Repair{Action: ActionFound, Path: f.Path, Reason: "the samples and ops of " + counted(len(f.found), "run") + " are complete again"})
	return nil
}
