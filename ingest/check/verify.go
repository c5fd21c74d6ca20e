package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/layout"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/ingest/table"
	"github.com/neurolens/neurolens/schema"
)

// Severity says what a finding means.
type Severity string

// The severities.
const (
	SeverityNotice     Severity = "notice"     // what is there is read as it was stored
	SeverityDamage     Severity = "damage"     // something is lost or changed, or will be read wrongly
	SeverityUnreadable Severity = "unreadable" // the system does not let it be read: nothing is known about it
	SeverityNewer      Severity = "newer"      // of a later format, which this version does not know
)

// Finding is what there is to say about one file of a store.
type Finding struct {
	Severity Severity
	Path     string // in the store, slash-separated
	Problem  string
	Loss     Loss // what goes when the file is repaired

	remedy remedy
	found  []string // of remedyFound: the runs whose rows are there again
}

// remedy is what Repair can do about a finding.
type remedy int

const (
	remedyNone remedy = iota
	remedyAside
	remedySealed  // a sealed file is written anew, of what is left of it
	remedyRestore // an event, from the pack that has it
	remedyFound   // an event says that lost rows are there again
	remedyHeader  // the header is made whole
)

// Remedy is what Repair does about it, in words; empty where it is a notice and stays.
func (f Finding) Remedy() string {
	switch {
	case f.remedy == remedyAside:
		return "store repair sets it aside"
	case f.remedy == remedyHeader:
		return "store repair makes it whole"
	case f.remedy == remedySealed:
		return "store repair sets it aside and keeps what is left of it"
	case f.remedy == remedyFound:
		return "store repair says so in an event"
	case f.remedy == remedyRestore:
		return "store repair puts it back"
	case f.Severity == SeverityDamage:
		return "store repair leaves it as it is"
	}
	return ""
}

// Verified counts what Verify looked at.
type Verified struct {
	Files      int
	Runs       int // that are left; one that stands in several files counts once
	Damage     int // findings
	Unreadable int // findings
	Newer      int // findings
	Loss       Loss
	Lost       int // runs of which an event says that they have lost rows, and they have
	Aside      int // files in QuarantineDir
}

// Verify reads every file of a store and hands to found what is wrong with any: a file that does not match its hash, a
// run that does not match its digest, rows that are not what a name, a summary or another file says, and files that
// nobody needs. It changes nothing and takes bounded memory. What writers and sealers do meanwhile is not mistaken for
// damage. The error wraps schema.ErrNoStore or schema.ErrFormat, or is one of the file system or the context.
func Verify(ctx context.Context, dir string, found func(Finding)) (Verified, error) {
	files, err := disk.NewOS(dir)
	if err != nil {
		return Verified{}, fmt.Errorf("verifying store %s: %w", dir, err)
	}
	done, err := VerifyFiles(ctx, files, found)
	if err != nil {
		return done, fmt.Errorf("verifying store %s: %w", dir, err)
	}
	return done, nil
}

// VerifyFiles is Verify of a store of these files.
func VerifyFiles(ctx context.Context, f fs.FS, found func(Finding)) (Verified, error) {
	if err := headerError(f); err != nil && !errors.Is(err, schema.ErrDamaged) {
		return Verified{}, err
	}
	v := &verifier{files: f, found: found, sealed: map[schema.ULID]*sealedCheck{}, lost: runfile.ReadLost(f)}
	if err := layout.Walk(f, func(s layout.File) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return v.visit(s)
	}); err != nil {
		return v.done, err
	}
	if err := v.checkRuns(ctx); err != nil {
		return v.done, err
	}
	for _, pack := range v.packs {
		if err := ctx.Err(); err != nil {
			return v.done, err
		}
		if err := v.note(pack.Path(schema.PacksDir), remedyAside, v.checkPack(pack)); err != nil {
			return v.done, err
		}
	}
	if v.done.Aside > 0 {
		v.add(Finding{Severity: SeverityNotice, Path: layout.QuarantineDir, Problem: asideText(v.done.Aside)})
	}
	return v.done, v.checkOrphans()
}

func asideText(files int) string {
	return fmt.Sprintf("%s of this store, set aside by store repair; store unquarantine brings back what is whole in it; remove it when you need it no more",
		counted(files, "file"))
}

// counted is a number and its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// verifier is what Verify knows.
type verifier struct {
	files  fs.FS
	found  func(Finding)
	done   Verified
	live   []schema.LiveFile
	all    []*sealedCheck               // of RunsDir
	sealed map[schema.ULID]*sealedCheck // by id
	parts  []layout.File                // of SamplesDir and OpsDir
	packs  []schema.SealedFile
	runs   runSweep
	lost   runfile.Lost // as events say
}

// sealedCheck is what is known of a sealed file, by its names at first.
type sealedCheck struct {
	file  schema.SealedFile
	whole bool    // it was read, and nothing is wrong with it
	sum   rowsSum // of its rows of runs

	superseded *schema.SealedFile // by the one that a repair left of it
}

func (v *verifier) add(f Finding) {
	switch f.Severity {
	case SeverityDamage:
		v.done.Damage++
	case SeverityUnreadable:
		v.done.Unreadable++
	case SeverityNewer:
		v.done.Newer++
	case SeverityNotice:
	}
	v.done.Loss.Add(f.Loss)
	v.found(f)
}

// note makes a finding of an error that comes from what is in a file, and gives back all others. What went away since it
// was listed was moved.
func (v *verifier) note(name string, r remedy, err error) error {
	return v.noteLoss(name, r, Loss{}, err)
}

// noteLoss is note of a file that costs something when it is repaired.
func (v *verifier) noteLoss(name string, r remedy, loss Loss, err error) error {
	if in, ok := errors.AsType[*runfile.FileError](err); ok {
		name, err = in.Path, in.Err
	}
	switch {
	case err == nil || errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, table.ErrNewer):
		return v.newer(name, err)
	case errors.Is(err, schema.ErrDamaged):
		if at, ok := errors.AsType[*fs.PathError](err); ok && at.Path != name && at.Path != schema.HeaderFile && layout.IsFolder(at.Path) {
			v.add(Finding{Severity: SeverityDamage, Path: name, Problem: "it needs what is in " + at.Path + ", which is no directory of its own"})
			return nil
		}
		v.add(Finding{Severity: SeverityDamage, Path: name, Problem: runfile.ProblemText(err), Loss: loss, remedy: r})
		return nil
	}
	if cause, ok := errors.AsType[*fs.PathError](err); ok && name != "" {
		// It says nothing about the content of this file, and is no reason not to look at the others.
		if fs.ValidPath(cause.Path) { // of a file that belongs to this one
			name = cause.Path
		}
		v.add(Finding{Severity: SeverityUnreadable, Path: name, Problem: "it could not be read: " + cause.Err.Error()})
		return nil
	}
	return err
}

// newer makes a finding of a file that is whole and has what this version does not know. Columns are added in every
// format; but nobody writes a file of another format into a store of this one.
func (v *verifier) newer(name string, cause error) error {
	_, file, err := runfile.OpenTable(v.files, name, schema.Runs) // of whatever table it is, the format is looked at first
	switch {
	case err == nil:
		_ = file.Close()
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, table.ErrNewer):
		problem := fmt.Sprintf("%v, and the store is of format %d; a later version of neurolens reads it", cause, schema.Format)
		v.add(Finding{Severity: SeverityNewer, Path: name, Problem: problem})
		return nil
	}
	v.add(Finding{Severity: SeverityNotice, Path: name, Problem: cause.Error()})
	return nil
}

// visit takes note of a file, and looks at it if it is a small one.
func (v *verifier) visit(s layout.File) error {
	if s.Kind != layout.KindAside && s.Kind != layout.KindTemp {
		v.done.Files++
	}
	switch s.Kind {
	case layout.KindAside:
		if s.Zone == layout.QuarantineDir && !s.Entry.IsDir() {
			v.done.Aside++
		}
	case layout.KindForeign:
		v.foreign(s)
	case layout.KindBroken:
		v.broken(s)
	case layout.KindTemp:
		if info, err := s.Entry.Info(); err == nil && time.Since(info.ModTime()) > disk.TempAge {
			v.add(Finding{Severity: SeverityNotice, Path: s.Path, Problem: "a temporary file that nobody writes any more"})
		}
	case layout.KindLive:
		v.live = append(v.live, s.Live)
	case layout.KindSealed:
		if s.Zone == schema.RunsDir {
			v.addSealed(s.Sealed)
		} else {
			v.parts = append(v.parts, s)
		}
	case layout.KindPack:
		v.packs = append(v.packs, s.Sealed)
	case layout.KindHeader:
		return v.note(s.Path, remedyHeader, headerError(v.files))
	default:
		return v.note(s.Path, remedyAside, v.checkSmall(s))
	}
	return nil
}

// addSealed takes note of a sealed file. Of two with one id the one with fewer runs is what a repair left of the other.
func (v *verifier) addSealed(f schema.SealedFile) {
	c, other := &sealedCheck{file: f}, v.sealed[f.ID]
	v.all = append(v.all, c)
	switch {
	case other == nil:
		v.sealed[f.ID] = c
	case other.file.Rows < f.Rows:
		c.superseded = &other.file
	default:
		other.superseded, v.sealed[f.ID] = &c.file, c
	}
}

// claimKeeps tells whether the claim of a sealed file is there and has all runs of it, whole: what is damaged of the file
// is made anew from them.
func claimKeeps(f fs.FS, sealed schema.SealedFile) (bool, error) {
	claims, err := layout.ListClaims(f)
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

// claimHas tells whether all runs that a plan seals are in the claim, whole.
func claimHas(f fs.FS, c schema.Claim, plan schema.Plan) (bool, error) {
	segments, err := layout.ListSegments(f, c.Path())
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
