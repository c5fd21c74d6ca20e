package runfile

import (
	"container/heap"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
)

// MergedRuns merges the runs of several readers in order, each run once. A reader is opened only when its turn comes. If
// two readers have the same run, its digests must be equal.
type MergedRuns struct {
	inputs runHeap
	last   *table.Live
}

// Merge reads several readers as one.
func Merge(readers []Reader) *MergedRuns {
	m := &MergedRuns{}
	for _, r := range readers {
		heap.Push(&m.inputs, &runInput{reader: r, id: r.From()})
	}
	return m
}

// From returns a lower bound of the id of the next run.
func (m *MergedRuns) From() string {
	if len(m.inputs) == 0 {
		return ""
	}
	return m.inputs[0].id
}

// Next returns the next run.
func (m *MergedRuns) Next() (*table.Live, error) {
	for len(m.inputs) > 0 {
		in := m.inputs[0]
		live := in.run
		if err := in.advance(); errors.Is(err, io.EOF) {
			heap.Pop(&m.inputs)
			in.reader.Close()
		} else if err != nil {
			return nil, err
		} else {
			heap.Fix(&m.inputs, 0)
		}
		switch {
		case live == nil:
		case m.last == nil || live.RunID != m.last.RunID:
			m.last = live
			return live, nil
		case live.Digest != m.last.Digest:
			return nil, fmt.Errorf("%w: run %s is stored twice, with different digests: %s and %s", schema.ErrDamaged, live.RunID, m.last.Digest, live.Digest)
		}
	}
	return nil, io.EOF
}

// Close closes the readers that are not at their end.
func (m *MergedRuns) Close() {
	for _, in := range m.inputs {
		in.reader.Close()
	}
}

// runInput is a reader with its next run, which is nil before the reader is opened.
type runInput struct {
	reader Reader
	id     string // of the run; before that, a lower bound of it
	run    *table.Live
}

func (in *runInput) advance() error {
	run, err := in.reader.Next()
	if err == nil {
		in.run, in.id = run, run.RunID
	}
	return err
}

// runHeap orders readers by their next run.
type runHeap []*runInput

func (h runHeap) Len() int           { return len(h) }
func (h runHeap) Less(i, j int) bool { return strings.Compare(h[i].id, h[j].id) < 0 }
func (h runHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push and Pop implement heap.Interface: Push adds at the end, and Pop removes from there.
func (h *runHeap) Push(x any) {
	in, _ := x.(*runInput)
	*h = append(*h, in)
}

func (h *runHeap) Pop() any {
	end := len(*h) - 1
	last := (*h)[end]
	(*h)[end] = nil // a reader holds a megabyte
	*h = (*h)[:end]
	return last
}
