package task

import (
	"bufio"
	"os"
	"os/signal"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/neurolens/neurolens/schema"
)

// service is the process of a supervisor. It serves one run. If that run was a command and ended by itself, it can serve another one,
// but never two at once.
type service struct {
	events *os.File
	worker *os.File         // events of the worker of the first run, to be passed on
	starts chan *supervisor // runs whose directory is complete
	given  map[string]int   // descriptors of files without a name, by the name that they have otherwise

	inherited inherited // by processes, before the first run, with the settings of its job
	peak      int64     // resident memory after the first run, in B; 0: there was none
	collected uint64    // B allocated when the collector ran last

	mu  sync.Mutex
	dir string      // of the run, or of the last one
	run *supervisor // the current one; nil: none
}

// supervise returns the role of the supervisor.
func supervise(dir string) int {
	for fd := fdOrders; fd <= fdPassedEvents; fd++ {
		syscall.CloseOnExec(fd)
	}
	s := &service{
		dir:    dir,
		events: os.NewFile(fdSupervisorEvents, "events"),
		worker: os.NewFile(fdPassedEvents, "worker events"),
		starts: make(chan *supervisor, 1),
		given:  receiveShared(fdOrders),
	}
	ended := make(chan os.Signal, 1) // a handler is not inherited by children; ignoring a signal would be
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	go func() {
		<-ended
		s.end(exitKilled)
	}()
	go s.obey(bufio.NewScanner(os.NewFile(fdOrders, "orders")))
	runtime.LockOSThread() // all processes inherit from this thread, a trace belongs to it, and the clock is read only on it
	restoreOpenFiles()
	s.inherited, _ = readInherited(0)
	for r := range s.starts {
		if err := r.serve(); err != nil {
			return r.refuse(err)
		}
		if r.job.Executor != schema.ExecutorCommand {
			break
		}
		s.rest(r)
	}
	select {} // obey ends this process when the runner needs it no longer
}

// obey carries out the runner's orders. Their end means that the runner needs nothing any more, or is gone.
func (s *service) obey(orders *bufio.Scanner) {
	for orders.Scan() {
		word, rest, _ := strings.Cut(orders.Text(), " ")
		r := s.current()
		switch {
		case word == orderNext && r == nil:
			if dir, err := strconv.Unquote(rest); err == nil {
				s.take(dir, nil)
			}
		case word == orderStart && r == nil:
			r = newSupervisor(s, rest)
			s.take(s.dir, r)
			s.starts <- r
		case word == orderDump && r != nil:
			r.dump()
		case word == orderInterrupt && r != nil:
			r.interrupt()
		case word == orderKill && r != nil:
			go r.finish()
		}
	}
	s.end(0)
}

func (s *service) current() *supervisor {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run
}

// take makes a run the one that is served, in its directory.
func (s *service) take(dir string, r *supervisor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dir, s.run = dir, r
}

// end kills all processes of the run, if there is one, without reporting it, removes its directory and ends this process.
func (s *service) end(code int) {
	s.mu.Lock() // for good: no other run begins
	if s.run != nil {
		s.run.once.Do(func() { s.run.killAll() })
	}
	_ = os.RemoveAll(s.dir)
	os.Exit(code)
}

// collectAfter is the number of bytes that a supervisor allocates before its garbage collector, which is off during measurements, runs
// between two runs.
const collectAfter = 512 << 10

// maxGrowth is the maximum growth, in B, of the peak memory of a supervisor after its first run. The collector itself needs some memory.
const maxGrowth = 4 << 20

// rest closes a run that has ended by itself, and reports whether another one can follow.
func (s *service) rest(r *supervisor) {
	r.close()
	allocated := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	if metrics.Read(allocated); allocated[0].Value.Uint64()-s.collected >= collectAfter {
		runtime.GC()
		s.collected = allocated[0].Value.Uint64()
	}
	fit := s.canServeAgain()
	s.take(r.dir, nil)
	r.sender.send(event{Event: eventReady, Spent: !fit})
}

// canServeAgain reports whether the processes of another run would inherit the same state as the processes of the first one. A process
// may have changed inherited state of this one, such as its priority, its processors or its limits. Without a spawner, the peak memory
// of this process is also a lower bound of theirs.
func (s *service) canServeAgain() bool {
	now, ok := readInherited(0)
	peak, known := peakMemory("self")
	if s.peak == 0 {
		s.peak = peak
	}
	return ok && known && now == s.inherited && peak <= s.peak+maxGrowth
}
