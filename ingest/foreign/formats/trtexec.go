package formats

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

var trtexecTimes = foreign.Format{
	Name:      "trtexec",
	About:     "TensorRT's trtexec: times of every query (--exportTimes); parameters come from its log, if that is next to it",
	Level:     "a run is a launch of trtexec; a sample is one query; warm-up queries are stored separately",
	Recognize: func(h *foreign.Head) bool { return h.Has("[].startComputeMs", "[].computeMs", "[].latencyMs") },
	Read:      readTimes,
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

// values returns the metrics of a query. Starts and ends are left out, because late in a run they have too few digits.
func (q *trtQuery) values() []foreign.Number {
	return []foreign.Number{q.Latency, q.Compute, cmp.Or(q.H2D, q.In), cmp.Or(q.D2H, q.Out), q.EndToEnd}
}

var trtMetrics = []string{"latency", trtCompute, trtH2D, trtD2H, trtEndToEnd}

// trtSeries has the values of a metric for the queries of the warm-up and for the measured queries.
type trtSeries struct{ warm, measured []foreign.Number }

// defaultWarmUp is the default duration of trtexec's warm-up.
const defaultWarmUp = 200 // ms

func readTimes(in *foreign.Input, out *foreign.Output) error {
	j := in.JSON()
	log, warmUp := logOf(in, "exportTimes"), float64(defaultWarmUp)
	if log != nil && log.warmUp != nil {
		warmUp = *log.warmUp
	}
	series := make([]trtSeries, len(trtMetrics))
	err := elements(j, out, func(where string, q *trtQuery) error {
		start := q.Start.Float64()
		if start == nil || q.Latency == "" {
			return refusal(where, "a query without startComputeMs or latencyMs")
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
	return cmp.Or(out.Run("", r), err)
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
		if n := len(s.warm); n > 0 {
			cutWarmup(&m, n)
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

var trtexecProfile = foreign.Format{
	Name:  "trtexec-profile",
	About: "TensorRT's trtexec: times of the layers (--exportProfile)",
	Level: "a run is a launch of trtexec; no samples, because the tool adds up the times of each layer",
	Recognize: func(h *foreign.Head) bool {
		return h.Has("[].name", "[].timeMs", "[].averageMs") && h.HasAny("[].count", "[].percentage")
	},
	Read: readLayers,
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
	r := logOf(in, "exportProfile").point()
	r.Purpose = schema.PurposeProfile
	var queries *int64
	total := 0.0
	err := elements(in.JSON(), out, func(where string, l *trtLayer) error {
		if l.Queries != "" && l.Total == "" {
			queries = l.Queries.Int64()
			return nil
		}
		took := l.Total.Finite("ms")
		if l.Name == "" || took == nil || *took < 0 || *took > math.MaxInt64/2 {
			return refusal(where, "a layer without a name or a time")
		}
		op := schema.Op{Index: int64(len(r.Ops)), Name: l.Name, Type: "layer", DurationNS: new(int64(math.Round(*took))), Count: queries}
		for name, n := range map[string]foreign.Number{"avg_ns": l.Average, "med_ns": l.Median} {
			if v := n.Finite("ms"); v != nil {
				foreign.Put(&op.Counters, name, *v)
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
	return cmp.Or(out.Run("", r), err)
}

var trtexecLog = foreign.Format{
	Name:        "trtexec-log",
	About:       "TensorRT's trtexec: its log, which summarizes the queries",
	Level:       "a run is a launch of trtexec; no samples, but min, max, mean and percentiles of the queries",
	OwnHeadings: regexp.MustCompile(`^&&&& `),
	Recognize:   func(h *foreign.Head) bool { return h.JSONAt != 0 && h.Matches(trtMarks) },
	Read:        readLog,
}

var (
	trtMarks   = regexp.MustCompile(`(?m)^[^\[&\n]{0,60}&&&& [A-Z]+ TensorRT\.trtexec|\[I\] === (?:Model|Build|Inference|Reporting) Options ===|\[I\] === Performance summary ===`)
	trtStamp   = regexp.MustCompile(`^[^\[&]{1,60}(&&&& |\[\d\d/\d\d/\d{4}-|\[[VIWEF]\] )`) // of the program that ran trtexec
	trtPrefix  = regexp.MustCompile(`^(?:\[(\d\d/\d\d/\d{4}-\d\d:\d\d:\d\d)\] )?\[([VIWEF])\] ?`)
	trtOutcome = regexp.MustCompile(`^&&&& (RUNNING|PASSED|FAILED|WAIVED) TensorRT\.trtexec(?: \[TensorRT v(\d+)\])?.*? # (.*)$`)
	trtSection = regexp.MustCompile(`^=== (.*) ===$`)
	trtPair    = regexp.MustCompile(`([a-z]+)(?:\(([\d.]+)%\))? = (\S+?) (ms|us|s|min)\b`)
	trtOld     = regexp.MustCompile(`^(min|max|mean|median|percentile): (\S+) (ms|us|s)(?: at ([\d.]+)%)?(?: \(end to end (\S+) (ms|us|s))?`)
	trtQPS     = regexp.MustCompile(`(?i)^throughput: (\S+) qps`)
)

// trtLog is the log of one launch.
type trtLog struct {
	line             int
	began            time.Time
	source           schema.TimeSource
	version, outcome string
	command          []string
	options          map[string]string
	shapes           []string
	device, problem  string
	section, metric  string
	metrics          []schema.Metric
	warmUp           *float64 // ms
	measured         *int64   // ns
	averages         int
	warnings         []string
}

// maxTRTWarnings is how many warnings of a launch are kept.
const maxTRTWarnings = 10

func readLog(in *foreign.Input, out *foreign.Output) error {
	var logs []*trtLog
	ended := in.EachLine(func(n int, text string) error {
		logs = takeLine(in, logs, n, text)
		return nil
	})
	if len(logs) == 0 && ended == nil {
		out.Refuse("", errors.New("no launch of trtexec found: no line begins as trtexec writes it"))
	}
	averages := 0
	for _, l := range logs {
		averages += l.averages
		r := l.run()
		out.Version(r.BackendVersion)
		if file := baseName(l.flag("exportTimes")); in.Beside(file) {
			out.LeaveTo(file, "summaries of queries whose times are in a file next to it", 1)
			continue
		}
		if len(l.metrics) == 0 && r.Status == schema.StatusOK {
			out.Refuse(fmt.Sprintf("line %d", l.line), fmt.Errorf("a launch without a summary of its queries"))
			continue
		}
		if err := out.Run(fmt.Sprintf("line %d", l.line), r); err != nil {
			return err
		}
	}
	if averages > 0 {
		out.LeaveOut("averages over several queries", averages)
	}
	return ended
}

// logOf finds the log of the launch that wrote a file with the results of a flag: the log itself, which names the file, or the part that
// TREx kept of it. It is nil if there is neither.
func logOf(in *foreign.Input, flag string) *trtLog {
	if l := logBeside(in, flag); l != nil {
		return l
	}
	return trexLog(in)
}

func logBeside(in *foreign.Input, flag string) *trtLog {
	const maxLogs, maxBytes = 50, 8 << 20
	read := 0
	for _, e := range entriesOf(in, ".") {
		if ext := path.Ext(e.Name()); ext != ".log" && ext != ".txt" && ext != ".out" {
			continue
		}
		if info, err := e.Info(); err != nil || !info.Mode().IsRegular() || info.Size() > maxBytes {
			continue
		}
		if read++; read > maxLogs {
			return nil
		}
		content, err := in.Side(e.Name())
		if err != nil || !trtMarks.Match(content) {
			continue
		}
		var logs []*trtLog
		scanner := bufio.NewScanner(bytes.NewReader(content))
		for n := 1; scanner.Scan(); n++ {
			logs = takeLine(in, logs, n, strings.ToValidUTF8(scanner.Text(), "�"))
		}
		for _, l := range logs {
			if path.Base(l.flag(flag)) == path.Base(in.Path) {
				return l
			}
		}
	}
	return nil
}

// takeLine reads a line of the current launch, or one that begins a new launch.
func takeLine(in *foreign.Input, logs []*trtLog, n int, line string) []*trtLog {
	if m := trtStamp.FindStringSubmatchIndex(line); m != nil {
		line = line[m[2]:]
	}
	at, body, level := "", strings.TrimSpace(line), ""
	if m := trtPrefix.FindStringSubmatch(line); m != nil {
		at, level, body = m[1], m[2], strings.TrimSpace(line[len(m[0]):])
	}
	outcome := trtOutcome.FindStringSubmatch(body)
	var section []string
	if level != "" { // else a heading of a script
		section = trtSection.FindStringSubmatch(body)
	}
	starts := outcome != nil && outcome[1] == "RUNNING"
	if section != nil && section[1] == "Model Options" {
		starts = len(logs) == 0 || logs[len(logs)-1].section != ""
	}
	if starts || len(logs) == 0 && (outcome != nil || section != nil) {
		logs = append(logs, &trtLog{line: n, options: map[string]string{}})
	}
	if len(logs) == 0 {
		return nil
	}
	l := logs[len(logs)-1]
	if l.began.IsZero() && at != "" {
		l.began, l.source, _ = in.Time(at, "01/02/2006-15:04:05")
	}
	switch {
	case outcome != nil:
		l.outcome, l.command = outcome[1], strings.Fields(outcome[3])
		l.version = cmp.Or(dottedVersion(foreign.Number(outcome[2])), l.version)
	case section != nil:
		l.section, l.metric = section[1], ""
	case level == "E" || level == "F":
		l.problem = body
	case level == "W" && strings.HasPrefix(body, "* "): // of trtexec, about the measurement
		if text := strings.TrimSuffix(strings.TrimSpace(body[2:]), "."); len(l.warnings) < maxTRTWarnings && !slices.Contains(l.warnings, text) {
			l.warnings = append(l.warnings, text)
		}
	default:
		l.take(body)
	}
	return logs
}

// trtTitles are the metrics by their names in the log, in all layouts.
var trtTitles = map[string]string{
	"latency": "latency", "host latency": "latency", "enqueue time": trtEnqueue, "h2d latency": trtH2D, "d2h latency": trtD2H,
	"gpu compute time": trtCompute, "gpu compute": trtCompute, "end-to-end host latency": trtEndToEnd,
}

// take reads the content of a line.
func (l *trtLog) take(body string) {
	name, value, _ := strings.Cut(body, ":")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if strings.HasSuffix(l.section, " Options") || l.section == "Device Information" {
		l.option(name, value)
	}
	switch title := trtTitles[strings.ToLower(name)]; {
	case title != "" && value == "":
		l.metric = title
	case title != "" && trtPair.MatchString(value):
		for _, m := range trtPair.FindAllStringSubmatch(value, -1) {
			l.set(title, trtValue{m[1], m[2], m[3], m[4]})
		}
	case trtOld.MatchString(body) && l.metric != "":
		m := trtOld.FindStringSubmatch(body)
		l.set(l.metric, trtValue{m[1], m[4], m[2], m[3]})
		if m[5] != "" {
			l.set(trtEndToEnd, trtValue{m[1], m[4], m[5], m[6]})
		}
	case trtQPS.MatchString(body):
		if v := foreign.Number(trtQPS.FindStringSubmatch(body)[1]).Finite(""); v != nil && *v > 0 { // 0 means unknown
			l.metrics = slices.DeleteFunc(l.metrics, func(m schema.Metric) bool { return m.Name == "throughput" })
			l.metrics = append(l.metrics, foreign.Aggregate("throughput", "1/s", schema.Summary{Mean: v}))
		}
	case name == "Total Host Walltime" || name == "walltime":
		if v := foreign.Number(strings.TrimSuffix(value, " s")).Finite("s"); v != nil && *v > 0 && *v < 1e18 {
			l.measured = new(int64(*v))
		}
	case strings.HasPrefix(body, "Average on "):
		l.averages++
	case name == "TensorRT version":
		l.version = cmp.Or(l.version, value)
	}
}

// trtPercentiles are the percentiles that are read. Users can choose others, on which no id of a run depends.
var trtPercentiles = []string{"", "90", "95", "99"}

// trtValue is one number of a summary: min, max, mean, median, or a percentile.
type trtValue struct{ kind, percent, number, unit string }

func (l *trtLog) set(name string, v trtValue) {
	if foreign.Number(v.number).Finite(v.unit) == nil {
		return
	}
	at := slices.IndexFunc(l.metrics, func(m schema.Metric) bool { return m.Name == name })
	if at < 0 {
		at = len(l.metrics)
		l.metrics = append(l.metrics, schema.Metric{Name: name, Unit: "ns", Better: schema.BetterLower})
	}
	if slices.Contains(trtPercentiles, v.percent) {
		setStatistic(&l.metrics[at].Summary, strings.Replace(v.kind, "percentile", "p", 1)+v.percent, foreign.Number(v.number), v.unit)
	}
}

// trtFlags are the flags that become parameters. Others are about files, reports, and the
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

// flag returns the value of a flag of the command: "true" if it has no value, and empty if it was not given.
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

// option reads an option of the log, in the syntax of trtexec.
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
	}
	primary(&r, "latency")
	return r
}

// trtGiven returns the unit of a metric in trtexec.
func trtGiven(metric string) string {
	if metric == "throughput" {
		return "1/s"
	}
	return "ms"
}

// point makes a run with the parameters of the launch. Without a log, only the program is known.
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

// status returns how the launch ended.
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

// setOptions makes parameters from the options, if the log has no command: the options that differ from their defaults, under the names
// of their flags.
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

// trexMetadata are the formats of TREx, which runs trtexec and writes the content of its log into files: X.profile.metadata.json, next
// to X.timing.json and X.profile.json, and X.build.metadata.json.
var trexMetadata = []foreign.Format{
	{
		Name:  "trtexec-metadata",
		About: "TensorRT's TREx: X.profile.metadata.json, taken from the log of trtexec; ignored if X.timing.json is next to it",
		Level: "a run is a launch of trtexec; no samples, but min, max, mean and percentiles of the queries",
		Recognize: func(h *foreign.Head) bool {
			return h.Has("performance_summary", "inference_options", "device_information")
		},
		Read: readTREx,
	},
	{
		Name:  "trtexec-build",
		About: "TensorRT's TREx: X.build.metadata.json, taken from the log of trtexec when it built the engine",
		Side:  "read together with the times and the profile of its engine",
		Recognize: func(h *foreign.Head) bool {
			return h.Has("model_options", "build_options") && !h.HasAny("performance_summary")
		},
	},
}

// trexFile is one of these files.
type trexFile struct {
	Summary   map[string]oneOrMany[foreign.Number] `json:"performance_summary"`
	Model     map[string]foreign.Text              `json:"model_options"`
	Build     map[string]foreign.Text              `json:"build_options"`
	Inference map[string]foreign.Text              `json:"inference_options"`
	Device    map[string]foreign.Text              `json:"device_information"`
}

// Ends of the names of the files of an engine.
const (
	trexProfile = ".profile.metadata.json"
	trexBuild   = ".build.metadata.json"
	trexTimes   = ".timing.json"
)

// trexLog returns the log that TREx kept of the launch that wrote a file, or nil if there is none next to it.
func trexLog(in *foreign.Input) *trtLog {
	for _, end := range []string{trexTimes, ".profile.json"} {
		stem, ok := strings.CutSuffix(in.Head.Name, end)
		if !ok {
			continue
		}
		content, err := in.Side(stem + trexProfile)
		if err != nil {
			return nil
		}
		var f trexFile
		if foreign.Decode(content, &f) != nil {
			return nil
		}
		return f.log(in, stem)
	}
	return nil
}

// log returns the content of the log, and of the file about the engine.
func (f *trexFile) log(in *foreign.Input, stem string) *trtLog {
	l := &trtLog{options: map[string]string{}}
	var build trexFile
	if content, err := in.Side(stem + trexBuild); err == nil && foreign.Decode(content, &build) == nil {
		l.takeAll("Model Options", build.Model)
		l.takeAll("Build Options", build.Build)
	}
	if l.options["Model"] == "" {
		l.options["Model"] = strings.TrimSuffix(stem, ".engine")
	}
	l.takeAll("Inference Options", f.Inference)
	l.takeAll("Device Information", f.Device)
	l.section = "Performance summary"
	for _, name := range slices.Sorted(maps.Keys(f.Summary)) {
		l.takeNumbers(name, f.Summary[name])
	}
	return l
}

// takeAll takes the options of a section.
func (l *trtLog) takeAll(section string, options map[string]foreign.Text) {
	l.section = section
	for _, name := range slices.Sorted(maps.Keys(options)) {
		l.take(name + ": " + string(options[name]))
	}
}

// trexStatistics name the numbers of a metric, by how many there are.
var trexStatistics = map[int][][2]string{
	5: {{"min"}, {"max"}, {"mean"}, {"median"}, {"percentile", "99"}},
	7: {{"min"}, {"max"}, {"mean"}, {"median"}, {"percentile", "90"}, {"percentile", "95"}, {"percentile", "99"}},
}

// takeNumbers reads a line of the summary. If all its numbers are zero, the metric was switched off.
func (l *trtLog) takeNumbers(name string, numbers oneOrMany[foreign.Number]) {
	if len(numbers) == 1 {
		l.take(name + ": " + string(numbers[0]) + map[string]string{"Throughput": " qps", "Total Host Walltime": " s"}[name])
		return
	}
	nothing := !slices.ContainsFunc(numbers, func(n foreign.Number) bool { v := n.Float64(); return v != nil && *v != 0 })
	metric := trtTitles[strings.ToLower(name)]
	if metric == "" || nothing {
		return
	}
	for i, s := range trexStatistics[len(numbers)] {
		l.set(metric, trtValue{s[0], s[1], string(numbers[i]), "ms"})
	}
}

func readTREx(in *foreign.Input, out *foreign.Output) error {
	return readNext(in.JSON(), out, func(_ string, f *trexFile) error {
		stem := strings.TrimSuffix(in.Head.Name, trexProfile)
		if name := stem + trexTimes; in.Beside(name) {
			out.LeaveTo(name, "summaries of queries whose times are in a file next to it", 1)
			return nil
		}
		r := f.log(in, stem).run()
		out.Version(r.BackendVersion)
		return out.Run("", r)
	})
}
