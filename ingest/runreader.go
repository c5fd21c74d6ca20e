package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/table"
	"github.com/neurolens/neurolens/schema"
)

// fileError is an error that comes from what is in a file of a store.
type fileError struct {
	path string
	err  error
}

func (e *fileError) Error() string { return e.path + ": " + e.err.Error() }
func (e *fileError) Unwrap() error { return e.err }

// inFile says which file an error comes from.
func inFile(path string, err error) error {
	if _, known := errors.AsType[*fileError](err); err == nil || known {
		return err
	}
	return &fileError{path, err}
}

// damagedf is an error of a file whose content is wrong.
func damagedf(path, format string, args ...any) error {
	return &fileError{path, fmt.Errorf("%w: "+format, append([]any{schema.ErrDamaged}, args...)...)}
}

// runReader gives runs with all their rows in ascending order of their ids, and io.EOF after the last.
type runReader interface {
	next() (*table.Live, error)
	from() string // before the first call of next: no id is smaller; it may be the beginning of one
	close()
}

// largeRun is how long the file of a run may be that is read before it is known to be whole.
const largeRun = 64 << 20

// readRunFile reads the file of a run. A long one has to match its own hash, which takes no memory: else the mere length
// of a file that is none would take all there is.
func readRunFile(f fs.FS, name string) ([]byte, error) {
	file, content, size, err := disk.OpenAt(f, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if size > largeRun {
		if err := schema.CheckFileHashAt(content, size); err != nil {
			return nil, inFile(name, err)
		}
	}
	all := make([]byte, size)
	_, err = io.ReadFull(io.NewSectionReader(content, 0, size), all)
	return all, err
}

// tableRows reads the rows of one file of a table, one ahead.
type tableRows struct {
	path   string
	table  *schema.Table
	file   io.Closer
	reader *table.Reader
	row    []any // the next one; nil at the end
}

// openRows opens a file of a table. The error wraps table.ErrNewer where it has what would get lost.
func openRows(f fs.FS, name string, t *schema.Table) (*tableRows, error) {
	opened, file, err := openTable(f, name, t)
	if err != nil {
		return nil, err
	}
	if err := opened.Newer(); err != nil {
		_ = file.Close()
		return nil, inFile(name, err)
	}
	r := &tableRows{path: name, table: t, file: file, reader: opened.Reader()}
	if err := r.advance(); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *tableRows) close() {
	_ = r.reader.Close()
	_ = r.file.Close()
}

// runID is that of the next row; empty at the end.
func (r *tableRows) runID() string {
	if r.row == nil {
		return ""
	}
	id, _ := r.row[runIDPlace].(string)
	return id
}

// advance reads the next row, which has to stand after the last one in the order of the format.
func (r *tableRows) advance() error {
	last := r.row
	row, err := r.reader.Read()
	if errors.Is(err, io.EOF) {
		r.row = nil
		return nil
	}
	if err != nil {
		return inFile(r.path, err)
	}
	r.row = row
	if last == nil {
		return nil
	}
	before, after := last[runIDPlace].(string), r.runID()
	if before < after || before == after && r.table != schema.Runs && lessKey(last[1], row[1]) {
		return nil
	}
	return damagedf(r.path, "the row of run %q is not in order", after)
}

// lessKey orders what tells the rows of a run apart, and is REQUIRED: names of metrics or indices of ops.
func lessKey(a, b any) bool {
	if a, ok := a.(string); ok {
		b, ok := b.(string)
		return ok && a < b
	}
	m, ok := a.(int64)
	n, also := b.(int64)
	return ok && also && m < n
}

// of takes the rows of a run. Rows of an earlier one belong to no run of the file of runs.
func (r *tableRows) of(run string) ([][]any, error) {
	if r == nil {
		return nil, nil
	}
	var rows [][]any
	for r.row != nil && r.runID() == run {
		rows = append(rows, r.row)
		if err := r.advance(); err != nil {
			return nil, err
		}
	}
	if r.row != nil && r.runID() < run {
		return nil, damagedf(r.path, "it has a row of run %q, and the file of runs has none", r.runID())
	}
	return rows, nil
}

// sealedRuns reads a sealed file: its runs with their rows of the files of the same name. The files match their hashes,
// and the runs their digests, but for those that an event says have lost rows.
type sealedRuns struct {
	fsys   fs.FS
	sealed schema.SealedFile
	name   func(t *schema.Table) string // of the file of a table
	lost   lostRows
	open   map[*schema.Table]*tableRows // nil before the first run
	lacks  bool                         // the last run has lost rows
}

// lostRows are the runs that have lost rows, by id and table, and why.
type lostRows map[string]map[string]string

// readSealed reads a sealed file of a store.
func readSealed(f fs.FS, sealed schema.SealedFile) *sealedRuns {
	return &sealedRuns{fsys: f, sealed: sealed, name: func(t *schema.Table) string { return sealed.Path(schema.TableZones[t]) }}
}

func (s *sealedRuns) from() string { return idBound(s.sealed.First) }

// begin opens the files when all of them are found to be whole.
func (s *sealedRuns) begin() error {
	s.open = map[*schema.Table]*tableRows{}
	var there []*schema.Table
	for _, t := range sealedTables {
		err := checkHash(s.fsys, s.name(t))
		if t != schema.Runs && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		there = append(there, t)
	}
	for _, t := range there {
		rows, err := openRows(s.fsys, s.name(t), t)
		if err != nil {
			return err
		}
		s.open[t] = rows
	}
	return nil
}

func (s *sealedRuns) next() (*table.Live, error) {
	if s.open == nil {
		if err := s.begin(); err != nil {
			return nil, err
		}
	}
	runs := s.open[schema.Runs]
	if runs.row == nil {
		for _, t := range []*schema.Table{schema.Samples, schema.Ops} {
			if rest := s.open[t]; rest != nil && rest.row != nil {
				return nil, damagedf(rest.path, "it has a row of run %q, and the file of runs has none", rest.runID())
			}
		}
		return nil, io.EOF
	}
	live := &table.Live{RunID: runs.runID(), Run: runs.row}
	live.Digest, _ = runs.row[digestPlace].(string)
	var err error
	if live.Samples, err = s.open[schema.Samples].of(live.RunID); err != nil {
		return nil, err
	}
	if live.Ops, err = s.open[schema.Ops].of(live.RunID); err != nil {
		return nil, err
	}
	digest := schema.DigestOfRows(live.Run, live.Samples, live.Ops)
	s.lacks = digest != live.Digest && s.lost[live.RunID] != nil
	if digest != live.Digest && !s.lacks {
		lacks := ""
		if s.open[schema.Samples] == nil {
			lacks = fmt.Sprintf("; %s is not there", s.name(schema.Samples))
		}
		return nil, damagedf(runs.path, "run %s has the digest %s and says %q%s", live.RunID, digest, live.Digest, lacks)
	}
	return live, runs.advance()
}

func (s *sealedRuns) close() {
	for _, rows := range s.open {
		rows.close()
	}
}

// liveRuns reads live files, ascending by run.
type liveRuns struct {
	fsys  fs.FS
	files []schema.LiveFile
}

func (l *liveRuns) from() string {
	if len(l.files) == 0 {
		return ""
	}
	return l.files[0].Run.String()
}

func (l *liveRuns) next() (*table.Live, error) {
	if len(l.files) == 0 {
		return nil, io.EOF
	}
	f := l.files[0]
	l.files = l.files[1:]
	return readLiveFile(l.fsys, f)
}

func (l *liveRuns) close() {}

// readLiveFile reads the file of one run, which matches its hash, its digest and its name.
func readLiveFile(f fs.FS, name schema.LiveFile) (*table.Live, error) {
	content, err := readRunFile(f, name.Path())
	if err != nil {
		return nil, err
	}
	live, err := table.ReadLive(content)
	if err != nil {
		return nil, inFile(name.Path(), err)
	}
	if live.RunID != name.Run.String() {
		return nil, damagedf(name.Path(), "it holds run %q", live.RunID)
	}
	return live, nil
}

// eachRun reads runs to the end, unless the context ends first.
func eachRun(ctx context.Context, runs runReader, do func(*table.Live) error) error {
	for {
		live, err := runs.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = do(live)
		}
		if err != nil {
			return err
		}
	}
}
