package main

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/sweep"
)

// benchFlags are the flags of bench.
type benchFlags struct {
	config, suite     string
	repeats           int
	warmup            int
	iterations        int
	budget            time.Duration
	timeoutMultiplier float64
	params, tags      []string
	targets           []string

	python, provider, device, timing string
	seed                             int64
	reproducible, coldStart          bool
	profile                          []string

	order      string
	relError   string
	maxRepeats int
	against    string
	settled    bool

	rerun       string
	dryRun      bool
	maxTime     time.Duration
	noSkipAfter bool
	wait        bool
	outDir      string
}

// define defines them on the command.
func (f *benchFlags) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	f.defineRuns(cmd)
	flags.StringVar(&f.config, "config", "", "the sweep `FILE`, as another spelling")
	flags.IntVar(&f.repeats, "repeats", 0, "`N` runs of each point (1; command: 10)")

	flags.StringSliceVar(&f.profile, "profile", nil, "one more pass of each point under `TOOL`: ort, torch; empty: none")

	flags.StringVar(&f.order, "order", "", "`ORDER` of the runs: interleaved, random, sequential")
	flags.StringVar(&f.relError, "rel-error", "", "measure until the 95 % interval is within `X` of the value: 1% (7 runs or more)")
	flags.IntVar(&f.maxRepeats, "max-repeats", 0, "at most `N` runs of each point with --rel-error (20) or --until-settled (30)")
	flags.StringVar(&f.against, "against", "", "measure the working tree against commit `REF`, side by side")
	flags.BoolVar(&f.settled, "until-settled", false, "with --against: more runs of each point until the sides are told apart")

	flags.StringVar(&f.rerun, "rerun", "", "run again what is there: `failed` or all")
	flags.BoolVar(&f.dryRun, "dry-run", false, "say what would run, and run nothing")
	flags.DurationVar(&f.maxTime, "max-time", 0, "launch nothing more after `TIME`")
	flags.BoolVar(&f.noSkipAfter, "no-skip-after-oom", false, "run larger points although one ran out of memory")
	flags.StringVar(&f.outDir, "out-dir", "", "also write runs/*.json, fp/*.fp.json and summary.csv to `DIR`")
}

// defineRuns defines those that say which points are run, and how.
func (f *benchFlags) defineRuns(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.suite, "suite", "", "`NAME` instead of the sweep's")
	flags.IntVar(&f.warmup, "warmup", 0, "`N` warm-up iterations of each run")
	flags.IntVar(&f.iterations, "iterations", 0, "`N` measured iterations of each run, exactly")
	flags.DurationVar(&f.budget, "budget", 0, "`TIME` to measure where iterations are not given (10s; command: 300ms)")
	flags.Float64Var(&f.timeoutMultiplier, "timeout-multiplier", 0, "multiply every deadline by `X`")
	flags.StringArrayVarP(&f.params, "param", "P", nil, "`AXIS=VALUE`[,VALUE...] replaces or adds an axis")
	flags.StringArrayVar(&f.tags, "tag", nil, "`KEY=VALUE` stored with every run; repeatable")
	flags.StringSliceVar(&f.targets, "targets", nil, "only points whose suite, benchmark or suite:benchmark matches a `GLOB`")
	flags.StringVar(&f.python, "python", "", "the `INTERPRETER` of Python benchmarks and backends (or NEUROLENS_PYTHON)")
	flags.StringVar(&f.provider, "provider", "", "execution `PROVIDER` of ONNX Runtime")
	flags.StringVar(&f.device, "device", "", "`DEVICE` of torch: cpu, cuda, cuda:1, mps")
	flags.StringVar(&f.timing, "timing", "", "`MODE`: auto, perf_counter, cuda_event, triton, torch_timer")
	flags.Int64Var(&f.seed, "seed", 0, "seed `N` of every generator of random numbers")
	flags.BoolVar(&f.reproducible, "reproducible", false, "seed 42 unless given, deterministic algorithms")
	flags.BoolVar(&f.coldStart, "cold-start", false, "no warm-up, empty kernel caches")
	flags.BoolVar(&f.wait, "wait", false, "wait for a device that another session measures")
}

func (f *benchFlags) sweepFile(args []string) (string, error) {
	switch {
	case len(args) == 1 && f.config != "":
		return "", usageErrorf("bench: the sweep file is given twice: %s and --config %s", args[0], f.config)
	case len(args) == 1:
		return args[0], nil
	case f.config != "":
		return f.config, nil
	}
	return "", usageErrorf("bench: want a sweep file")
}

// overrides are the settings of the command line that were given.
func (f *benchFlags) overrides(a *app, cmd *cobra.Command) (sweep.Overrides, error) {
	o := sweep.Overrides{
		Suite: f.suite, Targets: f.targets, Python: f.python, Provider: f.provider, Device: f.device, Timing: f.timing,
		Reproducible: f.reproducible, ColdStart: f.coldStart, Profile: f.profile, Order: f.order,
		Against: f.against != "", UntilSettled: f.settled,
	}
	if o.Python == "" {
		o.Python = a.getenv("NEUROLENS_PYTHON")
	}
	given := cmd.Flags().Changed
	if f.settled {
		switch {
		case f.against == "":
			return o, usageErrorf("--until-settled: want --against REF too: it is two sides that are told apart")
		case given("repeats"):
			return o, usageErrorf("--until-settled finds out how many runs it takes, --repeats says it: want one of them")
		case given("rel-error"):
			return o, usageErrorf("--until-settled and --rel-error both say when there are enough runs: want one of them")
		}
	}
	for name, n := range map[string]struct {
		from *int
		to   **int
	}{
		"repeats": {&f.repeats, &o.Repeats}, "warmup": {&f.warmup, &o.Warmup},
		"iterations": {&f.iterations, &o.Iterations}, "max-repeats": {&f.maxRepeats, &o.MaxRepeats},
	} {
		if given(name) {
			*n.to = n.from
		}
	}
	if given("budget") {
		o.Budget = &f.budget
	}
	if given("timeout-multiplier") {
		o.TimeoutMultiplier = &f.timeoutMultiplier
	}
	if given("seed") {
		o.Seed = &f.seed
	}
	var err error
	if given("rel-error") {
		share, err := sweep.ParseShare(f.relError)
		if err != nil {
			return o, usageErrorf("--rel-error %w", err)
		}
		o.RelError = &share
	}
	if o.Params, err = assignments("-P", f.params); err != nil {
		return o, err
	}
	o.Tags, err = assignments("--tag", f.tags)
	return o, err
}

// rerunWord reads what is to run again.
func (f *benchFlags) rerunWord() (runner.Rerun, error) {
	switch word := runner.Rerun(f.rerun); word {
	case runner.RerunNothing, runner.RerunFailed, runner.RerunAll:
		return word, nil
	}
	return "", usageErrorf("--rerun %q: want failed or all", f.rerun)
}

// assignments reads KEY=VALUE flags, each key once.
func assignments(flag string, words []string) (map[string]string, error) {
	if len(words) == 0 {
		return nil, nil
	}
	m := map[string]string{}
	for _, word := range words {
		key, value, found := strings.Cut(word, "=")
		if _, twice := m[key]; !found || key == "" || twice {
			return nil, usageErrorf("%s %q: want KEY=VALUE, each key once", flag, word)
		}
		m[key] = value
	}
	return m, nil
}
