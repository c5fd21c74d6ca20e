package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/ingest/internal/sealing"
	"github.com/neurolens/neurolens/schema"
)

// Action is an action of Repair on a file.
type Action string

// The actions.
const (
	ActionAside   Action = "set aside"  // moved into quarantine/, under its old path
	ActionKeep    Action = "kept"       // the intact rows of a sealed file, in a file with the same id
	ActionFound   Action = "found"      // recorded in an event that lost rows were found again
	ActionRestore Action = "restored"   // an event, from the copy in a pack
	ActionReplan  Action = "taken over" // a claim whose plan cannot be executed
	ActionFinish  Action = "finished"   // a claim: its runs are sealed now
	ActionRemove  Action = "removed"    // an empty folder of a claim
	ActionLeave   Action = "left"       // unchanged: Repair can do nothing about it
)

// Repair is one action of a repair.
type Repair struct {
	Action Action
	Path   string // in the store
	Reason string
	Loss   Loss
}

// Repaired counts what a repair did.
type Repaired struct {
	Left int // findings that Repair can do nothing about
	Loss Loss
}

// Repair makes a damaged store readable. It moves damaged files into quarantine/, and also files that do not belong to a store if a glob
// over the tables would read them. It restores events that packs still have, and finishes abandoned claims. It deletes nothing but empty
// folders of claims, and does not move links to directories.
//
// Every run, and every row of samples and ops, that matches its hash or the checksum of its page stays in the store. Before a damaged
// file is replaced, an event names the runs that lose samples or ops. Files that cannot be read, or that a later version wrote, are left
// unchanged.
//
// Repair calls did for each action. Repairs and merges of one store take turns. If a repair is interrupted, the next one does the rest.
func (r *Repairer) Repair(ctx context.Context, did func(Repair)) (Repaired, error) {
	unlock, err := r.files.Lock(ctx)
	if errors.Is(err, schema.ErrDamaged) { // the header is not a regular file, so no other process can have the store open
		unlock, err = func() {}, nil
	}
	if err != nil {
		return Repaired{}, fmt.Errorf("repairing store %s: %w", r.dir, err)
	}
	defer unlock()
	work := &repairer{files: r.files, sealer: &r.sealer, did: did, moved: map[string]bool{}}
	if err := work.all(ctx); err != nil {
		return work.done, fmt.Errorf("repairing store %s: %w", r.dir, err)
	}
	return work.done, nil
}

// PlanRepair calls would for each action that Repair would take on the store in a directory. It writes nothing.
func PlanRepair(ctx context.Context, dir string, would func(Repair)) (Repaired, error) {
	files, err := disk.NewOS(dir)
	var planned Repaired
	if err == nil {
		planned, err = planFiles(ctx, files, would)
	}
	if err != nil {
		return planned, fmt.Errorf("repairing store %s: %w", dir, err)
	}
	return planned, nil
}

// planFiles is PlanRepair for these files.
func planFiles(ctx context.Context, f disk.Files, would func(Repair)) (Repaired, error) {
	if err := headerError(f); err != nil && !errors.Is(err, schema.ErrDamaged) {
		return Repaired{}, err
	}
	r := &repairer{files: f, sealer: &sealing.Sealer{Files: f, Rules: sealing.StandardRules()}, dryRun: true, did: would, moved: map[string]bool{}}
	err := r.all(ctx)
	return r.done, err
}

// repairer is one call of Repair.
type repairer struct {
	files  disk.Files
	sealer *sealing.Sealer
	dryRun bool
	did    func(Repair)
	moved  map[string]bool // paths that were set aside
	packed bool            // packs alone have the events, and are intact
	absent bool            // recordAbsent was called
	done   Repaired
}

func (r *repairer) all(ctx context.Context) error {
	if err := r.unpackEvents(); err != nil {
		return err
	}
	var found []Finding
	verified, err := verifyFiles(ctx, r.files, func(f Finding) { found = append(found, f) })
	if err != nil {
		return err
	}
	for _, f := range found {
		if f.remedy == remedyHeader {
			err = r.header(f, verified.Newer)
		} else {
			err = r.remedy(f)
		}
		if err != nil {
			return err
		}
	}
	if err := r.restoreEvents(); err != nil {
		return err
	}
	claims, err := disk.ListClaims(r.files)
	if err != nil {
		return err
	}
	for i, c := range claims {
		if claims[i], err = r.replan(c); err != nil {
			return err
		}
	}
	return r.finish(ctx, claims)
}

// remedy repairs a finding if possible.
func (r *repairer) remedy(f Finding) error {
	switch f.remedy {
	case remedyAside:
		return r.asideFor(f.Path, f.Problem, f.Loss)
	case remedySealed:
		return r.sealed(f)
	case remedyFound:
		return r.recordFound(f)
	case remedyEmpty:
		return r.removeEmpty(f)
	case remedyRestore:
		return nil // restoreEvents does it, after damaged files are set aside
	}
	if f.Severity != SeverityNotice {
		r.leave(f.Path, f.Problem)
	}
	return nil
}

// aside moves a file, or a directory that does not belong to a store, into quarantine/. A file on another mounted disk
// stays where it is, because moving it would mean to copy it and to delete the original.
func (r *repairer) aside(name, reason string) error { return r.asideFor(name, reason, Loss{}) }

// asideFor moves a file aside, as aside does, if its repair loses data.
func (r *repairer) asideFor(name, reason string, loss Loss) error {
	if r.moved[name] {
		return nil
	}
	if !r.dryRun {
		if err := r.recordAbsent(loss); err != nil {
			return err
		}
		to, err := r.asideName(name)
		if err != nil {
			return err
		}
		if err := disk.MakeDirs(r.files, path.Dir(to)); err != nil {
			return err
		}
		err = r.files.Rename(name, to)
		if errors.Is(err, syscall.EXDEV) {
			r.leave(name, reason+acrossText)
			return nil
		}
		if err != nil {
			return err
		}
		for _, dir := range []string{path.Dir(to), path.Dir(name)} {
			if err := disk.SyncDir(r.files, dir); err != nil {
				return err
			}
		}
	}
	r.moved[name] = true
	r.done.Loss.Add(loss)
	r.did(Repair{Action: ActionAside, Path: name, Reason: reason, Loss: loss})
	return nil
}

// asideName returns an unused name in quarantine/ for a file.
func (r *repairer) asideName(name string) (string, error) {
	to := path.Join(disk.QuarantineDir, name)
	for n := 1; ; n++ {
		if taken, err := disk.Exists(r.files, to); err != nil || !taken {
			return to, err
		}
		to = path.Join(disk.QuarantineDir, name) + "." + strconv.Itoa(n)
	}
}

// acrossText explains why a file is not moved.
const acrossText = "; move it by hand, because quarantine/ is on another file system"

// leave reports that nothing is done about a file.
func (r *repairer) leave(name, reason string) {
	r.done.Left++
	r.did(Repair{Action: ActionLeave, Path: name, Reason: reason})
}

// isFile reports whether a name exists and is not a directory or a link to one.
func isFile(f fs.FS, name string) bool {
	info, err := fs.Stat(f, name)
	return err == nil && !info.IsDir()
}

// recordAbsent records, before runs are lost, that removed runs may be among them, if there are any.
func (r *repairer) recordAbsent(loss Loss) error {
	if loss.Runs == 0 || r.absent {
		return nil
	}
	r.absent = true
	if _, removes := runfile.MayLackRemoved(r.files); !removes {
		return nil
	}
	return runfile.WriteAbsentEvent(r.files)
}

// replan takes over a claim that cannot be finished by its plan, because the plan is damaged or names a run that is
// missing. Without the plan, the next sealer makes another one. The take-over renames the claim to its next attempt, so
// its former owner cannot continue with the old plan.
func (r *repairer) replan(c schema.Claim) (schema.Claim, error) {
	name := path.Join(c.Path(), schema.PlanFile)
	plan, err := schema.ReadPlan(r.files, c)
	switch {
	case r.moved[name]:
	case errors.Is(err, fs.ErrNotExist):
		return c, nil
	case err != nil:
		return c, err
	default:
		committed, err := r.sealer.Committed(c, plan)
		if err != nil || committed {
			return c, err
		}
		complete, err := r.complete(c, plan)
		if err != nil || complete {
			return c, err
		}
	}
	r.did(Repair{Action: ActionReplan, Path: c.Path(), Reason: "its plan is damaged or names missing runs"})
	if r.dryRun {
		return c, nil
	}
	next, err := r.sealer.TakeOver(c)
	if errors.Is(err, sealing.ErrFenced) {
		return c, nil
	}
	if err != nil || r.moved[name] {
		return next, err
	}
	return next, r.aside(path.Join(next.Path(), schema.PlanFile), "it names missing runs")
}

// removeEmpty removes the folder of a claim without files. A folder that has files again stays.
func (r *repairer) removeEmpty(f Finding) error {
	r.did(Repair{Action: ActionRemove, Path: f.Path, Reason: f.Problem})
	if r.dryRun {
		return nil
	}
	entries, err := fs.ReadDir(r.files, f.Path)
	for _, e := range entries {
		if err == nil {
			err = r.files.Remove(path.Join(f.Path, e.Name()))
		}
	}
	if err == nil {
		err = r.files.Remove(f.Path)
	}
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// complete reports whether the claim has all runs that its plan seals.
func (r *repairer) complete(c schema.Claim, plan schema.Plan) (bool, error) {
	segments, err := disk.ListSegments(r.files, c.Path())
	if err != nil {
		return false, err
	}
	there := map[string]bool{}
	for _, segment := range segments {
		for _, run := range segment.Runs {
			f := schema.LiveFile{Claim: &c, Segment: segment.ID, Run: run}
			there[run.String()] = there[run.String()] || !r.moved[f.Path()]
		}
	}
	return !slices.ContainsFunc(plan.Runs, func(run string) bool { return !there[run] }), nil
}

// finish continues the claims that no other process works on, and reports which are finished now.
func (r *repairer) finish(ctx context.Context, claims []schema.Claim) error {
	var open []schema.Claim
	for _, c := range claims {
		finished, _, err := r.sealer.Finished(c)
		switch {
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, schema.ErrDamaged): // moved, or still damaged in a dry run
		case err != nil:
			return err
		case !finished:
			open = append(open, c)
		}
	}
	if r.dryRun {
		for _, c := range open {
			if abandoned, err := r.sealer.Abandoned(c.Path()); err == nil && abandoned {
				r.did(Repair{Action: ActionFinish, Path: c.Path(), Reason: "no process is working on it any more"})
			}
		}
		return nil
	}
	r.sealer.Tidy(ctx)
	now, err := disk.ListClaims(r.files)
	if err != nil {
		return err
	}
	for _, c := range open {
		at := slices.IndexFunc(now, func(n schema.Claim) bool { return n.ID == c.ID })
		if at >= 0 {
			if finished, _, err := r.sealer.Finished(now[at]); err != nil || !finished {
				continue
			}
		}
		r.did(Repair{Action: ActionFinish, Path: c.Path(), Reason: "its runs are sealed now"})
	}
	return ctx.Err()
}

// unpackEvents makes files of events that packs alone have, of those that are intact if a pack is damaged.
func (r *repairer) unpackEvents() error {
	listed, err := schema.ListEvents(r.files)
	if err != nil || !listed.Packed() {
		return nil // the verification names damage
	}
	switch _, err = runfile.ListEvents(r.files, listed); {
	case errors.Is(err, schema.ErrDamaged):
		return r.restoreEvents()
	case err != nil:
		return err
	}
	if r.packed = r.dryRun; r.dryRun {
		return nil
	}
	return runfile.UnpackEvents(r.files)
}

// restoreEvents restores events whose own files are gone, from their copies in packs.
func (r *repairer) restoreEvents() error {
	entries, err := fs.ReadDir(r.files, schema.PacksDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		name := path.Join(schema.PacksDir, e.Name())
		if r.moved[name] || !e.Type().IsRegular() {
			continue
		}
		switch s := disk.Classify(name); {
		case s.Kind == disk.KindPackedEvents && !r.packed:
			err = schema.ReadPackedEvents(r.files, name, func(line []byte) error { return r.restoreEvent(name, line) })
		case s.Kind == disk.KindRunSet:
			err = r.restoreFromRunSet(s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// restoreFromRunSet restores an event from its run set, unless its own file is there.
func (r *repairer) restoreFromRunSet(s disk.StoreFile) error {
	if name := schema.EventFile(s.ID); !r.moved[name] && disk.IsThere(r.files, name) {
		return nil
	}
	e, err := schema.ReadWholeRunSet(r.files, s.ID)
	if err != nil {
		return nil // for that reason the form itself was set aside
	}
	line, err := e.Encode()
	if err != nil {
		return err
	}
	return r.restoreEvent(s.Path, line)
}

func (r *repairer) restoreEvent(pack string, line []byte) error {
	e, err := schema.DecodeEvent(line)
	if err != nil {
		return nil // for that reason the pack itself was set aside
	}
	id, err := schema.ParseULID(e.EventID)
	name := schema.EventFile(id)
	if err != nil || !r.moved[name] && disk.IsThere(r.files, name) {
		return nil
	}
	if !r.dryRun {
		if err := disk.MakeDirs(r.files, schema.EventsDir); err != nil {
			return err
		}
		if err := disk.Publish(r.files, name, line); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := disk.SyncDir(r.files, schema.EventsDir); err != nil {
			return err
		}
	}
	r.moved[name] = false
	r.did(Repair{Action: ActionRestore, Path: name, Reason: "from " + pack})
	return nil
}

// headerError returns the error of the header of a store. If a single changed byte makes it look like another format, that is damage
// too.
func headerError(f fs.FS) error {
	_, err := schema.ReadHeader(f)
	if !errors.Is(err, schema.ErrFormat) {
		return err
	}
	restored, unread := restoredHeader(f)
	switch {
	case unread != nil:
		return unread
	case restored != nil:
		return fmt.Errorf("%w: its content does not match its SHA-256", schema.ErrDamaged)
	}
	return err
}

// restoredHeader undoes the change of a single byte in the header: it tries all values of each byte until the hash matches. It returns
// nil if more than one byte is wrong. The error comes from reading.
func restoredHeader(f fs.FS) ([]byte, error) {
	const maxHeader = 512 // bytes of a header that this version writes
	content, err := schema.ReadSmall(f, schema.HeaderFile)
	switch {
	case errors.Is(err, schema.ErrDamaged) || len(content) > maxHeader:
		return nil, nil
	case err != nil:
		return nil, err
	}
	for at, was := range content {
		for b := range utf8.RuneSelf { // a header is ASCII
			content[at] = byte(b)
			if _, err := schema.DecodeHeader(content); err == nil {
				return content, nil
			}
		}
		content[at] = was
	}
	return nil, nil
}

// header replaces a damaged header: by the original one if it can be restored, otherwise by a new one. Readers need only
// the format from it, and that is known. If the store has files of a later format, the header stays as it is.
func (r *repairer) header(f Finding, newer int) error {
	if !isFile(r.files, schema.HeaderFile) { // a directory may contain anything
		r.leave(f.Path, f.Problem)
		return nil
	}
	content, err := restoredHeader(r.files)
	if err != nil {
		return err
	}
	done := "one byte is restored, so that its SHA-256 matches again"
	if content == nil {
		if newer > 0 {
			r.leave(f.Path, f.Problem+"; it is not replaced, because the store has files of a later format")
			return nil
		}
		if content, err = disk.NewHeader(); err != nil {
			return err
		}
		done = "a new header replaces it, with a new store_id"
	}
	if !r.dryRun {
		err := disk.WithTemp(r.files, content, func(temp string) error { return r.exchange(schema.HeaderFile, temp) })
		if err != nil {
			return err
		}
	}
	r.did(Repair{Action: ActionAside, Path: f.Path, Reason: f.Problem})
	r.did(Repair{Action: ActionKeep, Path: f.Path, Reason: done})
	return nil
}

// exchange links a file into quarantine/ and renames a temporary file over it.
func (r *repairer) exchange(name, temp string) error {
	to := path.Join(disk.QuarantineDir, name)
	if !disk.SameFile(r.files, name, to) { // an interrupted repair may have linked it already
		var err error
		if to, err = r.asideName(name); err != nil {
			return err
		}
		if err := disk.MakeDirs(r.files, path.Dir(to)); err != nil {
			return err
		}
		err = r.files.Link(name, to)
		if err != nil && disk.NoLinks(err) {
			err = disk.CopyAs(r.files, name, r.files, to)
		}
		if err != nil {
			return err
		}
	}
	if err := disk.SyncDir(r.files, path.Dir(to)); err != nil {
		return err
	}
	if err := r.files.Rename(temp, name); err != nil {
		return err
	}
	return disk.SyncDir(r.files, path.Dir(name))
}

// salvaging is the repair of one sealed file.
type salvaging struct {
	*repairer
	file    schema.SealedFile
	finding Finding
	out     *runfile.RunSet // the intact rows; nil in a dry run
	from    *runfile.Salvager
	lost    map[*schema.Table][]string // ids of the runs that lose rows, by table
}

// read finds the intact rows and writes them into temporary files.
func (s *salvaging) read() (err error) {
	if !s.dryRun {
		if s.out, err = runfile.NewRunSet(s.files, s.sealer.Version); err != nil {
			return err
		}
	}
	s.from, err = runfile.Salvage(runfile.InputOf(s.files, s.file), runfile.ReadLost(s.files), func(run runfile.Salvaged) error {
		for _, t := range run.Lost {
			s.lost[t] = append(s.lost[t], run.RunID)
		}
		if s.out == nil {
			return nil
		}
		return s.out.Write(run.Live)
	})
	if err == nil && s.out != nil {
		err = s.out.Finish()
	}
	if err != nil && s.out != nil {
		s.out.Remove()
	}
	return err
}

// replace replaces the damaged files by the intact rows. Before that, it writes events with the runs that have lost rows.
func (s *salvaging) replace() error {
	if s.from.Kept == 0 {
		return s.asideSet(s.file, s.finding, s.from.Loss)
	}
	if err := s.recordLost(); err != nil {
		return err
	}
	damages := map[string]string{}
	for _, err := range s.from.Damages() {
		if in, ok := errors.AsType[*runfile.FileError](err); ok {
			damages[in.Path] = runfile.ProblemText(in.Err)
		}
	}
	if s.from.Loss.Runs == 0 && s.named() {
		return s.replaceFiles(damages)
	}
	return s.replaceSet(damages)
}

// named reports whether the name of the sealed file is right for the runs that are left. It is if no run is lost.
func (s *salvaging) named() bool { return s.out == nil || s.out.SealedFile(s.file.ID) == s.file }

// recordLost writes events with the runs that have lost rows, except for runs that already have such an event.
func (s *salvaging) recordLost() error {
	if s.dryRun {
		return nil
	}
	known := runfile.ReadLost(s.files)
	for _, t := range []*schema.Table{schema.Samples, schema.Ops} {
		runs := slices.DeleteFunc(slices.Clone(s.lost[t]), func(id string) bool {
			_, said := known[id][t.Name]
			return said
		})
		reason := fmt.Sprintf("%s was damaged", s.file.Path(schema.TableFolders[t]))
		if s.from.Lacks(t) {
			reason = fmt.Sprintf("%s was missing", s.file.Path(schema.TableFolders[t]))
		}
		if err := runfile.WriteRowEvents(s.files, schema.EventLost, t, runs, reason); err != nil {
			return err
		}
	}
	return nil
}

// replaceFiles replaces the damaged files of a sealed file. Each gets a name in quarantine/ first. The runs are the same,
// and so is the name: at any moment a reader finds either the old or the new file.
func (s *salvaging) replaceFiles(damages map[string]string) error {
	loss := s.from.Loss
	for _, t := range runfile.Tables {
		name := s.file.Path(schema.TableFolders[t])
		reason, damaged := damages[name]
		if !damaged {
			continue
		}
		left := s.out != nil && s.out.Has(t)
		switch {
		case s.from.Lacks(t):
			s.done.Loss.Add(loss)
			s.did(Repair{Action: ActionKeep, Path: s.file.Path(schema.RunsDir), Reason: reason + ": " + s.keptText(), Loss: loss})
			loss = Loss{}
			continue
		case left:
			err := s.exchange(name, s.out.Name(t))
			if errors.Is(err, syscall.EXDEV) {
				s.leave(name, reason+acrossText)
				return nil
			}
			if err != nil {
				return err
			}
			s.moved[name] = true
			s.done.Loss.Add(loss)
			s.did(Repair{Action: ActionAside, Path: name, Reason: reason, Loss: loss})
		default:
			if err := s.asideFor(name, reason, loss); err != nil {
				return err
			}
		}
		s.did(Repair{Action: ActionKeep, Path: name, Reason: s.keptText()})
		loss = Loss{}
	}
	return nil
}

// replaceSet publishes the remaining runs under the same id and a new name, which has the new number of runs. As soon as
// the new file of runs has its name, it counts and the old one does not. Then the damaged files are moved into
// quarantine/.
func (s *salvaging) replaceSet(damages map[string]string) error {
	name := s.file.Path(schema.RunsDir)
	reason := s.finding.Problem
	if text, ok := damages[name]; ok {
		reason = text
	}
	if err := s.dropPacks(); err != nil {
		return err
	}
	if s.out != nil {
		into := s.out.SealedFile(s.file.ID)
		err := s.out.Publish(into)
		if errors.Is(err, syscall.EXDEV) {
			s.leave(s.file.Path(schema.RunsDir), reason+acrossText)
			return nil
		}
		if err != nil {
			return err
		}
		name = into.Path(schema.RunsDir)
	}
	if err := s.asideSet(s.file, Finding{Path: s.file.Path(schema.RunsDir), Problem: reason}, s.from.Loss); err != nil {
		return err
	}
	s.did(Repair{Action: ActionKeep, Path: name, Reason: s.keptText()})
	return nil
}

// dropPacks sets aside packs with rows that are no longer in the sealed file.
func (s *salvaging) dropPacks() error {
	packs, err := schema.ListZone(s.files, schema.PacksDir)
	if err != nil {
		return err
	}
	for _, pack := range packs {
		covers, err := schema.PackCovers(s.files, pack)
		if err != nil || !slices.Contains(covers, s.file.ID) {
			continue
		}
		if err := s.aside(pack.Path(schema.PacksDir), "it repeats lost rows of "+s.file.Path(schema.RunsDir)); err != nil {
			return err
		}
	}
	return nil
}

// keptText returns a text about the part of the sealed file that is kept.
func (s *salvaging) keptText() string {
	parts := []string{fmt.Sprintf("%d of %s are kept", s.from.Kept, counted(s.file.Rows, "run"))}
	for _, l := range []struct {
		runs int
		what string
	}{{s.from.Loss.Samples, "samples"}, {s.from.Loss.Ops, "ops"}} {
		if l.runs > 0 {
			parts = append(parts, fmt.Sprintf("%d of them without their %s", l.runs, l.what))
		}
	}
	return strings.Join(parts, ", ")
}

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
		name, reason := file.Path(schema.TableFolders[t]), f.Problem
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
