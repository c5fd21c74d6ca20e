package formats

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

// suite reads benchmark_test_results.json: a time, and chapters with pairs of a baseline and its optimizations.
type suite struct {
	in   *foreign.Input
	out  *foreign.Output
	time string
}

// readSuite reads a results file as a stream. If the chapters come before the time, as in a file with sorted keys, they
// are read once it is known.
func readSuite(in *foreign.Input, out *foreign.Output) error {
	j, err := in.JSON()
	if err != nil {
		return err
	}
	s := &suite{in: in, out: out}
	for j.More() {
		var kept []jsontext.Value
		s.time = ""
		err := j.Members(func(name string) error {
			switch {
			case name == "timestamp":
				return out.RefuseMismatch(j.Decode(&s.time))
			case name != "results":
				return j.Skip()
			case s.time == "":
				return out.RefuseMismatch(j.Decode(&kept))
			}
			return out.RefuseMismatch(j.Elements(func(i int) error {
				text, err := j.Value()
				if err != nil {
					return err
				}
				return s.chapter(fmt.Sprintf("/results/%d", i), text)
			}))
		})
		if err := out.RefuseMismatch(err); err != nil {
			return err
		}
		for i, text := range kept {
			if err := s.chapter(fmt.Sprintf("/results/%d", i), text); err != nil {
				return err
			}
		}
	}
	return nil
}

type suiteChapter struct {
	Chapter    string           `json:"chapter"`
	Status     string           `json:"status"`
	Benchmarks []jsontext.Value `json:"benchmarks"`
	Manifests  []jsontext.Value `json:"manifests"`
}

func (s *suite) chapter(where string, text jsontext.Value) error {
	var c suiteChapter
	if err := foreign.DecodeAt(where, text, &c); err != nil {
		return s.out.RefuseMismatch(err)
	}
	if len(c.Benchmarks) == 0 {
		s.out.LeaveOut("chapter without benchmarks", 1)
	}
	if len(c.Manifests) > 0 {
		s.out.LeaveOut("manifest of a benchmark", len(c.Manifests))
	}
	for i, text := range c.Benchmarks {
		var p suitePair
		where := fmt.Sprintf("%s/benchmarks/%d", where, i)
		if err := foreign.DecodeAt(where, text, &p); err != nil {
			if err := s.out.RefuseMismatch(err); err != nil {
				return err
			}
			continue
		}
		if err := s.pair(where, c.Chapter, &p); err != nil {
			return err
		}
	}
	return nil
}

// suitePair is a baseline and what it is compared with.
type suitePair struct {
	Example       string           `json:"example"`
	Type          string           `json:"type"`
	BaselineFile  string           `json:"baseline_file"`
	Status        string           `json:"status"`
	Error         foreign.Text     `json:"error"`
	SkipReason    foreign.Text     `json:"skip_reason"`
	Optimizations []jsontext.Value `json:"optimizations"`
	Expectation   struct {
		HardwareKey string `json:"hardware_key"`
		Regressed   bool   `json:"regressed"`
	} `json:"expectation"`

	TimeMS      foreign.Number            `json:"baseline_time_ms"`
	P75MS       foreign.Number            `json:"baseline_p75_ms"`
	P90MS       foreign.Number            `json:"baseline_p90_ms"`
	MemoryMB    foreign.Number            `json:"baseline_memory_mb"`
	Percentiles map[string]foreign.Number `json:"baseline_percentiles"`
	Throughput  values                    `json:"baseline_throughput"`
	Custom      values                    `json:"baseline_custom_metrics"`
	GPU         values                    `json:"baseline_gpu_metrics"`
	Nsys        string                    `json:"baseline_nsys_rep"`
	Ncu         string                    `json:"baseline_ncu_rep"`
	Torch       string                    `json:"baseline_torch_trace"`
	Profiler    values                    `json:"baseline_profiler_metrics"`
	Runs        []suiteRun                `json:"runs"`
}

// suiteRun is a run of a baseline or an optimization in a file that NeuroLens wrote.
type suiteRun struct {
	TimeMS foreign.Number `json:"time_ms"`
	Timing struct {
		MedianMS   foreign.Number `json:"median_ms"`
		StdMS      foreign.Number `json:"std_ms"`
		P99MS      foreign.Number `json:"p99_ms"`
		Iterations foreign.Number `json:"iterations"`
		RawMS      jsontext.Value `json:"raw_times_ms"`
	} `json:"timing"`
	Watchdog watchdog   `json:"watchdog"`
	Own      *layoutRun `json:"neurolens"`
}

// suiteOptimization is one alternative to the baseline.
type suiteOptimization struct {
	File       string       `json:"file"`
	Technique  string       `json:"technique"`
	Status     string       `json:"status"`
	Error      foreign.Text `json:"error"`
	SkipReason foreign.Text `json:"skip_reason"`

	TimeMS     foreign.Number `json:"time_ms"`
	P75MS      foreign.Number `json:"p75_ms"`
	P90MS      foreign.Number `json:"p90_ms"`
	MemoryMB   foreign.Number `json:"memory_mb"`
	Throughput values         `json:"throughput"`
	Custom     values         `json:"custom_metrics"`
	GPU        values         `json:"gpu_metrics"`
	Nsys       string         `json:"optimized_nsys_rep"`
	Ncu        string         `json:"optimized_ncu_rep"`
	Torch      string         `json:"optimized_torch_trace"`
	Profiler   values         `json:"optimized_profiler_metrics"`
	Runs       []suiteRun     `json:"runs"`
}

// point is a run of the pair without its variant. The harness gives the same example to several baselines; the file
// distinguishes them if it is not named after the example.
func (s *suite) point(chapter string, p *suitePair) schema.Run {
	r := schema.Run{Benchmark: chapterName(chapter, p.Example), Backend: backendOf(p.Type, p.BaselineFile)}
	if stem := strings.TrimSuffix(p.BaselineFile, path.Ext(p.BaselineFile)); stem != "baseline_"+p.Example {
		foreign.SetParam(&r, "baseline_file", p.BaselineFile)
	}
	if at, source, err := s.in.Time(s.time, foreign.ISO...); err == nil {
		foreign.SetStart(&r, at, source)
	}
	r.Env.Machine = p.Expectation.HardwareKey
	return r
}

// runs makes the runs that a file lists one by one, and reports whether it lists any. Then the other values of the file
// were computed from them.
func (s *suite) runs(where string, list []suiteRun) (listed bool, err error) {
	for i := range list {
		one := &list[i]
		if one.Own = one.Own.known(); one.Own == nil {
			continue
		}
		listed = true
		var r schema.Run
		if one.TimeMS != "" {
			t := &one.Timing
			addLatency(&r, schema.Summary{
				N: t.Iterations.Int64(), Mean: one.TimeMS.Finite("ms"), StdDev: t.StdMS.Finite("ms"), P50: t.MedianMS.Finite("ms"), P99: t.P99MS.Finite("ms"),
			})
			if t.RawMS != nil {
				one.Own.Raw = t.RawMS
			}
			delete(r.Env.Facts, factPercentiles) // NeuroLens interpolates
			if err := one.Own.time(&r, "time_ms"); err != nil {
				s.out.Refuse(fmt.Sprintf("%s/runs/%d", where, i), err)
				continue
			}
		}
		one.Own.identify(&r)
		one.Watchdog.stages(&r)
		r.Primary = ""
		one.Own.values(&r)
		if err := s.out.Run(fmt.Sprintf("%s/runs/%d", where, i), r); err != nil {
			return true, err
		}
	}
	return listed, nil
}

func (s *suite) pair(where, chapter string, p *suitePair) error {
	base := measuredRun{
		time: p.TimeMS, p75: p.P75MS, p90: p.P90MS, memory: p.MemoryMB, percentiles: p.Percentiles,
		throughput: p.Throughput, custom: p.Custom, gpu: p.GPU, traces: [4]string{p.Nsys, p.Ncu, p.Torch}, profiler: p.Profiler,
		word: p.Status, why: string(p.Error),
	}
	if base.why == "" {
		base.why = string(p.SkipReason)
	}
	if len(p.Optimizations) > 0 && p.TimeMS != "" || p.Status != "failed_verification" && positive(p.TimeMS) != "" {
		base.word, base.why = "", "" // the status of the pair is that of its optimizations
	}
	r := s.point(chapter, p)
	r.Variant = baselineVariant
	if listed, err := s.runs(where, p.Runs); err != nil {
		return err
	} else if !listed && p.Runs == nil {
		if err := base.emit(where, s.out, r); err != nil {
			return err
		}
	}
	regressed := (p.Status == regression || p.Expectation.Regressed) && !slices.ContainsFunc(p.Optimizations, saysRegression)
	taken := map[string]bool{baselineVariant: true, "": true}
	for i, text := range p.Optimizations {
		var o suiteOptimization
		where := fmt.Sprintf("%s/optimizations/%d", where, i)
		if err := foreign.DecodeAt(where, text, &o); err != nil {
			if err := s.out.RefuseMismatch(err); err != nil {
				return err
			}
			continue
		}
		if listed, err := s.runs(where, o.Runs); listed {
			if err != nil {
				return err
			}
			continue
		}
		r := s.point(chapter, p)
		r.Variant = variantOf(p.Example, o.Technique)
		if taken[r.Variant] {
			r.Variant = strings.TrimSuffix(o.File, path.Ext(o.File))
		}
		taken[r.Variant] = true
		m := o.measured()
		m.regressed = regressed
		if err := m.emit(where, s.out, r); err != nil {
			return err
		}
	}
	return nil
}

// regression is the status of a variant that is slower than expected.
const regression = "failed_regression"

// saysRegression reports whether an optimization itself has that status. Then it does not apply to the others of its
// pair.
func saysRegression(optimization jsontext.Value) bool {
	var o suiteOptimization
	return foreign.Decode(optimization, &o) == nil && o.Status == regression
}

func (o *suiteOptimization) measured() *measuredRun {
	m := &measuredRun{
		time: o.TimeMS, p75: o.P75MS, p90: o.P90MS, memory: o.MemoryMB,
		throughput: o.Throughput, custom: o.Custom, gpu: o.GPU, traces: [4]string{o.Nsys, o.Ncu, o.Torch}, profiler: o.Profiler,
		word: o.Status, why: string(o.Error),
	}
	if m.why == "" {
		m.why = string(o.SkipReason)
	}
	return m
}
