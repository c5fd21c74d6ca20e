package ingest

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// Store appends runs to a store directory. Its methods may be called from many goroutines; any number of processes
// may have the same store open.
type Store struct {
	dir   string // as the user wrote it
	files files

	mu      sync.Mutex
	encoder encoder
	segment *segment // nil before the first run
	closed  bool
}

// Init makes a store of a directory that is empty or not there, with its parents. A directory that is a store stays
// as it is. The error wraps schema.ErrFormat or schema.ErrDamaged for a store that this version cannot write.
func Init(dir string) error {
	files, err := newOSFiles(dir)
	if err == nil {
		err = initStore(files)
	}
	if err != nil {
		return fmt.Errorf("creating store %s: %w", dir, err)
	}
	return nil
}

func initStore(files files) error {
	if err := files.makeRoot(); err != nil {
		return err
	}
	// What others make is listed before the header is looked for: they make the header first.
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return err
	}
	if _, err := schema.ReadHeader(files); !errors.Is(err, schema.ErrNoStore) {
		return err
	}
	for _, e := range entries {
		if e.Name() != schema.TmpDir { // left by an Init that was cut short
			return fmt.Errorf("the directory is not empty (it has %s) and is no store", e.Name())
		}
	}
	now := time.Now().UTC()
	header, err := schema.Header{Format: schema.Format, StoreID: schema.NewULID(now).String(), Created: now}.Encode()
	if err != nil {
		return err
	}
	err = publish(files, schema.HeaderFile, header)
	if errors.Is(err, fs.ErrExist) {
		_, err = schema.ReadHeader(files) // another process was first
	}
	if err != nil {
		return err
	}
	return syncDir(files, ".")
}

// Open opens a store for appending; writer is the version of the program, which every file names. It writes nothing yet, but refuses a store that it can see is not writable: better
// now than after the first measurement. The error wraps schema.ErrNoStore, schema.ErrFormat or schema.ErrDamaged, or
// is one of the file system.
func Open(dir, writer string) (*Store, error) {
	files, err := newOSFiles(dir)
	if err != nil {
		return nil, fmt.Errorf("opening store %s: %w", dir, err)
	}
	return openStore(dir, writer, files)
}

func openStore(dir, writer string, files files) (*Store, error) {
	if _, err := schema.ReadHeader(files); err != nil {
		return nil, fmt.Errorf("opening store %s: %w", dir, err)
	}
	for _, zone := range []string{schema.TmpDir, schema.LiveDir} {
		err := files.writable(zone)
		if errors.Is(err, fs.ErrNotExist) {
			err = files.writable(".") // where the first run makes it
		}
		if err != nil {
			return nil, fmt.Errorf("opening store %s: %w", dir, err)
		}
	}
	return &Store{dir: dir, files: files, encoder: newEncoder(writer)}, nil
}

// Append stores a run, with the summaries of its samples. When it returns nil, the run is acknowledged: its file and
// the name of its file have been fsynced. When it returns an error, the run is absent or whole, and the same run may
// be appended again. A run that does not validate is refused.
func (s *Store) Append(run schema.Run) error {
	if err := run.Validate(); err != nil {
		return fmt.Errorf("appending to store %s: %w", s.dir, err)
	}
	// The digest leaves summaries out, so it needs not wait for them.
	measured, digest := run, make(chan string, 1)
	go func() { digest <- schema.DigestOf(&measured) }()
	run.Metrics = slices.Clone(run.Metrics) // the caller's stay as they are
	stat.Complete(&run)

	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.append(&run, digest); err != nil {
		return fmt.Errorf("appending run %s to store %s: %w", run.RunID, s.dir, err)
	}
	return nil
}

// append adds a run whose digest is on its way.
func (s *Store) append(run *schema.Run, digest <-chan string) error {
	if s.closed {
		return errors.New("the store is closed")
	}
	id, err := schema.ParseULID(run.RunID)
	if err != nil {
		return err
	}
	// The file system takes a good part of the time that encoding takes to make a file.
	created := make(chan error, 1)
	var t *temp
	go func() {
		var err error
		t, err = createTemp(s.files)
		created <- err
	}()
	content, encodeErr := s.encoder.encode(run, <-digest)
	if err := <-created; err != nil {
		return err
	}
	defer t.remove()
	if encodeErr != nil {
		return encodeErr
	}
	if err := t.fill(content); err != nil {
		return err
	}

	if err := s.needSegment(run.Env.HostID); err != nil {
		return err
	}
	err = s.segment.add(t.name, id, content)
	if errors.Is(err, errGone) {
		s.leaveSegment()
		if err := s.needSegment(run.Env.HostID); err != nil {
			return err
		}
		err = s.segment.add(t.name, id, content)
	}
	return err
}

// needSegment makes a segment if there is none.
func (s *Store) needSegment(hostID string) error {
	if s.segment != nil {
		return nil
	}
	now := time.Now()
	removeOldTemps(s.files, now)
	segment, err := newSegment(s.files, hostID, now)
	if err == nil {
		s.segment = segment
	}
	return err
}

func (s *Store) leaveSegment() {
	s.segment.close()
	s.segment = nil
}

// Close ends appending. A second Close does nothing.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.segment != nil {
		s.leaveSegment()
	}
	s.closed = true
	return nil
}
