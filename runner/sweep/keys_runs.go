package sweep

import (
	"strconv"

	"github.com/neurolens/neurolens/schema"
)

// keysOfRuns say what a run is.
var keysOfRuns = []Key{
	{
		Name: "profile", Value: oneOrMany(0, eitherOf(oneOf(profilerNames...), Value{Kind: Object, Keys: profilerKeys})), Option: "profile each point in an extra pass with `TOOL`: ort, torch; empty: none",
		Doc: "Profilers. Each runs in an extra pass, apart from the measurement: ort for onnxrt, torch for torch and file. {tool: ort, timeout: 1m} sets a deadline. nsys and ncu are not run by this version: one pass of each benchmark is stored as unsupported.",
	},
	{
		Name: "telemetry", Value: Value{Kind: Object, Keys: keysOfTelemetry}, Stored: true, text: telemetryText,
		Doc: "Readings of the device to take while a run measures. This version stores the request and takes none.",
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

// profilerKeys say how a profiler runs.
var profilerKeys = []Key{
	{Name: "tool", Value: oneOf(profilerNames...), Doc: "The profiler: ort, torch, nsys or ncu."},
	{Name: "timeout", Value: durationValue, Doc: "The deadline for its pass, instead of timeouts.profile."},
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

// keysOfRepeats say how many runs a point has.
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
