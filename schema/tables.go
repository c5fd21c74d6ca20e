package schema

// Runs, Samples and Ops are the tables of the store. FORMAT.md lists them; a test holds the two together.
var (
	Runs    = runsTable()
	Samples = samplesTable()
	Ops     = opsTable()
)

func runsTable() *Table {
	columns := []*Column{
		required(column("run_id", KindString, "ULID; its time is started_at cut to milliseconds, or 0")),
		column("session_id", KindString, "ULID of the invocation that made the run"),
		column("point_id", KindString, "what is measured: hash of the identity fields"),
		column("repeat_index", KindInt, "repeat of the point in its session, from 0"),
		column("block_index", KindInt, "block in the session, from 0"),
		column("position_index", KindInt, "position in the block, from 0"),
		column("side", KindString, "base or head in an A/B session"),
		column("resumes", KindString, "session_id of the session that this one goes on from"),
		column("purpose", KindString, "measure or profile"),
		column("source", KindString, "neurolens, or the foreign format the run was read from"),
		derived(column("digest", KindString, "hash of the measured values"))[0],
		column("suite", KindString, "label of the sweep"),
		column("benchmark", KindString, "what is measured"),
		column("variant", KindString, "which way it is done"),
		column("executor", KindString, "how the run was executed: builtin command python onnxrt torch tensorrt"),
		column("backend", KindString, "what computes"),
		column("backend_version", KindString, "its version"),
		column("model", KindString, "name of the model"),
		column("model_sha256", KindString, "hash of the model's file"),
		column("precision", KindString, "number format of the model: fp64 fp32 tf32 fp16 bf16 fp8 int8 int4"),
		column("batch_size", KindInt, "batch size"),
		column("seq_len", KindInt, "sequence length"),
		mapOf("params", KindString, "the other axes, in canonical text"),
		mapOf("applied", KindString, "configuration read back from what ran"),
		mapOf("tags", KindString, "tags of the sweep"),
		inUnit("B", column("bytes", KindInt, "bytes moved by one iteration")),
		column("flops", KindReal, "floating-point operations of one iteration"),
		column("items", KindReal, "items processed by one iteration"),
		column("started_at", KindTime, "start of the run, UTC"),
		column("time_source", KindString, "where started_at comes from: clock file naive"),
	}
	for _, stage := range StageNames {
		columns = append(columns, inUnit("ns", column(string(stage)+"_ns", KindInt, "duration of stage "+string(stage))))
	}
	columns = append(columns,
		column("status", KindString, "ok error timeout crashed oom unsupported skipped output_limit cancelled unkillable lost"),
		column("stage", KindString, "where the run ended, unless ok"),
		column("error_kind", KindString, "class of the error"),
		column("error", KindString, "what went wrong"),
		column("exit_code", KindInt, "exit status of the process"),
		column("signal", KindString, "signal that ended the process"),
		listOf("warnings", column("element", KindString, ""), "words of warning about the measurement"),
		listOf("artifacts", &Column{Name: "element", Kind: KindStruct, Children: []*Column{
			column("kind", KindString, ""), column("path", KindString, ""), column("sha256", KindString, ""), inUnit("B", column("bytes", KindInt, "")),
		}}, "files the run produced"),
		column("host_id", KindString, "salted hash of the machine-id"),
		column("machine", KindString, "NEUROLENS_MACHINE, else a fingerprint of the hardware"),
		column("hostname", KindString, "name of the host"),
		column("os", KindString, "operating system"),
		column("os_kernel", KindString, "its kernel"),
		column("cpu_model", KindString, "model of the CPU"),
		column("cpu_count", KindInt, "logical CPUs"),
		inUnit("B", column("memory_bytes", KindInt, "main memory")),
		column("gpu_name", KindString, "name of the first GPU"),
		column("gpu_count", KindInt, "GPUs"),
		column("driver_version", KindString, "version of the GPU driver"),
		column("cuda_version", KindString, "CUDA version of the driver"),
		column("python_version", KindString, "version of the interpreter that ran the benchmark"),
		column("git_commit", KindString, "commit of the working tree"),
		column("git_branch", KindString, "its branch"),
		column("git_dirty", KindBool, "whether tracked files were changed"),
		mapOf("env", KindString, "the whole manifest of the environment"),
		mapOf("env_missing", KindString, "facts that are not known: absent permission unsupported timeout, or the reason"),
	)
	columns = append(columns, derived(
		column("metric", KindString, "the primary metric; the summary to the right is of its samples"),
		column("unit", KindString, "its unit"),
		column("better", KindString, "lower or higher; NULL not known"),
		column("level", KindString, "what a sample measures: iteration process request token interval, mean (of the iterations in a sample)"),
		column("clock", KindString, "clock of the samples"),
	)...)
	return newTable("runs", append(columns, derived(summaryColumns()...)...))
}

func samplesTable() *Table {
	return newTable("samples", append([]*Column{
		required(column("run_id", KindString, "the run")),
		required(column("metric", KindString, "name of the metric")),
		column("unit", KindString, "its unit"),
		column("better", KindString, "lower or higher; NULL not known"),
		column("clock", KindString, "clock of the samples; different clocks are not comparable"),
		column("level", KindString, "what a sample measures: iteration process request token interval, mean (of the iterations in a sample)"),
		inUnit(UnitOfRow, column("tick", KindReal, "size of a tick in the unit")),
		listOf("ticks", column("element", KindInt, ""), "raw samples in order, as integers of a tick"),
		inUnit(UnitOfRow, listOf("reals", column("element", KindReal, ""), "raw samples in order, in the unit, where they are not integers of a tick")),
		listOf("warmup_ticks", column("element", KindInt, ""), "warm-up iterations, as ticks"),
		inUnit(UnitOfRow, listOf("warmup_reals", column("element", KindReal, ""), "warm-up iterations, in the unit")),
		inUnit("ns", listOf("at_ns", column("element", KindInt, ""), "start of each sample since the run began, where the order does not imply it")),
		listOf("iterations_per_sample", column("element", KindInt, ""), "iterations in each sample; one element where all are equal"),
	}, derived(summaryColumns()...)...))
}

func opsTable() *Table {
	return newTable("ops", []*Column{
		required(column("run_id", KindString, "the run")),
		required(column("op", KindInt, "index of the operator in its run")),
		column("name", KindString, "its name"),
		column("type", KindString, "its type"),
		column("device", KindString, "where it ran"),
		inUnit("ns", column("start_ns", KindInt, "start since the run began")),
		inUnit("ns", column("duration_ns", KindInt, "duration")),
		column("count", KindInt, "calls"),
		listOf("kernels", column("element", KindString, ""), "kernels it launched"),
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
		{"p25", "quartile (type 7, as all quantiles)"},
		{"p50", "median"},
		{"p75", "quartile"},
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
		column("steady_index", KindInt, "first sample of the steady state, where it was looked for"),
		column("summary_version", KindInt, "version of the rules behind the summary"),
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
