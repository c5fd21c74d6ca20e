package task

import (
	"slices"
	"strings"

	"github.com/neurolens/neurolens/runner/counter"
	"github.com/neurolens/neurolens/schema"
)

// The facts about counters: those that took turns in a register of the processor, so that their values are estimates, and those that leave
// out events in the kernel; names separated by commas.
const (
	FactMultiplexed = "counters.multiplexed"
	factUserOnly    = "counters.user_only"
)

// Multiplexed reports whether the value of a metric is an estimate, because counters took turns.
func Multiplexed(facts map[string]string, metric string) bool {
	return slices.Contains(strings.Split(facts[FactMultiplexed], ","), metric)
}

// WarnMultiplexed: counters took turns in a register of the processor. The fact FactMultiplexed has their names.
const WarnMultiplexed = "multiplexed"

// clockCounter is the clock of the metrics that counters give.
const clockCounter = "perf_event"

// counting reads the counters of a run at the beginning and at the end of something.
type counting struct {
	counters    []counter.Counter // that this process opened
	names       []string
	fds         []int
	from, to    []counter.Reading
	lost        []bool // it does not count here
	rows        [][]int64
	multiplexed []string
	buffer      [counter.ReadingSize]byte
}

func newCounting(names []string, fds []int) counting {
	n := len(names)
	return counting{names: names, fds: fds, from: make([]counter.Reading, n), to: make([]counter.Reading, n), lost: make([]bool, n)}
}

// count opens the counters of the job for the next process that a process starts, and reports what they leave out.
func (s *supervisor) count(parent int) counting {
	if len(s.job.Counters) == 0 {
		return counting{}
	}
	counters := counter.Open(s.job.Counters, parent)
	fds := make([]int, len(counters))
	var userOnly []string
	counts := newCounting(s.job.Counters, fds)
	counts.counters = counters
	for i, c := range counters {
		if c.Missing != "" {
			s.sender.hold(event{Event: eventFact, Key: c.Name, Missing: c.Missing})
			counts.lost[i] = true
			continue
		}
		fds[i] = c.FD()
		if c.UserOnly {
			userOnly = append(userOnly, c.Name)
		}
	}
	if userOnly != nil {
		s.sender.hold(event{Event: eventFact, Key: factUserOnly, Value: strings.Join(userOnly, ",")})
	}
	return counts
}

// workerCounts returns the counters whose descriptors a worker got from its supervisor.
func workerCounts(names []string) counting {
	fds := make([]int, len(names))
	for i := range fds {
		fds[i] = fdWorkerCounters + i
	}
	return newCounting(names, fds)
}

func (c *counting) close() { counter.Close(c.counters) }

// renew opens the counters for the next process.
func (c *counting) renew(parent int) {
	counter.Reopen(c.counters, parent)
	for i := range c.counters {
		c.fds[i] = c.counters[i].FD()
	}
}

// begin reads the counters at the beginning.
func (c *counting) begin() { c.read(c.from) }

// end reads the counters at the end. It allocates nothing.
func (c *counting) end() { c.read(c.to) }

func (c *counting) read(into []counter.Reading) {
	for i, fd := range c.fds {
		if !c.lost[i] {
			var err error
			into[i], err = counter.Read(fd, &c.buffer)
			c.lost[i] = err != nil
		}
	}
}

// differences returns what was counted from the beginning to the end, by counter.
func (c *counting) differences() map[string]counter.Reading {
	counts := map[string]counter.Reading{}
	for i, name := range c.names {
		if !c.lost[i] {
			counts[name] = c.to[i].Since(c.from[i])
		}
	}
	return counts
}

// keep stores what was counted in a row of samples, and reports the first multiplexed count of each counter.
func (c *counting) keep(row int, s *sender) {
	for i, name := range c.names {
		count := c.to[i].Since(c.from[i])
		events, known := count.Events(name)
		if c.lost[i] || !known {
			continue
		}
		c.rows[i][row] = events
		if count.Multiplexed() && !slices.Contains(c.multiplexed, name) {
			c.multiplexed = append(c.multiplexed, name)
			s.hold(event{Event: eventFact, Key: FactMultiplexed, Value: strings.Join(c.multiplexed, ",")})
		}
	}
}

// counters adds the metrics of the counters: for each process of a command, or per iteration of a worker, on average over the measure
// stage. A counter without a value has a reason.
func (r *run) counters(o *Outcome) {
	var multiplexed []string
	for i, name := range r.job.Counters {
		m := registered(name)
		m.Clock, m.Level, m.Tick = clockCounter, schema.LevelProcess, 1
		known := false
		if r.spec.perProcess() {
			m.Ticks = r.samples.rows(commandColumns+i, r.job.Warmup, r.measured)
			known = r.measured > 0 && !slices.Contains(m.Ticks, unset)
		} else if reading, read := r.reports.counts[name]; read {
			var events int64
			events, known = reading.Events(name)
			m.Ticks = []int64{events}
			if n := r.iterated(); n > 0 {
				m.Level, m.Tick, m.IterationsPerSample = schema.LevelMean, 1/float64(n), []int64{n}
			}
			if known && reading.Multiplexed() {
				multiplexed = append(multiplexed, name)
			}
		}
		switch {
		case known:
			o.Metrics = append(o.Metrics, m)
		case o.Missing[name] == "" && r.measured > 0:
			o.Missing[name] = "unsupported: nothing was counted, or other counters left no turn to it"
		}
	}
	if multiplexed != nil {
		o.Facts[FactMultiplexed] = strings.Join(multiplexed, ",")
	}
	if o.Facts[FactMultiplexed] != "" {
		o.Warnings = append(o.Warnings, WarnMultiplexed)
	}
}

// iterated returns the number of measured iterations of a worker.
func (r *run) iterated() (n int64) {
	switch per := r.reports.latency.IterationsPerSample; len(per) {
	case 0:
		return int64(r.measured)
	case 1:
		return int64(r.measured) * per[0]
	default:
		for _, k := range per {
			n += k
		}
		return n
	}
}
