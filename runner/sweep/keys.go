package sweep

import (
	"slices"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// keys is the table of the keys of a sweep file.
var keys = slices.Concat(keysOfWork, keysOfPrograms, keysOfPoints, keysOfChecks, keysOfResults, keysOfRuns, keysOfTime, keysOfRepeats, keysOfPython, keysOfModels)

// keysOfWork say what runs.
var keysOfWork = []Key{
	{
		Name: "suite", Value: textValue, Option: "store runs under the suite `NAME` instead of the sweep's", Reproduce: true,
		Doc:   "A label that is stored with every run. Default: the name of the sweep file, without its extension.",
		point: func(p *Point) any { return &p.Suite },
	},
	{
		Name: "command", Value: hookValue, Stored: true,
		Doc:  "The program to run with its arguments, as a list. It starts without a shell, and each process is one iteration. With the key shell, it is one text.",
		text: commandText,
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

// modelValue names a model, or several.
var modelValue = oneOrMany(1, eitherOf(textValue, Value{Kind: Object, Keys: []Key{
	{Name: "name", Value: textValue, Doc: "The name that is stored. Default: the name of the file."},
	{Name: "path", Value: textValue, Doc: "The model file."},
}}))

// axisValue is a value of an axis, or what stands for arguments.
var axisValue = eitherOf(scalarValue, listOf(1, anyValue))

// argumentsValue are values, each with the arguments of a command that it stands for.
var argumentsValue = mapOf(1, eitherOf(nothingValue, wordsValue.Among[0], listOf(0, scalarValue)))

// gridColumns are the axes of grid whose values are of a kind.
func gridColumns() []Key {
	columns := axisColumns(true)
	for i, k := range columns {
		if k.Name != "model" {
			columns[i].Value = eitherOf(k.Value, argumentsValue)
		}
	}
	return columns
}

// axisColumns are the axes whose values are of a kind, by the names of their columns; many says that there may be several.
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

// keysOfPoints say which points there are.
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

// commandText is a command as a list in canonical JSON.
func commandText(p *Point) string {
	return wordsText(p.Command)
}

// wordsText is a list of words in canonical JSON; empty where there is none.
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
