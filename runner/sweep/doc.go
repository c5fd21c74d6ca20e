// Package sweep reads a sweep file: YAML to the points that it stands for, and to the order in which they are to be
// launched. It starts no process and opens no file but the one it is
// given; what expressions ask about the machine is asked through Overrides.Facts.
//
//	suite: attention                  # default: the file's name without its extension
//	backend: onnxrt
//	model: ./models/encoder.onnx
//	grid:                             # every combination is a point: 3 x 2 x 2
//	  batch_size: [1, 2, 4]
//	  seq_len: [64, 128]
//	  precision: [fp32, fp16]
//	repeats: 5                        # runs of each point; 1 by default, with command 10
//	tags: {experiment: smoke}
//
// Keys lists every key with what it takes and says; `neurolens bench --schema` prints that as a JSON Schema.
//
// # What runs
//
// The key that is there decides. `command: [prog, --batch, "{batch_size}"]` is any program, started without a shell,
// one process an iteration; a line for a shell is `command: [sh, -c, "a | b"]`. `file: bench.py:Name` is a Python file and the class or function in it, run by a Python
// worker; without a name, the only one that fits. Else `backend` says builtin, onnxrt, torch or tensorrt, and `model`
// is a file, builtin:NAME, or {name: NAME, path: FILE}; the backend builtin needs no model where `benchmark` names one
// of its operations (LayerNorm GELU Swish MSE CrossEntropy). Paths are relative to the working directory. The model's
// name is its own, else the file's base name; the benchmark's is `benchmark`, else the program's base name, that of
// the Python file with its :Name, or the model's. With `command` and `file`, backend is a word to record; with `file`, one
// that names a device (cpu, cuda, rocm, mps) is read back from what ran, and a point that ran elsewhere is unsupported.
//
//	build: [[make, -C, "ops/{variant}"]]         # argument lists, or one; run before anything is measured
//	share: [data]                                # ignored paths that a comparison of two commits needs on both sides
//
// A command of build runs once for all points at which it reads the same, in the same cwd, and once on each side of a
// comparison. Of env it sees the variables in which no {axis} stands: what differs from point to point belongs into
// its words.
//
// # Points
//
// `grid` holds the axes; a value stands for a list of one. batch_size (bs, batch), seq_len (seq, sequence_length),
// precision (prec, dtype), backend and model fill the column of that name; any other axis is a parameter. `params`
// are parameters with one value, which may be a list. `benchmark`, `model`, `backend` and `variant` may be lists too: outermost axes.
//
//	zip: [hidden, heads]              # axes that move together, with equally many values; or a list of such lists.
//	                                  # A value may be there again, but no combination. -P of some of them chooses
//	                                  # the combinations that have its values
//	scale:                            # axes whose one value depends on the machine
//	  size: {base: 4096, by: gpu.memory, steps: {16GiB: 1, 8GiB: 0.5, 4GiB: 0.25, 0: 0.1}}
//	include:                          # further points; axes that an entry does not name take all their values
//	  - {batch_size: 64, precision: fp16}
//	exclude:                          # points that are not to run; it has the last word, over include too
//	  - {seq_len: 128, precision: [fp32, fp64]}
//
// An axis may be a map from its values to the arguments that they stand for:
//
//	command: [train, --model, mlp, "{backend}"]
//	grid: {backend: {cpu: [], mps: [--mps]}}
//
// A word of command, wrapper or build that is {backend} and nothing else becomes these arguments, none or several.
// Elsewhere {backend} is the value (cpu, mps), and so it is stored; -P backend=mps and include name the value.
//
//	skip_if:                          # points that are planned and not run, with the reason
//	  - {when: backend == "cuda" and gpu.count == 0, reason: CUDA not available}
//
// Of the steps of scale the largest amount counts that the fact reaches. The value is the base times its factor, without a fraction
// where the base has none, and is the value of the axis in all that follows: what a point is known by, {size}, include.
// Each run has the base as the fact runner.scale.size. Where no step is reached, and where the fact is NULL, the sweep is refused; -P
// size=512 replaces the axis, and asks for no fact.
//
//	work: {items: 1, bytes: 2 * 4 * batch_size * dim, flops: 2 * dim ** 2}
//
// work is what one iteration does, by expressions. What the benchmark itself states outranks it. Runs of a sweep with this key have
// the rates throughput, bandwidth and compute beside their latencies; without it runs stay as they are. An amount that is NULL at a
// point is left out there. Runs of an earlier session count only if their work was the same.
//
// skip_if is looked at point by point, after exclude; its first entry whose expression is true counts. A point that is
// skipped is in Sweep.Skipped, is launched once a side before all others, and takes part in no block. What an expression
// may say is in package expression. Here it names the fields of a point, its parameters, seed, and facts about the machine
// (package fact), which Overrides.Facts answers: a sweep asks for those alone that stand in an expression. What is
// NULL at a point, and is needed, is an error. docs/expressions.md explains all that.
//
// The points of the grid come first, in the order written, the last axis moving fastest, then those of include. Points
// that are to be compared run next to one another: those which differ only in the axis that `baseline: axis=value`
// names, else in variant. See Sweep.Launches.
//
// # Layers
//
//	benchmarks:                       # the sweep once for each name, which is the benchmark
//	  GELU:
//	  Loss: {grid: {loss: [mse, cross_entropy]}}
//	variants:                         # and for each of these, which is the variant
//	  PyTorch: {backend: torch, file: "ops/pytorch.py:{benchmark}"}
//	  CUDA: {backend: cuda, file: "ops/cuda.py:{benchmark}", build: [[make, cuda]]}
//	presets:
//	  quick: {iterations: 5, grid: {batch_size: 16}, variants: {CUDA: {warmup: 1}}}
//
// A benchmark or a variant has keys of its own, each of which takes the place of the sweep's: any but those that hold for
// the whole sweep (suite, tags, repeats, order, baseline ...). A preset may have every key, also under benchmarks and
// variants; it counts where --preset names it. --set KEY=VALUE puts a value over all these: --set timeouts.measure=1m.
//
// A later layer wins: the sweep, the benchmark, what get_config of a Python benchmark says, the variant, the preset (a
// later one over an earlier one), the command line. Maps merge, lists and scalars replace; an axis is replaced whole, and
// so is what says the same in another way: iterations replaces rel_error, file replaces command. Which layer each setting
// comes from is stored with the runs.
//
// -P variant=CUDA and -P benchmark=GELU choose among the names. An axis that some of them have is replaced in those alone,
// and an entry of include or exclude that names one is about those alone. The points of a block agree in the axes that all
// of its variants have: what one variant alone has, as a tile size, tells the members of a block apart.
//
// # Launching
//
//	warmup: 10                        # iterations before the measurement of each run
//	iterations: 100                   # exact; not given: 100, or until the budget is spent
//	budget: 10s                       # ends the measurement well
//	                                  # warmup, iterations and budget (in seconds) may be expressions: max(10, 1e6 / dim)
//	timeouts: {build: 10m, setup: 30s, warmup: 15s, measure: 15s, validate: 15s, teardown: 10s, profile: 180s, suite: 4h}
//	timeout: 15s                      # timeouts.measure alone
//	timeout_multiplier: 1
//	env: {OMP_NUM_THREADS: "{threads}"}
//	cwd: build/{variant}
//	wrapper: [numactl, "--cpunodebind={node}"]   # goes before the command
//
// With command, an iteration is a process. There are 10 runs of each point by default, and each has as many processes as
// fit in a budget of 300ms, at least one: what runs differ by is what a change has to stand out from, and runs are
// spread over the session. One process warms up before the first run of a point in a session; `warmup` gives each run its
// own.
//
// Timeouts kill. A deadline of measure that is not given lies at least 5s above the budget; one that is given and is
// not above a budget that is given is refused. After timeouts.suite, which counts from the first launch, nothing more
// is launched; what is running goes on. timeout_multiplier multiplies every deadline. With command, the deadlines of
// warmup and measure are 10m by default and hold for each process; that of build holds for each of its commands.
//
// In benchmark, model, backend, variant, command, wrapper, file, build, env, cwd, python, provider, device and threads, {axis} is the value at the point as
// it is written (1e3, 1.0, float32), of a model its file, and {seed} the seed; {{ and }} are braces. A Python file is
// given the axes as arguments with the types that they have in YAML (1.0 is a float, "64" is text), so that none need
// stand in it; a precision is given by its canonical name. The words of the top may name axes that have no braces
// themselves: `benchmark: "{chapter}/{example}"`. Values of other axes are data: a {name} in them that is an axis of the
// sweep is refused, all other braces stay. suite, tags and share are the same for all points: {name} is refused there. `repeats` and `tags` may stand in grid as well and win there.
//
//	order: interleaved                # or random (blocks and their members are shuffled), or sequential (point by point)
//	rel_error: 1%                     # instead of iterations: go on until the result is as precise, or the budget is spent
//	max_repeats: 20                   # what rel_error may take; 20 by default
//
// With rel_error a point has more runs until the 95 % interval of its location is as narrow three times in a row, from 5 runs
// on: 7 at least, unless max_repeats is less. An interval that is looked at after every run and believed at once is too narrow.
//
// # Skipping
//
//	setup: make data                  # once before the processes of a run of a command; a text, or a list of words
//	prepare: rm -rf cache             # before each process
//	cleanup: rm -rf data              # once after them, however the run ended
//	stdin: big.txt                    # what each process reads; a parameter of the point
//	shell: true                       # command is a text, which sh runs, less the time that it takes to start; a parameter too
//	ignore_exit: [1, 3]               # exit statuses that are no failure; true: all
//
// docs/programs.md has the rest of these.
//
//	skip_exit: 77                     # the exit status by which a command says that it cannot run here
//	optional: true                    # no such file, program or class, an ImportError of the file: no error
//
// Such a run is skipped with the reason, which is no failure. Where standard output, or standard error, ends in a line
// `SKIPPED: reason`, that is the reason. A Python benchmark skips its point by an exception (unittest.SkipTest, that of
// pytest.skip, NotImplementedError before an iteration has ended), or by such a line and an exit. Neither needs a key. What was measured until then
// is dropped, and the point is not launched again in its session.
//
// # Metrics
//
//	metrics:                          # of what a program writes; by name
//	  accuracy: {from: stdout, regex: 'accuracy ([0-9.]+)', unit: "%", better: higher, take: last, optional: true}
//	  loss: {from: "out-{n}.json", jq: .loss}
//
//	  results: {from: stdout, read: go-bench}
//
// An entry says where the number stands, and how it is found there: see package extract. It is read once for each process of a
// command, and once for a run in Python. A command need not use an axis that stands in from: the axis has to change what
// is run. A metric that cannot be read makes the run an error; an optional one is NULL, with the reason. The metrics of a
// point are stored with its runs, and runs count as equal where they agree in them.
//
// read is for a command that is itself a benchmark tool: each result in its output is a run, as ingest makes it of that
// format, under the environment of the session, with what the point says added to it. A value that both have, and that
// differs, makes the launch an error. Each run has one process, and no warm-up unless it is given. The name of such an entry is
// for messages alone.
//
// # Files
//
//	artifacts: [out/*.json, "{run_dir}/trace*", stdout]   # files that a run leaves, and that are kept with it
//	artifacts: {files: [out], limit: 1GiB}                # a folder; no file above that, in place of 16MiB
//
// {run_dir} is a directory that each run has for itself: in command, env, artifacts, and from of metrics and output. Without
// artifacts what a failed run printed is kept, and with an empty list nothing. docs/artifacts.md has the rest.
//
// # Comparing
//
//	thresholds:                       # differences that are none, by metric
//	  latency: 5%                     # a share of the base's value
//	  peak_memory: {abs: 64 MiB}      # an amount; without a unit in the stored one (ns, B ...)
//	  rmse: {abs: 1e-3}
//
// They are stored with every run and do not change what is measured: a sweep that goes on may have others. A benchmark or a
// variant may have its own, metric by metric.
//
// # Right results
//
//	output: {from: stdout, read: text}       # of a command: where the numbers stand that it computes
//	reference: {variant: plain, rtol: 1e-3}  # the output of a point has to be that of the point with these values
//	reference: {from: "{n}.npy"}             # or what a file holds
//	deterministic: true                      # every run of a point has the same output, bit by bit
//
//	check:                                   # conditions that the metrics of a run have to meet
//	  - accuracy >= 0.80
//	derived:                                 # metrics that are computed of others, sample by sample
//	  training_time: {expr: cpu_user + cpu_system, unit: s, better: lower}
//	primary: training_time                   # the metric that tables show and comparisons compare; latency by default
//
// A run whose output is wrong, or that does not meet a condition, is an error of the stage validate. docs/checks.md says what
// is compared, and how. Expressions compute in base units: s, B, J, ratio.
//
// # Controls
//
//	calibrate: true                   # three points of fixed work, in every repeat
//	control: variant=baseline         # points that the change under test cannot touch; or a list
//
// A control says how fast the machine was. Where it moves, the machine, the day or the power supply moved, and not the
// code; so that machines and days can be compared by the ratio of a point to its controls. The runs of controls have
// the fact runner.control (`true` in env). It is no part of what a point is, and a session goes on from runs without it.
//
// `calibrate` adds the benchmark calibration, with a variant for each kernel: integer-v1, a chain of multiplications;
// memory-v1, reads of 128 MiB, which is more than most last-level caches hold; branch-v1, branches that no predictor
// foresees. They are controls by themselves. They run in this program, 100 iterations of 0.15 to 0.3 ms each, whatever
// the file and the command line say of launching, and so they are the same points in every sweep. A run of one takes 15
// to 30 ms of measuring, and that of memory-v1 70 ms more for its buffer. What a name stands for never changes: another
// kernel will have another version. They lie evenly among the other launches of each repeat, take turns, and run on
// both sides of a comparison of two commits. --targets leaves them, and `--targets calibration` leaves nothing else.
//
// `control` names points by the value of an axis, as baseline does; benchmark may always be named. Several are joined
// by or.
//
// # Python
//
// A Python worker runs file, onnxrt, torch and tensorrt. A key that nothing takes of what runs is refused; cold_start
// is for all, and a command takes the seed where {seed} stands in it.
//
//	file: bench.py
//	python: .venv/bin/python
//	seed: 42
//	profile: torch                    # a pass of its own; [{tool: torch, timeout: 2m}] has a deadline of its own
//
// provider, device and threads may be axes too; then they are parameters of the point, and take effect as the keys do.
//
// What get_config of a Python benchmark gives (iterations, warmup, timing, min_run_time_ms, seed, reproducible) outranks
// the sweep and its benchmarks, and not a variant, a preset or the command line; with cold_start its warmup does not count. Its iterations and warmup are then
// among what was applied. Of mode, timing's other name, custom is auto and pytorch torch_timer; deterministic is
// reproducible. These are fulfilled in any case: enable_memory_tracking, enable_cleanup, use_subprocess, and percentiles
// among 25 50 75 90 95 99. Every other key ends the run in setup with its name and, where there is one, the key of this
// file to use instead: deadlines (setup_timeout_seconds ...), profilers (enable_profiling, enable_nsys ...), thresholds,
// other percentiles and what nobody knows. Of an object only what differs from a new one of its class counts as given.
//
// # Values
//
// What a point is known by is canonical text: 1.0 is 1, 1e3 is 1000, float32 is fp32, lists are JSON. What runs is given
// the value as it is written. Two spellings of one value are one point, and refused in one axis.
//
// What YAML would change silently is refused: leading zeros, digits with _, hexadecimal, numbers beyond 64 bits, nan, and
// a fraction that ends in a zero, such as 3.10, unless it is zeros alone, as in 1.0. In quotes they are text.
//
// The values of -P are read in the same way, but for quotes that a shell has taken away. A value is text if the file has
// it as text in the same spelling, or if the file has nothing but text for that axis: with `python: ["3.9", "3.10"]` in
// the file, -P python=3.10 is the text "3.10". Else write -P 'python="3.10"'.
//
// # What is refused
//
// The first thing that is wrong ends the reading, with `file:line: what is wrong` and what to do: an unknown or doubled
// key; a value of the wrong type; an empty list; a value or a point that is there twice; an axis named like a column
// that no axis fills; an axis that the command would not see; an exclude that removes nothing; two models of one name;
// a key that means nothing for what runs; a line of words where a list is wanted; rel_error beside iterations; more than 100,000 launches, counted before
// anything is expanded. So are merge keys, tags, a second document, files beyond 1 MiB and aliases that expand beyond
// 200,000 values.
package sweep
