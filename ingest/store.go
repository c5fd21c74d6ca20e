package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/sealing"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/table"
)

// Store appends runs to a store directory. Its methods may be called from many goroutines; any number of processes
// may have the same store open.
type Store struct {
	dir   string // as the user typed it
	files disk.Files

	mu      sync.Mutex
	encoder *table.Encoder
	segment *segment // nil before the first run
	sealer  sealing.Sealer
	failed  map[schema.ULID]schema.ULID // segments of runs that were not acknowledged, but may exist, by run id
	closed  bool
}

// Init creates a store in a directory that is empty or does not exist, with its parents. If the directory is already a
// store, it stays unchanged. The error wraps schema.ErrFormat or schema.ErrDamaged for a store that this version cannot
// write.
func Init(dir string) error {
	files, err := disk.NewOS(dir)
	if err == nil {
		err = initStore(files)
	}
	if err != nil {
		return fmt.Errorf("creating store %s: %w", dir, err)
	}
	return nil
}

func initStore(files disk.Files) error {
	if err := files.MakeRoot(); err != nil {
		return err
	}
	// The directory is listed before the header is read, because other processes write the header first.
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return err
	}
	if _, err := schema.ReadHeader(files); err == nil {
		return disk.SyncDir(files, ".") // its writer may have died before this
	} else if !errors.Is(err, schema.ErrNoStore) {
		return err
	}
	for _, e := range entries {
		if e.Name() != schema.TmpDir && e.Name() != schema.IgnoreFile { // left by an Init that was cut short
			return fmt.Errorf("the directory is not empty (it has %s) and is not a store", e.Name())
		}
	}
	header, err := disk.NewHeader()
	if err != nil {
		return err
	}
	err = disk.Publish(files, schema.HeaderFile, header)
	if errors.Is(err, fs.ErrExist) {
		_, err = schema.ReadHeader(files) // another process was first
	}
	if err == nil {
		err = ignoreAll(files)
	}
	if err != nil {
		return err
	}
	return disk.SyncDir(files, ".")
}

// ignored is the content of the store's .gitignore: all files are data, and may be large and private.
const ignored = "*\n"

// ignoreAll makes git ignore a new store that is inside of a working tree.
func ignoreAll(files disk.Files) error {
	err := disk.Publish(files, schema.IgnoreFile, []byte(ignored))
	if errors.Is(err, fs.ErrExist) {
		return nil // somebody has written another one
	}
	return err
}

// Open opens a store for appending. writer is the version of the program, which every file names. Open writes nothing, but fails if the
// store is clearly not writable: better now than after the first measurement. The error wraps schema.ErrNoStore, schema.ErrFormat or
// schema.ErrDamaged, or comes from the file system.
func Open(dir, writer string) (*Store, error) {
	files, err := disk.NewOS(dir)
	if err != nil {
		return nil, fmt.Errorf("opening store %s: %w", dir, err)
	}
	return openStore(dir, writer, files)
}

func openStore(dir, writer string, files disk.Files) (*Store, error) {
	if _, err := schema.ReadHeader(files); err != nil {
		return nil, fmt.Errorf("opening store %s: %w", dir, err)
	}
	return openFiles(dir, writer, files)
}

func openFiles(dir, writer string, files disk.Files) (*Store, error) {
	if err := disk.CheckWritable(files); err != nil {
		return nil, fmt.Errorf("opening store %s: %w", dir, err)
	}
	sealer := sealing.Sealer{Files: files, Version: writer, Rules: sealing.StandardRules()}
	return &Store{dir: dir, files: files, encoder: table.NewEncoder(writer), sealer: sealer, failed: map[schema.ULID]schema.ULID{}}, nil
}

// Append stores a run, with the summaries of its samples. When it returns without error, the run is acknowledged: its
// file and the name of its file are fsynced. When it returns an error, the run is absent or complete, and can be appended
// again. A run that is not valid is refused.
//
// From time to time, Append also seals appended runs, after the run is acknowledged and before it returns, so that no
// background work disturbs the next measurement. Close returns problems with sealing.
func (s *Store) Append(run schema.Run) error {
	// The digest does not cover summaries, and both are the longest parts of the work, so they are computed at the same time.
	measured, digested := run, make(chan string, 1)
	go func() { digested <- schema.DigestOf(&measured) }()
	err := run.Validate()
	if err == nil {
		run.Metrics = slices.Clone(run.Metrics) // the caller's run stays unchanged
		stat.Complete(&run)
	}
	digest := <-digested // also if the run is refused, because the caller may change it then
	if err != nil {
		return fmt.Errorf("appending to store %s: %w", s.dir, err)
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.append(&run, digest); err != nil {
		return fmt.Errorf("appending run %s to store %s: %w", run.RunID, s.dir, err)
	}
	s.sealDue(time.Now())
	return nil
}

// append adds a run with its digest.
func (s *Store) append(run *schema.Run, digest string) (err error) {
	if s.closed {
		return errors.New("the store is closed")
	}
	id, err := schema.ParseULID(run.RunID)
	if err != nil {
		return err
	}
	// The file system needs about as much time to create a file as encoding takes.
	created := make(chan error, 1)
	var t *disk.Temp
	go func() {
		var err error
		t, err = disk.CreateTemp(s.files)
		created <- err
	}()
	content, encodeErr := s.encoder.Encode(run, digest)
	if err := <-created; err != nil {
		return err
	}
	defer t.Remove()
	if encodeErr != nil {
		return encodeErr
	}
	copied := s.sealer.Copy(id, content, run, digest)
	defer func() { copied(err == nil) }()
	if err := t.Fill(content); err != nil {
		return err
	}
	s.sealer.HostID = run.Env.HostID
	return s.add(t.Name, id, content)
}

// add gives the temporary file of a run its name in a segment.
func (s *Store) add(temp string, id schema.ULID, content []byte) error {
	for range attempts {
		if before, failed := s.failed[id]; failed && (s.segment == nil || s.segment.id != before) {
			if found, err := s.sealer.Find(id, content); found || err != nil {
				return err
			}
		}
		if err := s.needSegment(); err != nil {
			return err
		}
		err := s.segment.add(temp, id, content)
		switch {
		case err == nil:
			delete(s.failed, id)
			return nil
		case !errors.Is(err, errGone):
			s.failed[id] = s.segment.id
			return err
		}
		s.leaveSegment()
	}
	return errGone
}

// attempts limits how often a run is added to a new segment because its segment was moved, as an abandoned one is.
const attempts = 10

// needSegment creates a segment if there is none.
func (s *Store) needSegment() error {
	if s.segment != nil {
		return nil
	}
	now := time.Now()
	disk.RemoveOldTemps(s.files, now)
	s.sealer.Tidy(context.Background())
	segment, err := newSegment(s.files, s.sealer.HostID, now)
	if err == nil {
		s.segment = segment
	}
	return err
}

// leaveSegment stops adding to the segment and leaves it to the sealer.
func (s *Store) leaveSegment() {
	if s.segment == nil {
		return
	}
	s.segment.close()
	s.sealer.Own = append(s.sealer.Own, s.segment.id)
	s.segment = nil
}

// sealDue seals the segment if it has many runs or is old.
func (s *Store) sealDue(now time.Time) {
	rules := s.sealer.Rules
	if s.segment == nil || s.segment.runs < rules.Runs && now.Sub(s.segment.begun) < rules.Age {
		return
	}
	s.leaveSegment()
	_, err := s.sealer.Seal(context.Background(), 1)
	s.sealer.Note(err)
}

// Seal seals all runs that may be sealed: those that this Store appended, and those of dead writers. It also finishes the
// work of dead sealers. It returns the number of runs that it sealed. If something fails, or the context ends, no run is
// lost, and the next sealer does the rest.
func (s *Store) Seal(ctx context.Context) (runs int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, fmt.Errorf("sealing store %s: it is closed", s.dir)
	}
	s.leaveSegment()
	runs, err = s.sealer.SealAll(ctx, 1)
	if err != nil {
		return runs, fmt.Errorf("sealing store %s: %w", s.dir, err)
	}
	return runs, nil
}

// Close ends appending. It seals the appended runs if there are enough of them, and packs if it sealed. It also removes leftovers of
// sealing that are older than the grace period, so that any command that writes does so. All runs are on disk, whatever it returns: an
// error is about sealing, now or before, or packing. A second Close does nothing.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	s.leaveSegment()
	s.sealer.RemoveFinished()
	if err := s.sealer.End(context.Background()); err != nil {
		return fmt.Errorf("sealing store %s: %w", s.dir, err)
	}
	if s.sealer.Made == 0 {
		return nil
	}
	return s.pack()
}
