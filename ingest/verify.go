package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/neurolens/neurolens/ingest/table"
	"github.com/neurolens/neurolens/schema"
)

// Severity says what a finding means.
type Severity string

// The severities.
const (
	SeverityNotice Severity = "notice" // all runs are there and are read as they were stored
	SeverityDamage Severity = "damage" // something is lost or changed, or will be read wrongly
)

// Finding is what there is to say about one file of a store.
type Finding struct {
	Severity Severity
	Path     string // in the store, slash-separated
	Problem  string

	remedy remedy
}

// remedy is what Repair can do about a finding.
type remedy int

const (
	remedyNone remedy = iota
	remedyAside
	remedyAsideSealed // with the files of the same name in the other tables
	remedyRestore     // an event, from the pack that has it
)

// Remedy is what Repair does about it, in words; empty where it is a notice and stays.
func (f Finding) Remedy() string {
	switch {
	case f.remedy == remedyAside || f.remedy == remedyAsideSealed:
		return "store repair sets it aside"
	case f.remedy == remedyRestore:
		return "store repair puts it back"
	case f.Severity == SeverityDamage:
		return "store repair leaves it as it is"
	}
	return ""
}

// Verified counts what Verify looked at.
type Verified struct {
	Files  int
	Runs   int // a run that stands in several files counts once
	Damage int // findings
}

// Verify reads every file of a store and hands to found what is wrong with any: a file that does not match its hash, a
// run that does not match its digest, rows that are not what a name, a summary or another file says, and files that
// nobody needs. It changes nothing and takes bounded memory. What writers and sealers do meanwhile is not mistaken for
// damage. The error wraps schema.ErrNoStore or schema.ErrFormat, or is one of the file system or the context.
func Verify(ctx context.Context, dir string, found func(Finding)) (Verified, error) {
	files, err := newOSFiles(dir)
	if err != nil {
		return Verified{}, fmt.Errorf("verifying store %s: %w", dir, err)
	}
	done, err := verify(ctx, files, found)
	if err != nil {
		return done, fmt.Errorf("verifying store %s: %w", dir, err)
	}
	return done, nil
}

func verify(ctx context.Context, f fs.FS, found func(Finding)) (Verified, error) {
	if _, err := schema.ReadHeader(f); err != nil && !errors.Is(err, schema.ErrDamaged) {
		return Verified{}, err
	}
	v := &verifier{files: f, found: found, sealed: map[schema.ULID]*sealedCheck{}}
	if err := walkStore(f, func(s stored) error {
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
	return v.done, v.checkOrphans()
}

// verifier is what Verify knows.
type verifier struct {
	files  fs.FS
	found  func(Finding)
	done   Verified
	live   []schema.LiveFile
	all    []*sealedCheck               // of RunsDir
	sealed map[schema.ULID]*sealedCheck // by id
	parts  []stored                     // of SamplesDir and OpsDir
	packs  []schema.SealedFile
	runs   runSweep
}

// sealedCheck is what is known of a sealed file, by its names at first.
type sealedCheck struct {
	file  schema.SealedFile
	whole bool    // it was read, and nothing is wrong with it
	sum   rowsSum // of its rows of runs
}

func (v *verifier) add(f Finding) {
	if f.Severity == SeverityDamage {
		v.done.Damage++
	}
	v.found(f)
}

// note makes a finding of an error that comes from what is in a file, and gives back all others. What went away since it
// was listed was moved.
func (v *verifier) note(name string, r remedy, err error) error {
	if in, ok := errors.AsType[*fileError](err); ok {
		name, err = in.path, in.err
	}
	switch {
	case err == nil || errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, table.ErrNewer):
		return v.newer(name, r, err)
	case errors.Is(err, schema.ErrDamaged):
		if at, ok := errors.AsType[*fs.PathError](err); ok && at.Path != name && at.Path != schema.HeaderFile && isFolder(at.Path) {
			v.add(Finding{SeverityDamage, name, "it needs what is in " + at.Path + ", which is no directory of its own", remedyNone})
			return nil
		}
		v.add(Finding{SeverityDamage, name, problemText(err), r})
		return nil
	}
	if cause, ok := errors.AsType[*fs.PathError](err); ok && name != "" {
		// A sector that cannot be read is damage of this file, and no reason not to look at the others.
		v.add(Finding{SeverityDamage, name, cause.Err.Error(), remedyNone})
		return nil
	}
	return err
}

// newer makes a finding of a file that is whole and has what this version does not know. Columns are added in every
// format; but nobody writes a file of another format into a store of this one.
func (v *verifier) newer(name string, r remedy, cause error) error {
	_, file, err := openTable(v.files, name, schema.Runs) // of whatever table it is, the format is looked at first
	switch {
	case err == nil:
		_ = file.Close()
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, table.ErrNewer):
		v.add(Finding{SeverityDamage, name, fmt.Sprintf("%v, and the store is of format %d", cause, schema.Format), r})
		return nil
	}
	v.add(Finding{SeverityNotice, name, cause.Error(), remedyNone})
	return nil
}

// problemText is an error without the words that say that there is damage.
func problemText(err error) string {
	if named, ok := errors.AsType[*fs.PathError](err); ok {
		err = named.Err // its path is that of the finding
	}
	return strings.TrimPrefix(err.Error(), schema.ErrDamaged.Error()+": ")
}

// visit takes note of a file, and looks at it if it is a small one.
func (v *verifier) visit(s stored) error {
	if s.kind != kindAside && s.kind != kindTemp {
		v.done.Files++
	}
	switch s.kind {
	case kindAside:
	case kindForeign:
		v.foreign(s)
	case kindBroken:
		v.broken(s)
	case kindTemp:
		if info, err := s.entry.Info(); err == nil && time.Since(info.ModTime()) > tempAge {
			v.add(Finding{SeverityNotice, s.path, "a temporary file that nobody writes any more", remedyNone})
		}
	case kindLive:
		v.live = append(v.live, s.live)
	case kindSealed:
		if s.zone == schema.RunsDir {
			c := &sealedCheck{file: s.sealed}
			v.sealed[s.sealed.ID], v.all = c, append(v.all, c)
		} else {
			v.parts = append(v.parts, s)
		}
	case kindPack:
		v.packs = append(v.packs, s.sealed)
	default:
		return v.note(s.path, remedyAside, v.checkSmall(s))
	}
	return nil
}
