package task

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// collectorLimit is the size of the heap, in B, at which the garbage collector runs even while measuring.
const collectorLimit = 1 << 30

// worker is the role of a builtin point's worker.
type worker struct {
	sender  sender
	samples *sampleMap
	stage   schema.Stage
}

// work runs the worker. Its exit status is 0 exactly if it produced a result or found the point unsupported.
func work(dir string, registry WorkerFunc) (code int) {
	syscall.CloseOnExec(fdWorkerEvents)
	w := &worker{sender: sender{w: os.NewFile(fdWorkerEvents, "events"), began: time.Now()}}
	w.sender.send(event{Event: eventHello, Proto: proto, At: w.sender.now()})
	j, err := loadJob(dir)
	if err == nil {
		w.samples, err = mapSamples(j.path(dir, samplesFile))
	}
	if err != nil {
		w.sender.send(event{Event: eventError, Kind: kindStart, Message: fmt.Sprintf("starting the worker: %v", err)})
		return 1
	}
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(os.Stderr, "panic: %v\n\n%s", p, debug.Stack())
			code = w.fail(kindPanic, fmt.Errorf("panic: %v", p))
		}
	}()
	return w.run(j, registry)
}

// run takes one point through its stages.
func (w *worker) run(j *job, registry WorkerFunc) int {
	w.begin(schema.StageSetup)
	point, err := registry(j.Config)
	if unsupported, ok := errors.AsType[*Unsupported](err); ok {
		w.samples.finish(stateUnsupported, unsupported.Kind, unsupported.Reason)
		w.sender.send(event{Event: eventUnsupported, Kind: unsupported.Kind, Message: unsupported.Reason})
		return 0
	}
	if err != nil {
		return w.fail(kindSetup, err)
	}
	runtime.LockOSThread()
	debug.SetMemoryLimit(collectorLimit)
	debug.SetGCPercent(-1)
	w.sender.send(event{Event: eventFact, Key: FactTimerFloor, Value: strconv.FormatInt(timerFloor(), 10)})
	rows := w.samples.column(columnLatency)
	if j.Warmup > 0 {
		w.begin(schema.StageWarmup)
		measure(point.Iterate, rows[:j.Warmup], math.MaxInt64, w.samples.stop())
	}
	runtime.GC()
	if len(j.Profiler) > 0 {
		w.begin(schema.StageProfile)
	} else {
		w.begin(schema.StageMeasure)
	}
	budget, stop := j.Budget, w.samples.stop()
	if budget == 0 { // iterations are exact
		budget, stop = math.MaxInt64, new(int64)
	}
	counts := workerCounts(j.Counters)
	counts.begin()
	measure(point.Iterate, rows[j.Warmup:], budget, stop)
	counts.end()
	if len(j.Counters) > 0 {
		w.sender.send(event{Event: eventCounts, Counts: counts.differences()})
	}
	if point.Validate != nil && len(j.Profiler) == 0 {
		w.begin(schema.StageValidate)
		if err := point.Validate(); err != nil {
			return w.fail(kindValidate, err)
		}
	}
	if peak, ok := peakMemory("self"); ok {
		w.samples.set(offPeak, peak)
	}
	w.samples.finish(stateResult, "", "")
	w.sender.send(event{
		Event: eventResult, At: w.sender.now(), Applied: point.Applied,
		Bytes: point.Work.Bytes, Flops: point.Work.Flops, Items: point.Work.Items,
	})
	return 0
}

// measure runs iterations until the rows are full, the budget is spent or stop is set, at least one. A row is the time of one iteration
// in ns. It reads the clock twice per iteration and calls nothing else.
func measure(iterate func(), rows []int64, budget time.Duration, stop *int64) {
	began := time.Now()
	for i := range rows {
		start := time.Now()
		iterate()
		end := time.Now()
		rows[i] = int64(end.Sub(start))
		if end.Sub(began) >= budget || atomic.LoadInt64(stop) != 0 {
			return
		}
	}
}

// floorReadings is how often the clock is read to find its floor.
const floorReadings = 1001

// timerFloor returns the median time, in ns, between two readings of the clock with nothing between them.
func timerFloor() int64 {
	rows := make([]int64, floorReadings)
	measure(func() {}, rows, math.MaxInt64, new(int64))
	slices.Sort(rows)
	return rows[floorReadings/2]
}

// begin begins a stage.
func (w *worker) begin(stage schema.Stage) {
	w.stage = stage
	at := w.sender.now()
	w.samples.begin(stage, at)
	w.sender.send(event{Event: eventStage, Stage: stage, At: at})
}

// fail reports an error of the benchmark.
func (w *worker) fail(kind string, err error) int {
	w.samples.finish(stateError, kind, err.Error())
	w.sender.send(event{Event: eventError, Stage: w.stage, Kind: kind, Message: err.Error()})
	return 1
}
