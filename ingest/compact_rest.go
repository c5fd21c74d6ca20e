package ingest

import (
	"context"
	"errors"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
)

// copyRest copies the artifacts and the events that still matter.
func (c *compacter) copyRest(ctx context.Context, events []schema.Event) error {
	if !c.tables {
		if _, _, err := runfile.CopyArtifacts(ctx, c.from, c.into, nil, func(name string, err error) { c.leaveOut(name, runfile.Loss{}, err) }); err != nil {
			return err
		}
	}
	if err := c.copyEvents(c.mattering(events)); err != nil {
		return err
	}
	for _, t := range []*schema.Table{schema.Samples, schema.Ops} {
		kept := slices.DeleteFunc(c.losing[t], func(run string) bool { return c.removed[run] })
		if err := runfile.WriteRowEvents(c.into, schema.EventLost, t, kept, "its file was damaged in the store that this one was compacted from"); err != nil {
			return err
		}
	}
	return nil
}

// mattering lists the events to keep: all except events that concern only runs that are left out, and blessings that a later one replaces.
func (c *compacter) mattering(events []schema.Event) (keep []schema.ULID) {
	blessed := map[string]string{} // the last event for each baseline, by name
	for _, e := range events {
		if e.Kind == schema.EventBless {
			blessed[e.Key] = max(blessed[e.Key], e.EventID)
		}
	}
	for _, e := range events {
		// An event of an unknown kind may matter even without runs.
		matters := e.Kind == schema.EventRemove || len(e.Runs) == 0 || slices.ContainsFunc(e.Runs, func(run string) bool { return !c.removed[run] })
		if e.Kind == schema.EventBless && !c.tables {
			matters = blessed[e.Key] == e.EventID
		}
		if id, err := schema.ParseULID(e.EventID); err == nil && matters {
			keep = append(keep, id)
		}
	}
	return keep
}

// copyEvents copies events. It removes other events that an interrupted Compact left.
func (c *compacter) copyEvents(ids []schema.ULID) error {
	keep := map[string]bool{}
	for _, id := range ids {
		keep[schema.EventFile(id)] = true
	}
	if _, err := c.clearDir(schema.EventsDir, keep); err != nil {
		return err
	}
	for _, id := range ids {
		if err := disk.MakeDirs(c.into, schema.EventsDir); err != nil {
			return err
		}
		if err := c.events.Copy(c.into, id); err != nil {
			return err
		}
	}
	if c.done.Events = len(ids); c.done.Events == 0 {
		return nil
	}
	return disk.SyncDir(c.into, schema.EventsDir)
}

// readEvents reads the intact events.
func (c *compacter) readEvents(listed schema.Events) (intact []schema.Event, err error) {
	if c.events, err = runfile.ListEvents(c.from, listed); err != nil {
		return nil, err
	}
	for _, id := range c.events.IDs {
		e, err := c.events.Read(id)
		if errors.Is(err, schema.ErrDamaged) {
			c.leaveOut(schema.EventFile(id), runfile.Loss{}, err)
			continue
		}
		if err != nil {
			return nil, runfile.InFile(schema.EventFile(id), err)
		}
		intact = append(intact, e)
	}
	return intact, nil
}

// leaveOut reports a damaged file and its loss.
func (c *compacter) leaveOut(name string, loss runfile.Loss, err error) {
	if in, ok := errors.AsType[*runfile.FileError](err); ok {
		name, err = in.Path, in.Err
	}
	c.done.Loss.Add(loss)
	c.leftOut = append(c.leftOut, LeftOut{Damaged: true, Path: name, Problem: runfile.ProblemText(err), Loss: loss})
	c.damaged(c.leftOut[len(c.leftOut)-1])
}

// sealedLeft reads the intact rows of a sealed file.
type sealedLeft struct {
	*compacter
	input  runfile.Input
	ahead  aheadFile
	begun  bool
	intact []*table.Live     // the runs that are left of a file that was read ahead; nil: it was not
	runs   *runfile.Salvager // nil before the first run
}

func (s *sealedLeft) From() string { return runfile.IDBound(s.input.Sealed.First) }

func (s *sealedLeft) Next() (live *table.Live, err error) {
	if !s.begun {
		s.begun, s.intact = true, s.ahead.take()
	}
	if s.intact != nil {
		return s.nextIntact()
	}
	if s.runs == nil {
		if s.runs, err = runfile.NewSalvager(s.input, s.lost); err != nil {
			return nil, err
		}
	}
	r, err := s.runs.Next()
	if errors.Is(err, io.EOF) {
		loss := s.runs.Loss
		damages := s.runs.Damages()
		if len(damages) == 0 && loss != (runfile.Loss{}) {
			damages = []error{runfile.Damagedf(s.input.Name(schema.Runs), "its rows do not match its name or their digests")}
		}
		if len(damages) > 0 && s.input.Sealed.ID == (schema.ULID{}) { // a file that was just written
			return nil, damages[0]
		}
		for _, damage := range damages {
			s.leaveOut("", loss, damage)
			s.hurt = append(s.hurt, s.input.Sealed)
			loss = runfile.Loss{}
		}
	}
	if err != nil {
		return nil, err
	}
	for _, t := range r.Lost {
		if _, known := s.lost[r.RunID][t.Name]; known {
			continue
		}
		s.losing[t] = append(s.losing[t], r.RunID)
		if s.lost[r.RunID] == nil {
			s.lost[r.RunID] = map[string]string{}
		}
		s.lost[r.RunID][t.Name] = "damaged"
	}
	return r.Live, nil
}

// nextIntact returns the next run of a file that was read ahead.
func (s *sealedLeft) nextIntact() (*table.Live, error) {
	if len(s.intact) == 0 {
		return nil, io.EOF
	}
	live := s.intact[0]
	s.intact[0] = nil // it is in use no longer than the next ones
	s.intact = s.intact[1:]
	return live, nil
}

func (s *sealedLeft) Close() {
	if s.runs != nil {
		s.runs.Close()
	}
}

// liveLeft reads the intact live runs.
type liveLeft struct {
	*compacter
	*runfile.LiveRuns
}

func (l *liveLeft) Next() (*table.Live, error) {
	for {
		live, err := l.LiveRuns.Next()
		if !errors.Is(err, schema.ErrDamaged) {
			return live, err
		}
		l.leaveOut("", runfile.Loss{Runs: 1}, err)
		if in, ok := errors.AsType[*runfile.FileError](err); ok {
			at := timeOf(strings.TrimSuffix(path.Base(in.Path), path.Ext(in.Path)))
			l.hurt = append(l.hurt, schema.SealedFile{First: at, Last: at})
		}
	}
}

func (l *liveLeft) From() string { return l.LiveRuns.From() }
