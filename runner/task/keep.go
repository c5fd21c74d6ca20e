package task

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Output is an output that a Spec may keep: the file in which a worker writes the output of its benchmark, in the format of numpy.save.
const Output = "output.npy"

// keptLimit bounds what is kept of all processes of a run, in B.
const keptLimit = 512 << 20

// keptHeader is the size of what stands before each output that is kept; PROTOCOL.md has the layout.
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
	quiet bool // nothing is kept where it is empty

	before fs.FileInfo // nil: it was not there
	marked bool        // its time is longAgo
	time   time.Time   // what it was before
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

// outputOf is the output of a name.
func (j *job) outputOf(dir, name string) keptOutput {
	switch {
	case name == stdoutFile || name == stderrFile || name == Output:
		return keptOutput{path: j.path(dir, name)}
	case j.Dir == "" || filepath.IsAbs(name):
		return keptOutput{path: name, own: true}
	}
	return keptOutput{path: filepath.Join(j.Dir, name), own: true}
}

// mark notes what files are there before a process starts. The clock of a file system is too coarse to tell two writes of
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
		return // it is somebody else's; then its size and its time have to tell
	}
	if info, err = os.Stat(o.path); err == nil {
		o.before, o.marked = info, true
	}
}

// written reports whether the process has written its file, and gives back the time of one that it has not.
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

// keepOne writes the header with what is known of the output, and the output.
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

// open opens the output, without waiting for anybody, and tells its size, or why there is none.
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

// copy copies as many bytes as the header says; where somebody took some away meanwhile, zeros stand for them.
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
