package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/apart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/screens/measuring"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/screens/verdicts"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/slip"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/system"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/foreign/formats"
	"github.com/neurolens/neurolens/ingest/imports"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/export"
	"github.com/neurolens/neurolens/query/layout"
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/cmdline"
	"github.com/neurolens/neurolens/runner/device"
	"github.com/neurolens/neurolens/runner/discover"
	"github.com/neurolens/neurolens/runner/sweep"
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

With --until-conclusive, each point first gets 6 runs per side. Points
that compare cannot decide yet get more: up to 9, 14, 20 and 30 (--max-repeats).
The error rate of all these looks together is that of a single one.

If something that a point needs is missing (an interpreter, module, file,
function, model or program), its runs are errors, and the other points run. A
line says so before the first run, and --dry-run too. If all points lack
something, and discover has found none of them, nothing is started, and the exit
status is 2. Files made by a build are checked after the build.

Progress lines and the summary show each point's primary metric, or the metrics
that --metric names, side by side. All metrics are stored in either case.
metric.NAME names a metric that only your benchmark knows. Formats for programs
append the columns metric.NAME (the median) and metric.NAME.unit.

On a terminal, progress is a view that is redrawn, and failures stay visible.
Elsewhere it is one line per run. With --format jsonl it is one JSON object per
line, whose "event" is session, plan, waiting, build, reference, run, look or
end. Unknown values are null. With --format arrow, the summary is an Arrow
stream of the runs that it counts, failed ones included, with the columns of the
view runs.

--schema prints a JSON Schema of sweep files with every key. Editors use it to
complete keys and to mark typos.`,
		Example: `  neurolens bench 'sort -n big.txt' 'sort big.txt'
  neurolens bench 'sleep 0.{n}' -P n=1..3
  neurolens bench fixtures/sweeps/quickstart.yaml
  neurolens bench sweep.yaml --repeats 5 -P batch_size=1,2 --tag note=try
  neurolens bench sweep.yaml --metric latency,peak_memory
  neurolens bench sweep.yaml --against main
  neurolens bench sweep.yaml --against main --until-conclusive
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
	slip.Aliases(cmd, map[string][]string{"warmup": {"w"}, "repeats": {"r", "runs"}, "setup": {"s"}, "prepare": {"p"}, "cleanup": {"c"}, "ignore-exit": {"i"}})
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
	system.Asking(b.cmd.Context(), true)
	defer system.Asking(b.cmd.Context(), b.flags.dryRun)
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

// options are those of a session that is told to observe.
func (b *bench) options(observe func(runner.Event)) runner.Options {
	exclude := []string{b.dir}
	exclude = append(exclude, export.FolderOutputs(b.layout, b.outDir)...)
	for i, path := range exclude {
		if absolute, err := filepath.Abs(path); err == nil {
			exclude[i] = absolute
		}
	}
	return runner.Options{
		Version: version, Machine: b.getenv("NEUROLENS_MACHINE"), Sweep: b.source.Path, Flags: repeatableFlags(b.cmd, b.overrides, b.source.Texts), Observe: observe,
		Done: b.earlier(), Rerun: b.rerun, DryRun: b.flags.dryRun, MaxTime: b.flags.maxTime, LargerAfterOOM: b.flags.noSkipAfter,
		Against: b.flags.against, Settings: b.settings, Exclude: exclude, Open: verdicts.OpenPoints, Extract: apart.Extract, Results: results, Beside: beside, Locks: device.DefaultDir(b.getenv), Wait: b.flags.wait,
	}
}

// results are the runs that the output of a benchmark tool has, as ingest reads them.
func results(ctx context.Context, format, file string, outputs map[string]*io.SectionReader) ([]schema.Run, error) {
	return imports.Results(ctx, formats.All(), format, file, outputs)
}

// beside are the names of the files that the reader of a format reads together with an output.
func beside(format, file string) []string { return imports.Beside(formats.All(), format, file) }

// earlier are the sessions that this one may go on from. A line is measured anew: those of other lines have points of it.
func (b *bench) earlier() func(machine string) ([]schema.Run, error) {
	if b.source.Texts != nil {
		return nil
	}
	return b.done
}

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
	known, err := compare.Predict(b.cmd.Context(), db, b.sweep.Suites())
	return known, errors.Join(err, db.Close())
}

// run runs the sweep and prints what came out.
func (b *bench) run() error {
	out, err := export.OpenFolder(b.layout, b.outDir)
	if err != nil {
		return usageError{err}
	}
	known, err := b.foresee()
	if err != nil {
		return errors.Join(err, b.closeOut(out))
	}
	progress := measuring.NewProgress(b.console(b.format), measuring.Session{Sweep: b.sweep, Against: b.overrides.Against, Known: known, Metrics: b.metrics})
	options := b.options(progress.Observe)
	var store *ingest.Store // opened when the session begins: a wrong sweep or a busy device creates no store
	options.Planned = func(plan *runner.Plan) (err error) {
		if store, err = openForWriting(b.dir); err != nil {
			return err
		}
		if err := out.Begin(b.cmd.Context(), measuring.Earlier(plan), b.stored); err != nil && !errors.Is(err, query.ErrStore) {
			return usageError{err}
		} else if err != nil {
			return err
		}
		return nil
	}
	options.Keep = func(content io.Reader) (string, int64, error) { return store.KeepArtifact(content) }
	result, err := runner.Run(b.cmd.Context(), b.sweep, options, func(run schema.Run) error {
		if err := store.Append(run); err != nil {
			return storeError{err}
		}
		return out.Add(run)
	})
	err = explained(err)
	progress.Close(result)
	if store != nil {
		if closed := store.Close(); err == nil && closed != nil {
			err = storeError{closed}
		}
	}
	if closed := b.closeOut(out); err == nil {
		err = closed
	}
	for _, line := range measuring.FileNotes(result.Files) {
		fmt.Fprintln(b.stderr, term.OneLine(line))
	}
	goesOn := measuring.GoesOn(options)
	if result.Left > 0 {
		fmt.Fprintf(b.stderr, "stopped after --max-time: %d of %s are left; %s\n", result.Left, term.Count(len(result.Plan.Launches), "run"), goesOn)
	}
	if err == nil && b.cmd.Context().Err() != nil && b.flags.against == "" {
		fmt.Fprintf(b.stderr, "interrupted: finished runs are stored; %s\n", goesOn)
	}
	s := measuring.Summary{Reader: b.reader(), Dir: b.dir, Sweep: b.sweep, Elapsed: progress.Elapsed(), Result: result, Metrics: b.metrics, Against: b.flags.against != ""}
	if err != nil && result.Runs() == 0 {
		return err // there is nothing to sum up, and no stream that looks like an answer
	}
	if s.Unfinished = b.cmd.Context().Err() != nil || result.Left > 0; s.Unfinished && options.Rerun != runner.RerunAll {
		s.Again = measuring.Again(b.args)
	}
	if printed := printSummary(b.app, b.cmd, b.format, s); err == nil {
		err = printed
	}
	if err == nil {
		err = b.verdict(result)
	}
	return err
}

// verdict is an error where runs failed, or none has measured anything. A session in which all was skipped went as planned.
func (b *bench) verdict(r runner.Result) error {
	if b.cmd.Context().Err() != nil || r.Runs() == 0 {
		return nil // it was interrupted, or there was nothing to run yet
	}
	if r.Measured() == 0 {
		fmt.Fprintln(b.stderr, term.OneLine("neurolens: "+measuring.NothingMeasured(r)))
	}
	if r.Failed()+r.FailedBefore() > 0 || r.Measured() == 0 && !r.AllSkipped() {
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
	if err != nil {
		return nil, storeError{err}
	}
	return store, nil
}
