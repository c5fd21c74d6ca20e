package ingest

import (
	"errors"
	"fmt"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/schema"
)

// foreign takes note of a file that no store has. One that readers of the whole folder would take for a part of the
// table is damage. All others are passed over by everybody, and stay where they are.
func (v *verifier) foreign(s stored) {
	f := Finding{Severity: SeverityNotice, Path: s.path, Problem: "no file of a store has this name; it is passed over"}
	if !isOfTable(s.zone) || !isParquet(s.path) {
		v.add(f)
		return
	}
	f.Severity, f.Problem, f.remedy = SeverityDamage, "no file of a store has this name, and who reads the folder reads it too", remedyAside
	v.add(f)
}

// broken makes a finding of what is not what readers expect of its name. A link stays: what it leads to may be all that
// there is of the runs.
func (v *verifier) broken(s stored) {
	f := Finding{Severity: SeverityDamage, Path: s.path, Problem: "it is not a plain file and has the name of one", remedy: remedyAside}
	switch named := classify(s.path); {
	case s.linked:
		f.Problem, f.remedy = "it is a link, and no link in a store is followed; put what it leads to here, or remove the link", remedyNone
	case named.kind == kindHeader:
		f.remedy = remedyHeader
	case named.kind == kindForeign || named.kind == kindAside:
		f.Problem = "it is not a directory and has the name of one"
	}
	v.add(f)
}

// checkOrphans takes note of samples and ops whose runs are not there.
func (v *verifier) checkOrphans() error {
	claims, err := listClaims(v.files)
	if err != nil && !errors.Is(err, schema.ErrDamaged) { // that it is no directory was said
		return err
	}
	claimed := map[schema.ULID]bool{}
	for _, c := range claims {
		claimed[c.ID] = true
	}
	for _, s := range v.parts {
		if c := v.sealed[s.sealed.ID]; c != nil && c.file == s.sealed || claimed[s.sealed.ID] {
			continue
		}
		if disk.IsThere(v.files, s.sealed.Path(schema.RunsDir)) { // sealed meanwhile
			continue
		}
		v.add(Finding{Severity: SeverityNotice, Path: s.path, Problem: orphanText(s.sealed)})
	}
	return nil
}

// orphanText says what there is to say about a file of samples or ops without its runs.
func orphanText(f schema.SealedFile) string {
	runs := fmt.Sprintf("%d runs", f.Rows)
	if f.Rows == 1 {
		runs = "1 run"
	}
	return fmt.Sprintf("its name speaks of %s, and there is no file of this name in %s/, so it does not count: "+
		"an import did not finish, or somebody took the file out of %s/", runs, schema.RunsDir, schema.RunsDir)
}
