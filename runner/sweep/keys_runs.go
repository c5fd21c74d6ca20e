package sweep

import (
	"strconv"

	"github.com/neurolens/neurolens/schema"
)

// keysOfRuns say what a run is.
var keysOfRuns = []Key{
	{
		Name: "profile", Value: oneOrMany(0, eitherOf(oneOf(profilerNames...), Value{Kind: Object, Keys: profilerKeys})), Option: "one more pass of each point under `TOOL`: ort, torch; empty: none",
		Doc: "Profilers, each of which makes a pass of its own: ort for onnxrt, torch for torch and file; or {tool: ort, timeout: 1m}.",
	},
	{
		Name: "work", Value: Value{Kind: Object, Keys: keysOfAmounts}, Stored: true, text: workText,
		Doc: "How much work one iteration is, where the benchmark itself does not say; makes rates of latencies: throughput, bandwidth, compute.",
	},
	{
		Name: "warmup", Value: orExpression(countOf(0)), Option: "`N` warm-up iterations of each run", Again: true, Stored: true,
		Doc:   "Iterations before the measurement of each run: 10; with command one process before the first run of a point.",
		point: func(p *Point) any { return &p.Warmup }, text: warmupText,
	},
	{
		Name: "iterations", Value: orExpression(countOf(1)), Option: "`N` measured iterations of each run, exactly", Again: true, Stored: true,
		Doc:   "Iterations of each run, exactly (samples, where one holds several); without it 100, or as many as the budget allows.",
		point: func(p *Point) any { return &p.Iterations },
	},
	{
		Name: "budget", Value: orExpression(durationValue), Option: "`TIME` to measure where iterations are not given (10s; command: 300ms)",
		Again: true, Stored: true,
		Doc:   "The time to measure where iterations are not given: 10s, with command 300ms.",
		point: func(p *Point) any { return &p.Budget }, text: budgetText,
	},
}

// profilerKeys say how a profiler runs.
var profilerKeys = []Key{
	{Name: "tool", Value: oneOf(profilerNames...), Doc: "The profiler: ort or torch."},
	{Name: "timeout", Value: durationValue, Doc: "The deadline of its pass, instead of timeouts.profile."},
}

// keysOfTime are deadlines.
var keysOfTime = []Key{
	{Name: "timeout", Value: durationValue, Doc: "The deadline of measuring alone: timeouts.measure."},
	{
		Name: "timeouts", Value: Value{Kind: Object, Keys: deadlines},
		Doc: "Deadlines of the stages of a run and of the whole session, after which a process is killed.",
	},
	{
		Name: "timeout_multiplier", Whole: true, Value: Value{Kind: Number, Most: maxMultiplier}, Default: "1",
		Option: "multiply every deadline by `X`", Again: true, Doc: "A factor for every deadline.",
	},
}

// keysOfRepeats say how many runs a point has.
var keysOfRepeats = []Key{
	{
		Name: "repeats", Whole: true, Value: countOf(1), Option: "`N` runs of each point (1; command: 10)",
		Doc:   "Runs of each point: 1, with command 10, with --against 6.",
		sweep: func(s *Sweep) any { return &s.Repeats },
	},
	{
		Name: "rel_error", Whole: true, Value: shareValue, Option: "measure until the 95 % interval is within `X` of the value: 1% (7 runs or more)",
		Again: true, Stored: true,
		Doc:   "Instead of iterations: measure until the 95 % interval is within this share of the value.",
		point: func(p *Point) any { return &p.RelError },
	},
	{
		Name: "max_repeats", Whole: true, Value: countOf(1), Option: "at most `N` runs of each point with --rel-error (20) or --until-settled (30)",
		Again: true,
		Doc:   "The most runs of each point that rel_error (20) or --until-settled (30) may take.",
		sweep: func(s *Sweep) any { return &s.MaxRepeats },
	},
	{
		Name: "order", Whole: true, Value: oneOf(OrderInterleaved, orderRandom, orderSequential), Default: OrderInterleaved,
		Option: "`ORDER` of the runs: interleaved, random, sequential",
		Doc:    "The order of the runs: repeat by repeat over all points, the same shuffled, or point by point.",
		sweep:  func(s *Sweep) any { return &s.Order },
	},
}

// deadlines are the keys of timeouts.
var deadlines = []Key{
	deadline(schema.StageBuild, "each command of build, and a conversion of a model", "10m", func(p *Point) any { return &p.Timeouts.Build }),
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
