package task

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"sort"
	"strings"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/neurolens/neurolens/schema"
)

// The file of samples; PROTOCOL.md has the layout.
const (
	samplesMagic   = "NLSAMPLE"
	samplesVersion = 1

	offColumns  = 12
	offCapacity = 16
	offWarmup   = 24
	offProgress = 32
	offFloor    = 40
	offPeak     = 48
	offState    = 56
	offTextLen  = 60
	offText     = 64
	offBegins   = 4032
	offStop     = 4088
	offRows     = 4096

	textSize = offBegins - offText

	// unset is the value of a row, the floor and the peak before they are measured.
	unset = math.MinInt64

	// progressShift puts the number of the stage above the time in the progress word, so that both change at once.
	progressShift = 56
	// endShift puts the number of the stage above the state in the state's word.
	endShift = 16
)

// The states in the header.
const (
	stateRunning = iota
	stateResult
	stateError
	stateUnsupported
	stateSkipped
)

// The columns. Latency is written last and counted.
const (
	columnLatency    = iota
	columnCPUUser    // us
	columnCPUSystem  // us
	columnPeakMemory // B
	commandColumns   // the counters of a command follow
	workerColumns    = 1
	maxColumns       = 64
)

// shape is the geometry of a file of samples.
type shape struct {
	columns, capacity, warmup int
}

func (s shape) size() int64 { return offRows + 8*int64(s.columns)*int64(s.capacity) }

func (s shape) offset(column, row int) int64 {
	return offRows + 8*(int64(column)*int64(s.capacity)+int64(row))
}

func (j *job) shape() shape {
	columns := workerColumns
	if j.Executor == schema.ExecutorCommand {
		columns = commandColumns + len(j.Counters)
	}
	return shape{columns: columns, capacity: j.Warmup + j.Iterations, warmup: j.Warmup}
}

func (s shape) header() []byte {
	h := make([]byte, offRows)
	copy(h, samplesMagic)
	binary.LittleEndian.PutUint32(h[8:], samplesVersion)
	binary.LittleEndian.PutUint32(h[offColumns:], uint32(s.columns))
	binary.LittleEndian.PutUint64(h[offCapacity:], uint64(s.capacity))
	binary.LittleEndian.PutUint64(h[offWarmup:], uint64(s.warmup))
	none := int64(unset)
	binary.LittleEndian.PutUint64(h[offFloor:], uint64(none))
	binary.LittleEndian.PutUint64(h[offPeak:], uint64(none))
	for offset := offBegins; offset < offStop; offset += 8 {
		binary.LittleEndian.PutUint64(h[offset:], uint64(none))
	}
	return h
}

// parseShape parses the result of header.
func parseShape(h []byte) (shape, error) {
	if len(h) < offRows || string(h[:8]) != samplesMagic {
		return shape{}, fmt.Errorf("samples begin with %q: want %q", h[:min(len(h), 8)], samplesMagic)
	}
	if v := binary.LittleEndian.Uint32(h[8:]); v != samplesVersion {
		return shape{}, fmt.Errorf("samples of version %d: want %d", v, samplesVersion)
	}
	columns := binary.LittleEndian.Uint32(h[offColumns:])
	capacity := binary.LittleEndian.Uint64(h[offCapacity:])
	warmup := binary.LittleEndian.Uint64(h[offWarmup:])
	if columns == 0 || columns > maxColumns || capacity > maxRows || warmup > capacity {
		return shape{}, fmt.Errorf("samples of %d columns, %d rows, %d warm-up rows: want fewer", columns, capacity, warmup)
	}
	return shape{columns: int(columns), capacity: int(capacity), warmup: int(warmup)}, nil
}

// createSamples makes the file with all rows unset. They are written, not left as a hole: a full disk is an error here, and not a SIGBUS
// in the middle of a measurement.
func createSamples(path string, s shape) (*sampleReader, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	chunk := unsetRows(min(s.size()-offRows, 1<<20)) // as short as the runs of many sweeps
	_, err = f.Write(s.header())
	for left := s.size() - offRows; err == nil && left > 0; {
		n := min(left, int64(len(chunk)))
		_, err = f.Write(chunk[:n])
		left -= n
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return &sampleReader{f: f, shape: s}, nil
}

// unsetRows returns unset rows with a total of size B.
func unsetRows(size int64) []byte {
	rows := make([]byte, size)
	none := int64(unset)
	for i := 0; i < len(rows); i += 8 {
		binary.LittleEndian.PutUint64(rows[i:], uint64(none))
	}
	return rows
}

// renewSamples is createSamples for a file that earlier samples may have used.
func renewSamples(f *os.File, s shape) (*sampleReader, error) {
	if _, err := f.WriteAt(append(s.header(), unsetRows(s.size()-offRows)...), 0); err != nil {
		return nil, err
	}
	if err := f.Truncate(s.size()); err != nil {
		return nil, err
	}
	return &sampleReader{f: f, shape: s}, nil
}

// sampleReader is the runner's side. It reads by pread and trusts only the geometry that it chose or that an event reported: the
// benchmark may have damaged or truncated the file.
type sampleReader struct {
	f     io.ReaderAt
	shape shape
}

func (r *sampleReader) close() error { return r.f.(io.Closer).Close() }

// stop asks the measuring loop to end normally after the current iteration.
func (r *sampleReader) stop() {
	if w, ok := r.f.(io.WriterAt); ok {
		_, _ = w.WriteAt([]byte{1}, offStop) // where it cannot be written, the budget ends the measurement
	}
}

// word returns the int64 at an offset; unset if it cannot be read.
func (r *sampleReader) word(offset int64) int64 {
	var b [8]byte
	if _, err := r.f.ReadAt(b[:], offset); err != nil {
		return unset
	}
	return int64(binary.LittleEndian.Uint64(b[:]))
}

// counts returns the numbers of complete rows of the warm-up and of the measurement.
func (r *sampleReader) counts() (warmup, measured int) {
	count := func(from, n int) int {
		return sort.Search(n, func(i int) bool {
			return r.word(r.shape.offset(columnLatency, from+i)) == unset
		})
	}
	w := r.shape.warmup
	return count(0, w), count(w, r.shape.capacity-w)
}

// rows reads n rows of a column.
func (r *sampleReader) rows(column, from, n int) []int64 {
	b := make([]byte, 8*n)
	read, _ := r.f.ReadAt(b, r.shape.offset(column, from))
	rows := make([]int64, read/8)
	for i := range rows {
		rows[i] = int64(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return rows
}

// The most rows that spread reads, and in how many stretches.
const (
	spreadRows      = 1 << 12
	spreadStretches = 1 << 5
)

// spread reads n rows of a column or, if there are too many, sections spread evenly over them.
func (r *sampleReader) spread(column, from, n int) []int64 {
	if n <= spreadRows {
		return r.rows(column, from, n)
	}
	var rows []int64
	for i := range spreadStretches {
		rows = append(rows, r.rows(column, from+i*(n/spreadStretches), spreadRows/spreadStretches)...)
	}
	return rows
}

// progress returns the number of the running stage, and when it, or its running process, began on the sender's clock.
func (r *sampleReader) progress() (stage, at int64) {
	word := r.word(offProgress)
	if word <= 0 {
		return 0, 0
	}
	return word >> progressShift, word & (1<<progressShift - 1)
}

// begun returns when a stage began on the sender's clock, by its number; unset if it has not.
func (r *sampleReader) begun(stage int64) int64 {
	at := r.word(offBegins + 8*(stage-1))
	if at < 0 {
		return unset
	}
	return at
}

// ending is how the benchmark ended: the state and, for an error or unsupported, its stage, its kind and its message. An empty stage is
// unknown.
type ending struct {
	state         int
	stage         schema.Stage
	kind, message string
}

// end returns the ending that the benchmark left in the header.
func (r *sampleReader) end() ending {
	b := make([]byte, offBegins-offState)
	if _, err := r.f.ReadAt(b, offState); err != nil {
		return ending{state: stateRunning}
	}
	word := binary.LittleEndian.Uint32(b)
	e := ending{state: int(word & (1<<endShift - 1))}
	if number := int(word >> endShift); number > 0 && number <= len(schema.StageNames) {
		e.stage = schema.StageNames[number-1]
	}
	n := min(int(binary.LittleEndian.Uint32(b[offTextLen-offState:])), textSize)
	text := strings.ToValidUTF8(string(b[offText-offState:][:max(n, 0)]), "\ufffd")
	e.kind, e.message, _ = strings.Cut(text, "\n")
	return e
}

// sampleMap is the file of samples, mapped into the memory of the measuring process.
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

// column returns one column; its first shape.warmup rows are the warm-up's.
func (m *sampleMap) column(c int) []int64 {
	from := int(m.shape.offset(c, 0)) / 8
	return m.words[from : from+m.shape.capacity : from+m.shape.capacity]
}

// stop is set when the runner has enough.
func (m *sampleMap) stop() *int64 { return &m.words[offStop/8] }

func (m *sampleMap) set(offset int, value int64) { atomic.StoreInt64(&m.words[offset/8], value) }

// count stores the latency of a row whose other columns are set, which makes it count.
func (m *sampleMap) count(row int, latency int64) {
	m.set(int(m.shape.offset(columnLatency, row)), latency)
}

// begin records that a stage, or a process in it, begins at a time on the sender's clock.
func (m *sampleMap) begin(stage schema.Stage, at int64) {
	number := stageNumber(stage)
	if first := offBegins + 8*int(number-1); m.words[first/8] == unset {
		m.set(first, at)
	}
	m.set(offProgress, number<<progressShift|at)
}

// finish records how the benchmark ended in the current stage; kind and message describe an error.
func (m *sampleMap) finish(state int, kind, message string) {
	text := cut(kind+"\n"+message, textSize)
	copy(m.bytes[offText:offBegins], text)
	stage := m.words[offProgress/8] >> progressShift
	m.set(offState, int64(len(text))<<32|stage<<endShift|int64(state))
}
