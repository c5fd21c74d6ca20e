package ingest

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/eventlog"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/ingest/table"
	"github.com/neurolens/neurolens/schema"
)

// copyRest copies the artifacts and the events that still matter.
func (c *compacter) copyRest(ctx context.Context, events []schema.Event) error {
	if _, err := runfile.CopyArtifacts(ctx, c.from, c.into, nil, func(name string, err error) { c.leaveOut(name, runfile.Loss{}, err) }); err != nil {
		return err
	}
	gone := c.removed
	blessed := map[string]string{} // the last event for each baseline, by name
	for _, e := range events {
		if e.Kind == schema.EventBless {
			blessed[e.Key] = max(blessed[e.Key], e.EventID)
		}
	}
	for _, e := range events {
		// An event of an unknown kind may matter even without runs.
		keep := e.Kind == schema.EventRemove || len(e.Runs) == 0 || slices.ContainsFunc(e.Runs, func(run string) bool { return !gone[run] })
		if e.Kind == schema.EventBless {
			keep = blessed[e.Key] == e.EventID
		}
		id, err := schema.ParseULID(e.EventID)
		if err != nil || !keep {
			continue
		}
		if err := disk.MakeDirs(c.into, schema.EventsDir); err != nil {
			return err
		}
		if err := disk.CopyFile(c.from, c.into, schema.EventFile(id)); err != nil {
			return err
		}
		c.done.Events++
	}
	if c.done.Events > 0 {
		if err := disk.SyncDir(c.into, schema.EventsDir); err != nil {
			return err
		}
	}
	for _, t := range []*schema.Table{schema.Samples, schema.Ops} {
		kept := slices.DeleteFunc(c.losing[t], func(run string) bool { return gone[run] })
		if err := eventlog.WriteRowEvents(c.into, schema.EventLost, t, kept, "its file was damaged in the store that this one was compacted from"); err != nil {
			return err
		}
	}
	return nil
}

// readEvents reads the intact events.
func (c *compacter) readEvents(listed schema.Events) ([]schema.Event, error) {
	var events []schema.Event
	for _, id := range listed.Files {
		e, err := schema.ReadEvent(c.from, id)
		if errors.Is(err, schema.ErrDamaged) {
			c.leaveOut(schema.EventFile(id), runfile.Loss{}, err)
			continue
		}
		if err != nil {
			return nil, runfile.InFile(schema.EventFile(id), err)
		}
		events = append(events, e)
	}
	return events, nil
}

// leaveOut reports a damaged file and what is lost with it.
func (c *compacter) leaveOut(name string, loss runfile.Loss, err error) {
	if in, ok := errors.AsType[*runfile.FileError](err); ok {
		name, err = in.Path, in.Err
	}
	c.done.Loss.Add(loss)
	c.damaged(LeftOut{Damaged: true, Path: name, Problem: runfile.ProblemText(err), Loss: loss})
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
		if len(damages) > 0 && s.input.Sealed.ID == (schema.ULID{}) { // what was just written
			return nil, damages[0]
		}
		for _, damage := range damages {
			s.leaveOut("", loss, damage)
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

// nextIntact gives the next run of a file that was read ahead.
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
	}
}

func (l *liveLeft) From() string { return l.LiveRuns.From() }
