package table

import (
	"cmp"
	"container/heap"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// Source is a file to be merged, with rows in ascending order of run_id. It is opened when its turn comes, and closed
// after its last row.
type Source struct {
	From string // lower bound of its run ids; it may be the beginning of an id
	Open func() (*File, io.Closer, error)
}

// Merge adds the rows of files to a file of the same table, in ascending order of run_id. If several files have the same
// run, the rows of the first of them are taken. Runs for which keep returns false are left out. At any moment only the
// files that overlap there are open, with one row of each in memory. Rows are copied unchanged. The error wraps ErrNewer
// or schema.ErrDamaged if one of the files cannot be copied.
func Merge(w *Writer, sources []Source, keep func(run string) bool) error {
	var m merger
	defer m.close()
	for i, s := range sources {
		heap.Push(&m, &input{source: s, order: i, run: s.From})
	}
	taken, from := "", -1 // the last run, and the index of its file
	for len(m) > 0 {
		in := m[0]
		if in.reader == nil {
			if err := m.open(in, w.table); err != nil {
				return err
			}
			continue
		}
		if from < 0 || in.run != taken {
			taken, from = in.run, in.order
		}
		if from == in.order && keep(taken) {
			if err := w.copyRow(in); err != nil {
				return err
			}
		}
		if err := m.advance(in); err != nil {
			return err
		}
	}
	return nil
}

// input is a file being merged.
type input struct {
	source Source
	order  int    // index among the sources
	place  int    // index in the heap
	run    string // id of the next row; before the file is open, a lower bound of that id
	reader *Reader
	file   io.Closer
	fields []*field // of the file, by index in the table; nil if its parts differ from the format
}

// open opens a file and goes to its first row.
func (m *merger) open(in *input, t *schema.Table) error {
	file, closer, err := in.source.Open()
	if err != nil {
		return err
	}
	in.reader, in.file = file.Reader(), closer
	if file.table != t {
		return fmt.Errorf("merging %s: a file contains %s", t.Name, file.table.Name)
	}
	if err := file.Newer(); err != nil {
		return err
	}
	in.fields = aligned(newFields(t.Columns), file.fields)
	return m.advance(in)
}

// aligned returns the fields of a file by the indices of the format's fields, or nil if one of them does not have all its parts in the
// order of the format, so that its leaves cannot be copied.
func aligned(format, file []*field) []*field {
	byPlace := make([]*field, len(format))
	for _, f := range file {
		if !sameParts(format[f.place], f) {
			return nil
		}
		byPlace[f.place] = f
	}
	return byPlace
}

func sameParts(a, b *field) bool {
	if a.place != b.place || len(a.fields) != len(b.fields) {
		return false
	}
	for i := range a.fields {
		if !sameParts(a.fields[i], b.fields[i]) {
			return false
		}
	}
	return true
}

// advance reads the next row of an input, or drops the input at its end.
func (m *merger) advance(in *input) (err error) {
	defer recovered(&err)
	err = in.reader.next()
	if errors.Is(err, io.EOF) {
		heap.Remove(m, in.place)
		return in.close()
	}
	if err != nil {
		return err
	}
	run := string(in.reader.decoder.leaves[in.reader.fields[0].leaf][0].ByteArray())
	if strings.Compare(run, in.run) < 0 {
		return fmt.Errorf("%w: run %q comes after %q", schema.ErrDamaged, run, in.run)
	}
	in.run = run
	heap.Fix(m, in.place)
	return nil
}

func (in *input) close() error {
	if in.reader == nil {
		return nil
	}
	return cmp.Or(in.reader.Close(), in.file.Close())
}

// copyRow adds the current row of an input.
func (w *Writer) copyRow(in *input) (err error) {
	defer recovered(&err)
	r := in.reader
	if in.fields == nil {
		row := make([]any, len(w.table.Columns))
		if err := r.decoder.into(row, r.fields); err != nil {
			return err
		}
		return w.Write(row)
	}
	for _, f := range w.fields {
		from := in.fields[f.place]
		if from == nil { // the file was written by a version without this column
			putNull(&w.leaves, f, level{})
			continue
		}
		for i := range f.leaves {
			for _, v := range r.decoder.leaves[from.leaf+i] {
				v = v.Level(v.RepetitionLevel(), v.DefinitionLevel(), f.leaf+i)
				w.leaves[f.leaf+i] = append(w.leaves[f.leaf+i], v)
			}
		}
	}
	return w.added()
}

// merger is a heap of the inputs, by their next run, then by the order of the sources.
type merger []*input

func (m *merger) close() {
	for _, in := range *m {
		_ = in.close()
	}
}

// Len is part of heap.Interface, as are the methods below.
func (m merger) Len() int { return len(m) }

func (m merger) Less(i, j int) bool {
	a, b := m[i], m[j]
	if a.run != b.run {
		return a.run < b.run
	}
	return a.order < b.order
}

func (m merger) Swap(i, j int) {
	m[i], m[j] = m[j], m[i]
	m[i].place, m[j].place = i, j
}

// Push adds at the end.
func (m *merger) Push(x any) {
	in, _ := x.(*input)
	in.place = len(*m)
	*m = append(*m, in)
}

// Pop takes from the end.
func (m *merger) Pop() any {
	end := len(*m) - 1
	last := (*m)[end]
	(*m)[end] = nil // its buffers are not needed any more
	*m = (*m)[:end]
	return last
}
