package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/help"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/progress"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/report"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/foreign/formats"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/export"
	"github.com/neurolens/neurolens/query/layout"
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/cmdline"
	"github.com/neurolens/neurolens/runner/counter"
	"github.com/neurolens/neurolens/runner/device"
	"github.com/neurolens/neurolens/runner/discover"
	"github.com/neurolens/neurolens/runner/shellwords"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/tune"
	"github.com/neurolens/neurolens/runner/worktree"
	"github.com/neurolens/neurolens/schema"
)

func newBenchCommand(a *app) *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "bench SWEEP.yaml | 'PROGRAM ARGS'... | -- PROGRAM ARGS...",
		Short: "Measure programs or a sweep, and store every run",
		Long: `Measure programs, or all points of a sweep file, and store every run as soon as
it finishes.

A sweep file (YAML) lists benchmarks and axes. Each combination of axes is a
point, and each point is run several times (neurolens help sweep). - reads a
sweep from standard input.

Programs need no sweep file. Each quoted text is a program with its arguments.
It is started without a shell; with --shell, sh runs it. A Python file
(bench.py, bench.py:name) or a model (net.onnx) works as well. {n} is replaced
by each value of -P n=1,2,4 or -P n=1..8. The first program is the baseline of
the others. --print-sweep prints the sweep file that the command line stands
for.

Each run is a process tree of its own. Progress goes to standard error, the
summary to standard output.

If you interrupt a sweep, finished runs stay stored, and the same command
continues where it stopped. It skips runs that an unfinished session made with
the same code, configuration, machine and versions. Programs on the command line
and both sides of --against always start anew, because measurements of different
days are not comparable.

--against REF measures the working tree and commit REF alternately, in one
session. Each side is built and runs in a tree of its own, where relative paths
begin. Variables that point into your working tree point into that of the side.
share names files that git ignores and both sides need: --set 'share=[.venv]'.
If both sides run the same file, such as one that a build writes outside of its
tree, the command ends with exit status 2.

--shard I/N measures part I of N of the points, with all repeats of a point.
Sessions that share out a sweep are a campaign: each continues all others, and
--status says what is missing (neurolens help clusters).

With --until-conclusive, each point first gets 6 runs per side. Points
that compare cannot decide yet get more: up to 9, 14, 20 and 30 (--max-repeats).
The error rate of all these looks together is that of a single one.

If something that a point needs is missing (an interpreter, module, file,
function, model or program), its runs are errors, and the other points run. A
line says so before the first run, and --dry-run too. If all points lack
something, and discover has found none of them, nothing is started, and the exit
status is 2. Files made by a build are checked after the build.

Progress lines and the summary show each point's primary metric, or the metrics
that --metric names, side by side and each compared. All metrics are stored in
either case. metric.NAME names a metric that only your benchmark knows. Formats
for programs append the columns metric.NAME (the median) and metric.NAME.unit.

On a terminal, progress is a view that is redrawn, and failures stay visible.
Elsewhere it is one line per run. With --format jsonl it is one JSON object per
line, whose "event" is session, plan, waiting, build, reference, unread, run,
look or end. Unknown values are null. With --format arrow, the summary is an
Arrow stream of the runs that it counts, failed ones included, with the columns
of the view runs.

--schema prints a JSON Schema of sweep files with every key. Editors use it to
complete keys and to mark typos.`,
		Example: `  neurolens bench 'sort -n big.txt' 'sort big.txt'
  neurolens bench 'sleep 0.{n}' -P n=1..3
  neurolens bench fixtures/sweeps/quickstart.yaml
  neurolens bench sweep.yaml --repeats 5 -P batch_size=1,2 --tag note=try
  neurolens bench sweep.yaml --metric latency,peak_memory
  neurolens bench sweep.yaml --against main
  neurolens bench sweep.yaml --against main --until-conclusive
  neurolens bench sweep.yaml --shard 2/8
  neurolens bench --schema > sweep.schema.json`,
		Args: cobra.ArbitraryArgs, // see source
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.schema {
				return printSweepSchema(a, args)
			}
			b := &bench{app: a, cmd: cmd, flags: &f}
			return b.all(args)
		},
	}
	f.define(cmd)
	help.AddAliases(cmd, map[string][]string{"warmup": {"w"}, "repeats": {"r", "runs"}, "setup": {"s"}, "prepare": {"p"}, "cleanup": {"c"}, "ignore-exit": {"i"}})
	return cmd
}

// printSweepSchema prints what an editor needs to know of sweep files.
func printSweepSchema(a *app, args []string) error {
	if len(args) > 0 {
		return usageErrorf("bench: --schema describes all sweep files: want no argument, got %s", args[0])
	}
	text, err := sweep.JSONSchema()
	if err == nil {
		_, err = a.stdout.Write(text)
	}
	return err
}

// bench is one call of the command.
type bench struct {
	*app
	cmd       *cobra.Command
	flags     *benchFlags
	format    string
	source    *cmdline.Source
	sweep     *sweep.Sweep
	overrides sweep.Overrides
	rerun     runner.Rerun
	dir       string // of the store
	layout    layout.Layout
	outDir    string   // see --out-dir
	settings  []string // files with settings: see runner.Options
	metrics   []string // that are shown, in place of the primary one of each point

	campaign *runner.Campaign // nil: the session belongs to no campaign
}

// read reads the sweep, and what the command line says of its session.
func (b *bench) read() (err error) {
	if b.format, err = b.answerFormat("bench"); err != nil {
		return err
	}
	if b.rerun, err = b.flags.rerunWord(); err != nil {
		return err
	}
	if b.flags.maxTime <= 0 && b.cmd.Flags().Changed("max-time") {
		return usageErrorf("--max-time: want more than 0s, got %s; without it there is no limit", b.flags.maxTime)
	}
	if b.rerun != runner.RerunNothing && b.flags.against != "" {
		return usageErrorf("--rerun %s: a session with --against starts from the beginning, so there are no runs to measure again", b.rerun)
	}
	if b.dir, err = b.writeStore(); err != nil {
		return err
	}
	if err := b.readSweep(); err != nil {
		return err
	}
	if err := b.readCampaign(); err != nil {
		return err
	}
	return b.readMetrics()
}

// readMetrics reads which metrics are shown.
func (b *bench) readMetrics() error {
	var names []string
	for _, name := range b.flags.metrics {
		metric, err := b.sweep.Metric(name)
		if err != nil {
			return usageErrorf("--metric: %v", err)
		}
		names = append(names, metric)
	}
	var err error
	b.metrics, err = metricNames(names)
	return err
}

// readSweep reads the sweep, with the benchmarks that it finds in the working directory.
func (b *bench) readSweep() (err error) {
	asking(b.cmd.Context(), true)
	defer asking(b.cmd.Context(), b.flags.dryRun)
	b.overrides.Files, err = discover.Tree(".")
	if err == nil && b.flags.against != "" {
		b.overrides.Base, err = worktree.WithDeleted(b.cmd.Context(), ".", b.flags.against, b.overrides.Files)
	}
	if err == nil {
		b.sweep, err = sweep.Read(b.source.Name(), b.source, b.overrides)
	}
	if err != nil {
		return usageError{err}
	}
	return nil
}

// options returns the options of a session that is told to observe.
func (b *bench) options(observe func(runner.Event)) runner.Options {
	exclude := []string{b.dir}
	exclude = append(exclude, export.FolderOutputs(b.layout, b.outDir)...)
	for i, path := range exclude {
		if absolute, err := filepath.Abs(path); err == nil {
			exclude[i] = absolute
		}
	}
	done := b.done
	if b.source.Texts != nil { // programs on a command line are measured anew, because unrelated lines can share points
		done = nil
	}
	return runner.Options{
		Version: version, Machine: b.getenv("NEUROLENS_MACHINE"), Sweep: b.source.Path, Flags: repeatableFlags(b.cmd, b.overrides, b.source.Texts), Observe: observe,
		Done: done, Rerun: b.rerun, DryRun: b.flags.dryRun, MaxTime: b.flags.maxTime, LargerAfterOOM: b.flags.noSkipAfter,
		Against: b.flags.against, Settings: b.settings, Exclude: exclude, FindInconclusive: views.InconclusivePoints, Extract: extractInChild, Results: results, Beside: beside, Locks: device.DefaultDir(b.getenv), Wait: b.flags.wait || b.campaign != nil && b.campaign.Shard.Count > 0, Campaign: b.campaign, Devices: b.flags.devices,
	}
}

// results returns the runs that the output of a benchmark tool has, as ingest reads them.
func results(ctx context.Context, format, file string, outputs map[string]*io.SectionReader) ([]schema.Run, error) {
	return ingest.ReadResults(ctx, formats.All(), format, file, outputs)
}

// beside returns the names of the files that the reader of a format reads together with an output.
func beside(format, file string) []string { return ingest.FilesBeside(formats.All(), format, file) }

// done gives what the store has of this sweep on a machine.
func (b *bench) done(machine string) ([]schema.Run, error) {
	db, err := openForReading(b.cmd.Context(), []string{b.dir})
	if errors.Is(err, schema.ErrNoStore) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	runs, err := db.Done(b.cmd.Context(), b.sweep.Suites(), machine)
	return runs, errors.Join(err, db.Close())
}

// foresee reads what the store tells of a session of two sides.
func (b *bench) foresee() (compare.Prediction, error) {
	if b.flags.against == "" {
		return compare.Prediction{}, nil
	}
	db, err := openForReading(b.cmd.Context(), []string{b.dir})
	if errors.Is(err, schema.ErrNoStore) {
		return compare.Prediction{}, nil
	}
	if err != nil {
		return compare.Prediction{}, err
	}
	var points []string
	for i := range b.sweep.Points {
		points = append(points, b.sweep.Points[i].PointID)
	}
	known, err := compare.Predict(b.cmd.Context(), db, points)
	return known, errors.Join(err, db.Close())
}

// measure runs the sweep and prints what came out.
func (b *bench) measure() error {
	out, err := export.OpenFolder(b.layout, b.outDir)
	if err != nil {
		return usageError{err}
	}
	known, err := b.foresee()
	if err != nil {
		return errors.Join(err, b.closeOut(out))
	}
	shown := progress.NewProgress(b.console(b.format), progress.Session{Sweep: b.sweep, Against: b.overrides.Against, Known: known, Metrics: b.metrics})
	options := b.options(shown.Observe)
	var store *ingest.Store // opened when the session begins: a wrong sweep or a busy device creates no store
	options.Planned = func(plan *runner.Plan) (err error) {
		if store, err = openForWriting(b.dir); err != nil {
			return err
		}
		if err := out.Begin(b.cmd.Context(), progress.Earlier(plan), b.stored); err != nil && !errors.Is(err, query.ErrStore) {
			return usageError{err}
		} else if err != nil {
			return err
		}
		return nil
	}
	options.Keep = func(content io.Reader) (string, int64, error) { return store.KeepArtifact(content) }
	release, err := b.hold(&options)
	if err != nil {
		return errors.Join(err, b.closeOut(out))
	}
	result, err := runner.Run(b.cmd.Context(), b.sweep, options, func(run schema.Run) error {
		if err := store.Append(run); err != nil {
			return storeError{err}
		}
		return out.Add(run)
	})
	err = errors.Join(explained(err), release())
	shown.Close(result)
	if store != nil {
		if closed := store.Close(); err == nil && closed != nil {
			err = storeError{closed}
		}
	}
	if closed := b.closeOut(out); err == nil {
		err = closed
	}
	for _, line := range progress.FileNotes(result.Files) {
		fmt.Fprintln(b.stderr, term.OneLine(line))
	}
	goesOn := progress.GoesOn(options)
	if result.Left > 0 {
		fmt.Fprintf(b.stderr, "stopped after --max-time: %d of %s are left; %s\n", result.Left, term.Count(len(result.Plan.Launches), "run"), goesOn)
	}
	if err == nil && b.cmd.Context().Err() != nil && b.flags.against == "" {
		fmt.Fprintf(b.stderr, "interrupted: finished runs are stored; %s\n", goesOn)
	}
	s := progress.Summary{Reader: b.display(), Dir: b.dir, Sweep: b.sweep, Elapsed: shown.Elapsed(), Result: result, Metrics: b.metrics, Against: b.flags.against != ""}
	if err != nil && result.Runs() == 0 {
		return err // there is nothing to sum up, and no stream that looks like an answer
	}
	if s.Unfinished = b.cmd.Context().Err() != nil || result.Left > 0; s.Unfinished && options.Rerun != runner.RerunAll {
		s.Again = progress.CommandLine(b.args)
	}
	if u := result.Unread; u != nil {
		s.ReadResults = progress.WithResults(b.args, u.Format)
	}
	if printed := printSummary(b.app, b.cmd, b.format, s); err == nil {
		err = printed
	}
	if err == nil {
		err = b.verdict(result)
	}
	return err
}

// hold holds the settings that --tune names, and returns what restores them.
func (b *bench) hold(options *runner.Options) (release func() error, err error) {
	wishes, err := tune.Parse(b.flags.tune)
	if err != nil {
		return nil, usageErrorf("--tune: %w", err)
	}
	held, err := tune.Hold(tune.Root, wishes, nil)
	if _, busy := errors.AsType[*tune.BusyError](err); busy {
		return nil, usageError{err}
	}
	if err != nil {
		return nil, fmt.Errorf("holding settings: %w", err)
	}
	for _, line := range held.Restored {
		progress.Note(b.stderr, line)
	}
	options.Process, options.Tuned = tune.ProcessOf(wishes), held.Results
	for _, r := range append(options.Process.Try(), held.Results...) {
		if r.Missing != "" {
			progress.Note(b.stderr, fmt.Sprintf("--tune does not hold %s: %s", r.Name, r.Missing))
		}
	}
	return func() error {
		r := held.Release()
		for _, line := range r.Kept {
			progress.Note(b.stderr, line)
		}
		if r.Err() != nil {
			return fmt.Errorf("restoring settings: %w; neurolens tune --restore tries again", r.Err())
		}
		return nil
	}, nil
}

// verdict returns an error where runs failed, or none has measured anything. A session in which all was skipped went as planned.
func (b *bench) verdict(r runner.Result) error {
	failed := r.Failed() + r.FailedBefore()
	if b.cmd.Context().Err() != nil || r.Runs()+failed == 0 {
		return nil // it was interrupted, or there was nothing to run yet
	}
	if r.Runs() == 0 {
		progress.Note(b.stderr, fmt.Sprintf("%s before: --rerun failed measures again", term.Count(failed, "run")+" failed"))
	} else if r.Measured() == 0 {
		fmt.Fprintln(b.stderr, term.OneLine("neurolens: "+progress.NothingMeasured(r)))
	}
	if failed > 0 || r.Measured() == 0 && !r.AllSkipped() {
		return errRunsFailed
	}
	return nil
}

// explained gives an error of a session its exit code.
func explained(err error) error {
	_, busy := errors.AsType[*device.BusyError](err)
	_, input := errors.AsType[*runner.InputError](err)
	if busy || input {
		return usageError{err}
	}
	return err
}

// closeOut completes the folder of the session, and says what is not there.
func (b *bench) closeOut(out *export.FolderSession) error {
	warnings, err := out.Close(b.cmd.Context(), b.stored)
	for _, warning := range warnings {
		fmt.Fprintln(b.stderr, term.OneLine("neurolens: --out-dir: "+warning))
	}
	return err
}

// stored opens the store of the session for reading.
func (b *bench) stored(ctx context.Context) (*query.DB, error) {
	return openForReading(ctx, []string{b.dir})
}

// openForWriting opens the store, made where there is none.
func openForWriting(dir string) (*ingest.Store, error) {
	store, err := ingest.Open(dir, version)
	if errors.Is(err, schema.ErrNoStore) {
		if err = ingest.Init(dir); err == nil {
			store, err = ingest.Open(dir, version)
		}
	}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		err = fmt.Errorf("%w; --store DIR names another store", err)
	}
	if err != nil {
		return nil, storeError{err}
	}
	return store, nil
}

// benchFlags are the flags of bench, but for those of keys of the sweep file: see defineRuns.
type benchFlags struct {
	config       string
	params, tags []string
	presets, set []string
	quick        bool
	noProfile    bool
	facts        []string
	targets      []string
	against      string
	conclusive   bool
	rerun        string
	out          layoutFlags
	dryRun       bool
	verbose      bool
	printSweep   bool
	maxTime      time.Duration
	noSkipAfter  bool
	wait, schema bool
	devices      string
	metrics      []string
	campaign     campaignFlags
	tune         []string
}

// define defines them on the command.
func (f *benchFlags) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	f.defineRuns(cmd)
	flags.StringVar(&f.config, "config", "", "same as the argument SWEEP.yaml: the sweep `FILE`")
	flags.BoolVar(&f.printSweep, "print-sweep", false, "print the sweep file that the command line stands for; run nothing")
	flags.BoolVar(&f.schema, "schema", false, "print the JSON Schema of sweep files, for editors")
	flags.StringVar(&f.against, "against", "", "compare the working tree with commit `REF`, measured alternately")
	flags.BoolVar(&f.conclusive, "until-conclusive", false, "with --against: repeat each point until it has a verdict")

	metricFlag(cmd, &f.metrics, "show and compare metrics `NAMES` (default: the primary metric)")
	flags.StringVar(&f.rerun, "rerun", "", "measure stored runs again: `failed` or all")
	flags.StringVar(&f.devices, "devices", "", "measure on several GPUs at once: `0,1`, UUIDs or all; each point stays on one")
	f.campaign.define(cmd)
	flags.BoolVar(&f.dryRun, "dry-run", false, "list every run and why it would run; run nothing")
	flags.DurationVar(&f.maxTime, "max-time", 0, "start no more runs after `TIME`")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "say which files run, and why discover skipped others")
	flags.BoolVar(&f.noSkipAfter, "no-skip-after-oom", false, "run larger points even after one ran out of memory")
	f.out.defineSession(cmd)
}

// defineRuns defines those that say which points are run, and how. Some keys of the sweep file are none of them.
func (f *benchFlags) defineRuns(cmd *cobra.Command, without ...string) {
	flags := cmd.Flags()
	for _, k := range sweep.Keys() {
		if k.Option != "" && !slices.Contains(without, k.Name) {
			defineKey(cmd, k)
		}
	}
	flags.StringArrayVarP(&f.params, "param", "P", nil, "replace or add an axis: `AXIS=VALUE`[,VALUE...]")
	flags.StringSliceVar(&f.presets, "preset", nil, "use the settings of the sweep's preset `NAME`; repeatable")
	flags.BoolVar(&f.noProfile, "no-profile", false, "run no profilers, even if the sweep names some")
	flags.BoolVar(&f.quick, "quick", false, "same as --preset quick")
	flags.StringArrayVar(&f.set, "set", nil, "replace any key of the sweep: `KEY=VALUE`, as timeouts.measure=1m; repeatable")
	flags.StringArrayVar(&f.facts, "fact", nil, "in expressions, use `NAME=VALUE` instead of this machine's fact; repeatable")
	completeFacts(cmd)
	flags.StringArrayVar(&f.tags, "tag", nil, "store the tag `KEY=VALUE` with every run; repeatable")
	flags.StringSliceVar(&f.targets, "targets", nil, "run only points that match `GLOB`: SUITE[:BENCHMARK[:VARIANT]] or BENCHMARK")
	flags.StringSliceVar(&f.tune, "tune", nil, "hold `SETTINGS` still while measuring (default: aslr,nice,governor,turbo; see tune)")
	flags.Lookup("tune").NoOptDefVal = tune.Default
	help.Words(cmd, "tune", append([]string{tune.Default}, tune.Names()...))
	flags.BoolVar(&f.wait, "wait", false, "if another session uses the device, wait for it")
}

// defineKey defines the option that goes before a key of the sweep file.
func defineKey(cmd *cobra.Command, k sweep.Key) {
	flags, name := cmd.Flags(), k.OptionName()
	if k.Verbatim {
		flags.String(name, "", k.Option)
		flags.Lookup(name).NoOptDefVal = k.Alone
		return
	}
	switch k.Value.Kind {
	case sweep.Switch:
		flags.Bool(name, false, k.Option)
	case sweep.Integer:
		flags.Int64(name, 0, k.Option)
	case sweep.Number:
		flags.Float64(name, 0, k.Option)
	case sweep.Duration:
		flags.Duration(name, 0, k.Option)
	case sweep.Either: // one or many
		flags.StringSlice(name, nil, k.Option)
	default:
		flags.String(name, "", k.Option)
	}
	if words := k.Value.Choices(); words != nil {
		help.Words(cmd, name, words)
	}
}

// givenKeys returns the options that go before keys of the sweep file, by the key, as far as they were given.
func givenKeys(cmd *cobra.Command) map[string]string {
	given := map[string]string{}
	for _, k := range sweep.Keys() {
		f := cmd.Flags().Lookup(k.OptionName())
		if k.Option == "" || f == nil || !f.Changed {
			continue
		}
		given[k.Name] = optionText(f)
	}
	return given
}

// optionText returns the value of an option as it is given; several values are separated by commas.
func optionText(f *pflag.Flag) string {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return strings.Join(list.GetSlice(), ",")
	}
	return f.Value.String()
}

// overrides returns the settings of the command line that were given.
func (f *benchFlags) overrides(a *app, cmd *cobra.Command) (sweep.Overrides, error) {
	o := sweep.Overrides{Given: givenKeys(cmd), Formats: ingest.ReadableFormats(formats.All()), Targets: f.targets, Against: f.against != "", UntilConclusive: f.conclusive, Defaults: a.project.Sweep(cmd.Name())}
	if o.Presets, o.Set = f.presets, f.set; f.quick {
		o.Presets = append([]string{"quick"}, o.Presets...)
	}
	if f.noProfile {
		o.Given["profile"] = ""
	}
	changed := cmd.Flags().Changed
	if f.conclusive {
		switch {
		case f.against == "":
			return o, usageErrorf("--until-conclusive: want --against REF too, as it compares two sides")
		case changed("repeats"):
			return o, usageErrorf("--until-conclusive and --repeats both set the number of runs: want one of them")
		case changed("rel-error"):
			return o, usageErrorf("--until-conclusive and --rel-error both decide when to stop: want one of them")
		}
	}
	var err error
	if o.Params, err = assignments("-P", f.params); err != nil {
		return o, err
	}
	if o.Tags, err = assignments("--tag", f.tags); err != nil {
		return o, err
	}
	given, err := assignments("--fact", f.facts)
	if err != nil {
		return o, err
	}
	ctx := cmd.Context()
	if o.Facts, err = a.machineFacts(ctx, given, func() schema.Env { return a.thisMachine(ctx) }); err != nil {
		return o, usageErrorf("--fact: %v", err)
	}
	return o, nil
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
			return nil, usageErrorf("%s %q: want KEY=VALUE, each key once: %s n=8", flag, word, flag)
		}
		m[key] = value
	}
	return m, nil
}

// plan says what run would launch, and launches nothing.
func (b *bench) plan() error {
	result, err := runner.Run(b.cmd.Context(), b.sweep, b.options(nil), func(schema.Run) error { return nil })
	if err != nil {
		return explained(err)
	}
	t := progress.PlanTable(&result.Plan, b.sweep, b.flags.against != "")
	return b.print(b.format, t, func() term.View { return progress.PlanView(t, &result.Plan, b.sweep, b.page()) })
}

// all runs what stands on the command line: one session for each sweep file, in order. All are read before the first one runs.
func (b *bench) all(args []string) error {
	sessions, err := b.sessions(args)
	if err != nil {
		return err
	}
	defer func() {
		for _, s := range sessions {
			_ = s.source.Close()
		}
	}()
	if b.flags.printSweep {
		return sessions[0].printSweepFile()
	}
	for _, s := range sessions {
		if err := s.read(); err != nil {
			return err
		}
	}
	if sessions[0].format == progress.FormatArrow && b.flags.dryRun {
		return usageErrorf("--format arrow holds runs, and --dry-run has none: want another format")
	}
	if format := sessions[0].format; len(sessions) > 1 && slices.Contains([]string{"json", "csv", "plain", progress.FormatArrow}, format) {
		return usageErrorf("--format %s holds one session, and there are %d sweep files: want jsonl or table", format, len(sessions))
	}
	var worst error
	for _, s := range sessions {
		err := s.session()
		switch {
		case b.cmd.Context().Err() != nil: // the next one would only say so again
			return err
		case err == nil:
			continue
		case errors.Is(err, context.Canceled) || exitCode(err) >= exitStore:
			return err
		}
		if exitCode(err) > exitCode(worst) {
			err, worst = worst, err
		}
		if err != nil {
			printError(b.stderr, err)
		}
	}
	return worst
}

// sessions returns the sessions that a command line asks for, each with its settings.
func (b *bench) sessions(args []string) ([]*bench, error) {
	overrides, err := b.flags.overrides(b.app, b.cmd)
	if err != nil {
		return nil, err
	}
	sources, err := cmdline.Open(cmdline.Args{Args: args, Words: b.args, Dash: b.cmd.ArgsLenAtDash(), File: b.flags.config, Stdin: os.Stdin}, &overrides)
	if err != nil {
		return nil, usageErrorf("bench: %w", err)
	}
	if b.layout, err = b.flags.out.session(); err != nil {
		return nil, usageError{err}
	}
	var sessions []*bench
	var names, settings []string
	for _, source := range sources {
		settings = append(settings, source.Path)
	}
	settings = slices.DeleteFunc(append(settings, b.project.Path()), func(path string) bool { return path == "" })
	for _, source := range sources {
		one := *b
		one.source, one.overrides, one.outDir, one.settings = source, overrides, b.flags.out.outDir, settings
		one.overrides.Given = maps.Clone(overrides.Given)
		if name := strings.TrimSuffix(filepath.Base(source.Path), filepath.Ext(source.Path)); len(sources) > 1 && one.outDir != "" {
			if slices.Contains(names, name) {
				return nil, usageErrorf("--out-dir: two of the sweep files are called %s, and each has a folder of its name", name)
			}
			names, one.outDir = append(names, name), filepath.Join(one.outDir, name)
		}
		sessions = append(sessions, &one)
	}
	return sessions, nil
}

// session runs one sweep, or says what of it would run.
func (b *bench) session() error {
	for _, note := range slices.Concat([]string{b.source.Note}, b.sweep.Notes, counter.Gaps(b.sweep.Counters())) {
		progress.Note(b.stderr, note)
	}
	if b.flags.verbose {
		progress.Discovered(b.stderr, b.sweep)
	}
	if _, prints := b.flags.campaign.prints(); prints {
		return b.printLauncher()
	}
	if b.flags.campaign.status {
		return b.campaignState()
	}
	if b.campaign != nil && b.campaign.Shard.Count > 0 {
		if b.sweep = b.sweep.Shard(b.campaign.Shard); b.sweep.Idle() {
			progress.Note(b.stderr, fmt.Sprintf("shard %s has no points: points that are compared stay together, and there are fewer such groups", b.campaign.Shard))
			return nil
		}
	}
	if b.flags.dryRun {
		return b.plan()
	}
	return b.measure()
}

// printSweepFile prints the sweep file that the line stands for.
func (b *bench) printSweepFile() error {
	text, err := b.source.Keep(b.overrides, b.cmd.Flags().Changed)
	if err != nil {
		return usageErrorf("bench: %w", err)
	}
	_, err = b.stdout.Write(text)
	return err
}

// repeatableFlags returns the flags of a command line that say how its runs are made, as JSON, to be stored with them. The
// interpreter may come from the environment. With them is what stood in place of a sweep file. Empty where there are none.
func repeatableFlags(cmd *cobra.Command, o sweep.Overrides, texts []string) string {
	given := o.Repeated()
	if len(texts) > 0 {
		given["line"] = term.ValueString(texts)
	}
	for _, name := range sweep.RepeatedOptions() {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
			given[name] = shellwords.ToUTF8(optionText(f))
		}
	}
	if len(given) == 0 {
		return ""
	}
	return term.ValueString(given)
}

// printSummary prints one row a point of the session, in the order of the sweep file, or its runs as an Arrow stream, also
// after an interrupt or an error: it answers from the store, so that what it shows is what was kept.
func printSummary(a *app, cmd *cobra.Command, format string, s progress.Summary) error {
	if s.Result.Runs() == 0 && format != progress.FormatArrow { // a stream without rows has columns
		return nil
	}
	ctx := cmd.Context()
	if ctx.Err() != nil {
		ctx = context.WithoutCancel(ctx) // a second interrupt ends this process
	}
	db, err := a.open(ctx, []string{s.Dir})
	if err != nil {
		return err
	}
	defer db.Close()
	if format == progress.FormatArrow {
		return s.Stream(ctx, db, a.stdout)
	}
	s.Processor = term.ForPeople(format)
	points, absent, err := s.Read(ctx, db)
	if err != nil {
		return err
	}
	a.reportAbsent("bench", absent)
	if term.ForPeople(format) && s.Result.Measured() > 1 {
		adds := s.Sweep.Looks != nil || s.Sweep.RelError > 0 // repeats itself, and --repeats is refused or has another meaning
		elapsed, repeats := s.Elapsed, progress.LeastRepeats(s.Sweep)
		if adds || s.Unfinished || s.Result.Plan.Done > 0 || repeats < s.Sweep.Repeats { // the time of other repeats than those of the sweep
			elapsed = 0
		}
		s.PerRepeat = elapsed / time.Duration(max(repeats, 1))
		won, err := views.Winners(ctx, db, views.JudgedSession{
			Runs: s.Filter(), Against: s.Against, Baseline: s.Sweep.Baseline, Metrics: s.Metrics, Usual: a.project.Usual("compare"),
			Repeats: repeats, Elapsed: elapsed,
		})
		if err != nil {
			return err
		}
		s.Won = won.Lines
		if format == term.FormatMD { // a table in place of sentences
			s.Won, s.Beside = won.Notes, standings(won.Rows, s.Against)
		}
		best, err := bestSetting(ctx, db, s, points, format)
		if err != nil {
			return err
		}
		s.Won = append(s.Won, best...)
		enough := won.Repeats
		if more, why := s.NeedsRepeats(points); more > 0 && !adds {
			enough, s.Won = more, append(s.Won, why)
		}
		if enough > repeats && !adds && !s.Unfinished {
			s.MoreRepeats = progress.WithRepeats(a.args, enough)
		}
	}
	if p := s.Result.Precision; p != nil && p.Needed > 0 && p.Stopped == runner.StopMaxRepeats {
		s.MoreRepeats = progress.WithMaxRepeats(a.args, p.Needed)
	}
	if s.Result.Failure != "" && !s.Unfinished {
		failed, more, err := db.WithoutWarnings().Failed(ctx, query.ListRequest{Filter: s.Filter()})
		if err != nil {
			return err
		}
		s.Rerun = views.Again(failed, more, a.stores)
	}
	s.Published = format == term.FormatMD
	return a.print(format, s.Table(points), func() term.View { return s.View(points) })
}

// bestSetting says which setting is best where the sweep names no baseline; nothing if that would compare functions or amounts of work.
func bestSetting(ctx context.Context, db *query.DB, s progress.Summary, points []query.SessionPoint, format string) ([]string, error) {
	contrast, work := s.Contrast(points)
	if contrast.Axis == "" || contrast.Axis == "benchmark" || work || len(s.Metrics) > 0 {
		return nil, nil
	}
	best, guess, command, err := report.Maker{Reader: s.Reader}.Best(ctx, db.WithoutWarnings(), s.Filter(), contrast)
	if err != nil || guess == "" {
		return best, err
	}
	if command != "" && format != term.FormatMD { // its readers have no store
		guess += " Another axis: " + command
	}
	return append(best, guess), nil
}

// standings assigns the cells of a comparison to the points of a summary, and to their sides if two commits were compared.
func standings(won views.Standing, against bool) progress.Beside {
	b := progress.Beside{Columns: won.Columns, Cells: map[progress.Side][]term.Cell{}}
	base, head := "", ""
	if against {
		base, head = "base", "head"
	}
	for id, cells := range won.Bases {
		b.Cells[progress.Side{PointID: id, Side: base}] = cells
	}
	for id, cells := range won.Heads {
		b.Cells[progress.Side{PointID: id, Side: head}] = cells
	}
	return b
}
