package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
)

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

// replace replaces the damaged files by the intact rows. Before that, it writes events that say which runs have lost
// rows.
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

// recordLost writes events that say which runs have lost rows, except for runs that already have such an event.
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
		reason := fmt.Sprintf("%s was damaged", s.file.Path(schema.TableZones[t]))
		if s.from.Lacks(t) {
			reason = fmt.Sprintf("%s was missing", s.file.Path(schema.TableZones[t]))
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
		name := s.file.Path(schema.TableZones[t])
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

// keptText says how much of the sealed file is kept.
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
