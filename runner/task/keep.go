package task

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"syscall"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// Output is an output that a Spec may keep: the file in which a worker writes the output of its benchmark, in the format of numpy.save.
const Output = "output.npy"

// keptLimit bounds the kept outputs of all processes of a run together, in B.
const keptLimit = 512 << 20

// keptHeader is the size of the header before each kept output; PROTOCOL.md has the layout.
const keptHeader = 32

// bufferSize is how much of an output, in B, is copied at once.
const bufferSize = 128 << 10

// The states of an output that is kept.
const (
	keptThere  = iota
	keptAbsent // the process wrote no such file
	keptLarge  // more than one process may write
	keptFull   // more than all processes of a run may
	keptNoFile // a directory, a pipe
	keptUnread // it cannot be opened
)

// longAgo is the time that a file is given before a process starts that is to write it: no process writes one then.
var longAgo = time.Date(1970, 1, 2, 0, 0, 0, 0, time.UTC)

// keeper keeps the outputs of processes. It works between processes, so it does not affect their times.
type keeper struct {
	to      *os.File
	outputs []keptOutput
	limit   int64 // B of one output
	room    int64 // B of all
	buffer  []byte
}

// keptOutput is an output of each process.
type keptOutput struct {
	path  string
	own   bool // a file of the benchmark, which may be there from an earlier process
	quiet bool // an empty output is not kept

	before fs.FileInfo // nil: it was not there
	marked bool        // its time is longAgo
	time   time.Time   // its original time
}

// newKeeper keeps outputs of the job into the file that the run has for that.
func newKeeper(dir string, j *job) (*keeper, error) {
	to, err := os.OpenFile(j.path(dir, keptFile), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	k := &keeper{to: to, limit: j.OutputLimit, room: keptLimit}
	for _, name := range j.Keep {
		k.outputs = append(k.outputs, j.outputOf(dir, name))
	}
	k.outputs = append(k.outputs, keptOutput{path: j.path(dir, eventsFile), quiet: true})
	return k, nil
}

// outputOf returns the output with a name of Spec.Keep.
func (j *job) outputOf(dir, name string) keptOutput {
	if name == stdoutFile || name == stderrFile || name == Output {
		return keptOutput{path: j.path(dir, name)}
	}
	return keptOutput{path: InDir(j.Dir, name), own: true}
}

// mark records the state of the files before a process starts. The clock of a file system is too coarse to distinguish two writes by
// quick processes apart, so a file is given a time that is long ago.
func (k *keeper) mark() {
	for i := range k.outputs {
		if o := &k.outputs[i]; o.own {
			o.mark()
		}
	}
}

func (o *keptOutput) mark() {
	o.before, o.marked = nil, false
	info, err := os.Stat(o.path)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	o.before, o.time = info, info.ModTime()
	if os.Chtimes(o.path, time.Time{}, longAgo) != nil {
		return // another user owns it: its size and time must suffice
	}
	if info, err = os.Stat(o.path); err == nil {
		o.before, o.marked = info, true
	}
}

// written reports whether the process has written its file. If it has not, written restores the time of the file.
func (o *keptOutput) written(now fs.FileInfo) bool {
	if !o.own || o.before == nil || !os.SameFile(o.before, now) || o.before.Size() != now.Size() || !o.before.ModTime().Equal(now.ModTime()) {
		return true
	}
	if o.marked {
		_ = os.Chtimes(o.path, time.Time{}, o.time)
	}
	return false
}

// keep keeps the outputs of a process that has ended, by the number of its row.
func (k *keeper) keep(row int) error {
	for i := range k.outputs {
		if err := k.keepOne(row, i); err != nil {
			return fmt.Errorf("keeping an output of process %d: %w", row+1, err)
		}
	}
	return nil
}

// keepOne writes the header of an output, and the output.
func (k *keeper) keepOne(row, output int) error {
	o := &k.outputs[output]
	f, size, state := o.open()
	if f != nil {
		defer f.Close()
	}
	switch {
	case state != keptThere:
	case size > k.limit:
		size, state = 0, keptLarge
	case size > k.room:
		size, state = 0, keptFull
	}
	if k.room -= size; o.quiet && size == 0 && state != keptFull {
		return nil
	}
	var header [keptHeader]byte
	for i, word := range []int64{int64(row), int64(output), int64(state), size} {
		binary.LittleEndian.PutUint64(header[8*i:], uint64(word))
	}
	if _, err := k.to.Write(header[:]); err != nil {
		return err
	}
	return k.copy(f, size)
}

// open opens the output without blocking, and returns its size, or the state with the reason why there is no output.
func (o *keptOutput) open() (f *os.File, size int64, state int) {
	f, err := os.OpenFile(o.path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if os.IsNotExist(err) {
		return nil, 0, keptAbsent
	}
	if err != nil {
		return nil, 0, keptUnread
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		return f, 0, keptUnread
	case !info.Mode().IsRegular():
		return f, 0, keptNoFile
	case !o.written(info):
		return f, 0, keptAbsent
	}
	return f, info.Size(), keptThere
}

// copy copies as many bytes as the header says. If the file has become shorter since, zeros replace the missing bytes.
func (k *keeper) copy(f *os.File, size int64) error {
	if k.buffer == nil && size > 0 {
		k.buffer = make([]byte, bufferSize)
	}
	for at := int64(0); at < size; {
		part := k.buffer[:min(int64(len(k.buffer)), size-at)]
		n, err := f.ReadAt(part, at)
		if n == 0 && err != nil {
			clear(part)
			n = len(part)
		}
		if _, err := k.to.Write(part[:n]); err != nil {
			return err
		}
		at += int64(n)
	}
	return nil
}

func (k *keeper) close() { _ = k.to.Close() }

// Kept are the outputs of a run that its Spec requested.
type Kept struct {
	File      *os.File // holds them
	Processes int      // that were measured: one sample of latency each; a worker is one
	Outputs   []KeptOutput
}

// KeptOutput is an output of one process in the file of a Kept.
type KeptOutput struct {
	Process      int    // from 0
	Name         string // as Spec.Keep has it
	Offset, Size int64  // in the file, in B
	Missing      string // why the output is missing, in a few words; absentText: the process did not write it
}

// absentText is that a process did not write a file.
const absentText = "absent"

// Reading is the result of Spec.Read.
type Reading struct {
	Metrics []schema.Metric
	Missing map[string]string // why a metric is missing, by its name
	Error   string            // error of the run, in one line; empty: none
	// Cancelled is set if the end was requested before it was done.
	Cancelled bool
}

// keptOutputs finds the kept outputs of the processes that count. events are the event files of processes, in their order.
func (r *run) keptOutputs() (kept Kept, events []KeptOutput) {
	kept = Kept{File: r.kept, Processes: r.measured}
	first := r.job.Warmup
	if !r.spec.perProcess() {
		kept.Processes, first = 1, 0
	}
	var header [keptHeader]byte
	for at := int64(0); ; {
		if n, _ := r.kept.ReadAt(header[:], at); n < keptHeader {
			return kept, events
		}
		word := func(i int) int64 { return int64(binary.LittleEndian.Uint64(header[8*i:])) }
		row, number, state, size := word(0), word(1), word(2), word(3)
		at += keptHeader
		if size < 0 || number < 0 || number > int64(len(r.spec.Keep)) { // it was damaged
			return kept, events
		}
		o := KeptOutput{Process: int(row) - first, Offset: at, Size: size, Missing: r.whyMissing(state)}
		at += size
		switch {
		case o.Process < 0 || o.Process >= kept.Processes:
		case number < int64(len(r.spec.Keep)):
			o.Name = r.spec.Keep[number]
			kept.Outputs = append(kept.Outputs, o)
		default:
			events = append(events, o)
		}
	}
}

// whyMissing describes a state in a few words.
func (r *run) whyMissing(state int64) string {
	switch state {
	case keptThere:
		return ""
	case keptAbsent:
		return absentText
	case keptLarge:
		return fmt.Sprintf("more than %d B", r.job.OutputLimit)
	case keptFull:
		return fmt.Sprintf("more than %d MiB of all processes together: fewer iterations, or less output", keptLimit>>20)
	case keptNoFile:
		return "it is a folder, a pipe or a device"
	}
	return "it cannot be opened"
}

// readOutputs has the outputs read, and makes the run an error if they do not match the sweep.
func (r *run) readOutputs(o *Outcome, kept Kept) {
	if r.spec.Read == nil || r.measured == 0 || o.Status == schema.StatusCancelled || o.Status == schema.StatusUnkillable {
		return
	}
	began := time.Now()
	reading := Reading{Error: fmt.Sprint(r.keepErr)}
	if r.keepErr == nil {
		reading = r.spec.Read(kept)
	}
	if o.Stages.Validate == nil {
		o.Stages.Validate = new(int64(time.Since(began)))
	}
	o.Metrics = append(o.Metrics, reading.Metrics...)
	for name, why := range reading.Missing {
		o.Missing[name] = why
	}
	if reading.Cancelled && o.Status == schema.StatusOK {
		o.Status, o.Stage, o.ErrorKind = schema.StatusCancelled, schema.StageValidate, string(schema.StatusCancelled)
		o.Error = cancelledText
	}
	if reading.Error != "" {
		o.Fail(schema.StageValidate, kindMetric, reading.Error)
	}
}

// maxReported bounds the values that the processes of a run report.
const maxReported = 1 << 20

// receiveEvents processes the events that the processes of a command wrote to their descriptor for events.
func (r *run) receiveEvents(o *Outcome, events []KeptOutput, processes int) {
	for _, output := range events {
		if err := r.receiveProcess(output); err != nil {
			o.Fail(schema.StageValidate, kindProtocol, fmt.Sprintf("events of process %d: %v", output.Process+1, err))
		}
	}
	for i := range r.reports.metrics {
		if m := &r.reports.metrics[i]; m.Level == "" && max(len(m.Ticks), len(m.Reals)) == processes {
			m.Level = schema.LevelProcess
		}
	}
}

// receiveProcess processes the metrics that one process reported. A command may report nothing else.
func (r *run) receiveProcess(output KeptOutput) (failed error) {
	if output.Missing != "" {
		return errors.New(output.Missing)
	}
	err := readEvents(io.NewSectionReader(r.kept, output.Offset, output.Size), func(e event) {
		if failed != nil || e.Event != eventMetrics {
			return
		}
		if failed = e.toStoredUnit(); failed == nil {
			failed = r.reports.addMetric(e)
		}
		if failed == nil && r.reports.values > maxReported {
			failed = fmt.Errorf("more than %d values of a run", maxReported)
		}
	})
	return cmp.Or(failed, err)
}

// toStoredUnit converts the values of a metric that a program or a worker reports in another unit.
func (e *event) toStoredUnit() error {
	if e.Metric == nil {
		return nil // addMetric reports the error
	}
	kind, known := schema.KindOfMetric(e.Metric.Name)
	stored, factor, _ := schema.StoredUnit(e.Metric.Unit)
	switch {
	case known && e.Metric.Unit == "":
		return nil
	case known && kind.Unit != "" && stored != kind.Unit:
		return fmt.Errorf("%s is in %s, not in %s", e.Metric.Name, kind.Unit, e.Metric.Unit)
	case factor != 1 && len(e.Ticks) > 0:
		return fmt.Errorf("ticks of %s are in %s: want %s, or reals", e.Metric.Name, e.Metric.Unit, stored)
	}
	e.Metric.Unit = stored
	for i, v := range e.Reals {
		if inverse := math.Round(1 / factor); factor < 1 && 1/inverse == factor {
			e.Reals[i] = v / inverse // rounded once: 97.88 % is 0.9788
		} else {
			e.Reals[i] = v * factor
		}
	}
	return nil
}
