package ingest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/table"
	"github.com/neurolens/neurolens/schema"
)

// source is a sealed file of the other store, and which of its runs are wanted.
type source struct {
	file   schema.SealedFile
	there  bool                   // the store has the file
	runs   []schema.ULID          // ascending
	says   map[schema.ULID]string // their digests
	files  map[schema.ULID]bool   // those that were read from files of other tools
	wanted map[string]bool
}

// sealed takes what is wanted of sealed files that follow one another.
func (m *merging) sealed(ctx context.Context, files []schema.SealedFile) error {
	sources, err := m.look(ctx, files)
	if err != nil {
		return err
	}
	if err := m.choose(sources); err != nil {
		return err
	}
	// Samples and ops of all first: that a run is there says that the rest of it is.
	for _, t := range sealedTables {
		for _, s := range sources {
			if err := ctx.Err(); err != nil {
				return err
			}
			if s.there || len(s.wanted) == len(s.runs) {
				if err := m.copySealed(s.file.Path(schema.TableZones[t]), s.there); err != nil {
					return err
				}
			}
		}
		if err := m.sync(); err != nil {
			return err
		}
	}
	for _, s := range sources {
		if n := len(s.wanted); n > 0 && n < len(s.runs) {
			runs := readSealed(m.from, s.file)
			runs.lost = m.lost
			if err := m.write(ctx, &chosenRuns{runs, s.wanted}); err != nil {
				return err
			}
		}
		if !s.there {
			m.done.Added += len(s.wanted)
		}
	}
	return nil
}

// look reads which runs the files have. Files that are damaged are left out.
func (m *merging) look(ctx context.Context, files []schema.SealedFile) ([]*source, error) {
	var sources []*source
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		there, err := disk.Exists(m.into, f.Path(schema.RunsDir))
		if err != nil {
			return nil, err
		}
		s := &source{file: f, there: there, says: map[schema.ULID]string{}, files: map[schema.ULID]bool{}}
		if s.there {
			m.done.Skipped += f.Rows
			sources = append(sources, s)
			continue
		}
		err = m.read(s)
		if refusable(err) {
			m.refuse(f.Path(schema.RunsDir), err)
			continue
		}
		if err != nil {
			return nil, err
		}
		sources = append(sources, s)
	}
	return sources, nil
}

// read checks the hashes of a sealed file, and reads its ids and digests.
func (m *merging) read(s *source) error {
	for _, t := range sealedTables {
		err := checkHash(m.from, s.file.Path(schema.TableZones[t]))
		if err != nil && (t == schema.Runs || !errors.Is(err, fs.ErrNotExist)) {
			return err
		}
	}
	name := s.file.Path(schema.RunsDir)
	opened, file, err := openTable(m.from, name, schema.Runs)
	if err != nil {
		return err
	}
	defer file.Close()
	rows := opened.Reader(runIDColumn, digestColumn, sourceColumn)
	defer rows.Close()
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return inFile(name, err)
		}
		id, _ := row[runIDPlace].(string)
		run, err := schema.ParseULID(id)
		if err != nil {
			return damagedf(name, "%w", err)
		}
		s.runs = append(s.runs, run)
		s.says[run], _ = row[digestPlace].(string)
		if fromFile(row) {
			s.files[run] = true
		}
	}
	if len(s.runs) != s.file.Rows || len(s.says) != s.file.Rows {
		return damagedf(name, "it holds %d runs, and its name says otherwise", len(s.says))
	}
	return nil
}

// choose tells which runs of the sources are wanted: those that are neither here nor in an earlier source.
func (m *merging) choose(sources []*source) error {
	var runs []schema.ULID
	for _, s := range sources {
		runs = append(runs, s.runs...)
	}
	known, err := m.known(runs)
	if err != nil {
		return err
	}
	for _, s := range sources {
		s.wanted = map[string]bool{}
		for _, run := range s.runs {
			if m.isNew(s.file.Path(schema.RunsDir), met{run, s.says[run], s.files[run]}, known) {
				s.wanted[run.String()] = true
			}
		}
	}
	return nil
}

// known gives the digests of those of some runs that are here, on disk: whoever appended one may not have come to the
// fsync.
func (m *merging) known(runs []schema.ULID) (map[schema.ULID]string, error) {
	slices.SortFunc(runs, schema.ULID.Compare)
	known, err := sealedDigests(m.into, slices.Compact(runs))
	if err != nil {
		return nil, err
	}
	for _, run := range runs {
		f, ok := m.live[run]
		if _, sealed := known[run]; sealed || !ok {
			continue
		}
		live, err := readLiveFile(m.into, f)
		if err != nil {
			return nil, moved(err)
		}
		known[run] = live.Digest
		if dir := path.Dir(f.Path()); !m.synced[dir] {
			if err := disk.SyncDir(m.into, dir); err != nil {
				return nil, moved(err)
			}
			m.synced[dir] = true
		}
	}
	return known, nil
}

// met is a run of the other store.
type met struct {
	run      schema.ULID
	digest   string
	fromFile bool
}

// fromFile tells whether a row of runs was read from a file of another tool.
func fromFile(row []any) bool {
	source, _ := row[sourcePlace].(string)
	return source != "" && source != schema.SourceNeuroLens
}

// isNew tells whether a run is not known, and takes note of it. The id of one from a file is made of what the file says,
// but not of the path, or of the tags that it was given: with others it is the same run.
func (m *merging) isNew(name string, r met, known map[schema.ULID]string) bool {
	switch has, ok := known[r.run]; {
	case !ok:
		known[r.run] = r.digest
		return true
	case has == r.digest:
		m.done.Skipped++
	case r.fromFile:
		m.done.Skipped++
		m.done.Differing++
	default:
		m.refuse(name, fmt.Errorf("run %s is there with another digest, %s", r.run, has))
	}
	return false
}

// copySealed copies one file of a sealed file, if there is one; unchecked says that its hash was not looked at yet. The
// folder is to be fsynced.
func (m *merging) copySealed(name string, unchecked bool) error {
	if there, err := disk.Exists(m.from, name); err != nil || !there {
		return err
	}
	dir := path.Dir(name)
	if _, known := m.synced[dir]; !known {
		if err := disk.MakeDirs(m.into, dir); err != nil {
			return err
		}
	}
	m.synced[dir] = false // whoever made a name that is there may not have come to the fsync
	if there, err := disk.Exists(m.into, name); err != nil || there {
		return err
	}
	if unchecked {
		if err := checkHash(m.from, name); refusable(err) {
			m.refuse(name, err)
			return nil
		} else if err != nil {
			return err
		}
	}
	return disk.CopyFile(m.from, m.into, name)
}

// sync fsyncs the folders in which files were made.
func (m *merging) sync() error {
	for dir, done := range m.synced {
		if done {
			continue
		}
		if err := disk.SyncDir(m.into, dir); err != nil {
			return err
		}
		m.synced[dir] = true
	}
	return nil
}

// write makes a sealed file of runs. Its id follows from the runs, so that whoever does the same again makes no other.
func (m *merging) write(ctx context.Context, runs runReader) error {
	defer runs.close()
	set, err := newRunSet(m.into, m.version)
	if err != nil {
		return err
	}
	defer set.remove()
	sum := sha256.New()
	if err := eachRun(ctx, runs, func(live *table.Live) error {
		_, _ = io.WriteString(sum, live.RunID+live.Digest)
		return set.write(live)
	}); err != nil || set.rows == 0 {
		return err
	}
	if err := set.finish(); err != nil {
		return err
	}
	return set.publish(set.sealedFile(contentID(set.last.Time(), sum)))
}

// chosenRuns are some runs of a reader.
type chosenRuns struct {
	runReader
	wanted map[string]bool
}

func (c *chosenRuns) next() (*table.Live, error) {
	for {
		live, err := c.runReader.next()
		if err != nil || c.wanted[live.RunID] {
			return live, err
		}
	}
}
