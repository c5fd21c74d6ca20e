package schema

import (
	"fmt"
	"time"
)

// Runs, Samples and Ops are the tables of the store. FORMAT.md lists their columns; a test compares the two.
var (
	Runs    = newTable("runs", runColumns, &runRow{Run: &Run{}, primary: &Metric{}})
	Samples = newTable("samples", sampleColumns, &Metric{})
	Ops     = newTable("ops", opColumns, &Op{})
)

// The columns of each table, in the order of the format, with the fields that hold their values. Rows, digests and files
// follow these lists.
var (
	runColumns    = newRunColumns()
	sampleColumns = newSampleColumns()
	opColumns     = newOpColumns()
)

// runRow is a run with the derived values of its row.
type runRow struct {
	*Run
	digest  string
	primary *Metric // the metric with the name Primary, or an empty one
}

func newRunColumns() columns[runRow] {
	all := columns[runRow]{
		required(column("run_id", func(r *runRow) any { return &r.RunID },
			"id of the run, a ULID; its time is started_at truncated to milliseconds, or 0 if that is unknown or before 1970")),
		column("session_id", func(r *runRow) any { return &r.SessionID },
			"id of the session that made the run (one call of bench, or one imported file), a ULID"),
		column("point_id", func(r *runRow) any { return &r.PointID }, "id of the point: hash of what is measured and of all its axes"),
		column("repeat_index", func(r *runRow) any { return &r.RepeatIndex }, "number of this repeat of the point in its session, from 0"),
		column("block_index", func(r *runRow) any { return &r.BlockIndex }, "number of the block in its session, from 0"),
		column("position_index", func(r *runRow) any { return &r.PositionIndex }, "position of the run in its block, from 0"),
		column("side", func(r *runRow) any { return &r.Side }, "base or head, in a session that measures two commits"),
		column("resumes", func(r *runRow) any { return &r.Resumes }, "session_id of the interrupted session that this one continues"),
		column("purpose", func(r *runRow) any { return (*string)(&r.Purpose) }, "measure, or profile for the pass of a profiler"),
		column("source", func(r *runRow) any { return &r.Source }, "neurolens, or the format of the file that the run was imported from"),
		derived(column("digest", func(r *runRow) any { return &r.digest }, "hash of the measured values"))[0],
		column("suite", func(r *runRow) any { return &r.Suite }, "name of the suite, a label of the sweep"),
		column("benchmark", func(r *runRow) any { return &r.Benchmark }, "name of the benchmark: what is measured"),
		column("variant", func(r *runRow) any { return &r.Variant }, "name of the variant: how it is done"),
		column("executor", func(r *runRow) any { return (*string)(&r.Executor) },
			"how the run was launched: builtin command python onnxrt torch tensorrt"),
		column("backend", func(r *runRow) any { return &r.Backend }, "name of the framework, library or device that computes"),
		column("backend_version", func(r *runRow) any { return &r.BackendVersion }, "version of the backend"),
		column("model", func(r *runRow) any { return &r.Model }, "name of the model"),
		column("model_sha256", func(r *runRow) any { return &r.ModelSHA256 }, "SHA-256 of the model's file"),
		column("precision", func(r *runRow) any { return &r.Precision },
			"number format of the model: fp64 fp32 tf32 fp16 bf16 fp8 int8 int4"),
		column("batch_size", func(r *runRow) any { return &r.BatchSize }, "batch size"),
		column("seq_len", func(r *runRow) any { return &r.SeqLen }, "sequence length"),
		column("params", func(r *runRow) any { return &r.Params }, "all other axes, as canonical text"),
		column("applied", func(r *runRow) any { return &r.Applied }, "configuration that was in effect, read back from what ran"),
		column("tags", func(r *runRow) any { return &r.Tags }, "tags, given by the sweep or at import"),
		inUnit("B", column("bytes", func(r *runRow) any { return &r.Work.Bytes }, "bytes moved by one iteration")),
		column("flops", func(r *runRow) any { return &r.Work.Flops }, "floating-point operations of one iteration"),
		column("items", func(r *runRow) any { return &r.Work.Items }, "items processed by one iteration"),
		column("started_at", func(r *runRow) any { return &r.StartedAt }, "start of the run, UTC"),
		column("time_source", func(r *runRow) any { return (*string)(&r.TimeSource) },
			"where started_at comes from: clock, file (its modification time), naive (a time without a zone, read as UTC)"),
	}
	for _, stage := range StageNames {
		duration := func(r *runRow) any { return r.Stages.Of(stage) }
		all = append(all, inUnit("ns", column(string(stage)+"_ns", duration, "duration of the stage "+string(stage))))
	}
	all = append(all, columns[runRow]{
		column("status", func(r *runRow) any { return (*string)(&r.Status) },
			"how the run ended: ok error timeout crashed oom unsupported skipped output_limit cancelled unkillable lost"),
		column("stage", func(r *runRow) any { return (*string)(&r.Stage) }, "stage in which the run ended, unless it is ok"),
		column("error_kind", func(r *runRow) any { return &r.ErrorKind }, "kind of the error"),
		column("error", func(r *runRow) any { return &r.Error }, "message of the error"),
		column("exit_code", func(r *runRow) any { return &r.ExitCode }, "exit status of the process"),
		column("signal", func(r *runRow) any { return &r.Signal }, "signal that ended the process"),
		column("warnings", func(r *runRow) any { return &r.Warnings }, "names of warnings about the measurement"),
		structs(artifactColumns, column("artifacts", func(r *runRow) any { return &r.Artifacts }, "files that the run produced")),
		column("host_id", func(r *runRow) any { return &r.Env.HostID }, "salted hash of the machine-id"),
		column("machine", func(r *runRow) any { return &r.Env.Machine },
			"name of the machine: NEUROLENS_MACHINE, or a fingerprint of the hardware"),
		column("hostname", func(r *runRow) any { return &r.Env.Hostname }, "host name"),
		column("os", func(r *runRow) any { return &r.Env.OS }, "operating system"),
		column("os_kernel", func(r *runRow) any { return &r.Env.OSKernel }, "kernel of the operating system"),
		column("cpu_model", func(r *runRow) any { return &r.Env.CPUModel }, "model of the CPU"),
		column("cpu_count", func(r *runRow) any { return &r.Env.CPUCount }, "number of logical CPUs"),
		inUnit("B", column("memory_bytes", func(r *runRow) any { return &r.Env.MemoryBytes }, "size of the main memory")),
		column("gpu_name", func(r *runRow) any { return &r.Env.GPUName }, "name of the first GPU"),
		column("gpu_count", func(r *runRow) any { return &r.Env.GPUCount }, "number of GPUs"),
		column("driver_version", func(r *runRow) any { return &r.Env.DriverVersion }, "version of the GPU driver"),
		column("cuda_version", func(r *runRow) any { return &r.Env.CUDAVersion }, "CUDA version of the driver"),
		column("python_version", func(r *runRow) any { return &r.Env.PythonVersion }, "version of the interpreter that ran the benchmark"),
		column("git_commit", func(r *runRow) any { return &r.Env.GitCommit }, "Git commit of the working tree"),
		column("git_branch", func(r *runRow) any { return &r.Env.GitBranch }, "Git branch of the working tree"),
		column("git_dirty", func(r *runRow) any { return &r.Env.GitDirty }, "whether the code had uncommitted changes: of a file that git tracks, or a new file that may be code"),
		column("env", func(r *runRow) any { return &r.Env.Facts }, "all facts about the environment, by name"),
		column("env_missing", func(r *runRow) any { return &r.Env.Missing },
			"facts that are unknown, each with the reason: absent permission unsupported timeout, or a sentence"),
	}...)
	all = append(all, derived(
		column("metric", func(r *runRow) any { return &r.primary.Name },
			"name of the primary metric; the columns to the right summarize its samples"),
		column("unit", func(r *runRow) any { return &r.primary.Unit }, "unit of the metric"),
		column("better", func(r *runRow) any { return (*string)(&r.primary.Better) },
			"which values are better: lower or higher; NULL if unknown"),
		column("level", func(r *runRow) any { return (*string)(&r.primary.Level) },
			"what one sample measures: iteration process request token interval, mean (of the iterations in a sample)"),
		column("clock", func(r *runRow) any { return &r.primary.Clock }, "clock that timed the samples"),
	)...)
	return append(all, summaryColumns(func(r *runRow) *Summary { return &r.primary.Summary })...)
}

func newSampleColumns() columns[Metric] {
	return append(columns[Metric]{
		idOfRun[Metric](),
		required(column("metric", func(m *Metric) any { return &m.Name }, "name of the metric")),
		column("unit", func(m *Metric) any { return &m.Unit }, "unit of the metric"),
		column("better", func(m *Metric) any { return (*string)(&m.Better) }, "which values are better: lower or higher; NULL if unknown"),
		column("clock", func(m *Metric) any { return &m.Clock },
			"clock that timed the samples; samples of different clocks are not comparable"),
		column("level", func(m *Metric) any { return (*string)(&m.Level) },
			"what one sample measures: iteration process request token interval, mean (of the iterations in a sample)"),
		inUnit(UnitOfRow, column("tick", func(m *Metric) any { return &m.Tick }, "size of one tick, in the unit")),
		column("ticks", func(m *Metric) any { return &m.Ticks }, "raw samples in order, as integer numbers of ticks"),
		inUnit(UnitOfRow, column("reals", func(m *Metric) any { return &m.Reals },
			"raw samples in order, in the unit, if they are not integer numbers of ticks")),
		column("warmup_ticks", func(m *Metric) any { return &m.WarmupTicks }, "warm-up iterations, as integer numbers of ticks"),
		inUnit(UnitOfRow, column("warmup_reals", func(m *Metric) any { return &m.WarmupReals }, "warm-up iterations, in the unit")),
		inUnit("ns", column("at_ns", func(m *Metric) any { return &m.AtNS },
			"start of each sample since the start of the run, unless the order implies it")),
		column("iterations_per_sample", func(m *Metric) any { return &m.IterationsPerSample },
			"number of iterations in each sample; one element if all are equal"),
	}, summaryColumns(func(m *Metric) *Summary { return &m.Summary })...)
}

func newOpColumns() columns[Op] {
	return columns[Op]{
		idOfRun[Op](),
		required(column("op", func(o *Op) any { return &o.Index }, "index of the operator in its run")),
		column("name", func(o *Op) any { return &o.Name }, "name of the operator or kernel"),
		column("type", func(o *Op) any { return &o.Type }, "type of the operator"),
		column("device", func(o *Op) any { return &o.Device }, "device that it ran on"),
		inUnit("ns", column("start_ns", func(o *Op) any { return &o.StartNS }, "start since the start of the run")),
		inUnit("ns", column("duration_ns", func(o *Op) any { return &o.DurationNS }, "duration of all its calls")),
		column("count", func(o *Op) any { return &o.Count }, "number of calls"),
		column("kernels", func(o *Op) any { return &o.Kernels }, "kernels that it launched"),
		column("counters", func(o *Op) any { return &o.Counters }, "hardware counters"),
	}
}

// idOfRun returns the column of the run of a sample or an op, which has no field for it.
func idOfRun[T any]() boundColumn[T] {
	return boundColumn[T]{Column: &Column{Name: "run_id", Kind: KindString, Required: true, Doc: "id of the run"}}
}

// summaryColumns returns the fields of a Summary, in order.
func summaryColumns[T any](of func(*T) *Summary) columns[T] {
	number := func(name string, field func(*Summary) any, doc string) boundColumn[T] {
		return column(name, func(t *T) any { return field(of(t)) }, doc)
	}
	real := func(name string, field func(*Summary) any, doc string) boundColumn[T] {
		return inUnit(UnitOfRow, number(name, field, doc))
	}
	return derived(
		number("n_samples", func(s *Summary) any { return &s.N }, "number of samples"),
		real("min", func(s *Summary) any { return &s.Min }, "smallest sample"),
		real("max", func(s *Summary) any { return &s.Max }, "largest sample"),
		real("mean", func(s *Summary) any { return &s.Mean }, "arithmetic mean"),
		real("stddev", func(s *Summary) any { return &s.StdDev }, "sample standard deviation"),
		real("p25", func(s *Summary) any { return &s.P25 }, "25th percentile (all quantiles are of type 7)"),
		real("p50", func(s *Summary) any { return &s.P50 }, "median"),
		real("p75", func(s *Summary) any { return &s.P75 }, "75th percentile"),
		real("p90", func(s *Summary) any { return &s.P90 }, "90th percentile"),
		real("p95", func(s *Summary) any { return &s.P95 }, "95th percentile"),
		real("p99", func(s *Summary) any { return &s.P99 }, "99th percentile"),
		real("mad", func(s *Summary) any { return &s.MAD }, "median absolute deviation from the median, unscaled"),
		number("log_median", func(s *Summary) any { return &s.LogMedian },
			"median of the natural logarithms; NULL unless all samples are positive"),
		real("first_sample", func(s *Summary) any { return &s.First }, "first sample"),
		number("steady_index", func(s *Summary) any { return &s.SteadyIndex },
			"index of the first sample of the steady state, from 0; NULL if none was found or looked for"),
		number("summary_version", func(s *Summary) any { return &s.Version }, "version of the rules that computed the summary"),
	)
}

// artifactColumns are the fields of an element of the column artifacts.
var artifactColumns = columns[Artifact]{
	column("kind", func(a *Artifact) any { return &a.Kind }, ""),
	column("path", func(a *Artifact) any { return &a.Path }, ""),
	column("sha256", func(a *Artifact) any { return &a.SHA256 }, ""),
	inUnit("B", column("bytes", func(a *Artifact) any { return &a.Bytes }, "")),
}

// boundColumn is a column with the field of a T that holds its value.
type boundColumn[T any] struct {
	*Column
	field func(*T) any // a pointer to the field
}

// columns are the columns of a row that holds a T.
type columns[T any] []boundColumn[T]

// column returns the column of a field; newTable finds out its kind.
func column[T any](name string, field func(*T) any, doc string) boundColumn[T] {
	return boundColumn[T]{&Column{Name: name, Doc: doc}, field}
}

func required[T any](c boundColumn[T]) boundColumn[T] { c.Required = true; return c }

func inUnit[T any](unit string, c boundColumn[T]) boundColumn[T] { c.Unit = unit; return c }

// structs makes a column a list of structs.
func structs[T any](parts columns[Artifact], c boundColumn[T]) boundColumn[T] {
	c.Children = []*Column{{Name: "element", Kind: KindStruct, Children: parts.typed(&Artifact{})}}
	return c
}

func derived[T any](all ...boundColumn[T]) columns[T] {
	for _, c := range all {
		c.Derived = true
	}
	return all
}

// newTable numbers the columns of a table. blank is any row, whose fields have the types that decide the kinds of the columns.
func newTable[T any](name string, all columns[T], blank *T) *Table {
	t := &Table{Name: name, Columns: all.typed(blank)}
	t.number()
	return t
}

// typed sets the kinds of the columns.
func (all columns[T]) typed(blank *T) []*Column {
	typed := make([]*Column, len(all))
	for i, c := range all {
		if c.field != nil {
			kind, parts := columnKind(c.field(blank))
			c.Kind, c.Children = kind, append(c.Children, parts...)
		}
		typed[i] = c.Column
	}
	return typed
}

// columnKind returns the kind of the column of a field, and the parts of its values.
func columnKind(field any) (Kind, []*Column) {
	listOf := func(element Column) (Kind, []*Column) { element.Name = "element"; return KindList, []*Column{&element} }
	mapOf := func(value Kind) (Kind, []*Column) {
		return KindMap, []*Column{{Name: "key", Kind: KindString, Required: true}, {Name: "value", Kind: value}}
	}
	switch field.(type) {
	case *string:
		return KindString, nil
	case *int64, **int64:
		return KindInt, nil
	case *float64, **float64:
		return KindReal, nil
	case **bool:
		return KindBool, nil
	case *time.Time:
		return KindTime, nil
	case *[]string:
		return listOf(Column{Kind: KindString})
	case *[]int64:
		return listOf(Column{Kind: KindInt})
	case *[]float64:
		return listOf(Column{Kind: KindReal})
	case *[]Artifact:
		return KindList, nil // structs sets the parts
	case *map[string]string:
		return mapOf(KindString)
	case *map[string]float64:
		return mapOf(KindReal)
	}
	panic(fmt.Sprintf("no kind of column has values of a %T", field))
}
