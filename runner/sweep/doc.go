// Package sweep reads a sweep file: a YAML file that says what to measure. It turns the file into points, and puts their
// launches in order. It starts no process and opens no other file. When expressions ask about the machine, the answers come
// from Overrides.Facts.
//
//	suite: attention                  # default: the name of the file, without its extension
//	backend: onnxrt
//	model: ./models/encoder.onnx
//	grid:                             # every combination is a point: 3 x 2 x 2
//	  batch_size: [1, 2, 4]
//	  seq_len: [64, 128]
//	  precision: [fp32, fp16]
//	repeats: 5                        # runs per point; default 1, with command 10
//	tags: {experiment: smoke}
//
// Keys lists every key with its type and meaning. `neurolens bench --schema` prints that list as a JSON Schema.
//
// # What runs
//
//	key          what runs                                                           example
//	command      any program, without a shell; each process is one iteration         command: [prog, --batch, "{batch_size}"]
//	file         a class or function in a Python file, run by a Python worker        file: bench.py:Name
//	backend      a model, run by builtin, onnxrt, torch or tensorrt                  backend: onnxrt
//
// A pipe or another feature of a shell needs `command: [sh, -c, "a | b"]` or `shell: true`. If a Python file is given without
// a name, it must contain exactly one benchmark. A model is a file, builtin:NAME, or {name: NAME, path: FILE}. The backend
// builtin needs no model if `benchmark` names one of its operations (LayerNorm GELU Swish MSE CrossEntropy). Paths are relative
// to the working directory.
//
// The name of a model is the one that the file gives, else the base name of its file. The name of a benchmark is the key
// `benchmark`, else the base name of the program, the Python file with its :Name, or the name of the model.
//
// With `command`, backend is only a label. With `file` it is a label too, but a label that names a device (cpu, cuda, rocm,
// mps) is checked: a point that ran on another device is unsupported.
//
//	build: [[make, -C, "ops/{variant}"]]         # a list of commands, or one command; runs before anything is measured
//	share: [data]                                # paths ignored by git that both sides of a comparison of two commits need
//
// A build command runs once for all points for which its words and its cwd are the same, and once on each side of a
// comparison. It gets the variables of env that contain no {axis}. Whatever differs between points must be in its words.
//
// # Points
//
// `grid` holds the axes. A single value counts as a list of one. The axes batch_size (bs, batch), seq_len (seq,
// sequence_length), precision (prec, dtype), backend and model are stored in the column of that name. Every other axis is a
// parameter. `params` holds parameters with one value, which may be a list. `benchmark`, `model`, `backend` and `variant` may
// be lists as well: these are the outermost axes.
//
//	zip: [hidden, heads]              # axes that are paired, with the same number of values; or a list of such lists.
//	                                  # A value may be repeated, a combination may not. With -P for some of the axes,
//	                                  # the combinations that have the given values remain.
//	scale:                            # axes with one value that depends on the machine
//	  size: {base: 4096, by: gpu.memory, steps: {16GiB: 1, 8GiB: 0.5, 4GiB: 0.25, 0: 0.1}}
//	include:                          # more points; an axis that an entry does not name takes all its values
//	  - {batch_size: 64, precision: fp16}
//	exclude:                          # points to leave out, also from include
//	  - {seq_len: 128, precision: [fp32, fp64]}
//
// An axis may be a map from its values to the arguments that they stand for:
//
//	command: [train, --model, mlp, "{backend}"]
//	grid: {backend: {cpu: [], mps: [--mps]}}
//
// A word of command, wrapper or build that is exactly {backend} is replaced by these arguments: none, one or several.
// Everywhere else, {backend} is the value (cpu, mps). The value is what is stored, and what -P backend=mps and include name.
//
//	skip_if:                          # points that are planned but not run, with the reason
//	  - {when: backend == "cuda" and gpu.count == 0, reason: CUDA not available}
//
// For scale, the largest step that the fact reaches applies. The value of the axis is the base times the factor of that step,
// rounded down if the base is a whole number. This value identifies the point, and is used for {size} and include. Each run
// stores the base as the fact runner.scale.size. If no step is reached, or the fact is NULL, the sweep is refused.
// -P size=512 replaces the axis, and then no fact is needed.
//
//	work: {items: 1, bytes: 2 * 4 * batch_size * dim, flops: 2 * dim ** 2}
//
// work says how much one iteration does. Amounts that the benchmark reports itself take precedence. With this key, runs have
// the rates throughput, bandwidth and compute in addition to their latencies. An amount that is NULL at a point is left out
// there. Runs of an earlier session count only if their work was the same.
//
// skip_if is evaluated for each point, after exclude; the first entry that is true applies. A skipped point is in
// Sweep.Skipped. It is listed once per side, before all other launches, and belongs to no block. Package expression
// describes the expressions. They may name the fields of a point, its parameters, seed, and facts about the machine (package
// fact). Only facts that an expression names are read. If a value that an expression needs is NULL, that is an error.
// See docs/expressions.md.
//
// The points of the grid come first, in the order of the file, with the last axis changing fastest. The points of include
// follow. Points that will be compared run next to each other: those that differ only in the axis of `baseline: axis=value`,
// or in variant if there is no baseline. See Sweep.Launches.
//
// # Layers
//
//	benchmarks:                       # run the sweep once for each name; the name becomes the benchmark
//	  GELU:
//	  Loss: {grid: {loss: [mse, cross_entropy]}}
//	variants:                         # and for each of these; the name becomes the variant
//	  PyTorch: {backend: torch, file: "ops/pytorch.py:{benchmark}"}
//	  CUDA: {backend: cuda, file: "ops/cuda.py:{benchmark}", build: [[make, cuda]]}
//	presets:
//	  quick: {iterations: 5, grid: {batch_size: 16}, variants: {CUDA: {warmup: 1}}}
//
// A benchmark or a variant may set keys of its own, which replace those of the sweep. Keys for the whole sweep (suite, tags,
// repeats, order, baseline ...) are not allowed there. A preset may set every key, also under benchmarks and variants. It
// applies if --preset names it. --set KEY=VALUE overrides everything: --set timeouts.measure=1m.
//
// Layers, from the weakest to the strongest: the sweep, the benchmark, get_config of a Python benchmark, the variant, the
// presets (a later one overrides an earlier one), the command line. Maps are merged. Lists and single values are replaced. An
// axis is replaced as a whole. So is another way to say the same: iterations replaces rel_error, file replaces command. Each
// run stores which layer its settings come from.
//
// -P variant=CUDA and -P benchmark=GELU choose among the names. If only some variants have an axis, -P replaces it in those
// alone, and entries of include and exclude that name the axis apply to those alone. The points of a block have equal values
// in all axes that every variant of the block has. An axis of one variant alone, such as a tile size, may differ within a
// block.
//
// # Launching
//
//	warmup: 10                        # unmeasured iterations at the start of each run
//	iterations: 100                   # exact; default: 100, or until the budget is spent
//	budget: 10s                       # when it is spent, the measurement ends normally
//	                                  # warmup, iterations and budget (in seconds) may be expressions: max(10, 1e6 / dim)
//	timeouts: {build: 10m, setup: 30s, warmup: 15s, measure: 15s, validate: 15s, teardown: 10s, profile: 180s, suite: 4h}
//	timeout: 15s                      # the same as timeouts.measure
//	timeout_multiplier: 1
//	env: {OMP_NUM_THREADS: "{threads}"}
//	cwd: build/{variant}
//	wrapper: [numactl, "--cpunodebind={node}"]   # goes before the command
//
// With command, an iteration is a process. The default is 10 runs per point, or 1 if discover has found it. Each run has as many processes as fit in a
// budget of 300ms, at least one. Many short runs are better than one long run, because a change must stand out from the
// differences between runs, and short runs are spread over the session. One process warms up before the first run of a point
// in a session. `warmup` sets a warm-up for every run instead.
//
// A timeout kills. If timeouts.measure is not given, it is at least 5s longer than the budget. If both are given, it must be
// longer than the budget. After timeouts.suite, counted from the first launch, nothing more is launched, but the current run
// continues. timeout_multiplier multiplies every deadline. With command, the deadlines for warmup and measure are 10m by
// default and apply to each process; the deadline for build applies to each of its commands.
//
// {axis} is replaced by the value at the point, as it is written (1e3, 1.0, float32). This works in benchmark, model, backend,
// variant, command, wrapper, file, build, env, cwd, python, provider, device and threads. For a model, the value is its file.
// {seed} is the seed. Write {{ and }} for literal braces. The names benchmark, model, backend and variant may contain axes
// that have no braces themselves: `benchmark: "{chapter}/{example}"`. The values of other axes are data: the name of an axis
// in braces is refused there, all other braces stay as they are. suite, tags and share are the same for all points, so {name}
// is refused there.
//
// A Python file gets the axes as arguments, with their YAML types (1.0 is a float, "64" is text), so it needs no {axis}. It
// gets a precision under its canonical name. `repeats` and `tags` may also be set in grid, where they take precedence.
//
//	order: interleaved                # or random (blocks and their points are shuffled), or sequential (point by point)
//	rel_error: 1%                     # instead of iterations: repeat until the result is this precise or the budget is spent
//	max_repeats: 20                   # the limit for rel_error; default 20
//
// With rel_error, a point is repeated until the 95 % confidence interval of its location is narrow enough three times in a
// row, counted from 5 runs on. That takes at least 7 runs, unless max_repeats is less. One narrow interval is not enough: an
// interval that is checked after every run is sometimes too narrow by chance.
//
// # Programs and skipping
//
//	setup: make data                  # runs once before the processes of a run; a text, or a list of words
//	prepare: rm -rf cache             # runs before each process
//	cleanup: rm -rf data              # runs once after the processes, even if the run failed
//	stdin: big.txt                    # standard input of each process; becomes a parameter of the point
//	shell: true                       # command is one text that sh runs; its start time is subtracted; becomes a parameter
//	ignore_exit: [1, 3]               # exit statuses that do not count as failures; true: all
//
// docs/programs.md explains these keys.
//
//	skip_exit: 77                     # the exit status with which a command says that it cannot run here
//	optional: true                    # a missing file, program or class, or an ImportError of the file, is not an error
//
// Such a run is skipped, with the reason, and does not count as a failure. If standard output or standard error ends with a
// line `SKIPPED: reason`, that is the reason; with such a line any exit status other than 0 skips the point. A Python benchmark
// skips its point with an exception (unittest.SkipTest, that of pytest.skip, one whose text begins with SKIPPED:, or
// NotImplementedError before the first iteration has ended), or with such a line followed by an exit. Neither needs a key. Samples taken before that are dropped, and the point is not launched again in the session.
//
// # Metrics
//
//	metrics:                          # metrics that a program prints, by name
//	  accuracy: {from: stdout, regex: 'accuracy ([0-9.]+)', unit: "%", better: higher, take: last, optional: true}
//	  loss: {from: "out-{n}.json", jq: .loss}
//
//	  results: {from: stdout, read: go-bench}
//
// An entry says where to find the number, and how: see package output. A command is read once per process, a Python
// benchmark once per run. An axis that appears in from still has to be used by the command, because it must change what runs.
// A metric that cannot be read makes the run an error; an optional metric is then NULL, with the reason. The metrics of a
// point are stored with its runs, and earlier runs count only if theirs are equal.
//
// read is for a command that is itself a benchmark tool. Each result in its output becomes a run, in the same way as with
// ingest, but with the environment of the session and the fields of the point. If a result and the point both have a value
// and the two differ, the launch is an error. Each run has one process, and no warm-up unless warmup is given. The name of
// such an entry appears only in messages.
//
// # Files
//
//	artifacts: [out/*.json, "{run_dir}/trace*", stdout]   # files to keep with each run
//	artifacts: {files: [out], limit: 1GiB}                # a folder; files up to 1GiB instead of 16MiB
//
// {run_dir} is a private directory of each run. It works in command, env, artifacts, and in from of metrics and output.
// Without artifacts, only the output of failed runs is kept; with an empty list, nothing. See docs/artifacts.md.
//
// # Comparing
//
//	thresholds:                       # the smallest changes that count, by metric
//	  latency: 5%                     # a share of the baseline's value
//	  peak_memory: {abs: 64 MiB}      # an amount; without a unit, in the stored unit (ns, B ...)
//	  rmse: {abs: 1e-3}
//
// Thresholds are stored with every run. They do not affect what is measured, so they may change when a sweep is continued.
// A benchmark or a variant may set its own, metric by metric.
//
// # Correct results
//
//	output: {from: stdout, read: text}       # where a command writes the numbers that it computes
//	reference: {variant: plain, rtol: 1e-3}  # the output must equal that of the point with these values
//	reference: {from: "{n}.npy"}             # or the content of a file
//	deterministic: true                      # all runs of a point must have the same output, bit by bit
//	allow_failed: 1%                         # share, or number, of requests of a server that may fail in a run; default: none
//
//	check:                                   # conditions for the metrics of a run
//	  - accuracy >= 0.80
//	derived:                                 # metrics that are computed from others, sample by sample
//	  training_time: {expr: cpu_user + cpu_system, unit: s, better: lower}
//	primary: training_time                   # the metric that tables show and comparisons compare; default: latency
//
// A run with a wrong output, or that does not meet a condition, is an error in the stage validate. docs/checks.md explains what
// is compared, and how. Expressions compute in base units: s, B, J, ratio.
//
// # Controls
//
//	calibrate: true                   # three points of fixed work, in every repeat
//	control: variant=baseline         # points that the change under test cannot affect; or a list
//
// A control shows how fast the machine was. If a control changes, the machine, the day or the power supply changed, not the
// code. So the ratio of a point to its controls can be compared between machines and days. Runs of controls have the fact
// runner.control (`true` in env). It does not identify the point, and a session continues from runs without it.
//
// `calibrate` adds the benchmark calibration with a variant for each kernel. integer-v1 is a chain of multiplications.
// memory-v1 reads 128 MiB, which is more than most last-level caches hold. branch-v1 has branches that no predictor can
// foresee. These points are always controls. They run in this program, 100 iterations of 0.15 to 0.3 ms each, whatever the
// file and the command line say, so they are the same points in every sweep. Each run measures for 15 to 30 ms; memory-v1
// needs 70 ms more for its buffer. A kernel never changes under its name: a new one gets a new version. The runs are spread
// evenly over each repeat, in changing order, and run on both sides of a comparison of two commits. --targets does not remove
// them, and `--targets calibration` runs them alone.
//
// `control` names points by the value of an axis, as baseline does; benchmark is always allowed. A point is a control if any
// entry matches.
//
// # Python
//
// A Python worker runs file, onnxrt, torch and tensorrt. A key that has no effect on anything in the sweep is refused.
// cold_start works for everything. A command uses the seed if it contains {seed}.
//
//	file: bench.py
//	python: .venv/bin/python
//	seed: 42
//	profile: torch                    # an extra pass; [{tool: torch, timeout: 2m}] sets its deadline; nsys and ncu are not run
//	telemetry: {hz: 10, energy: true} # stored with the runs; no readings are taken
//
// provider, device and threads may be axes too. They are then parameters of the point, with the same effect as the keys.
//
// # Models
//
//	model: net.onnx
//	backend: onnxrt
//	inputs:                           # what inputs hold, by their names
//	  ids: {low: 0, high: 50257}      # uniform integers, without the high end
//	  mask: 1                         # one value; also true and false
//	  steps: "{steps}"                # the value of an axis
//	  image: batch.npy                # or {file: all.npz, name: image}
//	  noise: {mean: 0, std: 1}        # normal
//	  grid: {value: 0.5, shape: [1, "{n}"]}
//	session:                          # options of ONNX Runtime, by its own names
//	  graph_optimization_level: basic
//	  config_entries: {session.intra_op.allow_spinning: 0}
//
// An axis with the name of an input, a free dimension or an option of the session is its value. docs/models.md says what an
// input holds of which the sweep says nothing.
//
// get_config of a Python benchmark may set iterations, warmup, timing, min_run_time_ms, seed and reproducible. Its values
// override the sweep and its benchmarks, but not a variant, a preset or the command line; with cold_start its warmup is
// ignored. Its iterations and warmup are then stored as applied. mode is another name for timing, with custom for auto and
// pytorch for torch_timer. deterministic means reproducible. These are always fulfilled: enable_memory_tracking,
// enable_cleanup, device, use_subprocess, and percentiles among 25 50 75 90 95 99. Deadlines (setup_timeout_seconds ...,
// timeout_multiplier) apply where they are shorter than those of the sweep. Any other key has no effect, which is a warning and a
// fact with its name and, if there is one, the key of this file to use instead. If get_config returns an object, only attributes
// that differ from a new object of its class count as set.
//
// # Values
//
// Points are identified by canonical text: 1.0 is 1, 1e3 is 1000, float32 is fp32, lists are JSON. What runs gets the value as
// it is written. Two spellings of one value are the same point, and refused within one axis.
//
// Values that YAML would change silently are refused: leading zeros, digits with _, hexadecimal numbers, numbers beyond 64
// bits, nan, and fractions that end in a zero, such as 3.10 (but not 1.0). In quotes they are text.
//
// The values of -P are read in the same way, except that the shell has removed the quotes. So a value is text if the file has
// the same spelling as text, or if all values of that axis in the file are text: with `python: ["3.9", "3.10"]` in the file,
// -P python=3.10 is the text "3.10". Otherwise write -P 'python="3.10"'.
//
// # What is refused
//
// Reading stops at the first error, with `file:line: what is wrong` and what to do. Errors are:
//
//   - an unknown or duplicate key, a value of the wrong type, an empty list, a text where a list of words is needed
//   - a value or a point that appears twice, two models of one name
//   - an axis named like a column that is not an axis, an axis that the command does not use
//   - an exclude that matches no point, a key that has no effect on what runs, rel_error together with iterations
//   - more than 100,000 launches, which is checked before anything is expanded
//   - merge keys, tags, a second document, files larger than 16 MiB, aliases that expand to more than 300,000 values
package sweep
