package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
)

// Verified counts the files, runs and findings of a verification.
type Verified struct {
	Files      int
	Runs       int // intact runs; a run that is in several files counts once
	Damage     int // findings
	Unreadable int // findings
	Newer      int // findings
	Loss       Loss
	Lost       int // runs without samples or ops that an event records as lost
	Aside      int // files in QuarantineDir
}

// Verify reads every file of a store and reports each problem: a file that does not match its hash, a run that does not
// match its digest, rows that contradict a name, a summary or another file, and files that nobody needs. It changes
// nothing and takes bounded memory. Changes by writers and sealers in the meantime are not mistaken for damage. The error
// wraps schema.ErrNoStore or schema.ErrFormat, or is one of the file system or the context.
func Verify(ctx context.Context, dir string, report func(Finding)) (Verified, error) {
	files, err := disk.NewOS(dir)
	if err != nil {
		return Verified{}, fmt.Errorf("verifying store %s: %w", dir, err)
	}
	done, err := verifyFiles(ctx, files, report)
	if err != nil {
		return done, fmt.Errorf("verifying store %s: %w", dir, err)
	}
	return done, nil
}

// verifyFiles is Verify for these files.
func verifyFiles(ctx context.Context, f fs.FS, report func(Finding)) (Verified, error) {
	if err := headerError(f); err != nil && !errors.Is(err, schema.ErrDamaged) {
		return Verified{}, err
	}
	v := &verifier{files: f, report: report, sealed: map[schema.ULID]*sealedCheck{}, lost: runfile.ReadLost(f), pruned: runfile.ReadPruned(f)}
	if err := disk.Walk(f, func(s disk.StoreFile) error {
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
	if err := v.checkPacks(ctx); err != nil {
		return v.done, err
	}
	if v.done.Aside > 0 {
		v.add(Finding{Severity: SeverityNotice, Path: disk.QuarantineDir, Problem: asideText(v.done.Aside)})
	}
	if err := v.checkClaims(); err != nil && !errors.Is(err, schema.ErrDamaged) { // damage is reported elsewhere
		return v.done, err
	}
	return v.done, v.checkOrphans()
}

func asideText(files int) string {
	return fmt.Sprintf("%s that store repair set aside; store unquarantine restores the intact runs in them; delete the folder when you no longer need it",
		counted(files, "file"))
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// verifier is one call of Verify.
type verifier struct {
	files  fs.FS
	report func(Finding)
	done   Verified
	live   []schema.LiveFile
	all    []*sealedCheck               // of RunsDir
	sealed map[schema.ULID]*sealedCheck // by id
	parts  []disk.StoreFile             // of SamplesDir and OpsDir
	packs  []schema.SealedFile
	runs   runSweep
	lost   runfile.Lost         // rows that are recorded as lost
	pruned map[string]time.Time // artifacts that were pruned, by hash
}

// sealedCheck is what is known about a sealed file: at first only its name.
type sealedCheck struct {
	file  schema.SealedFile
	whole bool    // it was read and is intact
	sum   rowsSum // of its rows of runs

	superseded *schema.SealedFile // the file that a repair replaced it by
}

// visit records a file, and checks it if it is small.
func (v *verifier) visit(s disk.StoreFile) error {
	if s.Kind != disk.KindAside && s.Kind != disk.KindTemp {
		v.done.Files++
	}
	switch s.Kind {
	case disk.KindAside:
		if s.Zone == disk.QuarantineDir && !s.Entry.IsDir() {
			v.done.Aside++
		}
	case disk.KindForeign:
		v.foreign(s)
	case disk.KindBroken:
		v.broken(s)
	case disk.KindTemp:
		if info, err := s.Entry.Info(); err == nil && time.Since(info.ModTime()) > disk.TempAge {
			v.add(Finding{Severity: SeverityNotice, Path: s.Path, Problem: "a temporary file that an interrupted write left"})
		}
	case disk.KindLive:
		v.live = append(v.live, s.Live)
	case disk.KindSealed:
		if s.Zone == schema.RunsDir {
			v.addSealed(s.Sealed)
		} else {
			v.parts = append(v.parts, s)
		}
	case disk.KindPack:
		v.packs = append(v.packs, s.Sealed)
	case disk.KindHeader:
		return v.note(s.Path, remedyHeader, headerError(v.files))
	default:
		return v.note(s.Path, remedyAside, v.checkSmall(s))
	}
	return nil
}

// addSealed records a sealed file. If two have the same id, a repair made the one with fewer runs.
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
