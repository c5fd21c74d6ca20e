package schema

import "time"

// Run is one launch of one point, with its setup and teardown. It is the unit of storage and the replicate of all
// statistics. A failed, skipped or timed-out launch is a Run too.
//
// An empty string, a nil pointer, a nil map and a nil slice are NULL: unknown. Zero behind a pointer is a measurement.
// FORMAT.md lists the columns that a Run is stored in, in the order of these fields.
type Run struct {
	// Identity.
	RunID         string // ULID; its time is StartedAt truncated to milliseconds, or 0 if that is unknown or before 1970
	SessionID     string // ULID of the session that made the run
	PointID       string // see PointID
	RepeatIndex   *int64 // from 0
	BlockIndex    *int64 // from 0, over the whole session
	PositionIndex *int64 // from 0, within the block
	Side          string // base or head, in a session that measures two commits
	Resumes       string // the interrupted session that this one continues
	Purpose       Purpose
	Source        string // SourceNeuroLens, or the name of the foreign format

	// The benchmark and its point.
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
	Params         map[string]string // all other axes, as canonical text
	Applied        map[string]string // configuration that was in effect, read back from the running program
	Tags           map[string]string
	Work           Work

	// When.
	StartedAt  time.Time // UTC; the zero time is NULL
	TimeSource TimeSource
	Stages     Stages

	// Outcome.
	Status    Status
	Stage     Stage // the stage in which the run ended, unless it is ok
	ErrorKind string
	Error     string
	ExitCode  *int64
	Signal    string // SIGSEGV
	Warnings  []string
	Artifacts []Artifact

	// The environment.
	Env Env

	// Results.
	Primary string // name of the metric whose summary is in the run's row
	Metrics []Metric
	Ops     []Op
}

// SourceNeuroLens is the Source of a run that NeuroLens itself launched.
const SourceNeuroLens = "neurolens"

// Work is the amount of work in one iteration, if the benchmark declares it.
type Work struct {
	Bytes *int64
	Flops *float64
	Items *float64
}

// Stages are the durations of a run's stages in nanoseconds.
type Stages struct {
	Build, Setup, Warmup, Measure, Validate, Teardown, Profile *int64
}

// Of returns the field with the duration of a stage, or nil for an unknown stage.
func (s *Stages) Of(stage Stage) **int64 {
	switch stage {
	case StageBuild:
		return &s.Build
	case StageSetup:
		return &s.Setup
	case StageWarmup:
		return &s.Warmup
	case StageMeasure:
		return &s.Measure
	case StageValidate:
		return &s.Validate
	case StageTeardown:
		return &s.Teardown
	case StageProfile:
		return &s.Profile
	}
	return nil
}

// Launch returns the duration of all stages together, in ns, without the build, which several runs may share.
func (s Stages) Launch() int64 {
	var sum int64
	for _, stage := range []*int64{s.Setup, s.Warmup, s.Measure, s.Validate, s.Teardown, s.Profile} {
		if stage != nil {
			sum += *stage
		}
	}
	return sum
}

// The kinds of artifacts that the runner keeps. Readers of foreign files may use others.
const (
	ArtifactStdout  = "stdout"  // of the last process of a command
	ArtifactStderr  = "stderr"  // of the last process of a command
	ArtifactFile    = "file"    // written by the benchmark
	ArtifactProfile = "profile" // written by a profiler
)

// Artifact is a file that a run produced.
type Artifact struct {
	Kind   string
	Path   string // its path in the run
	SHA256 string // of the stored bytes, see ArtifactPath; empty if it is not stored
	Bytes  *int64 // size of the original file
}

// Env describes where a run happened. Facts has all facts about the environment. An unknown fact is not in Facts, and Missing has the
// reason (absent, permission, unsupported, timeout, or a sentence).
type Env struct {
	HostID        string // salted machine-id
	Machine       string // NEUROLENS_MACHINE, or a fingerprint of the hardware
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

// Metric is one named quantity of a run, with its raw samples in the order in which they were taken. The samples are either in Ticks, as
// integer numbers of ticks, or in Reals, as values in the unit. An imported metric may have neither, only a Summary.
type Metric struct {
	Name        string
	Unit        string  // a stored unit: ns, B, mJ, mW, MHz, Cel, 1/s, B/s, flop/s, ratio, or the benchmark's own
	Better      Better  // empty if unknown
	Clock       string  // monotonic, perf_counter, cuda_event; samples of different clocks are not comparable
	Level       Level   // what one sample measures: one iteration, or statistics of several
	Tick        float64 // size of one tick, in the unit; 0 if there are no ticks
	Ticks       []int64
	Reals       []float64
	WarmupTicks []int64 // warm-up iterations; never in Ticks
	WarmupReals []float64
	AtNS        []int64 // start of each sample in ns since the start of the run, unless the order implies it
	// IterationsPerSample has one element if all samples have equally many iterations.
	IterationsPerSample []int64
	Summary             Summary
}

// Values returns the samples in the metric's unit, or nil if the metric has none.
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

// Summary describes the samples of one metric, in its unit. Quantiles are Hyndman-Fan type 7, StdDev is the sample
// standard deviation, MAD is the unscaled median absolute deviation from the median, LogMedian is the median of the
// natural logarithms. A field that cannot be computed from the samples is nil. schema/stat computes it.
type Summary struct {
	N                            *int64
	Min, Max, Mean, StdDev       *float64
	P25, P50, P75, P90, P95, P99 *float64
	MAD, LogMedian, First        *float64
	SteadyIndex                  *int64 // index of the first sample of the steady state, from 0
	Version                      *int64 // of the rules that computed the summary
}

// OfSeveral are the numbers of a summary that say how samples differ. They are stored for one sample too, but it does not show them: an
// answer has no value then.
var OfSeveral = []string{"p25", "p75", "p90", "p95", "p99", "mad"}

// Shown returns the summary without the numbers that OfSeveral names, if it is of one sample.
func (s Summary) Shown() Summary {
	if s.N != nil && *s.N == 1 {
		s.P25, s.P75, s.P90, s.P95, s.P99, s.MAD = nil, nil, nil, nil, nil, nil
	}
	return s
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
