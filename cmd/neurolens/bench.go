package main

import (
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

type benchFlags struct {
	config            string
	suite             string
	repeats           int
	warmup            int
	iterations        int
	budget            time.Duration
	timeoutMultiplier float64
	params, tags      []string
}

func newBenchCommand(a *app) *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "bench SWEEP.yaml",
		Short: "Run a sweep, append every run to the store, print the summary",
		Long: `Run every point of a sweep file as often as it asks, one process tree a run, and
append each run to the store as it finishes. Progress goes to standard error,
the summary to standard output. An interrupt keeps what finished.`,
		Example: `  neurolens bench fixtures/sweeps/quickstart.yaml
  neurolens bench sweep.yaml --repeats 5 -P batch_size=1,2 --tag note=try`,
		Args: arguments(0, 1, "one sweep file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := f.sweepFile(args)
			if err != nil {
				return err
			}
			o, err := f.overrides(cmd)
			if err != nil {
				return err
			}
			return runBench(a, cmd, path, o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.config, "config", "", "the sweep `FILE`, as another spelling")
	flags.StringVar(&f.suite, "suite", "", "`NAME` instead of the sweep's")
	flags.IntVar(&f.repeats, "repeats", 0, "`N` runs of each point")
	flags.IntVar(&f.warmup, "warmup", 0, "`N` warm-up iterations of each run")
	flags.IntVar(&f.iterations, "iterations", 0, "`N` measured iterations of each run, exactly")
	flags.DurationVar(&f.budget, "budget", 0, "`TIME` to measure where iterations are not given")
	flags.Float64Var(&f.timeoutMultiplier, "timeout-multiplier", 0, "multiply every deadline by `X`")
	flags.StringArrayVarP(&f.params, "param", "P", nil, "`AXIS=VALUE`[,VALUE...] replaces or adds an axis")
	flags.StringArrayVar(&f.tags, "tag", nil, "`KEY=VALUE` stored with every run; repeatable")
	return cmd
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
func (f *benchFlags) overrides(cmd *cobra.Command) (sweep.Overrides, error) {
	o := sweep.Overrides{Suite: f.suite}
	given := cmd.Flags().Changed
	if given("repeats") {
		o.Repeats = &f.repeats
	}
	if given("warmup") {
		o.Warmup = &f.warmup
	}
	if given("iterations") {
		o.Iterations = &f.iterations
	}
	if given("budget") {
		o.Budget = &f.budget
	}
	if given("timeout-multiplier") {
		o.TimeoutMultiplier = &f.timeoutMultiplier
	}
	var err error
	if o.Params, err = assignments("-P", f.params); err != nil {
		return o, err
	}
	o.Tags, err = assignments("--tag", f.tags)
	return o, err
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

func runBench(a *app, cmd *cobra.Command, path string, o sweep.Overrides) error {
	format, err := a.outputFormat()
	if err != nil {
		return err
	}
	s, err := sweep.Read(path, o)
	if err != nil {
		return usageError{err}
	}
	dir, err := a.writeStore()
	if err != nil {
		return err
	}
	store, err := openForWriting(dir)
	if err != nil {
		return err
	}
	progress := newProgress(a, s)
	result, err := runner.Run(cmd.Context(), s, runner.Options{
		Version: version, Machine: a.getenv("NEUROLENS_MACHINE"), Sweep: path, Observe: progress.observe,
	}, func(run schema.Run) error {
		if err := store.Append(run); err != nil {
			return storeError{err}
		}
		return nil
	})
	progress.close()
	if closed := store.Close(); err == nil && closed != nil {
		err = storeError{closed}
	}
	if printed := printSummary(a, cmd, format, summary{dir: dir, sweep: s, elapsed: progress.elapsed(), result: result}); err == nil {
		err = printed
	}
	if err == nil && result.Failed() > 0 {
		err = errRunsFailed
	}
	return err
}

// openForWriting opens the store, made where there is none.
func openForWriting(dir string) (*ingest.Store, error) {
	store, err := ingest.Open(dir, version)
	if errors.Is(err, schema.ErrNoStore) {
		if err = ingest.Init(dir); err == nil {
			store, err = ingest.Open(dir, version)
		}
	}
	if err != nil {
		return nil, storeError{err}
	}
	return store, nil
}
