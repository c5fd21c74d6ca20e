package check

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/schema"
)

// foreign reports a file that does not belong to a store. It is damage if readers of the whole folder would read it as a
// part of the table. All other such files are ignored, and stay where they are.
func (v *verifier) foreign(s disk.StoreFile) {
	f := Finding{Severity: SeverityNotice, Path: s.Path, Problem: "it is not a file of the store, and is ignored"}
	if !disk.IsOfTable(s.Zone) || !disk.IsParquet(s.Path) {
		v.add(f)
		return
	}
	f.Severity, f.Problem, f.remedy = SeverityDamage, "it is not a file of the store, but tools that read the whole folder read it too", remedyAside
	v.add(f)
}

// broken reports an entry of the wrong kind, such as a directory with the name of a file. A link stays: its target may be
// the only copy of the runs.
func (v *verifier) broken(s disk.StoreFile) {
	f := Finding{Severity: SeverityDamage, Path: s.Path, Problem: "it is not a regular file, but has the name of one", remedy: remedyAside}
	switch named := disk.Classify(s.Path); {
	case s.Linked:
		f.Problem, f.remedy = "it is a link, and links inside a store are not followed; replace it by the file or folder that it points to, or remove it", remedyNone
	case named.Kind == disk.KindHeader:
		f.remedy = remedyHeader
	case named.Kind == disk.KindForeign || named.Kind == disk.KindAside:
		f.Problem = "it is not a directory, but has the name of one"
	}
	v.add(f)
}

// checkOrphans reports samples and ops without runs.
func (v *verifier) checkOrphans() error {
	claims, err := disk.ListClaims(v.files)
	if err != nil && !errors.Is(err, schema.ErrDamaged) { // damage is reported elsewhere
		return err
	}
	claimed := map[schema.ULID]bool{}
	for _, c := range claims {
		claimed[c.ID] = true
	}
	for _, s := range v.parts {
		if c := v.sealed[s.Sealed.ID]; c != nil && c.file == s.Sealed || claimed[s.Sealed.ID] {
			continue
		}
		if disk.IsThere(v.files, s.Sealed.Path(schema.RunsDir)) { // sealed meanwhile
			continue
		}
		v.add(Finding{Severity: SeverityNotice, Path: s.Path, Problem: orphanText(s.Sealed)})
	}
	return nil
}

// checkClaims reports claims whose files were deleted, as an interrupted copy or a clean-up leaves them: the sealed file is there, so there
// was a plan. A claim that is being made has no sealed file yet.
func (v *verifier) checkClaims() error {
	claims, err := disk.ListClaims(v.files)
	if err != nil {
		return err
	}
	for _, c := range claims {
		if v.sealed[c.ID] == nil {
			continue
		}
		empty := true
		err := fs.WalkDir(v.files, c.Path(), func(_ string, e fs.DirEntry, err error) error {
			empty = empty && err == nil && e.IsDir()
			return err
		})
		if err == nil && empty { // otherwise it is gone, or the walk has reported it
			v.add(Finding{
				Severity: SeverityNotice, Path: c.Path(), Problem: "an empty folder is no claim, and readers pass over it: its runs are sealed, and its files were deleted", remedy: remedyEmpty,
			})
		}
	}
	return nil
}

// orphanText is the problem of a file of samples or ops without runs.
func orphanText(f schema.SealedFile) string {
	runs := fmt.Sprintf("%d runs", f.Rows)
	if f.Rows == 1 {
		runs = "1 run"
	}
	return fmt.Sprintf("it is ignored (%s), because %s/ has no file of this name: "+
		"an import was interrupted, or the file was removed", runs, schema.RunsDir)
}
