package check

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"path"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/ingest/internal/sealing"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
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

// Verify reads every file of a store and reports each problem: a file that does not match its hash, a run that does not match its
// digest, rows that contradict a name, a summary or another file, and unneeded files. It changes nothing and takes bounded memory.
// Changes by writers and sealers in the meantime are not mistaken for damage. The error wraps schema.ErrNoStore or schema.ErrFormat, or
// comes from the file system or the context.
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
	events, err := schema.ListEvents(f)
	if err != nil && !errors.Is(err, schema.ErrDamaged) { // damage is reported below
		return Verified{}, err
	}
	v := &verifier{files: f, report: report, packed: events.Packed(), sealed: map[schema.ULID]*sealedCheck{}, lost: runfile.ReadLost(f), pruned: runfile.ReadPruned(f)}
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

// counted returns a number with its noun.
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
	packed bool                 // packs alone have the events
	pruned map[string]time.Time // artifacts that were pruned, by hash
}

// sealedCheck is the state of the check of a sealed file: at first only its name.
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

// foreign reports a file that does not belong to a store. It is damage if readers of the whole folder would read it as a part of the
// table. All other such files are ignored, and stay unchanged.
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

// checkClaims reports claims whose files were deleted, as by an interrupted copy or a clean-up: the sealed file exists, so there was a
// plan. A claim that is being made has no sealed file yet.
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

// orphanText returns the problem of a file of samples or ops without runs.
func orphanText(f schema.SealedFile) string {
	runs := fmt.Sprintf("%d runs", f.Rows)
	if f.Rows == 1 {
		runs = "1 run"
	}
	return fmt.Sprintf("it is ignored (%s), because %s/ has no file of this name: "+
		"an import was interrupted, or the file was removed", runs, schema.RunsDir)
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
	v.report(f)
}

// note reports an error about the content of a file, and returns all other errors. A file that is gone was moved after it
// was listed.
func (v *verifier) note(name string, r remedy, err error) error {
	return v.noteLoss(name, r, Loss{}, err)
}

// noteLoss is note for a file whose repair loses data.
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
		if at, ok := errors.AsType[*fs.PathError](err); ok && at.Path != name && at.Path != schema.HeaderFile && disk.IsFolder(at.Path) {
			v.add(Finding{Severity: SeverityDamage, Path: name, Problem: "it needs files in " + at.Path + ", which is not a plain directory"})
			return nil
		}
		v.add(Finding{Severity: SeverityDamage, Path: name, Problem: runfile.ProblemText(err), Loss: loss, remedy: r})
		return nil
	}
	if cause, ok := errors.AsType[*fs.PathError](err); ok && name != "" {
		// A file that cannot be read is no evidence about the others, so verification continues.
		if fs.ValidPath(cause.Path) { // of a file that belongs to this one
			name = cause.Path
		}
		v.add(Finding{Severity: SeverityUnreadable, Path: name, Problem: "reading it: " + cause.Err.Error()})
		return nil
	}
	return err
}

// newer reports an intact file with content that this version does not know. Columns may be added in any format, so this
// is only a notice, unless the file has another format than the store.
func (v *verifier) newer(name string, cause error) error {
	_, file, err := runfile.OpenTable(v.files, name, schema.Runs) // whatever the table, the format is checked first
	switch {
	case err == nil:
		_ = file.Close()
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, table.ErrNewer):
		problem := fmt.Sprintf("%v, but the store has format %d; a later version of neurolens can read it", cause, schema.Format)
		v.add(Finding{Severity: SeverityNewer, Path: name, Problem: problem})
		return nil
	}
	v.add(Finding{Severity: SeverityNotice, Path: name, Problem: cause.Error()})
	return nil
}

// checkPacks checks the packs, several at once, and reports about them in order.
func (v *verifier) checkPacks(ctx context.Context) error {
	checks := make([]packCheck, len(v.packs))
	var next atomic.Int64
	var checking sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(v.packs)) {
		checking.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(checks) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				checks[i].unused, checks[i].err = v.checkPack(v.packs[i])
			}
		})
	}
	checking.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	for i, c := range checks {
		name := v.packs[i].Path(schema.PacksDir)
		if c.unused != "" {
			v.add(Finding{Severity: SeverityNotice, Path: name, Problem: c.unused})
		}
		if err := v.note(name, remedyAside, c.err); err != nil {
			return err
		}
	}
	return nil
}

// packCheck is the result of the check of a pack.
type packCheck struct {
	unused string // why no reader uses it
	err    error
}

// checkPack compares the rows of a pack with the rows of the files that it covers, by the sums of their hashes. unused is the reason why
// no reader uses it; then nothing is compared.
func (v *verifier) checkPack(pack schema.SealedFile) (unused string, err error) {
	name := pack.Path(schema.PacksDir)
	if err := runfile.CheckHash(v.files, name); err != nil {
		return "", err
	}
	covers, err := schema.PackCovers(v.files, pack)
	if err != nil {
		return "", runfile.InFile(name, err)
	}
	var want rowsSum
	comparable := true
	for _, id := range covers {
		c := v.sealed[id]
		if c == nil {
			return fmt.Sprintf("it is not used, because it covers the sealed file %s, which is missing", id), nil
		}
		comparable = comparable && c.whole
		want.addAll(c.sum)
	}
	rows, err := v.readPack(name)
	if err != nil {
		return "", err
	}
	if err := checkName(pack, rows.sum.rows, rows.first, rows.last); err != nil {
		return "", runfile.InFile(name, err)
	}
	if v.lessTwice(&want, covers, rows.twice); comparable && rows.sum != want {
		return "", runfile.Damagedf(name, "its %d rows differ from the %d rows of the files that it covers", rows.sum.rows, want.rows)
	}
	return "", nil
}

// packContent summarizes the rows of a pack.
type packContent struct {
	sum         rowsSum
	first, last schema.ULID
	twice       map[schema.ULID][16]byte // hashes of rows whose runs are in several sealed files
}

// readPack reads the rows of a pack.
func (v *verifier) readPack(name string) (p packContent, err error) {
	rows, err := runfile.OpenRows(v.files, name, schema.Runs)
	if err != nil {
		return p, err
	}
	defer rows.Close()
	p.twice = map[schema.ULID][16]byte{}
	for rows.Row != nil {
		digest, _ := rows.Row[runfile.DigestPlace].(string)
		run, err := newFoundRun(rows.RunID(), digest, rows.Row)
		if err != nil {
			return p, runfile.InFile(name, err)
		}
		if p.sum.rows == 0 {
			p.first = run.id
		}
		p.last = run.id
		p.sum.add(run.row)
		if _, ok := slices.BinarySearchFunc(v.runs.twice, run.id, compareFound); ok {
			p.twice[run.id] = run.row
		}
		if err := rows.Advance(); err != nil {
			return p, err
		}
	}
	return p, nil
}

func compareFound(r foundRun, id schema.ULID) int { return r.id.Compare(id) }

// lessTwice corrects the sum of the rows of files for runs that are in several of them: a pack has only one of these
// rows.
func (v *verifier) lessTwice(sum *rowsSum, covers []schema.ULID, taken map[schema.ULID][16]byte) {
	for same := range sameRuns(v.runs.twice) {
		var rows [][16]byte
		for _, r := range same {
			s := disk.Classify(v.runs.files[r.file])
			if _, ok := slices.BinarySearchFunc(covers, s.Sealed.ID, schema.ULID.Compare); ok && s.Kind == disk.KindSealed {
				rows = append(rows, r.row)
			}
		}
		row, ok := taken[same[0].id]
		if at := slices.Index(rows, row); ok && at >= 0 {
			for _, other := range slices.Delete(rows, at, at+1) {
				sum.remove(other)
			}
		}
	}
}

// checkRuns reads all runs in order of time. So it needs to remember only runs of overlapping files to find runs that are stored twice.
// Several files are read at once.
func (v *verifier) checkRuns(ctx context.Context) error {
	checks := v.ordered(ctx)
	queue := make(chan chan *runsCheck, runtime.GOMAXPROCS(0))
	go func() {
		defer close(queue)
		for _, c := range checks {
			done := make(chan *runsCheck, 1)
			queue <- done // blocks while that many files are being read
			go func() {
				if ctx.Err() == nil {
					v.readRuns(c)
				}
				done <- c
			}()
		}
	}()
	var failed error
	at := 0
	for done := range queue {
		c := <-done
		at++
		if failed == nil {
			failed = cmp.Or(ctx.Err(), v.take(c))
		}
		if failed == nil {
			horizon := int64(math.MaxInt64)
			if at < len(checks) {
				horizon = checks[at].first()
			}
			v.runs.sweep(horizon)
		}
		c.runs, c.states = nil, nil
	}
	if failed != nil {
		return failed
	}
	v.runs.sweep(math.MaxInt64)
	return v.reportTwice()
}

// ordered returns the files of runs, by the time of their first run.
func (v *verifier) ordered(ctx context.Context) []*runsCheck {
	var checks []*runsCheck
	artifact := func(a schema.Artifact) (artifactState, error) { return v.artifact(ctx, a) }
	for _, c := range v.all {
		checks = append(checks, &runsCheck{sealed: c, counted: c.superseded == nil, artifact: artifact})
	}
	for _, f := range v.live {
		checks = append(checks, &runsCheck{live: f, counted: !v.isSealed(f), artifact: artifact})
	}
	slices.SortFunc(checks, func(a, b *runsCheck) int {
		return cmp.Or(cmp.Compare(a.first(), b.first()), cmp.Compare(a.path(), b.path()))
	})
	return checks
}

// isSealed reports whether a live file is in a claim that is already committed.
func (v *verifier) isSealed(f schema.LiveFile) bool {
	if f.Claim == nil || v.sealed[f.Claim.ID] == nil {
		return false
	}
	plan, err := schema.ReadPlan(v.files, *f.Claim)
	return err != nil || plan.Has(f.Run)
}

// take merges the result of a file.
func (v *verifier) take(c *runsCheck) error {
	if c.counted {
		v.runs.add(c.path(), c.runs)
	}
	if c.err != nil {
		return v.noteLoss(c.path(), c.remedy, c.loss, c.err)
	}
	if c.sealed != nil {
		c.sealed.whole, c.sealed.sum = true, c.sum
	}
	if v.noteLost(c); c.counted {
		v.noteArtifacts(c)
	}
	return nil
}

// artifact checks an artifact that a run names. It is not missing if the run records that it was not kept, or if it was pruned.
func (v *verifier) artifact(ctx context.Context, a schema.Artifact) (artifactState, error) {
	if !schema.IsHash(a.SHA256) {
		return artifactFine, nil
	}
	name, err := schema.FindArtifact(v.files, a.SHA256)
	if errors.Is(err, fs.ErrNotExist) {
		if _, gone := v.pruned[a.SHA256]; gone {
			return artifactFine, nil
		}
		return artifactMissing, nil
	}
	if err != nil || a.Bytes == nil {
		return artifactFine, nil // the walk reports a file that cannot be read
	}
	same, err := runfile.ArtifactHas(ctx, v.files, name, *a.Bytes)
	if err != nil || same {
		return artifactFine, nil // the walk reports it, too
	}
	return artifactResized, nil
}

// noteArtifacts reports artifacts that are missing or of another size, and kinds that are no words. The runs are not damaged.
func (v *verifier) noteArtifacts(c *runsCheck) {
	of := func(all []schema.Artifact) string {
		return fmt.Sprintf("%s of its runs, such as %q", counted(len(all), "artifact"), all[0].Path)
	}
	if len(c.absent) > 0 { // only a copy of the store has them
		v.add(Finding{Severity: SeverityNotice, Path: c.path(), Problem: fmt.Sprintf(
			"missing from %s/, though never pruned: %s; store merge from a store that has them restores them", schema.ArtifactsDir, of(c.absent))})
	}
	if len(c.resized) > 0 {
		v.add(Finding{Severity: SeverityDamage, Path: c.path(), Problem: "not of the size that the run says: " + of(c.resized)})
	}
	if len(c.unnamed) > 0 {
		v.add(Finding{Severity: SeverityNotice, Path: c.path(), Problem: fmt.Sprintf(
			"the kind %.70q is not a word of up to 64 letters, digits and _ . -: %s; NeuroLens makes no name of a file of it", c.unnamed[0].Kind, of(c.unnamed))})
	}
}

// noteLost reports runs that an event records as having lost rows.
func (v *verifier) noteLost(c *runsCheck) {
	v.done.Lost += c.lacking
	if c.lacking > 0 {
		problem := fmt.Sprintf("%d of its %s lost samples or ops to earlier damage, as an event records; the rest of them is intact", c.lacking, counted(len(c.runs), "run"))
		v.add(Finding{Severity: SeverityNotice, Path: c.path(), Problem: problem})
	}
	if len(c.complete) > 0 {
		problem := fmt.Sprintf("%s in it are complete, but an event says that they lost samples or ops", counted(len(c.complete), "run"))
		v.add(Finding{Severity: SeverityNotice, Path: c.path(), Problem: problem, remedy: remedyFound, complete: c.complete})
	}
}

// readRuns reads one file of runs.
func (v *verifier) readRuns(c *runsCheck) {
	if c.sealed == nil {
		c.remedy = remedyAside
		live, err := runfile.ReadLiveFile(v.files, c.live)
		if err == nil {
			err = c.addRun(live)
		}
		if c.err = err; err != nil && c.counted {
			c.loss = Loss{Runs: 1}
		}
		return
	}
	c.remedy = remedySealed
	if c.err = c.readSealed(v.files, v.lost); errors.Is(c.err, schema.ErrDamaged) {
		c.salvage(v.files, v.lost)
	}
}

// checkSmall checks a file that does not contain runs.
func (v *verifier) checkSmall(s disk.StoreFile) (err error) {
	switch s.Kind {
	case disk.KindOwner:
		_, err = sealing.ReadOwner(v.files, path.Dir(s.Path))
	case disk.KindPlan:
		err = v.checkPlan(s)
	case disk.KindOut:
		err = v.checkOut(s)
	case disk.KindPackedEvents:
		err = v.checkPackedEvents(s)
	case disk.KindRunSet:
		err = v.checkRunSet(s)
	case disk.KindFolderSizes:
		_, err = schema.ReadFolderSizes(v.files, s.ID)
	case disk.KindEvent:
		_, err = schema.ReadEvent(v.files, s.ID)
	case disk.KindArtifact:
		err = runfile.CheckArtifact(v.files, s.Path)
	}
	return err
}

// checkPackedEvents compares the lines of packed events with the events.
func (v *verifier) checkPackedEvents(s disk.StoreFile) error {
	return schema.ReadPackedEvents(v.files, s.Path, func(line []byte) error {
		e, err := schema.DecodeEvent(line)
		if err != nil {
			return err
		}
		id, err := schema.ParseULID(e.EventID)
		if err != nil {
			return fmt.Errorf("%w: %w", schema.ErrDamaged, err)
		}
		original, err := schema.ReadNames(v.files, schema.EventFile(id))
		switch {
		case v.packed:
		case errors.Is(err, fs.ErrNotExist):
			v.add(Finding{Severity: SeverityDamage, Path: schema.EventFile(id), Problem: "it is missing, but " + s.Path + " has a copy", remedy: remedyRestore})
		case err != nil:
			return err
		case !bytes.Equal(line, original) && isEvent(v.files, id):
			return runfile.Damagedf(s.Path, "its copy of event %s differs from %s", e.EventID, schema.EventFile(id))
		}
		return nil
	})
}

// checkRunSet compares the run set of an event with the event.
func (v *verifier) checkRunSet(s disk.StoreFile) error {
	e, err := schema.ReadWholeRunSet(v.files, s.ID)
	if err != nil {
		return err
	}
	original, err := schema.ReadEvent(v.files, s.ID)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		v.add(Finding{Severity: SeverityDamage, Path: schema.EventFile(s.ID), Problem: "it is missing, but " + s.Path + " has a copy", remedy: remedyRestore})
		return nil
	case err != nil:
		return nil // it is reported itself
	}
	original.Runs = slices.Compact(slices.Sorted(slices.Values(original.Runs)))
	if !reflect.DeepEqual(e, original) {
		return runfile.Damagedf(s.Path, "it differs from %s", schema.EventFile(s.ID))
	}
	return nil
}

// isEvent reports whether the file of an event is intact.
func isEvent(f fs.FS, id schema.ULID) bool {
	_, err := schema.ReadEvent(f, id)
	return err == nil
}

// checkPlan compares a plan with its claim.
func (v *verifier) checkPlan(s disk.StoreFile) error {
	plan, err := schema.ReadPlan(v.files, s.Claim)
	if err == nil && plan.File != "" {
		_, err = disk.PlannedFile(s.Claim, plan)
	}
	return err
}

// checkOut checks a file of a claim that is not a part of the store yet. If its sealer has died, the file is written
// again, so a damaged one is not damage of the store.
func (v *verifier) checkOut(s disk.StoreFile) error {
	err := runfile.CheckHash(v.files, s.Path)
	if errors.Is(err, schema.ErrDamaged) {
		v.add(Finding{Severity: SeverityNotice, Path: s.Path, Problem: "it is incomplete; the process that continues this claim writes it again"})
		return nil
	}
	return err
}

// sweepRuns is the number of runs that a runSweep keeps before it removes the ones that no later file can have.
const sweepRuns = 1 << 16

// runSweep finds runs that are in several files. Files are added in ascending order of their first run.
type runSweep struct {
	files   []string   // paths, by foundRun.file
	pending []foundRun // later files may have them too
	kept    int        // of pending, after the last sweep
	single  int        // different runs so far, less those pending
	twice   []foundRun // runs that are in several files, ascending by id
}

func (s *runSweep) add(path string, runs []foundRun) {
	file := int32(len(s.files))
	s.files = append(s.files, path)
	for _, r := range runs {
		r.file = file
		s.pending = append(s.pending, r)
	}
}

// sweep handles the runs from before a time in Unix milliseconds, which no later file can have. It does nothing until
// enough runs are pending, unless the time is the end of time.
func (s *runSweep) sweep(horizon int64) {
	const end = math.MaxInt64
	if horizon != end && len(s.pending) < max(sweepRuns, 2*s.kept) {
		return
	}
	slices.SortFunc(s.pending, func(a, b foundRun) int { return cmp.Or(a.id.Compare(b.id), cmp.Compare(a.file, b.file)) })
	decided := 0
	for same := range sameRuns(s.pending) {
		if horizon != end && same[0].id.Time().UnixMilli() >= horizon {
			break
		}
		s.single++
		if len(same) > 1 {
			s.twice = append(s.twice, same...)
		}
		decided += len(same)
	}
	s.pending = append(s.pending[:0], s.pending[decided:]...)
	s.kept = len(s.pending)
}

// duplicate means that some runs of a file are also in an earlier one.
type duplicate struct {
	a, b  int32
	equal bool // the digests
}

// reportTwice reports files that have runs in common, with one finding per pair.
func (v *verifier) reportTwice() error {
	counts, example := map[duplicate]int{}, map[duplicate]schema.ULID{}
	var order []duplicate
	for same := range sameRuns(v.runs.twice) {
		for i, r := range same[1:] {
			first := v.earlier(same[:i+1], r)
			p := duplicate{first.file, r.file, first.digest == r.digest}
			if counts[p] == 0 {
				order, example[p] = append(order, p), r.id
			}
			counts[p]++
		}
	}
	for _, p := range order {
		a, b := v.runs.files[p.a], v.runs.files[p.b]
		if v.stillCounts(a) && v.stillCounts(b) {
			v.add(duplicateFinding(a, b, p.equal, fmt.Sprintf("%d of its runs, such as %s, are also in %s", counts[p], example[p], a)))
		}
	}
	v.done.Runs = v.runs.single
	return nil
}

// earlier chooses which of the earlier positions of a run to name. It prefers one of the same sort, because readers treat the sorts
// differently.
func (v *verifier) earlier(before []foundRun, r foundRun) foundRun {
	sort := sortOf(disk.Classify(v.runs.files[r.file]))
	at := slices.IndexFunc(before, func(b foundRun) bool { return sortOf(disk.Classify(v.runs.files[b.file])) == sort })
	return before[max(at, 0)]
}

// sortOf returns the property that matters to readers that find a run twice: whether the file is sealed, in a claim, or in a segment.
func sortOf(s disk.StoreFile) string {
	switch {
	case s.Kind == disk.KindSealed:
		return schema.RunsDir
	case s.Live.Claim != nil:
		return schema.ClaimsDir
	}
	return schema.LiveDir
}

// duplicateFinding returns the finding about runs that are in two files, a and b.
func duplicateFinding(a, b string, equal bool, what string) Finding {
	one, other := sortOf(disk.Classify(a)), sortOf(disk.Classify(b))
	switch {
	case !equal:
		return Finding{Severity: SeverityDamage, Path: b, Problem: what + ", with different digests"}
	case one == schema.LiveDir && other == schema.LiveDir:
		return Finding{Severity: SeverityDamage, Path: b, Problem: what + ", another segment, so readers cannot know which copy counts", remedy: remedyAside}
	case one == schema.RunsDir && other == schema.RunsDir:
		return Finding{Severity: SeverityDamage, Path: b, Problem: what + ", with the same digests, so tools that read the whole folder count them twice; " +
			"store compact writes a store without duplicates"}
	}
	return Finding{Severity: SeverityNotice, Path: b, Problem: what + ", with the same digests; they count once"}
}

// stillCounts reports whether a file of runs is still in place: it was neither moved nor sealed since it was read.
func (v *verifier) stillCounts(name string) bool {
	s := disk.Classify(name)
	if s.Kind != disk.KindLive {
		return true
	}
	if !disk.IsThere(v.files, name) {
		return false
	}
	if s.Live.Claim == nil {
		return true
	}
	plan, err := schema.ReadPlan(v.files, *s.Live.Claim)
	if err != nil || plan.File == "" || !plan.Has(s.Live.Run) {
		return true
	}
	f, err := disk.PlannedFile(*s.Live.Claim, plan)
	return err != nil || !disk.IsThere(v.files, f.Path(schema.RunsDir))
}

// sameRuns returns groups of consecutive runs with the same id.
func sameRuns(runs []foundRun) iter.Seq[[]foundRun] {
	return func(yield func([]foundRun) bool) {
		for len(runs) > 0 {
			n := 1
			for n < len(runs) && runs[n].id == runs[0].id {
				n++
			}
			if !yield(runs[:n:n]) {
				return
			}
			runs = runs[n:]
		}
	}
}
