package formats

import (
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// peaks reads benchmark_peak_results_*.json: what the machine can do at most, by probe.
type peaks struct {
	out *foreign.Output
	run schema.Run // what all probes have in common
}

// readPeaks reads the whole file: it holds a dozen probes.
func readPeaks(in *foreign.Input, out *foreign.Output) error {
	j, err := in.JSON()
	if err != nil {
		return err
	}
	var all values
	if err := j.Decode(&all); err != nil {
		return out.RefuseMismatch(err)
	}
	p := peaks{out: out, run: schema.Run{Backend: "torch"}}
	r := &p.run
	r.BackendVersion = foreign.TextOf(all["pytorch_version"])
	r.Env.GPUName, r.Env.CUDAVersion = foreign.TextOf(all["gpu_name"]), foreign.TextOf(all["cuda_version"])
	if at, source, err := in.Time(foreign.TextOf(all["timestamp"]), foreign.ISO...); err == nil {
		foreign.SetStart(r, at, source)
	}
	var hardware values
	if foreign.Decode(all["gpu_hardware"], &hardware) == nil {
		for fact, key := range map[string]string{
			"gpu.compute_capability": "compute_capability", "gpu.multiprocessors": "num_sms", "gpu.memory_gb": "total_memory_gb",
		} {
			foreign.SetFact(r, fact, foreign.TextOf(hardware[key]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name].Kind() != jsontext.KindBeginObject || name == "gpu_hardware" || name == "shared_memory" {
			continue
		}
		var probe values
		if err := foreign.DecodeAt("/"+name, all[name], &probe); err != nil {
			if err := out.RefuseMismatch(err); err != nil {
				return err
			}
			continue
		}
		if err := p.probe(name, probe); err != nil {
			return err
		}
	}
	return nil
}

var (
	precisionOfProbe = regexp.MustCompile(`^(fp[0-9]+|bf16|tf32|int[0-9]+)_`)
	notHere          = regexp.MustCompile(`(?i)not available|not supported|requires \d+\+ GPUs`)
)

// probe makes a run of a probe, and one of each way that it times.
func (p *peaks) probe(name string, probe values) error {
	r := p.run
	r.Env.Facts = maps.Clone(r.Env.Facts)
	r.Benchmark = "peak/" + name
	if m := precisionOfProbe.FindStringSubmatch(name); m != nil {
		foreign.SetParam(&r, "precision", m[1])
	}
	for _, axis := range []string{"matrix_size", "test_size_mb", "gpu_count"} {
		foreign.SetParam(&r, axis, string(positive(numberOf(probe[axis]))))
	}
	timed, err := p.timed(name, r, probe)
	if timed || err != nil {
		return err
	}
	if why := foreign.TextOf(probe["error"]); why != "" {
		failRun(&r, "", why)
		if r.Status == schema.StatusError && notHere.MatchString(why) {
			r.Status = schema.StatusUnsupported
		}
		return p.out.Run("/"+name, r)
	}
	for _, m := range []struct{ key, name, unit string }{
		{"peak_bandwidth_gbs", "bandwidth", "GB/s"},
		{"peak_bandwidth_tbs", "bandwidth", "TB/s"}, // the same again
		{"peak_tflops", "compute", "Tflop/s"},
	} {
		if r.Metric(m.name) == nil {
			foreign.Add(&r, foreign.Aggregate(m.name, m.unit, lone(positive(numberOf(probe[m.key])), m.unit)), m.unit)
		}
	}
	addMean(&r, harnessQuantity{"utilization", "%", schema.BetterHigher}, "", positive(numberOf(probe["peak_utilization_percent"])))
	if len(r.Metrics) == 0 {
		failRun(&r, "", "no value was stored")
	}
	return p.out.Run("/"+name, r)
}

// timed makes runs of the times of a probe: torch.compile against without. Later versions list sizes and modes, of which
// the probe itself repeats the best.
func (p *peaks) timed(name string, r schema.Run, probe values) (bool, error) {
	var sizes []values
	if foreign.Decode(probe["per_size"], &sizes) == nil && len(sizes) > 0 {
		for _, size := range sizes {
			r := r
			r.Params = maps.Clone(r.Params)
			foreign.SetParam(&r, "matrix_size", string(positive(numberOf(size["matrix_size"]))))
			if _, err := p.timed(name, r, size); err != nil {
				return true, err
			}
		}
		return true, nil
	}
	times := map[string]foreign.Number{}
	for key, value := range probe {
		if variant, ok := strings.CutSuffix(key, "_time_ms"); ok && variant != "best_compiled" {
			times[variant] = positive(numberOf(value))
		}
	}
	var modes []struct {
		Mode   string         `json:"mode"`
		TimeMS foreign.Number `json:"compiled_time_ms"`
	}
	if foreign.Decode(probe["modes_tried"], &modes) == nil {
		for _, m := range modes {
			times[m.Mode] = positive(m.TimeMS)
		}
	}
	for _, variant := range slices.Sorted(maps.Keys(times)) {
		r := r
		r.Env.Facts, r.Variant = maps.Clone(r.Env.Facts), variant
		if times[variant] == "" {
			failRun(&r, "", foreign.TextOf(probe["error"]))
		} else {
			foreign.Add(&r, foreign.Aggregate(schema.PrimaryMetric, "ms", lone(times[variant], "ms")), "ms")
		}
		if err := p.out.Run("/"+name, r); err != nil {
			return true, err
		}
	}
	return len(times) > 0, nil
}
