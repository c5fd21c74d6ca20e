package task

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// How often the start of a shell is measured before the processes of a run, after so many starts that warm it up, and again after
// them: where the machine becomes slower meanwhile, its starts lie farther apart.
const (
	startsWarmup = 3
	starts       = 15
)

// toDeviation makes a robust spread of a median absolute deviation.
const toDeviation = 1.4826

// start is the time that the shell of a run takes to start, in ns, and the spread of its starts.
type start struct {
	median, spread int64
}

// measureStart measures the program that starts the command, with nothing to do.
func (c *command) measureStart() *event {
	if len(c.job.Start) == 0 {
		return nil
	}
	whole, argv := c.argv, c.job.Start
	c.argv = argv
	defer func() { c.argv = whole }()
	c.sender.flush()
	for i := range startsWarmup + starts {
		c.clearOutput()
		it, status, err := c.time()
		if failed := c.failure(process{fmt.Sprintf("starting %s", c.argv[0]), c.path, true}, status, err); failed != nil {
			return failed
		}
		if i >= startsWarmup {
			c.starts = append(c.starts, float64(it.latency))
		}
	}
	summary := stat.Summarize(c.starts)
	for key, value := range map[string]int64{
		factStart: int64(*summary.P50), factStartSpread: int64(toDeviation * *summary.MAD), factStarts: int64(len(c.starts)),
	} {
		c.sender.hold(event{Event: eventFact, Key: key, Value: strconv.FormatInt(value, 10)})
	}
	return nil
}

// startOfShell is the measured start; false: nothing is to be subtracted, or the start is not known.
func (r *run) startOfShell() (s start, known bool) {
	median, err := strconv.ParseInt(r.facts[factStart], 10, 64)
	if err != nil || len(r.spec.Start) == 0 {
		return start{}, false
	}
	spread, err := strconv.ParseInt(r.facts[factStartSpread], 10, 64)
	return start{median, spread}, err == nil
}

// noiseOfStart is how many robust spreads of the start a program must take in addition to it, to have a measurable latency.
const noiseOfStart = 3

// subtract subtracts the start from wall times. If the difference is within the noise, there is no latency.
func (s start) subtract(wall []int64) ([]int64, bool) {
	if len(wall) == 0 {
		return nil, false
	}
	sorted := slices.Sorted(slices.Values(wall))
	if sorted[0] <= s.median || sorted[len(sorted)/2]-s.median <= noiseOfStart*s.spread {
		return nil, false
	}
	left := make([]int64, len(wall))
	for i, ticks := range wall {
		left[i] = ticks - s.median
	}
	return left, true
}

// withoutStart makes the wall time of each process a separate metric, and the wall time minus the start of the shell the latency. If nothing
// measurable is left, the run is an error, because a latency would be made up.
func (r *run) withoutStart(o *Outcome) {
	s, known := r.startOfShell()
	if len(r.spec.Start) == 0 || len(o.Metrics) == 0 {
		return
	}
	latency := o.Metrics[0]
	wall := latency
	wall.Name = wallTime
	o.Metrics[0] = wall
	left, ok := s.subtract(wall.Ticks)
	if known && ok {
		latency.Ticks, latency.WarmupTicks = left, nil
		o.Metrics = slices.Insert(o.Metrics, 0, latency)
		return
	}
	o.Missing[schema.PrimaryMetric] = "within the start of the shell"
	if o.Status == schema.StatusOK && len(wall.Ticks) > 0 {
		o.Status, o.Stage, o.ErrorKind = schema.StatusError, schema.StageValidate, kindStartNoise
		o.Error = fmt.Sprintf("takes less time than the start of %s varies: measure it without --shell", r.spec.Start[0])
	}
}
