package sweep

import (
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// keys is the table of the keys of a sweep file.
var keys = slices.Concat(keysOfWork, keysOfPoints, keysOfRuns, keysOfTime, keysOfRepeats, keysOfPython)

// keysOfWork say what runs.
var keysOfWork = []Key{
	{
		Name: "suite", Value: textValue, Option: "`NAME` instead of the sweep's", Again: true,
		Doc:   "A label of the sweep; without it the base name of the file.",
		sweep: func(s *Sweep) any { return &s.Suite },
	},
	{
		Name: "command", Value: wordsValue, Stored: true,
		Doc:  "A program and its arguments, started without a shell: one process is one iteration.",
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
		Name: "benchmark", Value: oneOrMany(1, textValue),
		Doc: "The name of what is measured; without it that of the program, the Python file or the model.",
	},
	{Name: "variant", Value: oneOrMany(1, textValue), Doc: "Names of ways to do the same work, which are compared."},
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
		Name: "share", Value: oneOrMany(0, textValue),
		Doc: "Paths that git ignores and that both sides of a comparison of two commits need.",
	},
	{Name: "tags", Value: mapOf(0, scalarValue), Doc: "Labels that are stored with every run."},
}

// modelValue names a model, or several.
var modelValue = oneOrMany(1, eitherOf(textValue, Value{Kind: Object, Keys: []Key{
	{Name: "name", Value: textValue, Doc: "The name that is stored; without it the base name of the file."},
	{Name: "path", Value: textValue, Doc: "The model's file."},
}}))

// axisValue is a value of an axis.
var axisValue = eitherOf(scalarValue, listOf(1, anyValue))

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
		Name: "grid", Value: mapOf(0, axisValue, append(
			axisColumns(true),
			Key{Name: "repeats", Value: countOf(1), Doc: "As above grid, and wins."},
			Key{Name: "tags", Value: mapOf(0, scalarValue), Doc: "As above grid, and wins."},
		)...),
		Doc: "Axes and their values; every combination is a point. repeats and tags may stand here too.",
	},
	{Name: "params", Value: mapOf(0, scalarValue, axisColumns(false)...), Doc: "Parameters that have one value at all points."},
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
		Name: "baseline", Value: assignmentValue,
		Doc: "axis=value: points that differ in this axis alone run next to one another; without it the axis is variant.",
	},
	{Name: "control", Value: oneOrMany(1, assignmentValue), Doc: "axis=value of points that the change under test cannot touch."},
	{
		Name: "calibrate", Value: switchValue, Default: "false",
		Doc: "Adds three points of fixed work, which say how fast the machine is.",
	},
	{
		Name: "thresholds", Value: mapOf(1, eitherOf(shareValue, Value{Kind: Object, Keys: []Key{
			{Name: "abs", Value: scalarValue, Doc: "An amount; without a unit it is in the stored one."},
		}})),
		Doc: "By metric, the smallest change that counts: a share of the base's value, or {abs: amount}.",
	},
}

// keysOfRuns say what a run is.
var keysOfRuns = []Key{
	{
		Name: "profile", Value: oneOrMany(0, oneOf(profilerNames...)), Option: "one more pass of each point under `TOOL`: ort, torch; empty: none",
		Doc: "Profilers, each of which makes a pass of its own: ort for onnxrt, torch for torch and file.",
	},
	{
		Name: "warmup", Value: countOf(0), Option: "`N` warm-up iterations of each run", Again: true, Stored: true,
		Doc:   "Iterations before the measurement of each run: 10; with command one process before the first run of a point.",
		point: func(p *Point) any { return &p.Warmup }, text: warmupText,
	},
	{
		Name: "iterations", Value: countOf(1), Option: "`N` measured iterations of each run, exactly", Again: true, Stored: true,
		Doc:   "Iterations of each run, exactly; without it 100, or as many as the budget allows.",
		point: func(p *Point) any { return &p.Iterations },
	},
	{
		Name: "budget", Value: durationValue, Option: "`TIME` to measure where iterations are not given (10s; command: 300ms)",
		Again: true, Stored: true,
		Doc:   "The time to measure where iterations are not given: 10s, with command 300ms.",
		point: func(p *Point) any { return &p.Budget }, text: budgetText,
	},
}

// keysOfTime are deadlines.
var keysOfTime = []Key{
	{Name: "timeout", Value: durationValue, Doc: "The deadline of measuring alone: timeouts.measure."},
	{
		Name: "timeouts", Value: Value{Kind: Object, Keys: deadlines},
		Doc: "Deadlines of the stages of a run and of the whole session, after which a process is killed.",
	},
	{
		Name: "timeout_multiplier", Value: Value{Kind: Number, Most: maxMultiplier}, Default: "1",
		Option: "multiply every deadline by `X`", Again: true, Doc: "A factor for every deadline.",
	},
}

// keysOfRepeats say how many runs a point has.
var keysOfRepeats = []Key{
	{
		Name: "repeats", Value: countOf(1), Option: "`N` runs of each point (1; command: 10)",
		Doc:   "Runs of each point: 1, with command 10, with --against 6.",
		sweep: func(s *Sweep) any { return &s.Repeats },
	},
	{
		Name: "rel_error", Value: shareValue, Option: "measure until the 95 % interval is within `X` of the value: 1% (7 runs or more)",
		Again: true, Stored: true,
		Doc:   "Instead of iterations: measure until the 95 % interval is within this share of the value.",
		point: func(p *Point) any { return &p.RelError },
	},
	{
		Name: "max_repeats", Value: countOf(1), Option: "at most `N` runs of each point with --rel-error (20) or --until-settled (30)",
		Again: true,
		Doc:   "The most runs of each point that rel_error (20) or --until-settled (30) may take.",
		sweep: func(s *Sweep) any { return &s.MaxRepeats },
	},
	{
		Name: "order", Value: oneOf(OrderInterleaved, OrderRandom, OrderSequential), Default: OrderInterleaved,
		Option: "`ORDER` of the runs: interleaved, random, sequential",
		Doc:    "The order of the runs: repeat by repeat over all points, the same shuffled, or point by point.",
		sweep:  func(s *Sweep) any { return &s.Order },
	},
}

// deadlines are the keys of timeouts.
var deadlines = []Key{
	deadline(schema.StageBuild, "each command of build", "10m", func(p *Point) any { return &p.Timeouts.Build }),
	deadline(schema.StageSetup, "setup", "30s", func(p *Point) any { return &p.Timeouts.Setup }),
	deadline(schema.StageWarmup, "warm-up: 15s, with command 10m for each process", "", func(p *Point) any { return &p.Timeouts.Warmup }),
	deadline(schema.StageMeasure, "measuring: 5s above the budget, with command 10m for each process", "",
		func(p *Point) any { return &p.Timeouts.Measure }),
	deadline(schema.StageValidate, "validation", "15s", func(p *Point) any { return &p.Timeouts.Validate }),
	deadline(schema.StageTeardown, "teardown", "10s", func(p *Point) any { return &p.Timeouts.Teardown }),
	deadline(schema.StageProfile, "the pass of a profiler", "3m", func(p *Point) any { return &p.Timeouts.Profile }),
	{
		Name: "suite", Value: durationValue, Default: "4h", Doc: "After this time nothing more is launched.",
		sweep: func(s *Sweep) any { return &s.Timeout },
	},
}

// deadline is the key of the deadline of a stage.
func deadline(stage schema.Stage, of, standard string, at func(*Point) any) Key {
	return Key{Name: string(stage), Value: durationValue, Default: standard, Doc: "The deadline of " + of + ".", point: at}
}

// warmupText says also whether there is a warm-up before the first run of a session alone.
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

// commandText is a command as a list in canonical JSON.
func commandText(p *Point) string {
	if p.Command == nil {
		return ""
	}
	words := make([]any, len(p.Command))
	for i, word := range p.Command {
		words[i] = word
	}
	text, _ := schema.CanonicalJSON(words) // texts always have one
	return text
}
