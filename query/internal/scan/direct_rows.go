package scan

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
)

// DirectFile is a file of runs.
type DirectFile struct {
	Store schema.Dir
	Name  string
	Run   schema.ULID // of a live file
	Rows  int         // of another one
	Live  bool
}

// DamagedError is a file of the format of this version that does not match its hash.
type DamagedError struct {
	File int // its index
	Err  error
}

func (e *DamagedError) Error() string { return e.Err.Error() }

// Unwrap is the error of the hash, which wraps schema.ErrDamaged.
func (e *DamagedError) Unwrap() error { return e.Err }

// DirectRows reads columns, including run_id, of the runs with these ids that are not removed, with what events say about them; ids nil: of all runs
// of the files. DirectRows are as DuckDB gives them. A file that does not match its hash is a DamagedError. Any other error, such as that of a large
// file, says nothing about whether DuckDB can read the files.
func DirectRows(files []DirectFile, ids []schema.ULID, columns []*schema.Column, events *EventIndex) (answer.Table, error) {
	read, failed := make([][][]any, len(files)), make([]error, len(files))
	wanted := wantedColumns(ids)
	var left atomic.Int64
	left.Store(maxBytes*4 + usualBytes*int64(len(files)))
	var each sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for first := range workers {
		each.Go(func() {
			for i := first; i < len(files); i += workers {
				read[i], failed[i] = files[i].rows(&left, wanted, columns)
				if damaged, ok := errors.AsType[*DamagedError](failed[i]); ok {
					damaged.File = i
				}
			}
		})
	}
	each.Wait()
	if err := errors.Join(failed...); err != nil {
		return answer.Table{}, err
	}
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	t := answer.Table{Columns: answer.ColumnsNamed(names...), Rows: slices.Concat(read...)}
	return t, change(&t, events)
}

// wantedColumns reports whether a run is wanted, by the text of its id; nil: all are.
func wantedColumns(ids []schema.ULID) func(run string) bool {
	if ids == nil {
		return nil
	}
	texts := make(map[string]bool, len(ids))
	for _, id := range ids {
		texts[id.String()] = true
	}
	return func(run string) bool { return texts[run] }
}

// rows reads columns of the wanted runs of a file (wanted nil: of all), which must have no more bytes than left.
func (f *DirectFile) rows(left *atomic.Int64, wanted func(run string) bool, columns []*schema.Column) (rows [][]any, err error) {
	content, err := f.content(left)
	if err != nil {
		return nil, err
	}
	names, places, runID := make([]string, len(columns)), make([]int, len(columns)), schema.Runs.Place("run_id")
	for i, c := range columns {
		names[i], places[i] = c.Name, schema.Runs.Place(c.Name)
	}
	opened, err := f.open(content, names)
	if err != nil {
		return nil, err
	}
	var runs []string
	if wanted != nil {
		if runs, err = f.runs(opened); err != nil {
			return nil, err
		}
	}
	r := opened.Reader()
	defer func() { err = errors.Join(err, r.Close()) }()
	row := make([]any, opened.Columns())
	for i := range int(opened.Rows()) {
		if wanted != nil && !wanted(runs[i]) {
			if err := r.Skip(); err != nil {
				return nil, err
			}
			continue
		}
		if err := cmp.Or(r.ReadInto(row), f.checkRun(row[runID])); err != nil {
			return nil, err
		}
		cells := make([]any, len(places))
		for k, at := range places {
			cells[k] = answer.Cell(columns[k], row[at])
		}
		rows = append(rows, cells)
	}
	return rows, nil
}

// runs are the ids of the runs of a file, in its order.
func (f *DirectFile) runs(opened *table.File) (ids []string, err error) {
	r := opened.Reader("run_id")
	defer func() { err = errors.Join(err, r.Close()) }()
	row := make([]any, opened.Columns())
	for range opened.Rows() {
		if err := cmp.Or(r.ReadInto(row), f.checkRun(row[0])); err != nil {
			return nil, err
		}
		id, _ := row[0].(string)
		ids = append(ids, id)
	}
	return ids, nil
}

// checkRun checks that the run of a live file is that of its name.
func (f *DirectFile) checkRun(id any) error {
	if f.Live && id != f.Run.String() {
		return fmt.Errorf("%w: it has the run %v", schema.ErrDamaged, id)
	}
	return nil
}

// Files are read whole, and a live file also has the samples of its run. With one of more than maxBytes, or more than some of this size among
// those of usualBytes, DuckDB reads all.
const (
	maxBytes   = 4 << 20
	usualBytes = 32 << 10
)

// content reads a file, and takes its bytes from those that are left. It must match its hash: the Parquet library trusts what a file says, and
// takes very much memory for some damaged ones.
func (f *DirectFile) content(left *atomic.Int64) (content []byte, err error) {
	file, err := f.Store.OpenFile(f.Name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > maxBytes || left.Add(-info.Size()) < 0 {
		return nil, fmt.Errorf("%s has %d bytes", f.Name, info.Size())
	}
	content = make([]byte, info.Size())
	if _, err := io.ReadFull(file, content); err != nil {
		return nil, err
	}
	return content, checkHash(content)
}

// checkHash checks the hash of a file. The error is a DamagedError only if the file has a hash and the format of this version.
func checkHash(content []byte) error {
	err := schema.CheckFileHash(content)
	if err == nil {
		return nil
	}
	_, without := schema.FileHashPlace(content)
	format, _, unreadable := schema.ReadFooterRows(bytes.NewReader(content), int64(len(content)))
	if cmp.Or(without, unreadable, schema.CheckFormat(format)) != nil {
		return err
	}
	return &DamagedError{Err: err}
}

// open opens some columns of a file of runs, and compares its footer with its name.
func (f *DirectFile) open(content []byte, columns []string) (*table.File, error) {
	if !f.Live {
		footer, err := schema.ReadFooter(bytes.NewReader(content), int64(len(content)))
		if err == nil {
			err = footer.Check(schema.Runs, int64(f.Rows))
		}
		if err != nil {
			return nil, err
		}
	}
	file, size, err := table.Narrow(content, schema.Runs, columns...)
	if err != nil {
		return nil, err
	}
	if !f.Live {
		return table.Open(file, size, schema.Runs)
	}
	opened, err := table.OpenLive(file, size)
	if err == nil && opened.Rows() != 1 {
		err = fmt.Errorf("%w: it has %d rows", schema.ErrDamaged, opened.Rows())
	}
	return opened, err
}
