package task

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/neurolens/neurolens/schema"
)

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
	Missing      string // why there is none, in a few words; absentText: the process did not write it
}

// absentText is that a process did not write a file.
const absentText = "absent"

// Reading is the result of Spec.Read.
type Reading struct {
	Metrics []schema.Metric
	Missing map[string]string // why a metric is not there, by its name
	Error   string            // what is wrong with the run, in one line; empty: nothing
	// Cancelled is that somebody wanted the end before it was done.
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
	reading := Reading{Error: fmt.Sprint(r.unkept)}
	if r.unkept == nil {
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
	if reading.Error != "" && o.Status == schema.StatusOK {
		o.Status, o.Stage, o.ErrorKind, o.Error = schema.StatusError, schema.StageValidate, kindMetric, reading.Error
	}
}

// maxReported bounds the values that the processes of a run report.
const maxReported = 1 << 20

// receiveEvents takes in what the processes of a command told on their descriptor for events.
func (r *run) receiveEvents(o *Outcome, events []KeptOutput, processes int) {
	for _, output := range events {
		if err := r.receiveProcess(output); err != nil && o.Status == schema.StatusOK {
			o.Status, o.Stage, o.ErrorKind = schema.StatusError, schema.StageValidate, kindProtocol
			o.Error = fmt.Sprintf("events of process %d: %v", output.Process+1, err)
		}
	}
	for i := range r.reports.metrics {
		if m := &r.reports.metrics[i]; m.Level == "" && max(len(m.Ticks), len(m.Reals)) == processes {
			m.Level = schema.LevelProcess
		}
	}
}

// receiveProcess takes in the metrics that one process told; all else that a worker may tell is not for a command to say.
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

// toStoredUnit converts the values of a metric that a program or a worker gives in a unit of its own.
func (e *event) toStoredUnit() error {
	if e.Metric == nil {
		return nil // which addMetric says
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
