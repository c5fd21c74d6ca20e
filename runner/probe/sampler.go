package probe

import (
	"bufio"
	"encoding/json"
	"io/fs"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Series are the readings of one quantity while a run was measured.
type Series struct {
	Name   string  `json:"name"` // of the metric; of the second device power.1
	Tick   float64 `json:"tick"` // in the unit of the metric
	AtNS   []int64 `json:"at_ns"`
	Values []int64 `json:"values"` // in ticks
}

// Readings are what was read between Begin and End of a Watcher. The series energy and cpu_energy are counters: only their differences
// are meaningful.
type Readings struct {
	Began   int64             `json:"began"` // Unix time in ns from which AtNS counts
	Series  []Series          `json:"series"`
	Missing map[string]string `json:"missing"` // why a metric has no series, by its name
	Devices []string          `json:"-"`       // the UUIDs of the devices, in the order of the suffixes
}

// WindowTooShort is the reason why there is no metric if there were no readings, or too few.
const WindowTooShort = "window too short"

// maxReadings bounds the readings of a series: an hour at ten a second. Later ones are not taken, except the last.
const maxReadings = 36_000

// slowly is the interval of readings that change slowly, or cost the kernel or the driver more than others.
const slowly = time.Second

// source is what the sampler reads at once: one or more series.
type source struct {
	names []string
	tick  float64
	slow  bool // read once a second
	read  func(at int64) ([]int64, error)
}

// single returns a source of one series that does not depend on the time.
func single(name string, tick float64, read func() (int64, error)) source {
	return source{names: []string{name}, tick: tick, read: func(int64) ([]int64, error) {
		value, err := read()
		return []int64{value}, err
	}}
}

// slower returns the source, read once a second.
func (s source) slower() source {
	s.slow = true
	return s
}

// sampler reads sources at regular intervals, until it ends. A source that fails once has no series, because one with a hole would be
// taken for the whole run.
type sampler struct {
	began    time.Time
	sources  []source
	series   map[string]*Series
	missing  map[string]string
	lastSlow time.Duration
	stop     chan struct{}
	done     chan struct{}
}

// newSampler prepares a sampler of sources. missing says why others do not exist.
func newSampler(sources []source, missing map[string]string) *sampler {
	return &sampler{
		began: time.Now(), sources: sources, series: map[string]*Series{}, missing: missing, lastSlow: -slowly,
		stop: make(chan struct{}), done: make(chan struct{}),
	}
}

// run reads until the sampler ends, and once more then. The first reading was taken before.
func (s *sampler) run(interval time.Duration) {
	defer close(s.done)
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for n := 1; ; n++ {
		select {
		case <-s.stop:
			s.read(true)
			return
		case <-ticker.C:
		}
		if n < maxReadings {
			s.read(false)
		}
	}
}

// read reads each source that is due, or all.
func (s *sampler) read(all bool) {
	slow := all || time.Since(s.began)-s.lastSlow >= slowly
	if slow {
		s.lastSlow = time.Since(s.began)
	}
	kept := s.sources[:0]
	for _, from := range s.sources {
		if from.slow && !slow || s.note(from) {
			kept = append(kept, from)
		}
	}
	s.sources = kept
}

// note adds a reading, and reports whether the source can be read again.
func (s *sampler) note(from source) bool {
	at := int64(time.Since(s.began))
	values, err := from.read(at)
	if err == errNotYet {
		return true
	}
	for i, name := range from.names {
		if err != nil {
			s.missing[name] = reason(err)
			continue
		}
		if s.series[name] == nil {
			s.series[name] = &Series{Name: name, Tick: from.tick}
		}
		to := s.series[name]
		to.AtNS, to.Values = append(to.AtNS, at), append(to.Values, values[i])
	}
	return err == nil
}

// end stops the sampler and returns its readings. A driver that hangs holds it up.
func (s *sampler) end() Readings {
	close(s.stop)
	<-s.done
	r := Readings{Began: s.began.UnixNano(), Missing: s.missing}
	for _, from := range s.sources {
		for _, name := range from.names {
			if series := s.series[name]; series != nil {
				r.Series = append(r.Series, *series)
			} else {
				r.Missing[name] = WindowTooShort // for a difference
			}
		}
	}
	return r
}

// The orders of a watcher to its child. An empty line asks for the state of the devices. begin has the readings a second and the names
// of devices.
const (
	orderBegin = "begin"
	orderEnd   = "end"
)

// maxOrderLine is the longest order, in B: the names of some hundreds of devices.
const maxOrderLine = 64 << 10

// serve implements the child of a watcher: it answers each order with a document in one line; the answer to begin is empty, and comes after
// the first reading. It ignores an interrupt at the terminal, which is meant for the parent, and ends with the parent.
func serve(root fs.FS, of monitor) error {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	encoder := json.NewEncoder(os.Stdout)
	lines := bufio.NewReaderSize(os.Stdin, maxOrderLine)
	running := newSampler(nil, map[string]string{})
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			return nil // the other side is gone
		}
		words := strings.Fields(string(line))
		switch {
		case len(words) == 0:
			err = encoder.Encode(of.state())
		case words[0] == orderBegin && len(words) > 1:
			running = newSampler(sourcesOf(root, of, words[2:]))
			running.read(true)
			go running.run(intervalOf(words[1]))
			err = encoder.Encode(struct{}{})
		case words[0] == orderEnd:
			err = encoder.Encode(running.end())
		}
		if err != nil {
			return err
		}
	}
}

// intervalOf returns the time between readings.
func intervalOf(hz string) time.Duration {
	n, err := strconv.ParseFloat(hz, 64)
	if err != nil || n <= 0 {
		n = 1
	}
	return max(time.Duration(float64(time.Second)/n), time.Millisecond)
}

// monitor reads devices through a driver.
type monitor struct {
	state func() Devices // the facts that change
	// sources lists what can be read of devices, and why the rest cannot. known is false if there is no driver.
	sources func(devices []string) (list []source, missing map[string]string, known bool)
}

// sourcesOf lists what can be read of the processors and of some devices, in the order of their suffixes.
func sourcesOf(root fs.FS, of monitor, devices []string) ([]source, map[string]string) {
	list, missing := processorSources(root)
	gpus, lacking, known := of.sources(devices)
	if !known {
		gpus, lacking = amdSources(root, devices)
	}
	for name, why := range lacking {
		missing[name] = why
	}
	return append(list, gpus...), missing
}

// Suffix returns the end of the names of the metrics of a device: nothing for the first device, .1 for the second.
func Suffix(device int) string {
	if device == 0 {
		return ""
	}
	return "." + strconv.Itoa(device)
}
