package layout

import (
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/files"
	"github.com/neurolens/neurolens/schema"
)

// side is a baseline or an optimization: its runs and their combined results.
type side struct {
	runs        []*schema.Run // including profiling runs
	ok          []*schema.Run // the ok runs that count: no profiled run, and no run of a point with a wrong result
	status      schema.Status // the worst of its measured runs; empty if there are none
	why         string
	regressed   bool
	mean        *float64 // ns, mean over the means of ok runs
	percentiles map[string]number
	memory      number
	custom      map[string]number
	file        *string
	traces      []string
}

func (f *Folder) sideOf(runs []*schema.Run) *side {
	s, wrong := &side{runs: runs}, wrongPoints(runs)
	var timed []*schema.Run
	var means, memory []float64
	for _, r := range runs {
		s.traces = append(s.traces, f.artifacts[r.RunID]...)
		if s.file == nil {
			s.file = files.Optional(sourceFile(r))
		}
		if r.Purpose == schema.PurposeProfile {
			continue
		}
		s.regressed = s.regressed || r.Tags["regression"] == "true"
		if status, why := outcome(r); s.status == "" || rankOf(status) > rankOf(s.status) {
			s.status, s.why = status, why
		}
		if wrong[r.PointID+r.Side] {
			continue
		}
		if r.Status == schema.StatusOK {
			s.ok = append(s.ok, r)
		}
		if m := timeOf(r); m != nil {
			timed, means = append(timed, r), append(means, *m.Summary.Mean)
		}
		if v := middle(metricOf(r, "device_memory_peak", "B")); v != nil {
			memory = append(memory, *v)
		}
	}
	s.mean, s.memory = mean(means), in(mean(memory), "MiB")
	s.percentiles, s.custom = percentilesOf(timed), customOf(s.ok)
	if s.status == "" {
		s.why = "only profiled runs"
	}
	return s
}

// sourceFile returns the source file of a benchmark; of an imported one as named in its results file.
func sourceFile(r *schema.Run) string {
	if name := r.Env.Facts["runner.file"]; name != "" {
		return name
	}
	if r.Variant == "baseline" {
		return r.Params["baseline_file"]
	}
	return ""
}

// rankOf orders statuses: of several runs, the status with the highest rank is the combined one.
func rankOf(status schema.Status) int {
	switch status {
	case schema.StatusOK:
		return 0
	case schema.StatusSkipped, schema.StatusUnsupported:
		return 1
	}
	return 3
}

func (s *side) rank() int {
	switch {
	case s.status == "":
		return 1
	case s.status == schema.StatusOK && s.regressed:
		return 2
	}
	return rankOf(s.status)
}

func (s *side) skipped() bool { return s.rank() == 1 }

// word returns the status in the words of the harness.
func (s *side) word() string {
	return []string{"succeeded", "skipped", "failed_regression", "failed_error"}[s.rank()]
}

// percentilesOf returns the percentiles by the names of the harness if there is one ok run; percentiles of several runs cannot be combined.
func percentilesOf(ok []*schema.Run) map[string]number {
	if len(ok) != 1 {
		return nil
	}
	s := timeOf(ok[0]).Summary
	all := map[string]number{}
	for name, v := range map[string]*float64{"25.0": s.P25, "50.0": s.P50, "75.0": s.P75, "90.0": s.P90, "95.0": s.P95, "99.0": s.P99} {
		if text := in(v, "ms"); text != "" {
			all[name] = text
		}
	}
	return all
}

// customUnits are the harness's unit suffixes of names.
var customUnits = map[string]struct{ ending, unit string }{
	"ns": {"_ms", "ms"}, "B": {"_mb", "MiB"}, "ratio": {"_pct", "%"}, "B/s": {"_gbs", "GB/s"}, "MHz": {"_mhz", "MHz"},
	"mW": {"_w", "W"}, "Cel": {"_c", "Cel"}, "flop/s": {"_tflops", "Tflop/s"}, "mJ": {"_j", "J"}, "1/s": {"_per_s", "1/s"},
}

// customOf returns the metrics of ok runs besides time and device memory: means of the medians of the runs. Rates belong to the mean time, as
// those of throughput do.
func customOf(ok []*schema.Run) map[string]number {
	of, units := map[string][]*schema.Metric{}, map[string]string{}
	for _, r := range ok {
		for i := range r.Metrics {
			m := &r.Metrics[i]
			if m != timeOf(r) && m.Name != "device_memory_peak" {
				of[m.Name], units[m.Name] = append(of[m.Name], m), m.Unit
			}
		}
	}
	all := map[string]number{}
	for name, list := range of {
		u := customUnits[units[name]]
		if v := in(overRuns(list), u.unit); v != "" {
			all[name+u.ending] = v
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// overRuns returns the value of a metric of several runs: the mean of their medians, or for a rate the one that belongs to their mean time.
func overRuns(list []*schema.Metric) *float64 {
	var values []float64
	rate := slices.Contains([]string{"1/s", "B/s", "flop/s"}, list[0].Unit)
	for _, m := range list {
		v := middle(m)
		if rate {
			v = meanRate(m)
		}
		if v != nil {
			values = append(values, *v)
		}
	}
	if v := harmonic(values); rate && v != nil {
		return v
	}
	return mean(values)
}

// throughput returns the rates of the runs that count by the names of the harness; nil if none is known.
func (s *side) throughput() *throughput {
	t := throughput{LatencyMS: in(s.mean, "ms")}
	rate := func(name, unit string) number {
		var list []*schema.Metric
		for _, r := range s.ok {
			if m := metricOf(r, name, unit); m != nil {
				list = append(list, m)
			}
		}
		if len(list) == 0 {
			return ""
		}
		return in(overRuns(list), unit)
	}
	t.Requests, t.Tokens, t.Samples = rate("request_throughput", "1/s"), rate("token_throughput", "1/s"), rate("sample_throughput", "1/s")
	t.Bytes, t.Goodput = rate("bandwidth", "B/s"), rate("goodput", "ratio")
	if t.Custom = rate("throughput", "1/s"); t.Custom != "" {
		t.CustomName = new("items")
	}
	if t == (throughput{LatencyMS: t.LatencyMS}) {
		return nil
	}
	return &t
}

// trace returns the profiler file with an extension; empty if none was kept.
func (s *side) trace(endings ...string) string {
	for _, path := range s.traces {
		if slices.ContainsFunc(endings, func(ending string) bool { return strings.HasSuffix(path, ending) }) && strings.Contains(path, "/profiles/") {
			return path
		}
	}
	return ""
}
