package layout

import (
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// chapterRun is a run of a side: BenchmarkResult of the harness.
type chapterRun struct {
	Time     number         `json:"time_ms"` // mean
	Timing   *chapterTiming `json:"timing,omitempty"`
	Stage    string         `json:"timeout_stage,omitempty"`
	Duration number         `json:"timeout_duration_seconds,omitempty"`
	Limit    number         `json:"timeout_limit_seconds,omitempty"`
	Errors   []string       `json:"errors,omitempty"`
	Watchdog *watchdog      `json:"watchdog,omitempty"` // of a run that is not ok
	Own      *own           `json:"neurolens"`
}

// chapterTiming are the statistics of the time of a run.
type chapterTiming struct {
	Mean       number   `json:"mean_ms"`
	Median     number   `json:"median_ms"`
	Std        number   `json:"std_ms"` // of the sample
	P99        number   `json:"p99_ms"`
	Iterations number   `json:"iterations"`
	Raw        []number `json:"raw_times_ms"`
}

// watchdog has the state of the stages in the words of the harness.
type watchdog struct {
	Setup       watched  `json:"setup"`
	Warmup      watched  `json:"warmup"`
	Measurement watched  `json:"measurement"`
	Profiling   *watched `json:"profiling,omitempty"`
}

// watched is the state of a stage: completed, timeout, error, or pending if it was not reached. Duration is in seconds.
type watched struct {
	Status   string `json:"status"`
	Duration number `json:"duration"`
}

// list returns the individual runs.
func (s *side) list() []*chapterRun {
	list := []*chapterRun{}
	for _, r := range s.runs {
		one := &chapterRun{Own: ownOf(r)}
		m := timeOf(r)
		if r.Purpose == schema.PurposeProfile {
			m = nil // its time is that of the profiler
		}
		if m != nil {
			one.Time, one.Timing = in(m.Summary.Mean, "ms"), chapterTimingOf(m)
			one.Own.timed("time_ms", m, false)
		}
		one.Own.rest(r, m)
		one.failure(r)
		list = append(list, one)
	}
	return list
}

func chapterTimingOf(m *schema.Metric) *chapterTiming {
	s := &m.Summary
	return &chapterTiming{in(s.Mean, "ms"), in(s.P50, "ms"), in(s.StdDev, "ms"), in(s.P99, "ms"), integer(s.N), times(m)}
}

// failure says how a run that is not ok ended.
func (c *chapterRun) failure(r *schema.Run) {
	if r.Status == schema.StatusOK {
		return
	}
	c.Watchdog = watchdogOf(r)
	if rankOf(r.Status) == 1 {
		return
	}
	c.Errors = []string{why(r)}
	if r.Status != schema.StatusTimeout {
		return
	}
	c.Errors[0] = "TIMEOUT: " + c.Errors[0]
	c.Stage, c.Limit = stageWord(r.Stage), limitOf(r)
	if c.Duration = seconds(factNS(r, factElapsed)); c.Duration == "" {
		c.Duration = seconds(durationOf(r, r.Stage))
	}
}

// watchdogOf returns the states of the stages of a run; nil if none has begun.
func watchdogOf(r *schema.Run) *watchdog {
	state := func(stage schema.Stage) watched {
		w := watched{Status: "pending", Duration: seconds(durationOf(r, stage))}
		switch {
		case stage == r.Stage && r.Status == schema.StatusTimeout:
			w.Status = "timeout"
		case stage == r.Stage:
			w.Status = "error"
		case w.Duration != "":
			w.Status = "completed"
		}
		return w
	}
	w := &watchdog{Setup: state(schema.StageSetup), Warmup: state(schema.StageWarmup), Measurement: state(schema.StageMeasure)}
	if r.Purpose == schema.PurposeProfile {
		w.Profiling = new(state(schema.StageProfile))
	}
	pending := watched{Status: "pending"}
	if w.Setup == pending && w.Warmup == pending && w.Measurement == pending && (w.Profiling == nil || *w.Profiling == pending) {
		return nil
	}
	return w
}

// stageWord returns a stage in the word of the harness, which has fewer stages.
func stageWord(stage schema.Stage) string {
	switch stage {
	case schema.StageMeasure:
		return "measurement"
	case schema.StageProfile:
		return "profiling"
	}
	return string(stage)
}

// durationOf returns the duration of a stage in ns; nil if it is unknown.
func durationOf(r *schema.Run, stage schema.Stage) *int64 {
	if at := r.Stages.Of(stage); at != nil {
		return *at
	}
	return nil
}

func seconds(ns *int64) number {
	if ns == nil {
		return ""
	}
	return in(new(float64(*ns)), "s")
}

// factNS returns a fact with a number of ns; nil if the run does not have it.
func factNS(r *schema.Run, name string) *int64 {
	n, err := strconv.ParseInt(r.Env.Facts[name], 10, 64)
	if err != nil {
		return nil
	}
	return &n
}

// limitOf returns the deadline of the stage in which a run ended, in seconds: the one that it missed or, of a run of an earlier version, the
// one that all deadlines name: setup=30s warmup=3s. A whole number has no decimal point, as in the harness.
func limitOf(r *schema.Run) number {
	limit := factNS(r, factLimit)
	for word := range strings.FieldsSeq(r.Env.Facts["runner.timeouts"]) {
		text, is := strings.CutPrefix(word, string(r.Stage)+"=")
		if d, err := time.ParseDuration(text); is && err == nil && limit == nil {
			limit = new(d.Nanoseconds())
		}
	}
	if limit != nil && *limit%1e9 == 0 {
		return integer(new(*limit / 1e9))
	}
	return seconds(limit)
}
