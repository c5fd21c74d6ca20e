package formats

import (
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
func nvbench() []foreign.Format {
	return []foreign.Format{
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
}

type nvbenchMeta struct {
	Argv    []string `json:"argv"`
	Version struct {
		NVBench struct {
			Text string `json:"string"`
			SHA  string `json:"git_sha"`
		} `json:"nvbench"`
	} `json:"version"`
}

type nvbenchDevice struct {
	ID        foreign.Number `json:"id"`
	Name      string         `json:"name"`
	SM        foreign.Text   `json:"sm_version"`
	PTX       foreign.Text   `json:"ptx_version"`
	Clock     foreign.Text   `json:"sm_default_clock_rate"`
	SMs       foreign.Text   `json:"number_of_sms"`
	Memory    foreign.Text   `json:"global_memory_size"`
	Bandwidth foreign.Text   `json:"global_memory_bus_bandwidth"`
	L2        foreign.Text   `json:"l2_cache_size"`
	ECC       foreign.Text   `json:"ecc_state"`
}

// nvbenchFile reads a file.
type nvbenchFile struct {
	in  *foreign.Input
	j   *foreign.JSON
	out *foreign.Output

	meta    nvbenchMeta
	devices []nvbenchDevice
	known   bool // meta and devices were read already
}

// readNVBench reads the output of one launch, or of several that were appended.
func readNVBench(in *foreign.Input, out *foreign.Output) error {
	f := &nvbenchFile{in: in, out: out}
	if err := f.readAhead(); err != nil {
		return err
	}
	j := in.JSON()
	f.j = j
	for first := true; first || j.Kind() == '{'; first = false {
		if err := out.RefuseMismatch(f.read()); err != nil {
			return err
		}
		f.meta, f.devices, f.known = nvbenchMeta{}, nil, false
	}
	return nil
}

// readAhead reads the members after the benchmarks, if another program wrote the file again with sorted members.
func (f *nvbenchFile) readAhead() error {
	if !f.in.Head.Whole && f.in.Head.Has("devices") {
		return nil
	}
	ahead, err := f.in.Ahead()
	if err != nil {
		return err
	}
	defer ahead.Close()
	j := ahead.JSON()
	f.known = true
	_ = j.Members(func(name string) error { return f.readHeader(j, name) }) // errors are reported when the benchmarks are read
	return nil
}

// readHeader reads a member that applies to all benchmarks.
func (f *nvbenchFile) readHeader(j *foreign.JSON, name string) error {
	switch name {
	case "meta":
		err := f.out.RefuseMismatch(j.Decode(&f.meta))
		f.out.Version(f.meta.Version.NVBench.Text)
		return err
	case "devices":
		return f.out.RefuseMismatch(j.Decode(&f.devices))
	}
	return j.Skip()
}

func (f *nvbenchFile) read() error {
	return f.j.Members(func(name string) error {
		switch {
		case name == "benchmarks":
			return f.out.RefuseMismatch(f.j.Elements(func(int) error { return f.out.RefuseMismatch(f.readBenchmark()) }))
		case f.known:
			return f.j.Skip()
		}
		return f.readHeader(f.j, name)
	})
}

// readBenchmark reads a benchmark, whose name comes before its states.
func (f *nvbenchFile) readBenchmark() error {
	benchmark := ""
	return f.j.Members(func(name string) error {
		switch name {
		case "name":
			return f.out.RefuseMismatch(f.j.Decode(&benchmark))
		case "states":
			if f.j.Kind() == 'n' {
				return f.j.Skip()
			}
			return eachElement(f.j, f.out, func(where string, state *nvbenchState) error { return f.readState(benchmark, where, state) })
		}
		return f.j.Skip()
	})
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
		f.out.Refuse(where, fmt.Errorf("the benchmark has no name"))
		return nil
	}
	r := f.run(benchmark, state)
	if state.IsSkipped {
		r.Status, r.Error = schema.StatusSkipped, state.SkipReason
		return f.out.Run(where, r)
	}
	f.addMeasured(&r, state.Summaries)
	return f.out.Run(where, r)
}

// run makes a run of a state without its results. Benchmarks of many programs have the same name, base, so the program is
// a part of it.
func (f *nvbenchFile) run(benchmark string, state *nvbenchState) schema.Run {
	r := schema.Run{Benchmark: benchmark}
	if len(f.meta.Argv) > 0 {
		if program := programName(f.meta.Argv[0]); program != "" {
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
	foreign.SetFact(&r, "nvbench_version", f.meta.Version.NVBench.Text)
	foreign.SetFact(&r, "nvbench_git_sha", f.meta.Version.NVBench.SHA)
	if len(f.devices) > 0 {
		r.Env.GPUCount = new(int64(len(f.devices)))
	}
	for i := range f.devices {
		if d := &f.devices[i]; string(d.ID) == string(state.Device) && d.ID != "" {
			d.describe(&r)
		}
	}
	return r
}

func (d *nvbenchDevice) describe(r *schema.Run) {
	r.Env.GPUName = d.Name
	for name, text := range map[string]foreign.Text{
		"sm_version": d.SM, "ptx_version": d.PTX, "sm_default_clock_rate": d.Clock, "number_of_sms": d.SMs,
		"global_memory_size": d.Memory, "global_memory_bus_bandwidth": d.Bandwidth, "l2_cache_size": d.L2, "ecc_state": d.ECC,
	} {
		foreign.SetFact(r, name, string(text))
	}
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
	if err == nil {
		err = fits(content, foreign.Number(s.value("size")).Int64())
	}
	if err != nil {
		f.out.Refuse(file, err)
		return
	}
	stored, factor, _ := schema.StoredUnit(unit)
	values := make([]float64, len(content)/float32Size)
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

// fits returns an error unless a file of samples has as many samples as the summary says.
func fits(content []byte, size *int64) error {
	if len(content)%float32Size != 0 || (size != nil && *size != int64(len(content)/float32Size)) {
		said := "an unknown number of"
		if size != nil {
			said = fmt.Sprint(*size)
		}
		return fmt.Errorf("%d bytes, want %d for each of %s samples", len(content), float32Size, said)
	}
	return nil
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

// value is a value of a summary by its name, or empty if it has none.
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
		var list []nvbenchSummary
		err := foreign.Decode(text, &list)
		*all = list
		return err
	}
	var object map[string]struct {
		Values []nvbenchValue `json:"values"`
	}
	if err := foreign.Decode(text, &object); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		s := nvbenchSummary{Tag: name, Data: object[name].Values}
		if tag, ok := nvbenchOldTags[name]; ok {
			s.Tag = tag
		}
		s.Hint = s.value("hint")
		*all = append(*all, s)
	}
	return nil
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

// zero is a number that is added to: 0 where there is none yet.
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
