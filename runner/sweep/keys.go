package sweep

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/runner/counter"
	"github.com/neurolens/neurolens/runner/output"
	"github.com/neurolens/neurolens/runner/profiler"
	"github.com/neurolens/neurolens/runner/shellwords"
	"github.com/neurolens/neurolens/schema"
)

// keys is the table of the keys of a sweep file.
var keys = slices.Concat(keysOfWork, keysOfPrograms, keysOfPoints, keysOfChecks, keysOfResults, keysOfRuns, keysOfTime, keysOfRepeats, keysOfPython, keysOfModels)

// keysOfWork define the measured work.
var keysOfWork = []Key{
	{
		Name: "suite", Value: textValue, Option: "store runs under the suite `NAME` instead of the sweep's", Reproduce: true,
		Doc:   "A label that is stored with every run. Default: the name of the sweep file, without its extension.",
		point: func(p *Point) any { return &p.Suite },
	},
	{
		Name: "command", Value: hookValue, Stored: true,
		Doc:  "The program to run with its arguments, as a list. It starts without a shell, and each process is one iteration. With the key shell, it is one text.",
		text: func(p *Point) string { return wordsText(p.Command) },
	},
	{
		Name: "wrapper", Value: wordsValue,
		Doc: "A program and its arguments to put before the command, such as [numactl, --cpunodebind=0].",
	},
	{
		Name: "file", Value: Value{Kind: Text, Pattern: `\.py(:.+)?$|\{`}, Stored: true,
		Doc:   "The Python file to measure, or path.py:Name for one class or function in it.",
		point: func(p *Point) any { return &p.File },
	},
	{
		Name: "backend", Value: oneOrMany(1, textValue),
		Doc: "What runs the model: builtin, onnxrt, torch or tensorrt. With command or file it is a label; with file, the labels cpu, cuda, rocm and mps are checked against the device that was used.",
	},
	{
		Name: "model", Value: modelValue, Stored: true,
		Doc:   "The model to run: a file, builtin:NAME, or a map with a name and a path.",
		point: func(p *Point) any { return &p.ModelPath },
	},
	{
		Name: "benchmark", Whole: true, Value: oneOrMany(1, textValue),
		Doc: "The name of the benchmark. Default: the name of the program, the Python file or the model.",
	},
	{Name: "variant", Whole: true, Value: oneOrMany(1, textValue), Doc: "Names of different ways to do the same work. They are compared with each other."},
	{
		Name: "build", Value: eitherOf(wordsValue.Among[0], wordsValue.Among[1], listOf(1, listOf(1, scalarValue))),
		Executors: append([]schema.Executor{schema.ExecutorCommand}, pythonRun...),
		Doc:       "Commands that run once before anything is measured, such as a compiler: one list of words, or a list of such lists.",
	},
	{Name: "env", Value: mapOf(0, scalarValue), Doc: "Environment variables to set for the benchmark."},
	{
		Name: "cwd", Value: scalarValue, Stored: true,
		Doc: "The folder in which benchmarks run. Default: the current folder.", point: func(p *Point) any { return &p.Dir },
	},
	{
		Name: "share", Whole: true, Value: oneOrMany(0, textValue),
		Doc: "Files and folders that git ignores, such as data, and that both commits of bench --against need.",
	},
	{Name: "tags", Whole: true, Value: mapOf(0, scalarValue), Doc: "Labels that are stored with every run, such as {experiment: smoke}."},
	{
		Name: "optional", Value: switchValue, Default: "false",
		Executors: append([]schema.Executor{schema.ExecutorCommand}, pythonRun...),
		Doc:       "Skip a point, instead of reporting an error, if its program, Python file, class, import or build program is missing.", point: func(p *Point) any { return &p.Optional },
	},
	{
		Name: "skip_exit", Value: Value{Kind: Integer, Min: 1, Max: 255}, Executors: []schema.Executor{schema.ExecutorCommand}, Stored: true,
		Doc: "The exit status with which a command says that it cannot run here, usually 77. The point is then skipped.", point: func(p *Point) any { return &p.SkipExit },
	},
	{
		Name: "metrics", Value: mapOf(1, Value{Kind: Object, Keys: metricKeys}), Stored: true, text: metricsText,
		Executors: append([]schema.Executor{schema.ExecutorCommand}, pythonRun...),
		Doc:       "Metrics that a program prints, by name: from standard output, standard error or a file.",
	},
}

// modelValue is a model, or a list of models.
var modelValue = oneOrMany(1, eitherOf(textValue, Value{Kind: Object, Keys: []Key{
	{Name: "name", Value: textValue, Doc: "The name that is stored. Default: the name of the file."},
	{Name: "path", Value: textValue, Doc: "The model file."},
}}))

// axisValue is a value of an axis, or a list of values.
var axisValue = eitherOf(scalarValue, listOf(1, anyValue))

// argumentsValue is a map from values to the arguments of a command that replace them.
var argumentsValue = mapOf(1, eitherOf(nothingValue, wordsValue.Among[0], listOf(0, scalarValue)))

// gridColumns returns the axes of grid whose values are of a kind.
func gridColumns() []Key {
	columns := axisColumns(true)
	for i, k := range columns {
		if k.Name != "model" {
			columns[i].Value = eitherOf(k.Value, argumentsValue)
		}
	}
	return columns
}

// axisColumns returns the axes whose values are of a kind, by the names of their columns; many allows several values.
func axisColumns(many bool) []Key {
	some := func(v Value) Value {
		if many {
			return oneOrMany(1, v)
		}
		return v
	}
	return []Key{
		{Name: "model", Value: modelValue, Doc: "The model."},
		{Name: "batch_size", Value: some(sizeValue), Doc: "The batch size."},
		{Name: "seq_len", Value: some(sizeValue), Doc: "The sequence length."},
		{Name: "precision", Value: some(textValue), Doc: "The number format, one of: " + strings.Join(schema.Precisions, " ") + "."},
	}
}

// keysOfPoints define the points.
var keysOfPoints = []Key{
	{
		Name: "grid", Value: mapOf(0, eitherOf(axisValue, argumentsValue), append(
			gridColumns(),
			Key{Name: "repeats", Value: countOf(1), Doc: "The same as the key repeats at the top of the file, which it overrides."},
			Key{Name: "tags", Value: mapOf(0, scalarValue), Doc: "The same as the key tags at the top of the file, which it overrides."},
		)...),
		Doc: "Axes and their values. Every combination of values is a point. An axis may be a map from its values to the arguments that they stand for. repeats and tags may be set here too.",
	},
	{
		Name: "params", Value: mapOf(0, eitherOf(axisValue, mapOf(0, anyValue)), axisColumns(false)...),
		Doc: "Parameters with the same value at all points. A list or a map counts as one value.",
	},
	{
		Name: "scale", Value: mapOf(0, Value{Kind: Object, Keys: keysOfScale}),
		Doc: "Axes with one value that depends on the machine, such as on its GPU memory: a base times the factor of the largest step that the machine reaches.",
	},
	{
		Name: "zip", Value: eitherOf(listOf(2, textValue), listOf(1, listOf(2, textValue))),
		Doc: "Axes whose values are paired instead of combined, such as [hidden, heads]. They need the same number of values. One list of names, or several lists.",
	},
	{
		Name: "include", Value: listOf(0, mapOf(1, axisValue, axisColumns(true)...)),
		Doc: "Additional points. An axis that an entry does not name takes all its values.",
	},
	{Name: "exclude", Value: listOf(0, mapOf(1, axisValue, axisColumns(true)...)), Doc: "Points to leave out, from grid and include: those that match an entry."},
	{
		Name: "skip_if", Value: oneOrMany(0, Value{Kind: Object, Keys: keysOfSkip}),
		Doc: "Points to skip: those where the expression when is true. They are stored as skipped, with the reason.",
	},
	{
		Name: "baseline", Whole: true, Value: assignmentValue,
		Doc: "axis=value of the points that others are compared with. Points that differ only in this axis run next to each other. Default: the axis variant.",
	},
	{Name: "control", Whole: true, Value: oneOrMany(1, assignmentValue), Doc: "axis=value of points that the change under test cannot affect. If they change, the machine changed."},
	{
		Name: "calibrate", Whole: true, Value: switchValue, Default: "false",
		Doc: "Add three points of fixed work to each repeat. They show how fast the machine is.",
	},
	{
		Name: "thresholds", Value: mapOf(1, eitherOf(shareValue, Value{Kind: Object, Keys: []Key{
			{Name: "abs", Value: scalarValue, Doc: "An amount. Without a unit, it is in the unit that the metric is stored in."},
		}})),
		Doc: "The smallest change that counts, by metric: a share of the baseline's value, such as 5%, or {abs: amount}.",
	},
}

// wordsText returns a list of words in canonical JSON; empty for an empty list.
func wordsText(list []string) string {
	if list == nil {
		return ""
	}
	words := make([]any, len(list))
	for i, word := range list {
		words[i] = word
	}
	text, _ := schema.CanonicalJSON(words) // texts always have one
	return text
}

// withOutput are the executors whose outputs can be compared.
var withOutput = []schema.Executor{schema.ExecutorCommand, schema.ExecutorPython, schema.ExecutorONNXRT, schema.ExecutorTorch}

// keysOfChecks define correct results.
var keysOfChecks = []Key{
	{
		Name: "output", Value: eitherOf(nothingValue, textValue, Value{Kind: Object, Keys: outputKeys}), Stored: true, text: outputText,
		Executors: []schema.Executor{schema.ExecutorCommand}, Verbatim: true, Reproduce: true,
		Option: "`WHERE` standard output goes: null, keep (stored with the run), or a file",
		Doc:    "Where a command writes the numbers that it computes: to standard output, or to a file. output: WORD is short for output: {to: WORD}.",
	},
	{
		Name: "reference", Value: mapOf(1, scalarValue, referenceKeys...), Stored: true, text: referenceText,
		Executors: withOutput,
		Doc:       "The correct output, with which outputs are compared: from the point with the given values of axes, from a file, or from a function.",
	},
	{
		Name: "deterministic", Value: switchValue, Default: "false", Stored: true, Executors: withOutput,
		Doc: "Require that all runs of a point have the same output, bit by bit.", point: func(p *Point) any { return &p.Deterministic },
	},
}

// keysOfResults are about metrics.
var keysOfResults = []Key{
	{
		Name: "derived", Value: mapOf(1, Value{Kind: Object, Keys: derivedKeys}), Stored: true, text: derivedText,
		Doc: "Metrics that are computed from other metrics, parameters and facts, by name.",
	},
	{
		Name: "check", Value: oneOrMany(1, expressionValue), Stored: true, text: conditionsText,
		Doc: "Conditions for the metrics of a run, such as accuracy >= 0.8. A run that does not meet them is an error in the stage validate.",
	},
	{
		Name: "allow_failed", Value: eitherOf(countOf(0), shareValue), Default: "0", Stored: true,
		Doc:   "How many requests of a run may fail: a number, or a share such as 1%. A run in which more failed is no best one, and has no verdict.",
		point: func(p *Point) any { return &p.AllowFailed },
	},
	artifactsKey,
	{
		Name: "primary", Value: textValue,
		Doc: "The metric that tables show and comparisons compare. Default: latency, or the main metric of a tool's results.", point: func(p *Point) any { return &p.Primary },
	},
}

// outputKeys are the keys of output.
var outputKeys = []Key{
	{Name: "from", Value: textValue, Default: stdoutWord, Doc: "stdout, or a file that each process writes. {axis} is filled in."},
	{Name: "read", Value: oneOf(output.Formats...), Default: "text", Doc: "The format of the numbers. text: numbers separated by spaces or line breaks."},
	{Name: "to", Value: fileOrNull, Doc: "Where standard output goes: null, keep (stored with the run), or a file. {axis} is filled in. Default: it is read and then dropped."},
}

// outputText returns the key output as text.
func outputText(p *Point) string {
	var words []string
	if p.Output != nil {
		words = append(words, p.Output.From, p.Output.Format)
	}
	switch {
	case p.KeepOutput:
		words = append(words, "to="+keepWord)
	case p.Stdout != "":
		words = append(words, "to="+p.Stdout)
	}
	return strings.Join(words, " ")
}

// referenceText returns the key reference as text.
func referenceText(p *Point) string {
	r := p.Reference
	if r == nil {
		return ""
	}
	var words []string
	switch {
	case r.Function != "":
		words = append(words, "function="+r.Function)
	case r.Point == nil:
		words = append(words, "from="+r.File, "read="+r.Format)
	default:
		for axis, value := range r.axes {
			words = append(words, axis+"="+value)
		}
		slices.Sort(words)
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	return strings.Join(append(words, "rtol="+number(r.Tolerance.Relative), "atol="+number(r.Tolerance.Absolute)), " ")
}

var commandAlone = []schema.Executor{schema.ExecutorCommand}

// hookValue is a program with its arguments: a list, or a text that is split like a command line.
var hookValue = eitherOf(scalarValue, listOf(1, scalarValue))

// fileOrNull is a file, or null for none.
var fileOrNull = eitherOf(nothingValue, scalarValue)

// exitValue is an exit status other than 0.
var exitValue = Value{Kind: Integer, Min: 1, Max: 255}

// keysOfPrograms are about the environment of the processes of a command. None of it is timed.
var keysOfPrograms = []Key{
	{
		Name: "shell", Value: eitherOf(switchValue, textValue), Executors: commandAlone, Stored: true, Verbatim: true, Reproduce: true,
		Option: "run programs with sh, or the shell `NAME`, and subtract its start time", Alone: "true",
		Doc:   "Run the command, which is then one text, with a shell: true for sh, or a name. The start time of the shell is measured and subtracted. The shell becomes the parameter shell of the point.",
		point: func(p *Point) any { return &p.Shell },
	},
	{
		Name: "setup", Value: hookValue, Executors: commandAlone, Stored: true, Verbatim: true, Reproduce: true,
		Option: "run `PROGRAM` once before each run, untimed",
		Doc:    "A program to run once before each run, untimed: a list of words, or a text.",
		text:   func(p *Point) string { return wordsText(p.Hooks.Setup) },
	},
	{
		Name: "prepare", Value: hookValue, Executors: []schema.Executor{schema.ExecutorCommand, schema.ExecutorPython}, Stored: true, Verbatim: true, Reproduce: true,
		Option: "run `PROGRAM` before each process, or the function of a Python benchmark before each iteration, untimed",
		Doc:    "What prepares each process or iteration, also during warm-up, untimed: a program or, with file, the name of a function of the file or of a method of the class. A dict that it returns has arguments for the iteration.",
		point:  func(p *Point) any { return &p.Prepare },
		text:   func(p *Point) string { return cmp.Or(p.Prepare, wordsText(p.Hooks.Prepare)) },
	},
	{
		Name: "cleanup", Value: hookValue, Executors: commandAlone, Stored: true, Verbatim: true, Reproduce: true,
		Option: "run `PROGRAM` once after each run, even if it failed",
		Doc:    "A program to run once after each run, even if the run failed.",
		text:   func(p *Point) string { return wordsText(p.Hooks.Cleanup) },
	},
	{
		Name: "stdin", Value: fileOrNull, Executors: commandAlone, Stored: true, Verbatim: true, Reproduce: true,
		Option: "`FILE` as standard input of each process (default: empty)",
		Doc:    "The file that each process gets as standard input. Default, and with null: an empty input. The file becomes the parameter stdin of the point.",
		point:  func(p *Point) any { return &p.Stdin },
	},
	{
		Name: "ignore_exit", Value: eitherOf(switchValue, oneOrMany(1, exitValue)), Executors: commandAlone, Stored: true, Verbatim: true, Reproduce: true,
		Option: "accept exit statuses other than 0: all, or `CODES` (1,3)", Alone: "true",
		Doc:  "Exit statuses other than 0 that do not count as failures: true for all, or a list. A process that is killed by a signal always fails.",
		text: ignoredText,
	},
}

// FilledOptions returns the keys of the programs around a command whose options have texts with {axis}.
func FilledOptions() (names []string) {
	for _, k := range keysOfPrograms {
		if k.Verbatim && k.Alone == "" {
			names = append(names, k.Name)
		}
	}
	return append(names, "output")
}

// ignoredText returns the exit statuses that are no failure, as text.
func ignoredText(p *Point) string {
	if p.AnyExit {
		return "true"
	}
	words := make([]string, len(p.Exits))
	for i, code := range p.Exits {
		words[i] = strconv.Itoa(code)
	}
	return strings.Join(words, ",")
}

// verbatim returns the text of an option as the value that a file would have.
func (k Key) verbatim(text string) *yaml.Node {
	switch {
	case k.Name == "output":
		return mapNode(0, "to", Key{}.verbatim(text))
	case text == "null":
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
	case k.Alone != "" && (text == "true" || text == "false"):
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: text}
	case !utf8.ValidString(text):
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: binaryTag, Style: yaml.TaggedStyle, Value: base64.StdEncoding.EncodeToString([]byte(text))}
	case k.Name != "ignore_exit":
		return textNode(0, text)
	}
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle}
	for word := range strings.SplitSeq(text, ",") {
		list.Content = append(list.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: word})
	}
	return list
}

// readIgnoredExits reads the exit statuses that are no failure.
func (s *settings) readIgnoredExits(_ *document, f field) {
	if f.Kind == yaml.ScalarNode && f.ShortTag() == "!!bool" {
		s.point.AnyExit = f.boolean()
		return
	}
	for _, item := range f.someItems() {
		if n := item.Node; n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" {
			panic(item.errorf("want true, or a list of exit statuses, got %s", item.got()))
		}
		if _, err := strconv.Atoi(item.Value); err != nil {
			panic(item.errorf("want true, or exit statuses such as 1,3, got %s", item.got()))
		}
		code := item.integer(exitValue.Min, exitValue.Max, fmt.Sprintf("an exit status from %d to %d", exitValue.Min, exitValue.Max))
		s.point.Exits = append(s.point.Exits, int(code))
	}
}

// pythonRun are the executors that run in a Python worker.
var pythonRun = []schema.Executor{
	schema.ExecutorPython, schema.ExecutorONNXRT, schema.ExecutorTorch, schema.ExecutorTensorRT,
}

// profilers are the tools of profile, with the executors that have each.
var profilers = map[string][]schema.Executor{
	"ort":   {schema.ExecutorONNXRT},
	"torch": {schema.ExecutorPython, schema.ExecutorTorch},
	"nsys":  everyRun,
	"ncu":   everyRun,
	"perf":  everyRun,
	// It watches Python alone, which a command may be.
	"py-spy": append([]schema.Executor{schema.ExecutorCommand}, pythonRun...),

	"cachegrind": commandAlone, // what an interpreter does besides depends on the number of iterations
}

var profilerNames = append([]string{"ort", "torch"}, profiler.Names()...)

// everyRun are all executors.
var everyRun = append([]schema.Executor{schema.ExecutorBuiltin, schema.ExecutorCommand}, pythonRun...)

// modelRun are the executors that run models in a Python worker.
var modelRun = []schema.Executor{schema.ExecutorONNXRT, schema.ExecutorTorch, schema.ExecutorTensorRT}

// maxThreads is more than any machine has.
const maxThreads = 1 << 20

const (
	automatic        = "auto"
	timingTorchTimer = "torch_timer"
)

// keysOfPython define how a Python worker runs a point. If a key has a field of Worker, the worker receives it under the field's name.
var keysOfPython = []Key{
	{
		Name: "python", Value: scalarValue, Executors: pythonRun, Option: "Python `INTERPRETER` for benchmarks and backends (or NEUROLENS_PYTHON)",
		Doc: "The Python interpreter. Default: that of the active virtual environment, else python3.", point: func(p *Point) any { return &p.Python },
	},
	{
		Name: "provider", Value: scalarValue, Executors: []schema.Executor{schema.ExecutorONNXRT}, Stored: true,
		Option: "execution `PROVIDER` of ONNX Runtime", Reproduce: true,
		Doc: "The execution provider of ONNX Runtime, such as CUDAExecutionProvider.", point: func(p *Point) any { return &p.Provider },
	},
	{
		Name: "device", Value: scalarValue, Executors: []schema.Executor{schema.ExecutorTorch, schema.ExecutorTensorRT}, Stored: true,
		Option: "`DEVICE` to run on: cpu, cuda, cuda:1, mps", Reproduce: true,
		Doc: "The device to run on: cpu, cuda, cuda:1 or mps.", point: func(p *Point) any { return &p.Device },
	},
	{
		Name:  "threads",
		Value: eitherOf(Value{Kind: Integer, Min: 1, Max: maxThreads}, Value{Kind: Text, Pattern: `^(\+?[0-9]+|.*\{.*)$`}),
		Doc:   "The number of threads for one operation.", Executors: []schema.Executor{schema.ExecutorONNXRT, schema.ExecutorTorch},
		point: func(p *Point) any { return &p.Threads },
	},
	{
		Name: "timing", Value: oneOf(automatic, "perf_counter", "cuda_event", "triton", timingTorchTimer), Default: automatic,
		Executors: pythonRun, Stored: true, Option: "clock `MODE`: auto, perf_counter, cuda_event, triton, torch_timer", Reproduce: true,
		Doc: "The clock that times iterations. auto: cuda_event on a CUDA device, else perf_counter.", point: func(p *Point) any { return &p.Timing },
	},
	{
		Name: "min_run_time", Value: durationValue, Default: "200ms", Executors: pythonRun,
		Doc: "How long torch_timer measures.", point: func(p *Point) any { return &p.MinRunTime },
	},
	{
		Name: "iterations_per_sample", Value: eitherOf(countOf(1), oneOf(automatic)), Default: automatic,
		Executors: []schema.Executor{schema.ExecutorPython}, Stored: true, Option: "time `N` iterations of a Python benchmark as one sample, or auto", Reproduce: true,
		Doc:   "How many iterations are timed together. A sample is their mean. auto: enough to take 100us if one takes less than 10us, else 1.",
		point: func(p *Point) any { return &p.IterationsPerSample },
	},
	{
		Name: "seed", Value: Value{Kind: Integer, Max: maxSeed}, Executors: pythonRun, Stored: true,
		Option: "seed `N` for the global random number generators", Reproduce: true,
		Doc: "The seed for the global random number generators. In a command, {seed} stands for it.", point: func(p *Point) any { return &p.Seed },
	},
	{
		Name: "reproducible", Value: switchValue, Default: "false", Executors: pythonRun, Stored: true,
		Option: "use deterministic algorithms, and the seed 42 unless --seed is given", Reproduce: true,
		Doc: "Use deterministic algorithms. The seed is 42 unless seed is set.", point: func(p *Point) any { return &p.Reproducible },
	},
	{
		Name: "cold_start", Value: switchValue, Default: "false", Stored: true, Option: "measure a cold start: the first iteration of each run, empty kernel caches", Reproduce: true,
		Doc: "Measure a cold start: empty kernel caches, no warm-up unless warmup is set, and one iteration per run, the first of its process.", point: func(p *Point) any { return &p.ColdStart },
	},
	{
		Name: "flush_l2", Value: switchValue, Default: "false", Stored: true,
		Executors: []schema.Executor{schema.ExecutorONNXRT, schema.ExecutorTorch, schema.ExecutorTensorRT},
		Doc:       "Empty the level-2 cache of the GPU before each iteration.", point: func(p *Point) any { return &p.FlushL2 },
	},
}

// keysOfModels define the inputs of a model, and how it is loaded.
var keysOfModels = []Key{
	{
		Name: "inputs", Executors: modelRun, Stored: true, text: func(p *Point) string { return asJSON(p.Inputs) },
		Value: mapOf(1, eitherOf(shortInput, Value{Kind: Object, Keys: inputKeys})),
		Doc:   "What inputs of a model hold, by name: a number, true or false for one value; a .npy or .npz file; a range, such as {low: 0, high: 50257}; or a distribution, such as {mean: 0, std: 1}. {axis} is filled in.",
		point: func(p *Point) any { return &p.Inputs },
	},
	{
		Name: "session", Executors: []schema.Executor{schema.ExecutorONNXRT}, Stored: true, text: func(p *Point) string { return asJSON(p.Session) },
		Value: Value{Kind: Object, Keys: sessionKeys},
		Doc:   "Options of the session of ONNX Runtime, by its own names, such as {graph_optimization_level: basic}. {axis} is filled in.",
		point: func(p *Point) any { return &p.Session },
	},
}

// keysOfRuns define a run.
var keysOfRuns = []Key{
	{
		Name: "profile", Value: oneOrMany(0, eitherOf(oneOf(profilerNames...), Value{Kind: Object, Keys: profilerKeys})), Option: "profile each point in an extra pass with `TOOL`: ort, torch, nsys, ncu, perf, py-spy, cachegrind; empty: none",
		Doc: "Profilers. Each runs in an extra pass, apart from the measurement: ort for onnxrt, torch for torch and file, nsys, ncu and perf for everything, py-spy for Python and commands, cachegrind for command. cachegrind makes as many passes as there are repeats, up to 5. {tool: ncu, timeout: 1m, args: [--set, full]} sets a deadline, and adds arguments to those of the tool. If a tool is not installed, one pass of each benchmark is stored as unsupported.",
	},
	{
		Name: "telemetry", Value: eitherOf(oneOf(telemetryOff), Value{Kind: Object, Keys: keysOfTelemetry}), Default: telemetryOff, Stored: true, text: telemetryText,
		Doc: "Readings of clocks, power, utilisation and so on while a run measures: {hz: 10}, ten a second.",
	},
	{
		Name: "counters", Value: oneOrMany(1, oneOf(counterWords...)), Stored: true, Reproduce: true,
		Option: "count events: default, or a `LIST` such as instructions,page_faults",
		Doc:    "Events of the processor and the kernel to count, as metrics: default for all of them, or a list. A command has a value for each process, a worker one for each run, per iteration. Events that cannot be counted here are missing, with the reason.",
		text:   func(p *Point) string { return strings.Join(p.Counters, ",") },
	},
	{
		Name: "work", Value: Value{Kind: Object, Keys: keysOfAmounts}, Stored: true, text: workText,
		Doc: "The work of one iteration: items, bytes, flops. Latencies then also give the rates throughput, bandwidth and compute. Amounts that the benchmark reports itself take precedence.",
	},
	{
		Name: "warmup", Value: orExpression(countOf(0)), Option: "`N` warm-up iterations before each run", Reproduce: true, Stored: true,
		Doc:   "Unmeasured iterations at the start of each run. Default: 10; with command, one process before the first run of a point.",
		point: func(p *Point) any { return &p.Warmup }, text: warmupText,
	},
	{
		Name: "iterations", Value: orExpression(countOf(1)), Option: "measure exactly `N` iterations per run", Reproduce: true, Stored: true,
		Doc:   "The exact number of measured iterations per run; of samples, if a sample holds several iterations. Default: 100, or as many as the budget allows.",
		point: func(p *Point) any { return &p.Iterations },
	},
	{
		Name: "budget", Value: orExpression(durationValue), Option: "measure each run for `TIME` if iterations are not set (10s; command: 300ms)",
		Reproduce: true, Stored: true,
		Doc:   "How long to measure each run if iterations is not set. Default: 10s; with command, 300ms.",
		point: func(p *Point) any { return &p.Budget }, text: budgetText,
	},
}

// counterWords are the words of counters.
var counterWords = append([]string{"default"}, counter.Names()...)

// profilerKeys are the keys of a profiler.
var profilerKeys = []Key{
	{Name: "tool", Value: oneOf(profilerNames...), Doc: "The profiler: " + strings.Join(profilerNames, ", ") + "."},
	{Name: "timeout", Value: durationValue, Doc: "The deadline for its pass, instead of timeouts.profile."},
	{Name: "args", Value: listOf(1, scalarValue), Doc: "Arguments for the tool. They replace its options of the same name. Not with ort and torch, which run within the benchmark's process."},
}

// keysOfTime are deadlines.
var keysOfTime = []Key{
	{Name: "timeout", Value: durationValue, Doc: "The deadline for measuring. The same as timeouts.measure."},
	{
		Name: "timeouts", Value: Value{Kind: Object, Keys: deadlines},
		Doc: "Deadlines for the stages of a run, and for the whole session (suite). A process that misses its deadline is killed; samples taken so far are kept.",
	},
	{
		Name: "timeout_multiplier", Whole: true, Value: Value{Kind: Number, Max: maxMultiplier}, Default: "1",
		Option: "multiply all deadlines by `X`", Reproduce: true, Doc: "Multiply all deadlines by this factor.",
	},
}

// keysOfRepeats define the number of runs per point.
var keysOfRepeats = []Key{
	{
		Name: "repeats", Value: countOf(1), Option: "`N` runs per point (1; command: 10)",
		Doc:   "Runs per point. Default: 1; a command that discover has not found: 10; with --against: 6. Points that are compared with each other have the same number, the largest that one of them sets.",
		point: func(p *Point) any { return &p.Repeats },
	},
	{
		Name: "rel_error", Whole: true, Value: shareValue, Option: "repeat until the 95 % confidence interval is within `X` of the value: 1% (7 runs or more)",
		Reproduce: true, Stored: true,
		Doc:   "Repeat each point until the 95 % confidence interval of its value is this narrow, such as 1%. Not together with iterations.",
		point: func(p *Point) any { return &p.RelError },
	},
	{
		Name: "max_repeats", Whole: true, Value: countOf(1), Option: "at most `N` runs per point with --rel-error (20) or --until-conclusive (30)",
		Reproduce: true,
		Doc:       "The maximum number of runs per point with rel_error (default 20) or --until-conclusive (default 30).",
		sweep:     func(s *Sweep) any { return &s.MaxRepeats },
	},
	{
		Name: "order", Whole: true, Value: oneOf(OrderInterleaved, orderRandom, orderSequential), Default: OrderInterleaved,
		Option: "`ORDER` of the runs: interleaved, random, sequential",
		Doc:    "The order of the runs. interleaved: all points once, then all again. random: the same, shuffled. sequential: all runs of one point, then of the next.",
		sweep:  func(s *Sweep) any { return &s.Order },
	},
}

// deadlines are the keys of timeouts.
var deadlines = []Key{
	deadline(schema.StageBuild, "each build command, and for the conversion of a model", "10m", func(p *Point) any { return &p.Timeouts.Build }),
	deadline(schema.StageSetup, "setup", "30s", func(p *Point) any { return &p.Timeouts.Setup }),
	deadline(schema.StageWarmup, "warm-up. Default: 15s; with command, 10m for each process", "", func(p *Point) any { return &p.Timeouts.Warmup }),
	deadline(schema.StageMeasure, "measuring. Default: 5s more than the budget; with command, 10m for each process", "",
		func(p *Point) any { return &p.Timeouts.Measure }),
	deadline(schema.StageValidate, "validation", "15s", func(p *Point) any { return &p.Timeouts.Validate }),
	deadline(schema.StageTeardown, "teardown", "10s", func(p *Point) any { return &p.Timeouts.Teardown }),
	deadline(schema.StageProfile, "a profiler's pass", "3m", func(p *Point) any { return &p.Timeouts.Profile }),
	{
		Name: "suite", Value: durationValue, Default: "4h", Doc: "After this time, no further run is started.",
		sweep: func(s *Sweep) any { return &s.Timeout },
	},
}

// deadline returns the key of the deadline of a stage.
func deadline(stage schema.Stage, of, standard string, at func(*Point) any) Key {
	return Key{Name: string(stage), Value: durationValue, Default: standard, Doc: "The deadline of " + of + ".", point: at}
}

// warmupText returns the stored text of the warm-up, which includes whether only the first run of a session has one.
func warmupText(p *Point) string {
	if p.WarmupOnce {
		return strconv.Itoa(p.Warmup) + " per session"
	}
	return strconv.Itoa(p.Warmup)
}

// budgetText is empty where the number of iterations is exact.
func budgetText(p *Point) string {
	if p.Iterations > 0 {
		return ""
	}
	return p.Budget.String()
}

// Key describes a key of a sweep file: how its value is read and described, which executors use it, and what is stored. A key
// with an ordinary value needs only an entry in the table, and a field of Point, Worker or Sweep that the entry refers to.
type Key struct {
	Name    string
	Doc     string // its meaning, in one or a few sentences
	Value   Value
	Default string // in the syntax of the file; empty: there is none, or it depends on other keys, as Doc describes

	// Executors are those that use the key; nil: all. With other executors it is refused, or has no effect.
	Executors []schema.Executor
	// Whole keys have one value for the whole sweep, and are not allowed under a benchmark or a variant.
	Whole bool
	// Option is the help of the option of bench that overrides the key; empty: there is none.
	Option string
	// Verbatim uses the text of the option as the value, even if a file may have a list or a map there. Alone is the value of the
	// option without a text.
	Verbatim bool
	Alone    string
	// Reproduce: a command that runs a stored run again has the option.
	Reproduce bool
	// Stored: the setting is stored with every run, as the fact runner.NAME. Earlier runs count only if it is equal.
	Stored bool

	point func(*Point) any // points to the value in a point; nil: another function reads the key
	sweep func(*Sweep) any // the field of the sweep, for settings of the whole sweep
	text  func(*Point) string
}

// Keys lists the keys of a sweep file, in the order of the documentation.
func Keys() []Key { return slices.Concat(keys, layerKeys()) }

// layerKeys returns the keys whose values contain other keys.
func layerKeys() []Key {
	overriding := eitherOf(Value{Kind: Object, Keys: overridingKeys()}, nothingValue)
	spreads := []Key{
		{
			Name: "benchmarks", Whole: true, Value: mapOf(1, overriding),
			Doc: "Benchmarks by name, each with the keys that it sets differently.",
		},
		{
			Name: "variants", Whole: true, Value: mapOf(1, overriding),
			Doc: "Different ways to do the same work, by name, each with the keys that it sets differently.",
		},
	}
	return append(spreads, Key{
		Name: "discover", Whole: true, Value: discoverValue,
		Doc: "Find benchmarks and their variants in folders, by a rule.",
	}, Key{
		Name: "presets", Whole: true, Value: mapOf(0, Value{Kind: Object, Keys: slices.Concat(keys, spreads)}),
		Doc: "Named sets of keys. --preset NAME applies one on top of the rest of the file; --quick is --preset quick.",
	})
}

// keyOf returns a key that must be in the table.
func keyOf(name string) Key {
	return keys[slices.IndexFunc(keys, func(k Key) bool { return k.Name == name })]
}

// keyNames lists the names of keys in alphabetical order.
func keyNames(keys []Key) []string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.Name
	}
	slices.Sort(names)
	return names
}

// OptionName returns the option of bench that overrides the key.
func (k Key) OptionName() string { return strings.ReplaceAll(k.Name, "_", "-") }

// takes reports whether an executor uses the key.
func (k Key) takes(e schema.Executor) bool {
	return k.Executors == nil || slices.Contains(k.Executors, e)
}

// Settings returns the settings of the point that are stored with its runs, by key. Keys that are not set are missing.
func (p *Point) Settings() map[string]string {
	settings := map[string]string{}
	for _, k := range keys {
		if k.Stored {
			note(&settings, k.Name, shellwords.ToUTF8(k.textAt(p)))
		}
	}
	return settings
}

// textAt returns the value of the key at a point, as text; empty: not set.
func (k Key) textAt(p *Point) string {
	if k.text != nil {
		return k.text(p)
	}
	switch v := k.point(p).(type) {
	case *string:
		return *v
	case *bool:
		if *v {
			return "true"
		}
	case *int:
		if *v > 0 {
			return strconv.Itoa(*v)
		}
	case **int64:
		if *v != nil {
			return strconv.FormatInt(**v, 10)
		}
	case *float64:
		if *v > 0 {
			return strconv.FormatFloat(*v, 'g', -1, 64)
		}
	case *time.Duration:
		if *v > 0 {
			return v.String()
		}
	}
	return ""
}

// clear removes the value of the key from a point.
func (k Key) clear(p *Point) { reflect.ValueOf(k.point(p)).Elem().SetZero() }

// IsStored reports whether a key of a sweep file is stored with every run.
func IsStored(name string) bool {
	return slices.ContainsFunc(keys, func(k Key) bool { return k.Stored && k.Name == name })
}

// Kind is the type of a value. Each kind has its own reader.
type Kind int

// The kinds of values.
const (
	Text     Kind = iota // text; a number must be quoted
	Scalar               // a single value, as written; no list and no map
	Any                  // any value except null
	Nothing              // null: a key without a value
	Word                 // one of Words
	Switch               // true or false
	Integer              // from Min to Max
	Number               // above 0, up to Max
	Amount               // 0 or more
	Share                // a share between 0 and 1: 1% or 0.01
	Duration             // a time above 0 with a unit: 500ms
	List                 // at least Min of Items
	Map                  // at least Min of Items, under any name or the names of Keys
	Object               // only the names of Keys
	Either               // one of Among
)

// Value describes the values that a key may have, as far as they do not depend on other keys.
type Value struct {
	Kind       Kind
	Expression bool // an expression that gives a number is allowed too
	Words      []string
	Min, Max   int64
	Pattern    string // for a Text, or a Scalar that is text
	Items      *Value
	Keys       []Key
	Among      []Value
}

// Values that several keys have.
var (
	textValue     = Value{Kind: Text}
	scalarValue   = Value{Kind: Scalar}
	anyValue      = Value{Kind: Any}
	nothingValue  = Value{Kind: Nothing}
	switchValue   = Value{Kind: Switch}
	amountValue   = Value{Kind: Amount}
	durationValue = Value{Kind: Duration}
	sizeValue     = Value{Kind: Integer, Min: 1, Max: math.MaxInt64}
	shareValue    = Value{Kind: Share}
	// wordsValue is a program and its arguments. A shell line is refused.
	wordsValue = Value{Kind: Either, Among: []Value{{Kind: Scalar, Pattern: `^\s*\S*\s*$`}, listOf(1, scalarValue)}}
	// expressionValue is an expression. Numbers, true and false are expressions too.
	expressionValue = scalarValue
	// assignmentValue is axis=value.
	assignmentValue = Value{Kind: Text, Pattern: "="}
)

func listOf(minimum int64, items Value) Value {
	return Value{Kind: List, Min: minimum, Items: &items}
}

func mapOf(minimum int64, items Value, known ...Key) Value {
	return Value{Kind: Map, Min: minimum, Items: &items, Keys: known}
}

func oneOf(words ...string) Value { return Value{Kind: Word, Words: words} }

func countOf(minimum int64) Value { return Value{Kind: Integer, Min: minimum, Max: maxCount} }

func eitherOf(among ...Value) Value { return Value{Kind: Either, Among: among} }

// oneOrMany returns a value, or a list of such values.
func oneOrMany(minimum int64, v Value) Value { return eitherOf(v, listOf(minimum, v)) }

// read reads a value into the variable that to points to. Other kinds have their own readers.
func (v Value) read(f field, to any) {
	if !f.given() {
		return
	}
	switch to := to.(type) {
	case *bool:
		*to = f.boolean()
	case *string:
		if v.Kind == Word {
			*to = f.oneOf(v.Words)
		} else {
			*to = f.text()
		}
	case *int:
		*to = int(f.integer(v.Min, v.Max, "a number"))
	case **int64:
		*to = new(f.integer(v.Min, v.Max, "a number"))
	case *float64:
		*to = f.share()
	case *time.Duration:
		*to = f.duration()
	}
}

// Choices lists the words that a value, or each item of a list, may be; nil: it is not restricted to words.
func (v Value) Choices() []string {
	if v.Kind == Either {
		return v.Among[0].Choices()
	}
	return v.Words
}
