package task

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/neurolens/neurolens/runner/counter"
	"github.com/neurolens/neurolens/schema"
)

// proto is the version of the protocol; the three processes are the same file, so another one is a mix-up.
const proto = 1

// maxLine is the longest event in B, with its newline.
const maxLine = 1 << 20

// event is one line on a descriptor for events. PROTOCOL.md lists the fields of each event.
type event struct {
	Event    string            `json:"event"`
	Proto    int               `json:"proto,omitempty"`
	Dumps    bool              `json:"dumps,omitempty"`
	At       int64             `json:"at,omitempty"`
	Stage    schema.Stage      `json:"stage,omitempty"`
	Kind     string            `json:"kind,omitempty"`
	Message  string            `json:"message,omitempty"`
	Key      string            `json:"key,omitempty"`
	Value    string            `json:"value,omitempty"`
	Missing  string            `json:"missing,omitempty"`
	ExitCode *int64            `json:"exit_code,omitempty"`
	Signal   string            `json:"signal,omitempty"`
	Applied  map[string]string `json:"applied,omitempty"`
	Bytes    *int64            `json:"bytes,omitempty"`
	Flops    *float64          `json:"flops,omitempty"`
	Items    *float64          `json:"items,omitempty"`
	Killed   int               `json:"killed,omitempty"`
	Left     int               `json:"left,omitempty"`
	Spent    bool              `json:"spent,omitempty"`

	// From a worker that is another program.
	BackendVersion      string                         `json:"backend_version,omitempty"`
	Deadlines           map[schema.Stage]time.Duration `json:"deadlines,omitempty"`
	Warmup              int                            `json:"warmup,omitempty"`
	Iterations          int                            `json:"iterations,omitempty"`
	Metric              *eventMetric                   `json:"metric,omitempty"`
	Ticks               []int64                        `json:"ticks,omitempty"`
	Reals               []float64                      `json:"reals,omitempty"`
	IterationsPerSample []int64                        `json:"iterations_per_sample,omitempty"`
	Op                  *eventOp                       `json:"op,omitempty"`
	Counts              map[string]counter.Reading     `json:"counts,omitempty"`
}

// eventMetric describes a metric that is not in the file of samples, or adds attributes to latency.
type eventMetric struct {
	Name   string        `json:"name"`
	Unit   string        `json:"unit"`
	Better schema.Better `json:"better"`
	Clock  string        `json:"clock"`
	Level  schema.Level  `json:"level"`
	Tick   float64       `json:"tick"`
	Warmup bool          `json:"warmup"` // the samples of this event belong to the warm-up
}

// eventOp is an operator or kernel of a profiled run.
type eventOp struct {
	Name       string             `json:"name"`
	Type       string             `json:"type"`
	Device     string             `json:"device"`
	StartNS    *int64             `json:"start_ns"`
	DurationNS *int64             `json:"duration_ns"`
	Count      *int64             `json:"count"`
	Kernels    []string           `json:"kernels"`
	Counters   map[string]float64 `json:"counters"`
}

// The events.
const (
	eventHello       = "hello"
	eventStage       = "stage"
	eventFact        = "fact"
	eventRead        = "read"
	eventExecuted    = "executed"
	eventShape       = "shape"
	eventMetrics     = "metric"
	eventOps         = "op"
	eventCounts      = "counts"
	eventWarning     = "warning"
	eventVersion     = "version"
	eventDeadlines   = "deadlines"
	eventUnsupported = "unsupported"
	eventSkipped     = "skipped"
	eventError       = "error"
	eventResult      = "result"
	eventExit        = "exit"
	eventDone        = "done"
	eventReady       = "ready"
)

// The kinds of error that this package itself gives.
const (
	kindStart       = "start"
	kindExit        = "exit"
	kindSignal      = "signal"
	kindOutputLimit = "output_limit"
	kindSetup       = "setup"
	kindValidate    = "validate"
	kindPanic       = "panic"
	kindProtocol    = "protocol"
	kindOOM         = "oom"
	kindMetric      = "metric"
	kindSkip        = "skip"
	kindStartNoise  = "shell_start" // a program cannot be distinguished from the start of its shell
	kindCleanup     = "cleanup"     // exit status of the cleanup
	kindTimeout     = "timeout"     // of the cleanup: other deadlines are the runner's
)

// sender writes events. An event that cannot be written is dropped: the reader is gone, or the benchmark closed the descriptor, and the
// header of the sample file repeats the essential ones.
type sender struct {
	w     io.Writer
	began time.Time

	mu   sync.Mutex
	held []byte // lines that are not written yet
}

// send writes an event, after the held ones.
func (s *sender) send(e event) {
	s.hold(e)
	s.flush()
}

// hold keeps an event for the next flush: events that follow one another at once then wake the reader once.
func (s *sender) hold(e event) {
	e.Message = cut(e.Message, textSize)
	line, err := json.Marshal(e)
	if err != nil || len(line) >= maxLine {
		return
	}
	s.mu.Lock()
	s.held = append(append(s.held, line...), '\n')
	s.mu.Unlock()
}

// flush writes the held events. It has to be called before anything that may take long.
func (s *sender) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.held) > 0 {
		_, _ = s.w.Write(s.held)
		s.held = s.held[:0]
	}
}

// now returns the time since the sender began, in ns.
func (s *sender) now() int64 { return int64(time.Since(s.began)) }

// cut shortens a text for an event, the file's header or a terminal.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && text[limit]&0xc0 == 0x80 {
		limit--
	}
	return text[:limit]
}

// parseEvent reads one line. A line that is no object with an event is an error; an unknown event is not.
func parseEvent(line []byte) (event, error) {
	var e event
	if err := json.Unmarshal(line, &e); err != nil {
		return event{}, fmt.Errorf("event %q: %w", cut(string(line), 80), err)
	}
	switch {
	case e.Event == "":
		return event{}, fmt.Errorf("event %q: want a field event", cut(string(line), 80))
	case e.Event == eventHello && e.Proto != proto:
		return event{}, fmt.Errorf("protocol %d: want %d", e.Proto, proto)
	case e.Event == eventStage && stageNumber(e.Stage) == 0:
		return event{}, fmt.Errorf("stage %q: want one of %v", e.Stage, schema.StageNames)
	}
	return e, nil
}

// wholeLines splits at newlines and drops the text after the last one: the sender was killed while it wrote.
func wholeLines(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF {
		return len(data), nil, nil
	}
	return 0, nil, nil
}

// readEvents passes each event to handle until the end of r. It stops at the first line that is not an event.
func readEvents(r io.Reader, handle func(event)) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4096), maxLine)
	lines.Split(wholeLines)
	for lines.Scan() {
		e, err := parseEvent(lines.Bytes())
		if err != nil {
			return err
		}
		handle(e)
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("event of more than %d B", maxLine)
	}
	return nil // a read error is the end of the pipe, which the caller interprets
}

// stageNumber returns the number of a stage in the file of samples; 0: no such stage.
func stageNumber(stage schema.Stage) int64 {
	for i, s := range schema.StageNames {
		if s == stage {
			return int64(i + 1)
		}
	}
	return 0
}

// maxOps bounds the operators of one run.
const maxOps = 1 << 20

// reports collects the reports of a worker that are not in the file of samples.
type reports struct {
	latency  schema.Metric   // only attributes: clock, level, tick, iterations per sample
	metrics  []schema.Metric // in the order of their first event
	values   int             // of all metrics together
	ops      []schema.Op
	counts   map[string]counter.Reading // of the measure stage, by counter
	warnings []string
	shaped   bool
	// shortened are the stages whose deadlines the benchmark has made shorter.
	shortened []schema.Stage
	dumps     bool // it writes its stack on SIGUSR1
	version   string
}

// receive handles an event of the worker. Events after the runner ended the run do not count. The error is an event that breaks the
// protocol.
func (r *run) receive(e event) error {
	if r.cause != nil {
		return nil
	}
	switch e.Event {
	case eventHello:
		r.reports.dumps = e.Dumps
	case eventShape:
		return r.reshape(e)
	case eventMetrics:
		if err := e.toStoredUnit(); err != nil {
			return err
		}
		return r.reports.addMetric(e)
	case eventOps:
		return r.reports.addOp(e.Op)
	case eventCounts:
		r.reports.counts = e.Counts
	case eventWarning:
		if e.Value != "" && !slices.Contains(r.reports.warnings, e.Value) {
			r.reports.warnings = append(r.reports.warnings, e.Value)
		}
	case eventVersion:
		r.reports.version = e.BackendVersion
	case eventDeadlines:
		return r.shorten(e)
	}
	return nil
}

// reshape takes over the benchmark's own counts. The worker has already resized the file of samples.
func (r *run) reshape(e event) error {
	switch {
	case r.reports.shaped || r.stage != schema.StageSetup:
		return fmt.Errorf("event shape in %s: want it once, in setup", r.stage)
	case e.Warmup < 0 || e.Iterations < 1 || e.Warmup > maxRows || e.Iterations > maxRows-e.Warmup:
		return fmt.Errorf("warmup %d and iterations %d: want 0 and 1 to %d together", e.Warmup, e.Iterations, maxRows)
	}
	r.reports.shaped = true
	r.job.Warmup, r.job.Iterations = e.Warmup, e.Iterations
	r.samples.shape = r.job.shape()
	return nil
}

// shorten shortens deadlines at the request of the benchmark. It cannot extend one: that could stop a suite.
func (r *run) shorten(e event) error {
	if r.stage != schema.StageSetup {
		return fmt.Errorf("event deadlines in %s: want it in setup", r.stage)
	}
	for stage, own := range e.Deadlines {
		if stageNumber(stage) == 0 || own <= 0 {
			return fmt.Errorf("deadline %d ns of stage %q: want more than 0 of one of %v", own, stage, schema.StageNames)
		}
		if limit := r.spec.Deadlines.of(stage); own < *limit {
			*limit = own
			r.reports.shortened = append(r.reports.shortened, stage)
		}
	}
	if r.phase == phaseRunning {
		r.arm()
	}
	return nil
}

// addMetric starts a metric, or adds samples to it.
func (t *reports) addMetric(e event) error {
	if e.Metric == nil || e.Metric.Name == "" {
		return fmt.Errorf("event metric without a name")
	}
	if t.values += len(e.Ticks) + len(e.Reals); t.values > maxRows {
		return fmt.Errorf("metric %s: more than %d samples", e.Metric.Name, maxRows)
	}
	if e.Metric.Name == schema.PrimaryMetric {
		if len(e.Ticks)+len(e.Reals) > 0 {
			return fmt.Errorf("metric %s: its samples belong in the file of samples", schema.PrimaryMetric)
		}
		t.latency = schema.Metric{Clock: e.Metric.Clock, Level: e.Metric.Level, Tick: e.Metric.Tick, IterationsPerSample: e.IterationsPerSample}
		return nil
	}
	i := slices.IndexFunc(t.metrics, func(m schema.Metric) bool { return m.Name == e.Metric.Name })
	if i < 0 {
		i = len(t.metrics)
		t.metrics = append(t.metrics, schema.Metric{
			Name: e.Metric.Name, Unit: e.Metric.Unit, Better: e.Metric.Better,
			Clock: e.Metric.Clock, Level: e.Metric.Level, Tick: e.Metric.Tick,
		})
	}
	m := &t.metrics[i]
	if len(e.Ticks) > 0 && m.Tick == 0 || len(e.Reals) > 0 && m.Tick != 0 {
		return fmt.Errorf("metric %s: want ticks with a tick, or reals without one", m.Name)
	}
	if e.Metric.Warmup {
		m.WarmupTicks, m.WarmupReals = append(m.WarmupTicks, e.Ticks...), append(m.WarmupReals, e.Reals...)
	} else {
		m.Ticks, m.Reals = append(m.Ticks, e.Ticks...), append(m.Reals, e.Reals...)
	}
	m.IterationsPerSample = append(m.IterationsPerSample, e.IterationsPerSample...)
	return nil
}

func (t *reports) addOp(op *eventOp) error {
	if op == nil || op.Name == "" {
		return fmt.Errorf("event op without a name")
	}
	if len(t.ops) == maxOps {
		return fmt.Errorf("more than %d operators", maxOps)
	}
	t.ops = append(t.ops, schema.Op{
		Index: int64(len(t.ops)), Name: op.Name, Type: op.Type, Device: op.Device,
		StartNS: op.StartNS, DurationNS: op.DurationNS, Count: op.Count, Kernels: op.Kernels, Counters: op.Counters,
	})
	return nil
}
