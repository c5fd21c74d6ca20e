package task

import (
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/neurolens/neurolens/schema"
)

// sampleMap is the side of whoever measures: the file of samples as memory.
type sampleMap struct {
	shape shape
	bytes []byte
	words []int64 // the same memory
}

// mapSamples maps the file of samples. Every page is written once, so that the measuring loop meets no page fault.
func mapSamples(path string) (*sampleMap, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, offRows)
	if _, err := f.ReadAt(head, 0); err != nil {
		return nil, err
	}
	s, err := parseShape(head)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() != s.size() {
		return nil, fmt.Errorf("samples of %d B: want %d", info.Size(), s.size())
	}
	b, err := unix.Mmap(int(f.Fd()), 0, int(s.size()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mapping samples: %w", err)
	}
	m := &sampleMap{shape: s, bytes: b, words: unsafe.Slice((*int64)(unsafe.Pointer(&b[0])), len(b)/8)}
	for i := offRows / 8; i < len(m.words); i += os.Getpagesize() / 8 {
		m.words[i] = unset
	}
	return m, nil
}

// close gives the memory back. Nothing may use a column any more.
func (m *sampleMap) close() { _ = unix.Munmap(m.bytes) }

// column is one column; its first shape.warmup rows are the warm-up's.
func (m *sampleMap) column(c int) []int64 {
	from := int(m.shape.offset(c, 0)) / 8
	return m.words[from : from+m.shape.capacity : from+m.shape.capacity]
}

// stop is set when the runner has enough.
func (m *sampleMap) stop() *int64 { return &m.words[offStop/8] }

func (m *sampleMap) set(offset int, value int64) { atomic.StoreInt64(&m.words[offset/8], value) }

// count stores the latency of a row whose other columns are there, which makes it count.
func (m *sampleMap) count(row int, latency int64) {
	m.set(int(m.shape.offset(columnLatency, row)), latency)
}

// begin notes that a stage, or a process in it, begins at a time on the sender's clock.
func (m *sampleMap) begin(stage schema.Stage, at int64) {
	number := stageNumber(stage)
	if first := offBegins + 8*int(number-1); m.words[first/8] == unset {
		m.set(first, at)
	}
	m.set(offProgress, number<<progressShift|at)
}

// finish notes how the benchmark ended in the stage that runs; kind and message are those of an error.
func (m *sampleMap) finish(state int, kind, message string) {
	text := cut(kind+"\n"+message, textSize)
	copy(m.bytes[offText:offBegins], text)
	stage := m.words[offProgress/8] >> progressShift
	m.set(offState, int64(len(text))<<32|stage<<endShift|int64(state))
}
