package sweep

import (
	"slices"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// keys is the table of the keys of a sweep file.
var keys = slices.Concat(keysOfWork, keysOfPrograms, keysOfPoints, keysOfChecks, keysOfResults, keysOfRuns, keysOfTime, keysOfRepeats, keysOfPython)

// keysOfWork say what runs.
var keysOfWork = []Key{
	{
		Name: "suite", Value: textValue, Option: "`NAME` instead of the sweep's", Again: true,
		Doc:   "A label of runs; without it the base name of the file.",
		point: func(p *Point) any { return &p.Suite },
	},
	{
		Name: "command", Value: hookValue, Stored: true,
		Doc:  "A program and its arguments, started without a shell: one process is one iteration. With shell a text.",
		text: commandText,
	},
	{
		Name: "wrapper", Value: wordsValue,
		Doc: "A program and its arguments that go before the command.",
	},
	{
		Name: "file", Value: Value{Kind: Text, Pattern: `\.py(:.+)?$|\{`}, Stored: true,
		Doc:   "A Python file, or path.py:Name for the class or function in it.",
		point: func(p *Point) any { return &p.File },
	},
	{
		Name: "backend", Value: oneOrMany(1, textValue),
		Doc: "What computes: builtin, onnxrt, torch or tensorrt; with command or file a word to record.",
	},
	{
		Name: "model", Value: modelValue, Stored: true,
		Doc:   "The model: a file, builtin:NAME, or both a name and a path.",
		point: func(p *Point) any { return &p.ModelPath },
	},
	{
		Name: "benchmark", Whole: true, Value: oneOrMany(1, textValue),
		Doc: "The name of what is measured; without it that of the program, the Python file or the model.",
	},
	{Name: "variant", Whole: true, Value: oneOrMany(1, textValue), Doc: "Names of ways to do the same work, which are compared."},
	{
		Name: "build", Value: eitherOf(wordsValue.Among[0], wordsValue.Among[1], listOf(1, listOf(1, scalarValue))),
		Executors: append([]schema.Executor{schema.ExecutorCommand}, pythonRun...),
		Doc:       "A program and its arguments, or a list of such, to run before anything is measured.",
	},
	{Name: "env", Value: mapOf(0, scalarValue), Doc: "Variables that are added to the environment."},
	{
		Name: "cwd", Value: scalarValue, Stored: true,
		Doc: "The folder that benchmarks run in.", point: func(p *Point) any { return &p.Dir },
	},
	{
		Name: "share", Whole: true, Value: oneOrMany(0, textValue),
		Doc: "Paths that git ignores and that both sides of a comparison of two commits need.",
	},
	{Name: "tags", Whole: true, Value: mapOf(0, scalarValue), Doc: "Labels that are stored with every run."},
	{
		Name: "optional", Value: switchValue, Default: "false",
		Executors: append([]schema.Executor{schema.ExecutorCommand}, pythonRun...),
		Doc:       "An implementation that is not there, or the program of whose build is not, is skipped, and no error.", point: func(p *Point) any { return &p.Optional },
	},
	{
		Name: "skip_exit", Value: Value{Kind: Integer, Least: 1, Most: 255}, Executors: []schema.Executor{schema.ExecutorCommand}, Stored: true,
		Doc: "The exit status by which a command says that it cannot run here; 77 is usual.", point: func(p *Point) any { return &p.SkipExit },
	},
	{
		Name: "metrics", Value: mapOf(1, Value{Kind: Object, Keys: metricKeys}), Stored: true, text: metricsText,
		Executors: append([]schema.Executor{schema.ExecutorCommand}, pythonRun...),
		Doc:       "By name, metrics that stand in what a program writes: on its standard output or error, or in a file.",
	},
}

// modelValue names a model, or several.
var modelValue = oneOrMany(1, eitherOf(textValue, Value{Kind: Object, Keys: []Key{
	{Name: "name", Value: textValue, Doc: "The name that is stored; without it the base name of the file."},
	{Name: "path", Value: textValue, Doc: "The model's file."},
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
		{Name: "model", Value: modelValue, Doc: "A model."},
		{Name: "batch_size", Value: some(sizeValue), Doc: "The size of a batch."},
		{Name: "seq_len", Value: some(sizeValue), Doc: "The length of a sequence."},
		{Name: "precision", Value: some(textValue), Doc: "The number format: " + strings.Join(schema.Precisions, " ") + "."},
	}
}

// keysOfPoints say which points there are.
var keysOfPoints = []Key{
	{
		Name: "grid", Value: mapOf(0, eitherOf(axisValue, argumentsValue), append(
			gridColumns(),
			Key{Name: "repeats", Value: countOf(1), Doc: "As above grid, and wins."},
			Key{Name: "tags", Value: mapOf(0, scalarValue), Doc: "As above grid, and wins."},
		)...),
		Doc: "Axes and their values, or a map from values to the arguments that they stand for; every combination is a point. repeats and tags may stand here too.",
	},
	{
		Name: "params", Value: mapOf(0, axisValue, axisColumns(false)...),
		Doc: "Parameters that have one value at all points; a list is one value.",
	},
	{
		Name: "scale", Value: mapOf(0, Value{Kind: Object, Keys: keysOfScale}),
		Doc: "Axes with one value, which depends on the machine: a base times the factor of the largest step that a fact reaches.",
	},
	{
		Name: "zip", Value: eitherOf(listOf(2, textValue), listOf(1, listOf(2, textValue))),
		Doc: "Axes that move together, with equally many values each; or a list of such lists.",
	},
	{
		Name: "include", Value: listOf(0, mapOf(1, axisValue, axisColumns(true)...)),
		Doc: "Further points; an axis that an entry does not name takes all its values.",
	},
	{Name: "exclude", Value: listOf(0, mapOf(1, axisValue, axisColumns(true)...)), Doc: "Points that are not run."},
	{
		Name: "skip_if", Value: oneOrMany(0, Value{Kind: Object, Keys: keysOfSkip}),
		Doc: "Points that are planned and not run: those at which the expression when is true, with the reason.",
	},
	{
		Name: "baseline", Whole: true, Value: assignmentValue,
		Doc: "axis=value: points that differ in this axis alone run next to one another; without it the axis is variant.",
	},
	{Name: "control", Whole: true, Value: oneOrMany(1, assignmentValue), Doc: "axis=value of points that the change under test cannot touch."},
	{
		Name: "calibrate", Whole: true, Value: switchValue, Default: "false",
		Doc: "Adds three points of fixed work, which say how fast the machine is.",
	},
	{
		Name: "thresholds", Value: mapOf(1, eitherOf(shareValue, Value{Kind: Object, Keys: []Key{
			{Name: "abs", Value: scalarValue, Doc: "An amount; without a unit it is in the stored one."},
		}})),
		Doc: "By metric, the smallest change that counts: a share of the base's value, or {abs: amount}.",
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
