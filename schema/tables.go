package schema

// Runs, Samples and Ops are the tables of the store. FORMAT.md lists their columns; a test compares the two.
var (
	Runs    = runsTable()
	Samples = samplesTable()
	Ops     = opsTable()
)

func runsTable() *Table {
	columns := []*Column{
		required(column("run_id", KindString, "id of the run, a ULID; its time is started_at truncated to milliseconds, or 0 if that is unknown or before 1970")),
		column("session_id", KindString, "id of the session that made the run (one call of bench, or one imported file), a ULID"),
		column("point_id", KindString, "id of the point: hash of what is measured and of all its axes"),
		column("repeat_index", KindInt, "number of this repeat of the point in its session, from 0"),
		column("block_index", KindInt, "number of the block in its session, from 0"),
		column("position_index", KindInt, "position of the run in its block, from 0"),
		column("side", KindString, "base or head, in a session that measures two commits"),
		column("resumes", KindString, "session_id of the interrupted session that this one continues"),
		column("purpose", KindString, "measure, or profile for the pass of a profiler"),
		column("source", KindString, "neurolens, or the format of the file that the run was imported from"),
		derived(column("digest", KindString, "hash of the measured values"))[0],
		column("suite", KindString, "name of the suite, a label of the sweep"),
		column("benchmark", KindString, "name of the benchmark: what is measured"),
		column("variant", KindString, "name of the variant: how it is done"),
		column("executor", KindString, "how the run was launched: builtin command python onnxrt torch tensorrt"),
		column("backend", KindString, "name of the framework, library or device that computes"),
		column("backend_version", KindString, "version of the backend"),
		column("model", KindString, "name of the model"),
		column("model_sha256", KindString, "SHA-256 of the model's file"),
		column("precision", KindString, "number format of the model: fp64 fp32 tf32 fp16 bf16 fp8 int8 int4"),
		column("batch_size", KindInt, "batch size"),
		column("seq_len", KindInt, "sequence length"),
		mapOf("params", KindString, "all other axes, as canonical text"),
		mapOf("applied", KindString, "configuration that was in effect, read back from what ran"),
		mapOf("tags", KindString, "tags, given by the sweep or at import"),
		inUnit("B", column("bytes", KindInt, "bytes moved by one iteration")),
		column("flops", KindReal, "floating-point operations of one iteration"),
		column("items", KindReal, "items processed by one iteration"),
		column("started_at", KindTime, "start of the run, UTC"),
		column("time_source", KindString, "where started_at comes from: clock, file (its modification time), naive (a time without a zone, read as UTC)"),
	}
	for _, stage := range StageNames {
		columns = append(columns, inUnit("ns", column(string(stage)+"_ns", KindInt, "duration of the stage "+string(stage))))
	}
	columns = append(columns,
		column("status", KindString, "how the run ended: ok error timeout crashed oom unsupported skipped output_limit cancelled unkillable lost"),
		column("stage", KindString, "stage in which the run ended, unless it is ok"),
		column("error_kind", KindString, "kind of the error"),
		column("error", KindString, "message of the error"),
		column("exit_code", KindInt, "exit status of the process"),
		column("signal", KindString, "signal that ended the process"),
		listOf("warnings", column("element", KindString, ""), "names of warnings about the measurement"),
		listOf("artifacts", &Column{Name: "element", Kind: KindStruct, Children: []*Column{
			column("kind", KindString, ""), column("path", KindString, ""), column("sha256", KindString, ""), inUnit("B", column("bytes", KindInt, "")),
		}}, "files that the run produced"),
		column("host_id", KindString, "salted hash of the machine-id"),
		column("machine", KindString, "name of the machine: NEUROLENS_MACHINE, or a fingerprint of the hardware"),
		column("hostname", KindString, "host name"),
		column("os", KindString, "operating system"),
		column("os_kernel", KindString, "kernel of the operating system"),
		column("cpu_model", KindString, "model of the CPU"),
		column("cpu_count", KindInt, "number of logical CPUs"),
		inUnit("B", column("memory_bytes", KindInt, "size of the main memory")),
		column("gpu_name", KindString, "name of the first GPU"),
		column("gpu_count", KindInt, "number of GPUs"),
		column("driver_version", KindString, "version of the GPU driver"),
		column("cuda_version", KindString, "CUDA version of the driver"),
		column("python_version", KindString, "version of the interpreter that ran the benchmark"),
		column("git_commit", KindString, "Git commit of the working tree"),
		column("git_branch", KindString, "Git branch of the working tree"),
		column("git_dirty", KindBool, "whether tracked files had uncommitted changes"),
		mapOf("env", KindString, "all facts about the environment, by name"),
		mapOf("env_missing", KindString, "facts that are unknown, each with the reason: absent permission unsupported timeout, or a sentence"),
	)
	columns = append(columns, derived(
		column("metric", KindString, "name of the primary metric; the columns to the right summarize its samples"),
		column("unit", KindString, "unit of the metric"),
		column("better", KindString, "which values are better: lower or higher; NULL if unknown"),
		column("level", KindString, "what one sample measures: iteration process request token interval, mean (of the iterations in a sample)"),
		column("clock", KindString, "clock that timed the samples"),
	)...)
	return newTable("runs", append(columns, derived(summaryColumns()...)...))
}

func samplesTable() *Table {
	return newTable("samples", append([]*Column{
		required(column("run_id", KindString, "id of the run")),
		required(column("metric", KindString, "name of the metric")),
		column("unit", KindString, "unit of the metric"),
		column("better", KindString, "which values are better: lower or higher; NULL if unknown"),
		column("clock", KindString, "clock that timed the samples; samples of different clocks are not comparable"),
		column("level", KindString, "what one sample measures: iteration process request token interval, mean (of the iterations in a sample)"),
		inUnit(UnitOfRow, column("tick", KindReal, "size of one tick, in the unit")),
		listOf("ticks", column("element", KindInt, ""), "raw samples in order, as integer numbers of ticks"),
		inUnit(UnitOfRow, listOf("reals", column("element", KindReal, ""), "raw samples in order, in the unit, if they are not integer numbers of ticks")),
		listOf("warmup_ticks", column("element", KindInt, ""), "warm-up iterations, as integer numbers of ticks"),
		inUnit(UnitOfRow, listOf("warmup_reals", column("element", KindReal, ""), "warm-up iterations, in the unit")),
		inUnit("ns", listOf("at_ns", column("element", KindInt, ""), "start of each sample since the start of the run, unless the order implies it")),
		listOf("iterations_per_sample", column("element", KindInt, ""), "number of iterations in each sample; one element if all are equal"),
	}, derived(summaryColumns()...)...))
}

func opsTable() *Table {
	return newTable("ops", []*Column{
		required(column("run_id", KindString, "id of the run")),
		required(column("op", KindInt, "index of the operator in its run")),
		column("name", KindString, "name of the operator or kernel"),
		column("type", KindString, "type of the operator"),
		column("device", KindString, "device that it ran on"),
		inUnit("ns", column("start_ns", KindInt, "start since the start of the run")),
		inUnit("ns", column("duration_ns", KindInt, "duration of all its calls")),
		column("count", KindInt, "number of calls"),
		listOf("kernels", column("element", KindString, ""), "kernels that it launched"),
		mapOf("counters", KindReal, "hardware counters"),
	})
}

// summaryColumns are the fields of a Summary, in order.
func summaryColumns() []*Column {
	columns := []*Column{column("n_samples", KindInt, "number of samples")}
	for _, c := range [][2]string{
		{"min", "smallest sample"},
		{"max", "largest sample"},
		{"mean", "arithmetic mean"},
		{"stddev", "sample standard deviation"},
		{"p25", "25th percentile (all quantiles are of type 7)"},
		{"p50", "median"},
		{"p75", "75th percentile"},
		{"p90", "90th percentile"},
		{"p95", "95th percentile"},
		{"p99", "99th percentile"},
		{"mad", "median absolute deviation from the median, unscaled"},
	} {
		columns = append(columns, inUnit(UnitOfRow, column(c[0], KindReal, c[1])))
	}
	return append(columns,
		column("log_median", KindReal, "median of the natural logarithms; NULL unless all samples are positive"),
		inUnit(UnitOfRow, column("first_sample", KindReal, "first sample")),
		column("steady_index", KindInt, "index of the first sample of the steady state, from 0; NULL if none was found or looked for"),
		column("summary_version", KindInt, "version of the rules that computed the summary"),
	)
}

func newTable(name string, columns []*Column) *Table {
	t := &Table{Name: name, Columns: columns}
	t.number()
	return t
}

func column(name string, kind Kind, doc string) *Column {
	return &Column{Name: name, Kind: kind, Doc: doc}
}

func listOf(name string, element *Column, doc string) *Column {
	return &Column{Name: name, Kind: KindList, Children: []*Column{element}, Doc: doc}
}

func mapOf(name string, value Kind, doc string) *Column {
	return &Column{Name: name, Kind: KindMap, Doc: doc, Children: []*Column{
		{Name: "key", Kind: KindString, Required: true}, {Name: "value", Kind: value},
	}}
}

func required(c *Column) *Column { c.Required = true; return c }

func inUnit(unit string, c *Column) *Column { c.Unit = unit; return c }

func derived(columns ...*Column) []*Column {
	for _, c := range columns {
		c.Derived = true
	}
	return columns
}
