package scan

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
)

// Above these numbers of files DuckDB reads them. The limit for live files is high, because DuckDB takes longer for each of them; the limit
// for sealed files is low, because DuckDB can read packs in place of them.
const (
	directLive   = 16_384
	directSealed = 1024
)

// readsSooner reports whether reading this number of runs and columns directly is faster than starting DuckDB. Some tens of runs of a
// file take about as long as its footer. Each further row takes as long as some values.
func readsSooner(live, sealed, runs, columns int) bool {
	const (
		runsOfFile  = 32
		valuesOfRow = 6
		values      = 1 << 16
	)
	return live <= directLive && sealed <= directSealed && (runs-runsOfFile*(live+sealed))*(columns+valuesOfRow) <= values
}

// withoutDuckDB finds the newest n matching runs (0: all), and counts all, without DuckDB. ok is false if DuckDB is needed,
// for an order or a condition, or if it would be faster.
func (r *Reader) withoutDuckDB(ctx context.Context, sel Selection, n int) (found Chosen, ok bool, err error) {
	if len(sel.Order) > 0 {
		return Chosen{}, false, nil
	}
	t, ok, err := r.matchingDirect(sel, nil)
	if !ok || err != nil {
		return Chosen{}, false, err
	}
	found.NotNumbers = map[string]int{}
	for _, row := range t.Rows {
		if found.IDs, err = AppendID(found.IDs, row[t.Index("run_id")]); err != nil {
			return Chosen{}, false, err
		}
	}
	found.keep(0) // before its number is known: a run may be in two files
	if found.keep(n); found.Total == 0 {
		err = r.ExplainEmpty(ctx, sel)
	}
	return found, true, err
}

// matchingDirect reads columns, and the columns of the condition, of the runs that match a selection, without DuckDB. ok is false if DuckDB
// is needed or would be faster.
func (r *Reader) matchingDirect(sel Selection, columns []*schema.Column) (t answer.Table, ok bool, err error) {
	if sel.OnlySQL {
		return t, false, nil
	}
	t, ok, err = sel.Src.direct(nil, WithColumns(WithRunID(sel.Columns), columns))
	t.Rows = slices.DeleteFunc(t.Rows, func(row []any) bool {
		return !sel.Passes(func(c *schema.Column) any { return row[t.Index(c.Name)] })
	})
	return t, ok, err
}

// Untimed returns the first matching runs without a start, whose ids have no time: by session, newest first, then by their position in the
// imported file, if known; limit 0: all. NULL is last.
func (r *Reader) Untimed(ctx context.Context, sel Selection, limit int) (ids []schema.ULID, err error) {
	alone := Period{Until: 1}
	sel.Restrict(alone)
	sel.Src = sel.Src.Within(alone)
	more := []*schema.Column{schema.RunColumn("session_id"), schema.RunColumn("env"), schema.RunColumn("position_index")}
	t, ok, err := r.matchingDirect(sel, more)
	if err != nil {
		return nil, err
	}
	if !ok {
		text := "SELECT run_id FROM " + sel.Src.Scan(WithColumns(WithRunID(sel.Columns), more), sel.SQL) +
			" ORDER BY session_id DESC NULLS LAST, env['source.path'] NULLS LAST, position_index NULLS LAST, run_id DESC"
		if limit > 0 {
			text += fmt.Sprintf(" LIMIT %d", limit)
		}
		return r.ListIDs(ctx, duck.Statement{SQL: text, Args: sel.Args})
	}
	session, env, position, run := t.Index("session_id"), t.Index("env"), t.Index("position_index"), t.Index("run_id")
	path := func(row []any) any {
		facts, _ := row[env].(map[string]any)
		return facts["source.path"]
	}
	slices.SortFunc(t.Rows, func(a, b []any) int {
		return cmp.Or(nullsLast(a[session], b[session], descending[string]), nullsLast(path(a), path(b), cmp.Compare[string]),
			nullsLast(a[position], b[position], cmp.Compare[int64]), nullsLast(a[run], b[run], descending[string]))
	})
	for _, row := range t.Rows {
		if ids, err = AppendID(ids, row[run]); err != nil {
			return nil, err
		}
	}
	if ids = slices.Compact(ids); limit > 0 {
		ids = ids[:min(limit, len(ids))]
	}
	return ids, nil
}

// descending compares in the opposite order.
func descending[T cmp.Ordered](a, b T) int { return cmp.Compare(b, a) }

// nullsLast compares cells of an answer. Cells without a value of the type come last.
func nullsLast[T any](a, b any, compare func(a, b T) int) int {
	x, isX := a.(T)
	y, isY := b.(T)
	switch {
	case isX && isY:
		return compare(x, y)
	case isX:
		return -1
	case isY:
		return 1
	}
	return 0
}

// directTexts returns the different texts of a column for which is holds, in descending order, without DuckDB. ok is false if DuckDB would
// be faster.
func (r *Reader) directTexts(column string, is func(text string) bool) (texts []string, ok bool, err error) {
	t, ok, err := r.Src.direct(nil, WithRunID([]*schema.Column{schema.RunColumn(column)}))
	at := t.Index(column)
	for _, row := range t.Rows {
		if text, some := row[at].(string); some && is(text) {
			texts = append(texts, text)
		}
	}
	slices.Sort(texts)
	slices.Reverse(texts)
	return slices.Compact(texts), ok, err
}

// direct reads columns, including run_id, of the runs with these ids without DuckDB, if they are in few small files; ids nil: of all
// runs. If it is not ok, DuckDB has to read them. The error is set for a file that does not match its hash.
func (s *Sources) direct(ids []schema.ULID, columns []*schema.Column) (t answer.Table, ok bool, err error) {
	lists := [][]file{s.Live, s.sealed}
	if len(s.sealed) == 0 { // Sources.Parts leaves sealed empty
		lists[1] = s.Read
	}
	packed := ids == nil && len(s.sealed) > fewFiles // a pack has the runs of many files
	if packed || !readsSooner(len(s.Live), len(lists[1]), 0, 0) || s.TagsSQL != "" || len(s.duplicates) > 0 || s.loaded {
		return answer.Table{}, false, nil
	}
	var files []directFile
	var stores []int // that have them
	runs := 0
	for _, list := range lists {
		for i := range list {
			f := &list[i]
			files = append(files, directFile{
				Store: schema.Dir(s.Stores[f.store].path), Name: s.name(f), Run: f.live.Run, Rows: f.sealed.Rows, Live: f.folder == "", Contents: s.contents,
			})
			stores, runs = append(stores, f.store), runs+max(f.sealed.Rows, 1)
		}
	}
	if !readsSooner(len(s.Live), len(lists[1]), runs, len(columns)) {
		return answer.Table{}, false, nil
	}
	t, err = directRows(files, ids, columns, s.Events)
	if damaged, is := errors.AsType[*damagedError](err); is {
		return answer.Table{}, false, answer.StoreError(s.Stores[stores[damaged.File]].dir, fmt.Errorf("%s: %w", files[damaged.File].Name, err))
	}
	return t, err == nil, nil
}

// directFile is a file of runs.
type directFile struct {
	Store schema.Dir
	Name  string
	Run   schema.ULID // of a live file
	Rows  int         // of another one
	Live  bool

	Contents *contents // of the files that the question has read
}

// contents caches the files that a question has read without DuckDB, up to a limit, so that it opens each of them once. It is safe for
// concurrent use.
type contents struct {
	mu    sync.Mutex
	files map[string][]byte // by path
	bytes int
}

// maxContents is the maximum number of bytes in contents.
const maxContents = 8 << 20

func newContents() *contents { return &contents{files: map[string][]byte{}} }

func (c *contents) of(path string) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.files[path]
}

func (c *contents) keep(path string, content []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.files[path] == nil && c.bytes+len(content) <= maxContents {
		c.files[path] = content
		c.bytes += len(content)
	}
}

// damagedError is a file of the format of this version that does not match its hash.
type damagedError struct {
	File int // its index
	Err  error
}

func (e *damagedError) Error() string { return e.Err.Error() }

// Unwrap returns the error of the hash, which wraps schema.ErrDamaged.
func (e *damagedError) Unwrap() error { return e.Err }

// directRows reads columns, including run_id, of the runs with these ids that are not removed, with the changes by events; ids nil: of
// all runs of the files. The result equals the result of DuckDB. A file that does not match its hash is a damagedError. After any other
// error, such as for a large file, DuckDB may still be able to read the files.
func directRows(files []directFile, ids []schema.ULID, columns []*schema.Column, events *EventIndex) (answer.Table, error) {
	read, failed := make([][][]any, len(files)), make([]error, len(files))
	wanted := wantedRuns(ids)
	var left atomic.Int64
	left.Store(maxBytes*4 + usualBytes*int64(len(files)))
	var each sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for first := range workers {
		each.Go(func() {
			for i := first; i < len(files); i += workers {
				read[i], failed[i] = files[i].rows(&left, wanted, columns)
				if damaged, ok := errors.AsType[*damagedError](failed[i]); ok {
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
	return t, applyOverlay(&t, events)
}

// wantedRuns returns a function that reports whether the text of an id is among ids; nil: every run is wanted.
func wantedRuns(ids []schema.ULID) func(run string) bool {
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
func (f *directFile) rows(left *atomic.Int64, wanted func(run string) bool, columns []*schema.Column) (rows [][]any, err error) {
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

// runs returns the ids of the runs of a file, in its order.
func (f *directFile) runs(opened *table.File) (ids []string, err error) {
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

// checkRun checks that the run of a live file matches its name.
func (f *directFile) checkRun(id any) error {
	if f.Live && id != f.Run.String() {
		return fmt.Errorf("%w: it has the run %v", schema.ErrDamaged, id)
	}
	return nil
}

// Files are read whole, and a live file also has the samples of its run. If a file is larger than maxBytes, or more than some of this
// size are among files of usualBytes, DuckDB reads all.
const (
	maxBytes   = 4 << 20
	usualBytes = 32 << 10
)

// content reads a file, and subtracts its bytes from left. It must match its hash: the Parquet library trusts the content of a file, and
// takes very much memory for some damaged ones.
func (f *directFile) content(left *atomic.Int64) (content []byte, err error) {
	path := string(f.Store) + "/" + f.Name
	if content = f.Contents.of(path); content != nil {
		return content, nil
	}
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
	if err := checkHash(content); err != nil {
		return nil, err
	}
	f.Contents.keep(path, content)
	return content, nil
}

// checkHash checks the hash of a file. The error is a damagedError only if the file has a hash and the format of this version.
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
	return &damagedError{Err: err}
}

// open opens some columns of a file of runs, and compares its footer with its name.
func (f *directFile) open(content []byte, columns []string) (*table.File, error) {
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
