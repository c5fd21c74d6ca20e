package formats

import (
	"cmp"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// expectations are the best values ever measured on a kind of machine, each by itself. They do not come from one run.
type expectations struct {
	HardwareKey   string                    `json:"hardware_key"`
	SchemaVersion foreign.Text              `json:"schema_version"`
	Examples      map[string]jsontext.Value `json:"examples"`
}

type expectedExample struct {
	Example  string `json:"example"`
	Type     string `json:"type"`
	Metrics  values `json:"metrics"`
	Metadata struct {
		Best      string `json:"best_optimization"`
		Technique string `json:"best_optimization_technique"`
		File      string `json:"best_optimization_file"`
		Goal      string `json:"optimization_goal"`
		Commit    string `json:"git_commit"`
		UpdatedAt string `json:"updated_at"`
	} `json:"metadata"`
	Provenance struct {
		Commit      string         `json:"git_commit"`
		HardwareKey string         `json:"hardware_key"`
		Iterations  foreign.Number `json:"iterations"`
		Warmup      foreign.Number `json:"warmup_iterations"`
		Timestamp   string         `json:"timestamp"`
	} `json:"provenance"`
}

// ratcheted is the note about such values: any unchanged program can look slower than them.
const ratcheted = "ratcheted: each value is the best one ever measured, and no single run had all of them"

// readExpectations reads the whole file at once: it covers one chapter, and the machine is at its end.
func readExpectations(in *foreign.Input, out *foreign.Output) error {
	j, err := in.JSON()
	if err != nil {
		return err
	}
	var e expectations
	if err := j.Decode(&e); err != nil {
		return out.RefuseMismatch(err)
	}
	if e.SchemaVersion == "" {
		e.SchemaVersion = "1"
	}
	out.Version(string(e.SchemaVersion))
	for _, key := range slices.Sorted(maps.Keys(e.Examples)) {
		var x expectedExample
		where := "/examples/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
		if err := foreign.DecodeAt(where, e.Examples[key], &x); err != nil {
			if err := out.RefuseMismatch(err); err != nil {
				return err
			}
			continue
		}
		base, best := x.runs(in, key, e.HardwareKey)
		for _, r := range []schema.Run{base, best} {
			if err := out.Run(where, r); err != nil {
				return err
			}
			out.Note(ratcheted, 1)
		}
	}
	return nil
}

var gpusOfKey = regexp.MustCompile(`^([0-9]{1,4})x_`)

var chapterFolder = regexp.MustCompile(`^ch[0-9]+$`)

// chapterOfPath is the chapter whose folder a file is in, if the harness keeps it there: ch1 of
// ch1/expectations_b200.json. The file itself does not name its chapter.
func chapterOfPath(file string) string {
	if folder := path.Base(path.Dir(filepath.ToSlash(file))); chapterFolder.MatchString(folder) {
		return folder
	}
	return ""
}

// runs are what is expected of the baseline, and of its best optimization.
func (x *expectedExample) runs(in *foreign.Input, key, machine string) (base, best schema.Run) {
	r := schema.Run{Benchmark: x.Example, Backend: x.Type}
	if key != x.Example && key != x.Example+"_"+x.Type || x.Example == "" {
		r.Benchmark = key
	}
	r.Benchmark = chapterName(chapterOfPath(in.Name), r.Benchmark)
	if x.Type == "python" {
		r.Backend = "torch"
	}
	setTags(&r, map[string]foreign.Text{"expectation": "true"})
	r.Env.GitCommit, r.Env.Machine = x.Provenance.Commit, x.Provenance.HardwareKey
	if r.Env.GitCommit == "" {
		r.Env.GitCommit = x.Metadata.Commit
	}
	if r.Env.Machine == "" {
		r.Env.Machine = machine
	}
	if m := gpusOfKey.FindStringSubmatch(r.Env.Machine); m != nil {
		n, _ := strconv.ParseInt(m[1], 10, 64) // it has only digits
		r.Env.GPUCount = &n
	}
	foreign.SetFact(&r, "config.iterations", string(x.Provenance.Iterations))
	foreign.SetFact(&r, "config.warmup_iterations", string(x.Provenance.Warmup))
	foreign.SetFact(&r, "optimization_goal", x.Metadata.Goal)
	for _, text := range []string{x.Provenance.Timestamp, x.Metadata.UpdatedAt} {
		if at, source, err := in.Time(text, foreign.ISO...); err == nil && r.StartedAt.IsZero() {
			foreign.SetStart(&r, at, source)
		}
	}
	base, best = r, r
	base.Env.Facts, best.Env.Facts = maps.Clone(r.Env.Facts), maps.Clone(r.Env.Facts)
	base.Variant, best.Variant = baselineVariant, x.variant()
	x.side(&base, "baseline_")
	x.side(&best, "best_optimized_")
	for _, key := range []string{"best_speedup", "best_memory_savings_ratio"} {
		addMean(&best, harnessQuantity{strings.TrimPrefix(key, "best_"), "ratio", schema.BetterHigher}, key, positive(numberOf(x.Metrics[key])))
	}
	return base, best
}

// variant is the best technique.
func (x *expectedExample) variant() string {
	for _, name := range []string{x.Metadata.Best, x.Metadata.Technique, strings.TrimSuffix(x.Metadata.File, path.Ext(x.Metadata.File))} {
		if name != "" && name != baselineVariant {
			return variantOf(x.Example, name)
		}
	}
	return "best_optimized"
}

// side adds the metrics of the baseline, or of the best variant. A time of 0.0 comes from a timeout, and nothing can be
// better: it is left out, and the latency from which the throughput was computed is used instead.
func (x *expectedExample) side(r *schema.Run, prefix string) {
	number := func(key string) foreign.Number { return positive(numberOf(x.Metrics[prefix+key])) }
	addLatency(r, schema.Summary{
		Mean: cmp.Or(number("time_ms"), number("throughput.latency_ms")).Finite("ms"), P75: number("p75_ms").Finite("ms"), P90: number("p90_ms").Finite("ms"),
	})
	addMean(r, harnessQuantity{"device_memory_peak", "MiB", schema.BetterLower}, "", number("memory_mb"))
	throughput, custom := values{}, values{}
	for key, value := range x.Metrics {
		if name, ok := strings.CutPrefix(key, prefix+"throughput."); ok {
			throughput[name] = value
		} else if name, ok := strings.CutPrefix(key, prefix+"custom."); ok {
			custom[name] = value
		}
	}
	addThroughput(r, throughput)
	for _, key := range slices.Sorted(maps.Keys(custom)) {
		addMean(r, quantityOf(key), key, numberOf(custom[key]))
	}
}
