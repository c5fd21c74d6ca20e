package task

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"sort"
	"strings"

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

	// unset is the value of a row, the floor and the peak that nobody measured.
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
	commandColumns
	builtinColumns = 1
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
	columns := builtinColumns
	if j.Executor == schema.ExecutorCommand {
		columns = commandColumns
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

// parseShape reads what header wrote.
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
	if columns == 0 || columns > commandColumns || capacity > maxRows || warmup > capacity {
		return shape{}, fmt.Errorf("samples of %d columns, %d rows, %d warm-up rows: want fewer", columns, capacity, warmup)
	}
	return shape{columns: int(columns), capacity: int(capacity), warmup: int(warmup)}, nil
}

// createSamples makes the file with all rows unset. They are written, not left as a hole: a full disk is an error
// here, and not a SIGBUS in the middle of a measurement.
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

// unsetRows are rows of so many B together.
func unsetRows(size int64) []byte {
	rows := make([]byte, size)
	none := int64(unset)
	for i := 0; i < len(rows); i += 8 {
		binary.LittleEndian.PutUint64(rows[i:], uint64(none))
	}
	return rows
}

// renewSamples does the same in memory that earlier samples may have had.
func renewSamples(f *os.File, s shape) (*sampleReader, error) {
	if _, err := f.WriteAt(append(s.header(), unsetRows(s.size()-offRows)...), 0); err != nil {
		return nil, err
	}
	if err := f.Truncate(s.size()); err != nil {
		return nil, err
	}
	return &sampleReader{f: f, shape: s}, nil
}

// sampleReader is the runner's side. It reads by pread and trusts only the geometry that it gave or was told by an
// event: what the file says may have been damaged by the benchmark, and it may have become shorter.
type sampleReader struct {
	f     io.ReaderAt
	shape shape
}

func (r *sampleReader) close() error { return r.f.(io.Closer).Close() }

// stop asks whoever measures to end well after the iteration that runs.
func (r *sampleReader) stop() {
	if w, ok := r.f.(io.WriterAt); ok {
		_, _ = w.WriteAt([]byte{1}, offStop) // where it cannot be written, the budget ends the measurement
	}
}

// word is the int64 at an offset; unset where there is none.
func (r *sampleReader) word(offset int64) int64 {
	var b [8]byte
	if _, err := r.f.ReadAt(b[:], offset); err != nil {
		return unset
	}
	return int64(binary.LittleEndian.Uint64(b[:]))
}

// counts are the whole rows of the warm-up and of the measurement that are there now.
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

// spread reads n rows of a column, or, where these are many, stretches evenly spread over them.
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

// progress is the number of the stage that runs, and when it, or its running process, began on the sender's clock.
func (r *sampleReader) progress() (stage, at int64) {
	word := r.word(offProgress)
	if word <= 0 {
		return 0, 0
	}
	return word >> progressShift, word & (1<<progressShift - 1)
}

// begun is when a stage began on the sender's clock, by its number; unset if it has not.
func (r *sampleReader) begun(stage int64) int64 {
	at := r.word(offBegins + 8*(stage-1))
	if at < 0 {
		return unset
	}
	return at
}

// ending is how the benchmark ended: the state and, where that is an error or unsupported, the stage in which it came
// to that, its kind and its message. An empty stage is not known.
type ending struct {
	state         int
	stage         schema.Stage
	kind, message string
}

// end is what the benchmark left in the header.
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
