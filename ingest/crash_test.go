package ingest

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/schema"
)

// mortalFiles are the files as a process sees them that crashes at one operation that changes something: before it
// happens, which is also after the one before; a write is half done. They do not fsync: a process that dies takes
// nothing of the file system with it.
type mortalFiles struct {
	disk.OS
	random *rand.Rand
	at     int           // which operation is the last; -1: none
	step   string        // or: which step
	nth    int           // time it is met
	stall  time.Duration // in a model, at some operations, between looking up the directories and doing it; 0: there is none
	steps  *stepCounts

	mu    sync.Mutex
	count int
	dead  bool
}

// stepCounts count what happened at each step of the protocol.
type stepCounts struct {
	mu        sync.Mutex
	met       map[string]int
	crashes   map[string]int
	takeOvers int
	rescued   int
}

func newStepCounts() *stepCounts {
	return &stepCounts{met: map[string]int{}, crashes: map[string]int{}}
}

func (c *stepCounts) add(to map[string]int, step string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	to[step]++
}

// merge adds other counts.
func (c *stepCounts) merge(other *stepCounts) {
	for _, s := range steps {
		c.met[s.name] += other.met[s.name]
		c.crashes[s.name] += other.crashes[s.name]
	}
	c.takeOvers += other.takeOvers
	c.rescued += other.rescued
}

// step is an operation of the protocol, called by the step of FORMAT.md that it belongs to.
type step struct {
	name    string
	pattern *regexp.Regexp
}

var steps = []step{
	{"append 2: create", regexp.MustCompile(`^create tmp/`)},
	{"append 2: write", regexp.MustCompile(`^write tmp/`)},
	{"append 2: fsync", regexp.MustCompile(`^sync tmp/`)},
	{"append 3: link", regexp.MustCompile(`^link tmp/\S+ live/\w+/\w+.parquet`)},
	{"append 4: fsync", regexp.MustCompile(`^sync live/`)},
	{"append 5: remove", regexp.MustCompile(`^remove tmp/`)},
	{"segment: mkdir", regexp.MustCompile(`^mkdir live/`)},
	{"segment: owner", regexp.MustCompile(`^link tmp/\S+ live/\w+/owner`)},
	{"1: mkdir", regexp.MustCompile(`^mkdir claims/`)},
	{"1: owner", regexp.MustCompile(`^link tmp/\S+ claims/\S+/owner`)},
	{"2: fsync claim", regexp.MustCompile(`^sync claims/\w+\.\d+$`)},
	{"2: rename", regexp.MustCompile(`^rename live/\S+ claims/`)},
	{"2: fsync claims", regexp.MustCompile(`^sync claims$`)},
	{"2: fsync live", regexp.MustCompile(`^sync live$`)},
	{"2: fsync segment", regexp.MustCompile(`^sync claims/\w+\.\d+/\w+$`)},
	{"3: plan", regexp.MustCompile(`^link tmp/\S+ claims/\S+/plan`)},
	{"4: create", regexp.MustCompile(`^create claims/\S+\.out`)},
	{"4: write", regexp.MustCompile(`^write claims/\S+\.out`)},
	{"4: fsync", regexp.MustCompile(`^sync claims/\S+\.out`)},
	{"5: link samples", regexp.MustCompile(`^link claims/\S+ samples/`)},
	{"5: fsync samples", regexp.MustCompile(`^sync samples/`)},
	{"5: link ops", regexp.MustCompile(`^link claims/\S+ ops/`)},
	{"5: fsync ops", regexp.MustCompile(`^sync ops/`)},
	{"6: link runs", regexp.MustCompile(`^link claims/\S+ runs/`)},
	{"6: fsync runs", regexp.MustCompile(`^sync runs/`)},
	{"6: remove outs", regexp.MustCompile(`^remove claims/\S+\.out`)},
	{"7b: link", regexp.MustCompile(`^link claims/\S+ live/`)},
	{"7c: rename", regexp.MustCompile(`^rename claims/\S+ trash/`)},
	{"7c: fsync trash", regexp.MustCompile(`^sync trash$`)},
	{"7c: remove", regexp.MustCompile(`^remove trash/`)},
	{"take-over: rename", regexp.MustCompile(`^rename claims/\S+ claims/`)},
	{"take-over: remove owner", regexp.MustCompile(`^remove claims/\S+owner`)},
}

// stepOf returns the step of an operation; what the protocol does not speak of has none.
func stepOf(operation string) string {
	for _, s := range steps {
		if s.pattern.MatchString(operation) {
			return s.name
		}
	}
	return ""
}

// do does an operation, unless the process has crashed or crashes at it.
func (f *mortalFiles) do(name string, operation func() error) error {
	f.mu.Lock()
	if f.dead {
		f.mu.Unlock()
		return errCrashed
	}
	step, changes := stepOf(name), !strings.HasPrefix(name, "read ") && !strings.HasPrefix(name, "open ") && !strings.HasPrefix(name, "close ")
	if changes {
		if f.step != "" && step == f.step {
			f.nth--
		}
		f.dead = f.count == f.at || f.step != "" && f.nth < 0
		f.count++
	}
	dead := f.dead
	f.mu.Unlock()

	if step != "" {
		f.steps.add(f.steps.met, step)
	}
	if !dead {
		return operation()
	}
	if step != "" {
		f.steps.add(f.steps.crashes, step)
	}
	if strings.HasPrefix(name, "write ") {
		_ = operation()
	}
	return errCrashed
}

// crashed tells whether the process is gone.
func (f *mortalFiles) crashed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.dead
}

// slowly gives the path of a name for one operation, and what is to be called after it. In a model it looks the directory
// up and pauses before the operation, sometimes for long: whatever was renamed in the meantime, the operation then goes to
// where the directory is now, as it does when the kernel stops a process between the two. What has changed in a directory
// gets the time of the model.
func (f *mortalFiles) slowly(name string) (found string, done func(changed bool)) {
	if f.stall == 0 {
		return pathIn(f.Dir, name), func(bool) {}
	}
	dir, err := os.Open(path.Dir(pathIn(f.Dir, name)))
	if err != nil {
		return pathIn(f.Dir, name), func(bool) {}
	}
	time.Sleep(f.pause(name))
	held := fmt.Sprintf("/proc/self/fd/%d", dir.Fd())
	return path.Join(held, path.Base(name)), func(changed bool) {
		if changed {
			f.touch(held)
		}
		_ = dir.Close()
	}
}

// pause returns how long an operation takes: now and then it stalls.
func (f *mortalFiles) pause(name string) time.Duration {
	const usual = 4 * time.Millisecond
	f.mu.Lock()
	defer f.mu.Unlock()
	seldom := 80
	if strings.HasPrefix(name, schema.LiveDir+"/") {
		seldom = 8 // a run that comes into a segment late is what a claim must not lose
	}
	if f.random.IntN(seldom) == 0 {
		return time.Duration(f.random.Int64N(int64(f.stall)))
	}
	return time.Duration(f.random.Int64N(int64(usual)))
}

// touch gives what was changed the time of the model, which is not that of the file system. Until then it is of a later
// time, and counts as in use.
func (f *mortalFiles) touch(name string) {
	if f.stall > 0 {
		now := time.Now()
		_ = os.Chtimes(name, now, now)
	}
}

func (f *mortalFiles) Open(name string) (opened fs.File, err error) {
	err = f.do("read "+name, func() error { opened, err = f.OS.Open(name); return err })
	return opened, err
}

func (f *mortalFiles) MakeRoot() error { return f.do("make root", f.OS.MakeRoot) }

func (f *mortalFiles) MakeDir(name string) error {
	return f.do("mkdir "+name, func() error {
		err := f.OS.MakeDir(name)
		if err == nil {
			f.touch(pathIn(f.Dir, name))
			f.touch(path.Dir(pathIn(f.Dir, name)))
		}
		return err
	})
}

func (f *mortalFiles) Create(name string) (disk.File, error) {
	var opened *os.File
	err := f.do("create "+name, func() (err error) {
		found, done := f.slowly(name)
		opened, err = os.OpenFile(found, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil {
			f.touch(found)
		}
		done(err == nil)
		return err
	})
	if err != nil {
		if opened != nil {
			_ = opened.Close()
		}
		return nil, err
	}
	return &mortalFile{opened, name, f}, nil
}

func (f *mortalFiles) OpenDir(name string) (disk.File, error) {
	var opened *os.File
	err := f.do("open "+name, func() (err error) { opened, err = os.Open(pathIn(f.Dir, name)); return err })
	if err != nil {
		if opened != nil {
			_ = opened.Close()
		}
		return nil, err
	}
	return &mortalFile{opened, name, f}, nil
}

func (f *mortalFiles) Link(from, to string) error {
	err := f.do("link "+from+" "+to, func() error {
		one, doneOne := f.slowly(from)
		other, doneOther := f.slowly(to)
		err := os.Link(one, other)
		doneOne(false)
		doneOther(err == nil)
		return err
	})
	if err == nil && stepOf("link "+from+" "+to) == "7b: link" {
		f.steps.mu.Lock()
		f.steps.rescued++
		f.steps.mu.Unlock()
	}
	return err
}

func (f *mortalFiles) Rename(from, to string) error {
	err := f.do("rename "+from+" "+to, func() error {
		one, doneOne := f.slowly(from)
		other, doneOther := f.slowly(to)
		err := os.Rename(one, other)
		doneOne(err == nil)
		doneOther(err == nil)
		return err
	})
	if err == nil && stepOf("rename "+from+" "+to) == "take-over: rename" {
		f.steps.mu.Lock()
		f.steps.takeOvers++
		f.steps.mu.Unlock()
	}
	return err
}

func (f *mortalFiles) Remove(name string) error {
	return f.do("remove "+name, func() error {
		found, done := f.slowly(name)
		err := os.Remove(found)
		done(err == nil)
		return err
	})
}

func (f *mortalFiles) Writable(name string) error { return f.OS.Writable(name) }

type mortalFile struct {
	*os.File
	name  string
	files *mortalFiles
}

// Write writes half of the content where the process crashes at it.
func (f *mortalFile) Write(content []byte) (n int, err error) {
	err = f.files.do("write "+f.name, func() error {
		half := content
		if f.files.crashed() {
			half = content[:len(content)/2]
		}
		n, err = f.File.Write(half)
		f.touch()
		return err
	})
	return n, err
}

func (f *mortalFile) touch() { f.files.touch(fmt.Sprintf("/proc/self/fd/%d", f.Fd())) }

func (f *mortalFile) Sync() error { return f.files.do("sync "+f.name, func() error { return nil }) }

// Close closes in any case.
func (f *mortalFile) Close() error {
	err := f.File.Close()
	return f.files.do("close "+f.name, func() error { return err })
}
