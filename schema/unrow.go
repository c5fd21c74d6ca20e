package schema

import "time"

// RunOf is the inverse of RunRow: it gives the run of a row of runs, without metrics and ops. Derived values are left
// out: the digest and the summary, except the name of the primary metric.
func RunOf(row []any) Run {
	c := cursor{row: row}
	r, _ := runOf(&c)
	return r
}

// StoredRunOf is RunOf with the derived values: the digest and, as the only metric of the run, the primary one with its
// summary and without samples.
func StoredRunOf(row []any) (r Run, digest string) {
	c := cursor{row: row}
	r, digest = runOf(&c)
	m := Metric{Name: r.Primary, Unit: take[string](&c), Better: Better(take[string](&c)), Level: Level(take[string](&c)), Clock: take[string](&c)}
	m.Summary = summaryOf(&c)
	if m.Name != "" || m.Summary != (Summary{}) {
		r.Metrics = []Metric{m}
	}
	return r, digest
}

// runOf reads a row of runs up to the name of the primary metric.
func runOf(c *cursor) (r Run, digest string) {
	r = Run{
		RunID: take[string](c), SessionID: take[string](c), PointID: take[string](c),
		RepeatIndex: takeOptional[int64](c), BlockIndex: takeOptional[int64](c), PositionIndex: takeOptional[int64](c),
		Side: take[string](c), Resumes: take[string](c), Purpose: Purpose(take[string](c)), Source: take[string](c),
	}
	digest = take[string](c)
	r.Suite, r.Benchmark, r.Variant = take[string](c), take[string](c), take[string](c)
	r.Executor = Executor(take[string](c))
	r.Backend, r.BackendVersion = take[string](c), take[string](c)
	r.Model, r.ModelSHA256, r.Precision = take[string](c), take[string](c), take[string](c)
	r.BatchSize, r.SeqLen = takeOptional[int64](c), takeOptional[int64](c)
	r.Params, r.Applied, r.Tags = take[map[string]string](c), take[map[string]string](c), take[map[string]string](c)
	r.Work = Work{takeOptional[int64](c), takeOptional[float64](c), takeOptional[float64](c)}
	r.StartedAt, r.TimeSource = take[time.Time](c), TimeSource(take[string](c))
	r.Stages = Stages{
		Build: takeOptional[int64](c), Setup: takeOptional[int64](c), Warmup: takeOptional[int64](c), Measure: takeOptional[int64](c),
		Validate: takeOptional[int64](c), Teardown: takeOptional[int64](c), Profile: takeOptional[int64](c),
	}
	r.Status, r.Stage = Status(take[string](c)), Stage(take[string](c))
	r.ErrorKind, r.Error = take[string](c), take[string](c)
	r.ExitCode, r.Signal = takeOptional[int64](c), take[string](c)
	r.Warnings, r.Artifacts = take[[]string](c), artifactsOf(take[[][]any](c))
	r.Env = envOf(c)
	r.Primary = take[string](c)
	return r, digest
}

func envOf(c *cursor) Env {
	return Env{
		HostID: take[string](c), Machine: take[string](c), Hostname: take[string](c), OS: take[string](c), OSKernel: take[string](c),
		CPUModel: take[string](c), CPUCount: takeOptional[int64](c), MemoryBytes: takeOptional[int64](c),
		GPUName: take[string](c), GPUCount: takeOptional[int64](c), DriverVersion: take[string](c), CUDAVersion: take[string](c),
		PythonVersion: take[string](c),
		GitCommit:     take[string](c), GitBranch: take[string](c), GitDirty: takeOptional[bool](c),
		Facts: take[map[string]string](c), Missing: take[map[string]string](c),
	}
}

// MetricOf is the inverse of MetricRow.
func MetricOf(row []any) Metric {
	c := cursor{row: row}
	return Metric{
		Name: take[string](&c), Unit: take[string](&c), Better: Better(take[string](&c)), Clock: take[string](&c), Level: Level(take[string](&c)),
		Tick: take[float64](&c), Ticks: take[[]int64](&c), Reals: take[[]float64](&c),
		WarmupTicks: take[[]int64](&c), WarmupReals: take[[]float64](&c), AtNS: take[[]int64](&c), IterationsPerSample: take[[]int64](&c),
		Summary: summaryOf(&c),
	}
}

func summaryOf(c *cursor) Summary {
	real := takeOptional[float64]
	return Summary{
		N: takeOptional[int64](c), Min: real(c), Max: real(c), Mean: real(c), StdDev: real(c), P25: real(c), P50: real(c), P75: real(c),
		P90: real(c), P95: real(c), P99: real(c), MAD: real(c), LogMedian: real(c), First: real(c), SteadyIndex: takeOptional[int64](c),
		Version: takeOptional[int64](c),
	}
}

// OpOf is the inverse of OpRow.
func OpOf(row []any) Op {
	c := cursor{row: row}
	return Op{
		Index: take[int64](&c), Name: take[string](&c), Type: take[string](&c), Device: take[string](&c),
		StartNS: takeOptional[int64](&c), DurationNS: takeOptional[int64](&c), Count: takeOptional[int64](&c),
		Kernels: take[[]string](&c), Counters: take[map[string]float64](&c),
	}
}

func artifactsOf(rows [][]any) []Artifact {
	if rows == nil {
		return nil
	}
	all := make([]Artifact, len(rows))
	for i, row := range rows {
		c := cursor{row: row}
		all[i] = Artifact{take[string](&c), take[string](&c), take[string](&c), takeOptional[int64](&c)}
	}
	return all
}

// cursor iterates over the values of a row.
type cursor struct {
	row  []any
	next int
}

func (c *cursor) skip() any {
	value := c.row[c.next]
	c.next++
	return value
}

// take gives the next value, or the zero value of its type if it is NULL.
func take[T any](c *cursor) T {
	value, _ := c.skip().(T)
	return value
}

func takeOptional[T any](c *cursor) *T {
	value, ok := c.skip().(T)
	if !ok {
		return nil
	}
	return &value
}
