package schema

import "time"

// Run is one launch of one point, with its setup and teardown. It is the unit of storage and of statistical
// replication. A failed, skipped or timed-out launch is a Run too.
//
// An empty string, a nil pointer, a nil map and a nil slice are NULL: not known. Zero behind a pointer is a
// measurement. The columns a Run becomes are listed in FORMAT.md, in the order of these fields.
type Run struct {
	// Identity.
	RunID         string // ULID; its time is StartedAt cut to milliseconds, or 0 where that is not known
	SessionID     string // ULID of the invocation that made the run
	PointID       string // see PointID
	RepeatIndex   *int64 // from 0
	BlockIndex    *int64 // from 0, over the whole session
	PositionIndex *int64 // from 0, within the block
	Side          string // base or head, in an A/B session
	Resumes       string // the session that this one goes on from
	Purpose       Purpose
	Source        string // SourceNeuroLens, or the name of the foreign format

	// What was measured.
	Suite          string
	Benchmark      string
	Variant        string
	Executor       Executor
	Backend        string
	BackendVersion string
	Model          string
	ModelSHA256    string
	Precision      string
	BatchSize      *int64
	SeqLen         *int64
	Params         map[string]string // the other axes, in canonical text
	Applied        map[string]string // configuration read back from what ran
	Tags           map[string]string
	Work           Work

	// When.
	StartedAt  time.Time // UTC; the zero time is NULL
	TimeSource TimeSource
	Stages     Stages

	// Outcome.
	Status    Status
	Stage     Stage // where the run ended, unless ok
	ErrorKind string
	Error     string
	ExitCode  *int64
	Signal    string // SIGSEGV
	Warnings  []string
	Artifacts []Artifact

	// Where.
	Env Env

	// What came out.
	Primary string // name of the metric whose summary stands in the run's row
	Metrics []Metric
	Ops     []Op
}

// SourceNeuroLens is the Source of a run that NeuroLens itself launched.
const SourceNeuroLens = "neurolens"

// Work is what one iteration processes, where the benchmark says so.
type Work struct {
	Bytes *int64
	Flops *float64
	Items *float64
}

// Stages are the durations of a run's stages in nanoseconds.
type Stages struct {
	Build, Setup, Warmup, Measure, Validate, Teardown, Profile *int64
}

// Launch is how long all stages of a launch took together, in ns: all but the build, which may be of many runs.
func (s Stages) Launch() int64 {
	var sum int64
	for _, stage := range []*int64{s.Setup, s.Warmup, s.Measure, s.Validate, s.Teardown, s.Profile} {
		if stage != nil {
			sum += *stage
		}
	}
	return sum
}

// The kinds of artifacts that the runner keeps; readers of foreign files may have others.
const (
	ArtifactStdout  = "stdout"  // of a command: of its last process
	ArtifactStderr  = "stderr"  // the same
	ArtifactFile    = "file"    // that the benchmark wrote
	ArtifactProfile = "profile" // that a profiler wrote
)

// Artifact is a file that a run produced.
type Artifact struct {
	Kind   string
	Path   string // as the run knew it
	SHA256 string // of what is stored of it, see ArtifactPath; empty: nothing is
	Bytes  *int64 // of the file, as the run left it
}

// Env says where a run happened. Facts holds the whole manifest; a fact that is not known is absent from it and
// has its reason in Missing (absent, permission, unsupported, timeout).
type Env struct {
	HostID        string // salted machine-id
	Machine       string // NEUROLENS_MACHINE, else a fingerprint of the hardware
	Hostname      string
	OS            string
	OSKernel      string
	CPUModel      string
	CPUCount      *int64
	MemoryBytes   *int64
	GPUName       string
	GPUCount      *int64
	DriverVersion string
	CUDAVersion   string
	PythonVersion string
	GitCommit     string
	GitBranch     string
	GitDirty      *bool
	Facts         map[string]string
	Missing       map[string]string
}

// Metric is one named quantity of a run with its raw samples in the order they were taken. Either Ticks or Reals
// holds them: integers of Tick units each, or values in the unit. An imported metric may have neither, only a
// Summary.
type Metric struct {
	Name        string
	Unit        string  // a stored unit: ns, B, mJ, mW, MHz, Cel, 1/s, B/s, flop/s, ratio, or the benchmark's own
	Better      Better  // the zero value: not known
	Clock       string  // monotonic, perf_counter, cuda_event; samples of different clocks are not comparable
	Level       Level   // what one sample is a measurement of
	Tick        float64 // size of a tick in the unit; 0 where there are no ticks
	Ticks       []int64
	Reals       []float64
	WarmupTicks []int64 // warm-up iterations asked for; never in Ticks
	WarmupReals []float64
	AtNS        []int64 // start of each sample in ns since the run began, where the order does not imply it
	// IterationsPerSample has one element where all samples hold equally many iterations.
	IterationsPerSample []int64
	Summary             Summary
}

// Values are the samples in the metric's unit; nil where the metric has none.
func (m *Metric) Values() []float64 {
	if m.Ticks == nil {
		return m.Reals
	}
	values := make([]float64, len(m.Ticks))
	for i, t := range m.Ticks {
		values[i] = float64(t) * m.Tick
	}
	return values
}

// Summary describes the samples of one metric in its unit. Quantiles are Hyndman-Fan type 7, StdDev is the sample
// standard deviation, MAD is the unscaled median absolute deviation from the median, LogMedian is the median of
// natural logarithms. A field that the samples cannot give is nil. schema/stat computes it.
type Summary struct {
	N                            *int64
	Min, Max, Mean, StdDev       *float64
	P25, P50, P75, P90, P95, P99 *float64
	MAD, LogMedian, First        *float64
	SteadyIndex                  *int64 // first sample of the steady state, where it was looked for
	Version                      *int64 // of the rules by which the summary was computed
}

// Op is one operator or kernel of a profiled run.
type Op struct {
	Index      int64
	Name       string
	Type       string
	Device     string
	StartNS    *int64
	DurationNS *int64
	Count      *int64
	Kernels    []string
	Counters   map[string]float64
}

// Metric returns the run's metric of that name, or nil.
func (r *Run) Metric(name string) *Metric {
	for i := range r.Metrics {
		if r.Metrics[i].Name == name {
			return &r.Metrics[i]
		}
	}
	return nil
}
