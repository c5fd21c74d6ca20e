package formats

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// trtFlags are the flags that say what is measured, and become parameters. Others are about files, reports, and the
// duration.
var trtFlags = []string{
	"shapes", "optShapes", "minShapes", "maxShapes", "maxBatch", "streams", "infStreams", "threads", "useCudaGraph", "useSpinWait",
	"exposeDMA", "noDataTransfers", "useManagedMemory", "useDLACore", "allowGPUFallback", "sparsity", "workspace", "memPoolSize",
	"builderOptimizationLevel", "maxAuxStreams", "noTF32", "stronglyTyped", "precisionConstraints", "persistentCacheRatio", "idleTime",
	"sleepTime", "inputIOFormats", "outputIOFormats", "versionCompatible", "directIO", "heuristic",
}

var trtPrecisions = []string{"fp16", "bf16", "int8", "fp8", "int4"}

// trtModels are the flags that name a model, or an engine made from one.
var trtModels = []string{"onnx", "uff", "deploy", "model", "loadEngine"}

// flag is the value of a flag of the command: "true" if it has no value, and empty if it was not given.
func (l *trtLog) flag(name string) string {
	if l == nil {
		return ""
	}
	for _, word := range l.command {
		flag, value, valued := strings.Cut(strings.TrimLeft(word, "-"), "=")
		switch {
		case flag != name || !strings.HasPrefix(word, "--"):
		case valued:
			return value
		default:
			return "true"
		}
	}
	return ""
}

var trtWarmUp = regexp.MustCompile(`\(\+ (\S+?) ?ms warm up\)`)

// option reads an option of the log, as trtexec took it.
func (l *trtLog) option(name, value string) {
	switch name {
	case "Duration":
		if m := trtWarmUp.FindStringSubmatch(value); m != nil {
			l.warmUp = foreign.Number(m[1]).Finite("")
		}
	case "Selected Device":
		l.device = value
	case "Input inference shape", "Input inference shapes":
		if input, shape, ok := strings.Cut(value, "="); ok {
			l.shapes = append(l.shapes, input+":"+shape)
		}
	case "Model", "Load engine", "Precision", "Batch", "Streams", "Inference Streams", "CUDA Graph", "Spin-wait", "Multithreading", "ExposeDMA",
		"Data transfers", "Sparsity":
		if l.options[name] == "" {
			l.options[name] = value
		}
	}
}

// run makes a run from a launch in a log, with the summary of its queries.
func (l *trtLog) run() schema.Run {
	r := l.point()
	if l == nil {
		return r
	}
	r.Stages.Measure = l.measured
	for _, m := range l.metrics {
		foreign.Add(&r, m, trtGiven(m.Name))
		if m.Name == "latency" {
			r.Primary = m.Name
		}
	}
	return r
}

// trtGiven is the unit of a metric in trtexec.
func trtGiven(metric string) string {
	if metric == "throughput" {
		return "1/s"
	}
	return "ms"
}

// point is what was launched. Without a log, only the program is known.
func (l *trtLog) point() schema.Run {
	r := schema.Run{Benchmark: "trtexec", Backend: "tensorrt"}
	if l == nil {
		return r
	}
	r.BackendVersion, r.Env.GPUName = l.version, l.device
	foreign.SetStart(&r, l.began, l.source)
	r.Warnings = slices.Clone(l.warnings)
	if len(l.command) > 0 {
		l.setCommand(&r)
	} else {
		l.setOptions(&r)
	}
	l.setPrecision(&r)
	r.Status, r.Error = l.status()
	return r
}

// status is how the launch ended.
func (l *trtLog) status() (schema.Status, string) {
	switch {
	case l.outcome == "FAILED" && strings.Contains(strings.ToLower(l.problem), "out of memory"):
		return schema.StatusOOM, l.problem
	case l.outcome == "FAILED":
		return schema.StatusError, l.problem
	case l.outcome == "WAIVED":
		return schema.StatusSkipped, l.problem
	case l.outcome == "RUNNING" && len(l.metrics) == 0:
		return schema.StatusCrashed, l.problem
	}
	return schema.StatusOK, ""
}

func (l *trtLog) setCommand(r *schema.Run) {
	for _, name := range trtModels {
		if value := l.flag(name); value != "" && r.Model == "" {
			r.Model = baseName(value)
		}
	}
	foreign.SetParam(r, "batch_size", l.flag("batch"))
	for _, name := range trtFlags {
		foreign.SetParam(r, name, l.flag(name))
	}
}

// setOptions makes parameters from the options, if the log has no command: those that differ from their defaults, under
// the names of their flags.
func (l *trtLog) setOptions(r *schema.Run) {
	o := l.options
	r.Model = baseName(cmp.Or(o["Model"], o["Load engine"]))
	if batch := foreign.Number(o["Batch"]).Int64(); batch != nil {
		r.BatchSize = batch
	}
	foreign.SetParam(r, "shapes", strings.Join(l.shapes, ","))
	if streams := cmp.Or(o["Streams"], o["Inference Streams"]); streams != "1" {
		foreign.SetParam(r, "streams", streams)
	}
	for _, f := range []struct{ option, value, flag string }{
		{"CUDA Graph", "Enabled", "useCudaGraph"},
		{"Spin-wait", "Enabled", "useSpinWait"},
		{"Multithreading", "Enabled", "threads"},
		{"ExposeDMA", "Enabled", "exposeDMA"},
		{"Data transfers", "Disabled", "noDataTransfers"},
	} {
		if o[f.option] == f.value {
			foreign.SetParam(r, f.flag, "true")
		}
	}
	if s := o["Sparsity"]; s != "Disabled" {
		foreign.SetParam(r, "sparsity", strings.ToLower(s))
	}
}

// setPrecision sets the precision that the engine may use: fp16 if that was allowed besides fp32. For an engine that was
// loaded, it is unknown.
func (l *trtLog) setPrecision(r *schema.Run) {
	if l.flag("loadEngine") != "" || l.options["Load engine"] != "" || l.flag("stronglyTyped") != "" {
		return
	}
	words := strings.Split(strings.ToLower(l.options["Precision"]), "+")
	if l.options["Precision"] == "" && len(l.command) > 0 {
		words = []string{"fp32"}
		for _, p := range trtPrecisions {
			if l.flag(p) == "true" {
				words = append(words, p)
			}
		}
		if l.flag("best") == "true" {
			words = append(words, "best")
		}
	}
	if len(words) == 2 && words[0] == "fp32" {
		words = words[1:]
	}
	slices.Sort(words)
	foreign.SetParam(r, "precision", strings.Join(words, "+"))
}

// baseName is the name of a file without its folders; empty for none.
func baseName(file string) string {
	if file == "" {
		return ""
	}
	return path.Base(strings.ReplaceAll(file, `\`, "/"))
}
