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
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
)

// source is a sealed file of the other store, with the runs that are wanted from it.
type source struct {
	file   schema.SealedFile
	there  bool                   // this store has the file
	runs   []schema.ULID          // ascending
	says   map[schema.ULID]string // their stored digests
	files  map[schema.ULID]bool   // those that were read from files of other tools
	wanted map[string]bool
}

// sealed copies the wanted runs of consecutive sealed files.
func (m *merging) sealed(ctx context.Context, files []schema.SealedFile) error {
	sources, err := m.look(ctx, files)
	if err != nil {
		return err
	}
	if err := m.choose(sources); err != nil {
		return err
	}
	// Samples and ops come first: when a run is in the table of runs, the rest of it has to be there.
	for _, t := range runfile.Tables {
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
			runs := runfile.ReadSealed(m.from, s.file)
			runs.Lost = m.lost
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

// look reads which runs the files have. Damaged files are left out.
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
		if runfile.AboutContent(err) {
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

// read checks the hashes of a sealed file and reads its ids and digests.
func (m *merging) read(s *source) error {
	for _, t := range runfile.Tables {
		err := runfile.CheckHash(m.from, s.file.Path(schema.TableZones[t]))
		if err != nil && (t == schema.Runs || !errors.Is(err, fs.ErrNotExist)) {
			return err
		}
	}
	name := s.file.Path(schema.RunsDir)
	opened, file, err := runfile.OpenTable(m.from, name, schema.Runs)
	if err != nil {
		return err
	}
	defer file.Close()
	rows := opened.Reader(runfile.RunIDColumn, runfile.DigestColumn, sourceColumn)
	defer rows.Close()
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return runfile.InFile(name, err)
		}
		id, _ := row[runfile.RunIDPlace].(string)
		run, err := schema.ParseULID(id)
		if err != nil {
			return runfile.Damagedf(name, "%w", err)
		}
		s.runs = append(s.runs, run)
		s.says[run], _ = row[runfile.DigestPlace].(string)
		if fromFile(row) {
			s.files[run] = true
		}
	}
	if len(s.runs) != s.file.Rows || len(s.says) != s.file.Rows {
		return runfile.Damagedf(name, "it contains %d runs, but its name says otherwise", len(s.says))
	}
	return nil
}

// choose decides which runs of the sources are wanted: those that are neither here nor in an earlier source.
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

// known gives the digests of those runs that are stored here and on disk. Their writer may have died before the last
// fsync, so it is repeated.
func (m *merging) known(runs []schema.ULID) (map[schema.ULID]string, error) {
	slices.SortFunc(runs, schema.ULID.Compare)
	known, err := runfile.Digests(m.into, slices.Compact(runs))
	if err != nil {
		return nil, err
	}
	for _, run := range runs {
		f, ok := m.live[run]
		if _, sealed := known[run]; sealed || !ok {
			continue
		}
		live, err := runfile.ReadLiveFile(m.into, f)
		if err != nil {
			return nil, runfile.Moved(err)
		}
		known[run] = live.Digest
		if dir := path.Dir(f.Path()); !m.synced[dir] {
			if err := disk.SyncDir(m.into, dir); err != nil {
				return nil, runfile.Moved(err)
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

// sourceColumn is the column that says where a run comes from.
const sourceColumn = "source"

var sourcePlace = schema.Runs.Place(sourceColumn)

// fromFile reports whether a run was imported from a file of another tool.
func fromFile(row []any) bool {
	source, _ := row[sourcePlace].(string)
	return source != "" && source != schema.SourceNeuroLens
}

// isNew reports whether a run is not known yet, and adds it. The id of an imported run is computed from the content of
// the file, without its path and the tags of the import: with another path or other tags it is the same run.
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
		m.refuse(name, fmt.Errorf("run %s is already stored with a different digest, %s", r.run, has))
	}
	return false
}

// copySealed copies one file of a sealed file, if it exists. unchecked means that its hash was not checked yet. The
// caller has to fsync the folder.
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
	m.synced[dir] = false // even if the name is there: its writer may have died before the fsync
	if there, err := disk.Exists(m.into, name); err != nil || there {
		return err
	}
	if unchecked {
		if err := runfile.CheckHash(m.from, name); runfile.AboutContent(err) {
			m.refuse(name, err)
			return nil
		} else if err != nil {
			return err
		}
	}
	return disk.CopyFile(m.from, m.into, name)
}

// sync fsyncs the folders in which files were created.
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

// write writes runs into a sealed file. Its id is computed from the runs, so a repetition makes the same file.
func (m *merging) write(ctx context.Context, runs runfile.Reader) error {
	defer runs.Close()
	set, err := runfile.NewRunSet(m.into, m.version)
	if err != nil {
		return err
	}
	defer set.Remove()
	sum := sha256.New()
	if err := runfile.EachRun(ctx, runs, func(live *table.Live) error {
		_, _ = io.WriteString(sum, live.RunID+live.Digest)
		return set.Write(live)
	}); err != nil || set.Rows == 0 {
		return err
	}
	if err := set.Finish(); err != nil {
		return err
	}
	return set.Publish(set.SealedFile(runfile.ContentID(set.Last.Time(), sum)))
}

// chosenRuns reads some of the runs of a reader.
type chosenRuns struct {
	runfile.Reader
	wanted map[string]bool
}

func (c *chosenRuns) Next() (*table.Live, error) {
	for {
		live, err := c.Reader.Next()
		if err != nil || c.wanted[live.RunID] {
			return live, err
		}
	}
}
