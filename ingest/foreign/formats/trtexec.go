package formats

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

func trtexecTimes() foreign.Format {
	return foreign.Format{
		Name:  "trtexec",
		About: "TensorRT's trtexec: times of every query (--exportTimes); parameters come from its log, if that is next to it",
		Level: "a run is a launch of trtexec; a sample is one query; warm-up queries are stored separately",
		Recognize: func(h *foreign.Head) bool {
			return h.Has("[].startComputeMs", "[].computeMs", "[].latencyMs")
		},
		Read: readTimes,
	}
}

// A trtQuery is a row of the times, in the layouts of new versions and of those before 8.2.
type trtQuery struct {
	Start    foreign.Number `json:"startComputeMs"`
	Latency  foreign.Number `json:"latencyMs"`
	Compute  foreign.Number `json:"computeMs"`
	H2D      foreign.Number `json:"h2dMs"`
	D2H      foreign.Number `json:"d2hMs"`
	In       foreign.Number `json:"inMs"`
	Out      foreign.Number `json:"outMs"`
	EndToEnd foreign.Number `json:"endToEndMs"`
}

// Metrics of trtexec, besides latency and throughput.
const (
	trtCompute  = "gpu_compute_time"
	trtEnqueue  = "enqueue_time"
	trtH2D      = "h2d_latency"
	trtD2H      = "d2h_latency"
	trtEndToEnd = "end_to_end_latency"
)

// values are the metrics of a query. Starts and ends are left out, because late in a run they have too few digits.
func (q *trtQuery) values() []foreign.Number {
	return []foreign.Number{q.Latency, q.Compute, cmp.Or(q.H2D, q.In), cmp.Or(q.D2H, q.Out), q.EndToEnd}
}

var trtMetrics = []string{"latency", trtCompute, trtH2D, trtD2H, trtEndToEnd}

// trtSeries is a metric of the queries: those of the warm-up, and the measured ones.
type trtSeries struct{ warm, measured []foreign.Number }

// defaultWarmUp is the default duration of trtexec's warm-up.
const defaultWarmUp = 200 // ms

func readTimes(in *foreign.Input, out *foreign.Output) error {
	j, err := in.JSON()
	if err != nil {
		return err
	}
	log, warmUp := logOf(in, "exportTimes"), float64(defaultWarmUp)
	if log != nil && log.warmUp != nil {
		warmUp = *log.warmUp
	}
	series := make([]trtSeries, len(trtMetrics))
	err = j.Elements(func(int) error {
		var q trtQuery
		if err := j.Decode(&q); err != nil {
			return out.RefuseMismatch(err)
		}
		start := q.Start.Float64()
		if start == nil || q.Latency == "" {
			out.Refuse(j.Where(), errors.New("a query without startComputeMs or latencyMs"))
			return nil
		}
		for i, v := range q.values() {
			switch {
			case v == "":
			case *start < warmUp:
				series[i].warm = append(series[i].warm, v)
			default:
				series[i].measured = append(series[i].measured, v)
			}
		}
		return nil
	})
	if len(series[0].warm)+len(series[0].measured) == 0 {
		out.Refuse("", errors.New("no queries"))
		return err
	}
	r := log.run()
	if log != nil {
		out.Version(r.BackendVersion)
	}
	if len(series[0].measured) == 0 { // a run that is so short has no warm-up
		for i := range series {
			series[i].measured, series[i].warm = series[i].warm, nil
		}
		r.Warnings = append(r.Warnings, fmt.Sprintf("all queries are of the first %g ms: none is taken as warm-up", warmUp))
	} else {
		foreign.SetFact(&r, "trtexec.warm_up_ms", fmt.Sprint(warmUp))
	}
	if failed := addQueries(&r, series); failed != nil {
		out.Refuse("", failed)
		return err
	}
	if stop := out.Run("", r); stop != nil {
		return stop
	}
	return err
}

// addQueries adds the samples of the queries, instead of their summary in the log.
func addQueries(r *schema.Run, series []trtSeries) error {
	var kept []schema.Metric
	for i, name := range trtMetrics {
		s := series[i]
		if len(s.measured) == 0 {
			continue
		}
		all, err := foreign.SeriesOf(append(s.warm, s.measured...), "ms")
		if err != nil {
			return err
		}
		m := all.Metric(name, schema.LevelIteration)
		m.Better = schema.BetterLower
		if n := len(s.warm); n > 0 && m.Ticks != nil {
			m.WarmupTicks, m.Ticks = m.Ticks[:n:n], m.Ticks[n:]
		} else if n > 0 {
			m.WarmupReals, m.Reals = m.Reals[:n:n], m.Reals[n:]
		}
		kept = append(kept, m)
	}
	for i := range r.Metrics { // metrics that the rows do not have
		if m := &r.Metrics[i]; m.Name == "throughput" || m.Name == trtEnqueue {
			kept = append(kept, *m)
		}
	}
	r.Metrics = nil
	for _, m := range kept {
		foreign.Add(r, m, trtGiven(m.Name))
	}
	return nil
}

func trtexecProfile() foreign.Format {
	return foreign.Format{
		Name:  "trtexec-profile",
		About: "TensorRT's trtexec: times of the layers (--exportProfile)",
		Level: "a run is a launch of trtexec; no samples, because the tool adds up the times of each layer",
		Recognize: func(h *foreign.Head) bool {
			return h.Has("[].name", "[].timeMs", "[].averageMs") && h.HasAny("[].count", "[].percentage")
		},
		Read: readLayers,
	}
}

// trtLayer is an element of a profile. The first element has only the number of queries.
type trtLayer struct {
	Queries foreign.Number `json:"count"`
	Name    string         `json:"name"`
	Total   foreign.Number `json:"timeMs"`
	Average foreign.Number `json:"averageMs"`
	Median  foreign.Number `json:"medianMs"`
}

func readLayers(in *foreign.Input, out *foreign.Output) error {
	j, err := in.JSON()
	if err != nil {
		return err
	}
	r := logOf(in, "exportProfile").point()
	r.Purpose = schema.PurposeProfile
	var queries *int64
	total := 0.0
	err = j.Elements(func(int) error {
		var l trtLayer
		if err := j.Decode(&l); err != nil {
			return out.RefuseMismatch(err)
		}
		if l.Queries != "" && l.Total == "" {
			queries = l.Queries.Int64()
			return nil
		}
		took := l.Total.Finite("ms")
		if l.Name == "" || took == nil || *took < 0 || *took > math.MaxInt64/2 {
			out.Refuse(j.Where(), errors.New("a layer without a name or a time"))
			return nil
		}
		op := schema.Op{Index: int64(len(r.Ops)), Name: l.Name, Type: "layer", DurationNS: new(int64(math.Round(*took))), Count: queries}
		for name, n := range map[string]foreign.Number{"avg_ns": l.Average, "med_ns": l.Median} {
			if v := n.Finite("ms"); v != nil {
				if op.Counters == nil {
					op.Counters = map[string]float64{}
				}
				op.Counters[name] = *v
			}
		}
		total += *took
		r.Ops = append(r.Ops, op)
		return nil
	})
	if len(r.Ops) == 0 {
		out.Refuse("", errors.New("no layers"))
		return err
	}
	if queries != nil && *queries > 0 {
		mean := total / float64(*queries)
		foreign.Add(&r, foreign.Aggregate("latency", "ms", schema.Summary{N: queries, Mean: &mean}), "ms")
	}
	if stop := out.Run("", r); stop != nil {
		return stop
	}
	return err
}
