package storetest

import (
	"io/fs"
	"strings"
	"sync"
	"syscall"

	"github.com/neurolens/neurolens/ingest/internal/disk"
)

// Faulty makes one operation fail, or all from one on until it is healed.
type Faulty struct {
	disk.OS
	Fault   error
	At      int  // how many operations succeed before
	Late    bool // the operation succeeds, but is reported as failed
	Lasting bool // all operations after it fail too, until healed
	Trace   []string
	Healed  bool
	Hit     bool
	Unsync  int  // how many fsyncs failed
	Quick   bool // fsyncs that do not fail do nothing

	Linkless bool // the file system has no hard links
}

// do runs an operation or lets it fail.
func (f *Faulty) do(name string, operation func() error) error {
	if !f.fails(name) {
		return operation()
	}
	if f.Late {
		_ = operation()
	}
	return f.Fault
}

// counting is held while operations are counted, because folders are listed in parallel. It is a pointer because Faulty
// is copied.
var counting sync.Mutex

// fails counts an operation and reports whether it has to fail.
func (f *Faulty) fails(name string) bool {
	counting.Lock()
	defer counting.Unlock()
	f.Trace = append(f.Trace, name)
	if f.Healed || len(f.Trace) <= f.At || f.Hit && !f.Lasting {
		return false
	}
	f.Hit = true
	if strings.HasPrefix(name, "sync") {
		f.Unsync++
	}
	return true
}

func (f *Faulty) Open(name string) (opened fs.File, err error) {
	err = f.do("read "+name, func() error { opened, err = f.OS.Open(name); return err })
	return opened, err
}

func (f *Faulty) MakeRoot() error { return f.do("make root", f.OS.MakeRoot) }

func (f *Faulty) MakeDir(name string) error {
	return f.do("mkdir "+name, func() error { return f.OS.MakeDir(name) })
}

func (f *Faulty) Create(name string) (disk.File, error) {
	var opened disk.File
	err := f.do("create "+name, func() (err error) { opened, err = f.OS.Create(name); return err })
	return &faultyFile{opened, name, f}, err
}

func (f *Faulty) OpenDir(name string) (disk.File, error) {
	var opened disk.File
	err := f.do("open "+name, func() (err error) { opened, err = f.OS.OpenDir(name); return err })
	return &faultyFile{opened, name, f}, err
}

func (f *Faulty) Link(from, to string) error {
	return f.do("link "+from+" "+to, func() error {
		if f.Linkless {
			return syscall.EPERM
		}
		return f.OS.Link(from, to)
	})
}

func (f *Faulty) Rename(from, to string) error {
	return f.do("rename "+from+" "+to, func() error { return f.OS.Rename(from, to) })
}

func (f *Faulty) Remove(name string) error {
	return f.do("remove "+name, func() error { return f.OS.Remove(name) })
}

func (f *Faulty) Writable(name string) error {
	return f.do("access "+name, func() error { return f.OS.Writable(name) })
}

type faultyFile struct {
	disk.File
	name  string
	files *Faulty
}

// Write fails with half of the content written.
func (f *faultyFile) Write(content []byte) (n int, err error) {
	err = f.files.do("write "+f.name, func() error { n, err = f.File.Write(content); return err })
	if err != nil && n == 0 {
		n, _ = f.File.Write(content[:len(content)/2])
	}
	return n, err
}

func (f *faultyFile) Sync() error {
	sync := f.File.Sync
	if f.files.Quick {
		sync = func() error { return nil }
	}
	return f.files.do("sync "+f.name, sync)
}

// Close closes in any case, as the system does.
func (f *faultyFile) Close() error {
	err := f.File.Close()
	return f.files.do("close "+f.name, func() error { return err })
}
