package formats

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// nvbench are the formats of NVBench.
var nvbench = []foreign.Format{
	{
		Name:  "nvbench",
		About: "NVBench: JSON (--json), with the sample times beside it (--jsonbin)",
		Level: "a run is a state on a device, a sample is an isolated execution of the kernel (--jsonbin)",
		Recognize: func(h *foreign.Head) bool {
			return h.Has("benchmarks") && (h.Has("meta.version.nvbench") || h.Has("devices[].sm_version"))
		},
		Read: readNVBench,
	},
	{
		Name:      "nvbench-samples",
		About:     "NVBench: the sample times and frequencies of --jsonbin",
		Side:      "read together with the JSON file that names it",
		Recognize: isNVBenchSamples,
	},
}

// nvbenchHeader has the members that apply to all benchmarks. Programs that write the file again with sorted members put
// them after the benchmarks.
type nvbenchHeader struct {
	Meta struct {
		Argv    []string `json:"argv"`
		Version struct {
			NVBench struct {
				Text string `json:"string" fact:"nvbench_version"`
				SHA  string `json:"git_sha" fact:"nvbench_git_sha"`
			} `json:"nvbench"`
		} `json:"version"`
	} `json:"meta"`
	Devices []nvbenchDevice `json:"devices"`
}

type nvbenchDevice struct {
	ID        foreign.Number `json:"id"`
	Name      string         `json:"name" run:"Env.GPUName"`
	SM        foreign.Text   `json:"sm_version" fact:"sm_version"`
	PTX       foreign.Text   `json:"ptx_version" fact:"ptx_version"`
	Clock     foreign.Text   `json:"sm_default_clock_rate" fact:"sm_default_clock_rate"`
	SMs       foreign.Text   `json:"number_of_sms" fact:"number_of_sms"`
	Memory    foreign.Text   `json:"global_memory_size" fact:"global_memory_size"`
	Bandwidth foreign.Text   `json:"global_memory_bus_bandwidth" fact:"global_memory_bus_bandwidth"`
	L2        foreign.Text   `json:"l2_cache_size" fact:"l2_cache_size"`
	ECC       foreign.Text   `json:"ecc_state" fact:"ecc_state"`
}

// nvbenchFile reads an object of a file.
type nvbenchFile struct {
	*nvbenchHeader
	in  *foreign.Input
	j   *foreign.JSON
	out *foreign.Output
}

// readNVBench reads the output of one launch, or of several that were appended.
func readNVBench(in *foreign.Input, out *foreign.Output) error {
	return documents(in, out, func(h *nvbenchHeader, j *foreign.JSON, others func(fields) error) error {
		f := &nvbenchFile{h, in, j, out}
		out.Version(h.Meta.Version.NVBench.Text)
		return others(fields{"benchmarks": func() error { return j.Elements(func(int) error { return f.readBenchmark() }) }})
	}, "meta", "devices")
}

// readBenchmark reads a benchmark, whose name comes before its states.
func (f *nvbenchFile) readBenchmark() error {
	benchmark := ""
	return fields{"name": &benchmark, "states": func() error {
		if f.j.Kind() == 'n' {
			return f.j.Skip()
		}
		return eachElement(f.j, f.out, func(where string, state *nvbenchState) error { return f.readState(benchmark, where, state) })
	}}.read(f.j, f.out)
}

// nvbenchState is a combination of the axes on a device.
type nvbenchState struct {
	Device     foreign.Text     `json:"device"`
	AxisValues []nvbenchValue   `json:"axis_values"`
	Summaries  nvbenchSummaries `json:"summaries"`
	IsSkipped  bool             `json:"is_skipped"`
	SkipReason string           `json:"skip_reason"`
}

// nvbenchValue is a named value. In newer files all numbers are texts.
type nvbenchValue struct {
	Name  string       `json:"name"`
	Value foreign.Text `json:"value"`
}

func (f *nvbenchFile) readState(benchmark, where string, state *nvbenchState) error {
	if benchmark == "" {
		return refusal(where, "the benchmark has no name")
	}
	r := f.run(benchmark, state)
	if state.IsSkipped {
		r.Status, r.Error = schema.StatusSkipped, state.SkipReason
	} else {
		f.addMeasured(&r, state.Summaries)
	}
	return f.out.Run(where, r)
}

// run makes a run of a state without its results. Benchmarks of many programs have the same name, base, so the program is a part of the
// benchmark's name.
func (f *nvbenchFile) run(benchmark string, state *nvbenchState) schema.Run {
	r := schema.Run{Benchmark: benchmark}
	if len(f.Meta.Argv) > 0 {
		if program := programName(f.Meta.Argv[0]); program != "" {
			r.Benchmark = program + "/" + benchmark
		}
	}
	device := "device"
	for _, axis := range state.AxisValues {
		foreign.SetParam(&r, axis.Name, string(axis.Value))
		if axis.Name == device {
			device = "nvbench_device"
		}
	}
	foreign.SetParam(&r, device, string(state.Device))
	describe(&r, &f.Meta)
	if len(f.Devices) > 0 {
		r.Env.GPUCount = new(int64(len(f.Devices)))
	}
	for i := range f.Devices {
		if d := &f.Devices[i]; string(d.ID) == string(state.Device) && d.ID != "" {
			describe(&r, d)
		}
	}
	return r
}

// float32Size is the size in bytes of a sample in a file of samples: 32 bits, little-endian, nothing before them.
const float32Size = 4

// maxSampleBytes bounds a file of samples.
const maxSampleBytes = 64 << 20

// addSamples adds the samples of a file that a summary names. A missing file is left out; one that does not fit is
// refused.
func (f *nvbenchFile) addSamples(r *schema.Run, s *nvbenchSummary) {
	name, unit := schema.PrimaryMetric, "s"
	if strings.HasSuffix(s.Tag, "/sample_freqs") {
		name, unit = "clock_sm", "Hz"
	} else if !strings.HasSuffix(s.Tag, "/sample_times") {
		return
	}
	file := s.value("filename")
	if file == "" || r.Metric(name) != nil { // without a name, the file could not be written
		return
	}
	content, err := f.sampleFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		f.out.LeaveOutNamed("missing files of samples", file)
		return
	}
	values := make([]float64, len(content)/float32Size)
	if size := foreign.Number(s.value("size")).Int64(); err == nil && (len(content)%float32Size != 0 || size != nil && *size != int64(len(values))) {
		said := "an unknown number of"
		if size != nil {
			said = fmt.Sprint(*size)
		}
		err = fmt.Errorf("%d bytes, want %d for each of %s samples", len(content), float32Size, said)
	}
	if err != nil {
		f.out.Refuse(file, err)
		return
	}
	stored, factor, _ := schema.StoredUnit(unit)
	for i := range values {
		values[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(content[i*float32Size:]))) * factor
	}
	if len(values) == 0 {
		return
	}
	m := foreign.Series{Unit: stored, Given: unit, Reals: values}.Metric(name, schema.LevelIteration)
	if name == schema.PrimaryMetric && !strings.Contains(s.Tag, "/cpu_only/") {
		m.Clock = "cuda_event"
	}
	foreign.Add(r, m, unit)
}

// sampleFile reads a file of samples. Its name is a path from the folder of the JSON file. In older versions it is a path
// from where the benchmark was launched; then its own folder is looked up next to the JSON file.
func (f *nvbenchFile) sampleFile(name string) ([]byte, error) {
	clean := path.Clean(strings.ReplaceAll(name, `\`, "/"))
	candidates := []string{
		clean,
		path.Join(path.Base(path.Dir(clean)), path.Base(clean)),
		f.in.Head.Name + "-bin/" + path.Base(clean),
	}
	refused, found := error(nil), false
	for _, candidate := range slices.Compact(candidates) {
		below, err := foreign.Below(candidate)
		if err != nil {
			refused = err
			continue
		}
		found = true
		content, err := f.raw(below)
		if !errors.Is(err, fs.ErrNotExist) {
			return content, err
		}
	}
	if !found {
		return nil, refused
	}
	return nil, fs.ErrNotExist
}

// raw reads a file below this one's folder without decoding it, because its bytes may begin like gzip or a byte order
// mark by chance.
func (f *nvbenchFile) raw(name string) ([]byte, error) {
	if f.in.Folder == nil {
		return nil, fs.ErrNotExist
	}
	file, err := f.in.Folder.Open(path.Join(path.Dir(f.in.Path), name))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxSampleBytes+1))
	if len(content) > maxSampleBytes {
		return nil, fmt.Errorf("%s: more than %d MiB", name, maxSampleBytes>>20)
	}
	return content, err
}

var sampleFileName = regexp.MustCompile(`^[0-9]+\.bin$`)

// isNVBenchSamples reports whether a file has only times in s or frequencies in Hz: positive and finite.
func isNVBenchSamples(h *foreign.Head) bool {
	const longest = 1e11
	if !sampleFileName.MatchString(h.Name) || len(h.Bytes) < float32Size || (h.Whole && len(h.Bytes)%float32Size != 0) {
		return false
	}
	for i := 0; i+float32Size <= len(h.Bytes); i += float32Size {
		v := math.Float32frombits(binary.LittleEndian.Uint32(h.Bytes[i:]))
		if !(v >= 0 && v < longest) {
			return false
		}
	}
	return true
}

// nvbenchSummary is a number that NVBench, or a benchmark, computed for a state.
type nvbenchSummary struct {
	Tag  string         `json:"tag"`
	Hint string         `json:"hint"`
	Data []nvbenchValue `json:"data"`
}

// value returns a value of a summary by its name, or empty if it has none.
func (s *nvbenchSummary) value(name string) string {
	for _, v := range s.Data {
		if v.Name == name {
			return string(v.Value)
		}
	}
	return ""
}

// nvbenchSummaries are the summaries of a state: a list, and in the oldest files an object by their names.
type nvbenchSummaries []nvbenchSummary

// nvbenchOldTags are the tags of summaries that had only names in the oldest files.
var nvbenchOldTags = map[string]string{
	"Number of Samples (Cold)": "nv/cold/sample_size", "Number of Samples (Batch)": "nv/batch/sample_size",
	"Average GPU Time (Cold)": "nv/cold/time/gpu/mean", "Average CPU Time (Cold)": "nv/cold/time/cpu/mean",
	"GPU Relative Standard Deviation (Cold)": "nv/cold/time/gpu/stdev/relative",
	"CPU Relative Standard Deviation (Cold)": "nv/cold/time/cpu/stdev/relative",
	"Average GPU Time (Batch)":               "nv/batch/time/gpu/mean",
}

// UnmarshalJSON reads either.
func (all *nvbenchSummaries) UnmarshalJSON(text []byte) error {
	if jsontext.Value(text).Kind() != '{' {
		return foreign.Decode(text, (*[]nvbenchSummary)(all))
	}
	var object map[string]struct {
		Values []nvbenchValue `json:"values"`
	}
	err := foreign.Decode(text, &object)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		s := nvbenchSummary{Tag: cmp.Or(nvbenchOldTags[name], name), Data: object[name].Values}
		s.Hint = s.value("hint")
		*all = append(*all, s)
	}
	return err
}

// nvbenchTimes are the statistics of one kind of time.
type nvbenchTimes struct {
	schema.Summary
	relative *float64 // standard deviation
}

// nvbenchTimeNames are the kinds of times, with our names. cold are isolated executions, batch are consecutive ones.
var nvbenchTimeNames = []struct{ kind, metric string }{
	{"cold/gpu", schema.PrimaryMetric}, {"cpu_only/cpu", schema.PrimaryMetric}, {"cold/cpu", "cpu_time"}, {"batch/gpu", "batch_time"},
}

var nvbenchTime = regexp.MustCompile(`^nv/(cold|batch|cpu_only)/time/(gpu|cpu)/(mean|median|min|max|q1|q3|stdev/absolute|stdev/relative)$`)

// nvbenchKnown are summaries by the ends of their tags.
var nvbenchKnown = []struct{ end, metric, unit string }{
	{"/bw/item_rate", "throughput", "1/s"},
	{"/bw/global/bytes_per_second", "bandwidth", "B/s"},
	{"/bw/global/utilization", "bandwidth_utilization", "ratio"},
	{"/sm_clock_rate/mean", "clock_sm", "Hz"},
	{"/sm_clock_rate/scaling/percent", "clock_scaling", "ratio"},
}

// nvbenchHints are the units of the other summaries, and their direction if the kind of value decides it.
var nvbenchHints = map[string]struct {
	unit   string
	better schema.Better
}{
	"duration": {"s", schema.BetterLower}, "item_rate": {"1/s", schema.BetterHigher}, "byte_rate": {"B/s", schema.BetterHigher},
	"bytes": {"B", ""}, "percentage": {"ratio", ""}, "frequency": {"Hz", ""},
}

// addMeasured adds the samples, if their files exist, and the summaries.
func (f *nvbenchFile) addMeasured(r *schema.Run, summaries nvbenchSummaries) {
	times, samples := map[string]*nvbenchTimes{}, map[string]*int64{}
	var others []schema.Metric
	for i := range summaries {
		s := &summaries[i]
		value := foreign.Number(s.value("value"))
		if m := nvbenchTime.FindStringSubmatch(s.Tag); m != nil {
			kind := m[1] + "/" + m[2]
			if times[kind] == nil {
				times[kind] = &nvbenchTimes{}
			}
			times[kind].set(m[3], value)
			continue
		}
		switch {
		case strings.HasPrefix(s.Tag, "nv/json/"):
			f.addSamples(r, s)
		case strings.HasSuffix(s.Tag, "/sample_size"):
			samples[strings.TrimSuffix(strings.TrimPrefix(s.Tag, "nv/"), "/sample_size")] = value.Int64()
		case !s.addWork(r, value):
			others = append(others, s.metric(value))
		}
	}
	for _, t := range nvbenchTimeNames {
		if times[t.kind] == nil {
			continue
		}
		if r.Metric(t.metric) != nil {
			f.out.LeaveOut("aggregates of samples", 1)
			continue
		}
		measure, _, _ := strings.Cut(t.kind, "/")
		m := times[t.kind].metric(t.metric, samples[measure])
		foreign.Add(r, m, "s")
	}
	for _, m := range others {
		if r.Metric(m.Name) == nil {
			foreign.Add(r, m, "")
		}
	}
	if r.Metric(schema.PrimaryMetric) != nil {
		r.Primary = schema.PrimaryMetric
	}
}

// set sets a statistic.
func (t *nvbenchTimes) set(name string, n foreign.Number) {
	if name == "stdev/relative" {
		t.relative = n.Finite("")
		return
	}
	*statistic(&t.Summary, strings.TrimSuffix(name, "/absolute")) = n.Finite("s")
}

func (t *nvbenchTimes) metric(name string, n *int64) schema.Metric {
	if t.StdDev == nil && t.relative != nil && t.Mean != nil {
		t.StdDev = new(*t.relative * *t.Mean)
	}
	if t.Summary != (schema.Summary{}) {
		t.N = n
	}
	m := foreign.Aggregate(name, "s", t.Summary)
	m.Better = schema.BetterLower
	return m
}

// addWork reads the work of an execution from a summary. It returns false if the summary is about something else.
func (s *nvbenchSummary) addWork(r *schema.Run, value foreign.Number) bool {
	switch {
	case strings.HasSuffix(s.Tag, "/walltime"):
		if ns := value.Finite("s"); ns != nil && !strings.Contains(s.Tag, "/batch/") && *ns < 1e18 {
			r.Stages.Measure = new(int64(*ns))
		}
	case strings.HasPrefix(s.Tag, "nv/element_count/"):
		if n := value.Finite(""); n != nil {
			r.Work.Items = new(*n + zero(r.Work.Items))
		}
	case strings.HasPrefix(s.Tag, "nv/gmem/reads/"), strings.HasPrefix(s.Tag, "nv/gmem/writes/"):
		if n := value.Int64(); n != nil && *n >= 0 {
			r.Work.Bytes = new(*n + zero(r.Work.Bytes))
		}
	default:
		return false
	}
	return true
}

// zero returns a number, or 0 if there is none.
func zero[T int64 | float64](n *T) T {
	if n == nil {
		return 0
	}
	return *n
}

// metric makes a metric from any other summary. It is empty if the value is not a number.
func (s *nvbenchSummary) metric(value foreign.Number) schema.Metric {
	for _, k := range nvbenchKnown {
		if strings.HasPrefix(s.Tag, "nv/") && strings.HasSuffix(s.Tag, k.end) {
			m := foreign.Aggregate(k.metric, k.unit, schema.Summary{Mean: value.Finite(k.unit)})
			if m.Better == "" {
				m.Better = schema.BetterHigher
			}
			return m
		}
	}
	hint := nvbenchHints[s.Hint]
	m := foreign.Aggregate(foreign.MetricName(strings.TrimPrefix(s.Tag, "nv/")), hint.unit, schema.Summary{Mean: value.Finite(hint.unit)})
	m.Better = hint.better
	return m
}
