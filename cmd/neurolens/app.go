package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/help"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/progress"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/project"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/files"
	"github.com/neurolens/neurolens/runner/worktree"
)

// app is what every command works with: its streams, its surroundings, and the global flags.
type app struct {
	stdout, stderr io.Writer
	getenv         func(string) string
	now            func() time.Time
	terminal       bool                       // stdout is one
	errTerminal    bool                       // stderr is one
	width          int                        // columns of stdout
	errSize        func() (columns, rows int) // of stderr, as they are now
	args           []string                   // the command line, without the name of the program
	pager          *term.Pager                // nil where stdout is no terminal
	project        *project.Project

	stores []string
	format string
	color  string
	json   bool
	csvRaw bool

	temporary files.ProcessScratch
}

// The exit codes, as docs/exit-codes.md documents them.
const (
	exitOK           = 0
	exitRegression   = 1   // gate: a regression
	exitInput        = 2   // usage, sweep, SQL or input error; nothing was started
	exitInconclusive = 3   // gate: inconclusive; bisect: no single commit
	exitRunsFailed   = 4   // finished, but some runs ended other than ok, unsupported or skipped
	exitStore        = 5   // store missing, unreadable, damaged, unwritable or of an unknown version
	exitOther        = 6   // anything else, a bug included
	exitPipe         = 141 // who read the output has gone
)

// stdoutFile is the file name that stands for standard output.
const stdoutFile = "-"

// usageError is a command line, or a file named on it, that makes no sense.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// storeError is a store that cannot be used.
type storeError struct{ error }

func (e storeError) Unwrap() error { return e.error }

// errRunsFailed ends a sweep in which runs failed. The summary has said so already.
var errRunsFailed = errors.New("")

// exitCode maps an error to the exit code of the process; it is the only place that does.
func exitCode(err error) int {
	var usage usageError
	var store storeError
	var reported reportedError
	var unexplained help.NotFound
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &reported):
		return reported.code
	case errors.Is(err, errRunsFailed):
		return exitRunsFailed
	case errors.Is(err, errRegression):
		return exitRegression
	case errors.Is(err, errInconclusive):
		return exitInconclusive
	case errors.As(err, &usage), errors.As(err, &unexplained), errors.Is(err, query.ErrInput), errors.Is(err, files.ErrPlace), errors.Is(err, ingest.ErrInside):
		return exitInput
	case errors.As(err, &store) && errors.Is(store.error, context.Canceled): // nothing is wrong with it
		return exitOther
	case errors.As(err, &store), errors.Is(err, query.ErrStore):
		return exitStore
	}
	return exitOther
}

func newRootCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "neurolens",
		Short: "Run benchmarks, store every run, answer questions about them",
		Long: `NeuroLens runs benchmarks, stores every run with its raw samples and its
environment, and answers questions about them: which program is faster, whether
a commit made something slower, and since when. The store is a folder of Parquet
files.

Start with one of these:
  neurolens bench 'sort -n big.txt' 'sort big.txt'   which one is faster?
  neurolens bench sweep.yaml --against main          did my change matter?
  neurolens ls                                       what is stored?

Exit status:
  0         done
  1         gate: a regression
  2         the command line, a sweep, a query or an input is wrong; nothing
            was started
  3         gate: inconclusive; bisect: no single commit was found
  4         finished, but some runs failed or some input was refused
  5         the store is missing, damaged, not readable, not writable, or of
            an unknown version
  6         any other error
  129, 130, 143
            hung up, interrupted or terminated; finished runs are stored
  141       the reader of the output closed it

Project settings are in neurolens.yaml. neurolens config shows them, and
neurolens help projects explains them. An environment variable such as
NEUROLENS_STORE overrides the file, and a flag overrides both.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asked, err := cmd.Flags().GetBool("version"); err == nil && asked {
				return newVersionCommand(a).RunE(cmd, nil)
			}
			return cmd.Help()
		},
	}
	cmd.Flags().BoolP("version", "V", false, "print the version; same as neurolens version")
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usageError{help.FlagError(cmd, err)} })

	flags := cmd.PersistentFlags()
	flags.StringArrayVar(&a.stores, "store", nil, "the store `DIR`; repeat to read several (default: runs_store here or in a parent folder)")
	flags.StringVar(&a.format, "format", "", "print as `FORMAT`: table plain json jsonl csv md (default: table)")
	flags.StringVar(&a.color, "color", "", "use colour `WHEN`: auto always never (default: auto; respects NO_COLOR)")
	flags.BoolVar(&a.csvRaw, "csv-raw", false, "in csv, do not escape cells that begin with = + - @")
	flags.BoolVar(&a.json, "json", false, "same as --format json")
	flags.Bool("no-pager", false, "print long output directly (default: $PAGER shows it)")
	cmd.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		a.pager.Begin(cmd, os.LookupEnv)
		if err := cmp.Or(a.checkFlags(cmd), a.readProject(cmd)); !help.IsCompleting(cmd) {
			return err
		}
		return nil // a shell asks, in the middle of somebody's line
	}

	for _, c := range []*cobra.Command{
		newBenchCommand(a), newBisectCommand(a), newDiscoverCommand(a), newLsCommand(a), newShowCommand(a), newQueryCommand(a), newExportCommand(a), newIngestCommand(a), newCompareCommand(a), newExplainCommand(a), newHistoryCommand(a), newPlotCommand(a), newReportCommand(a), newNotebookCommand(a),
		newTagCommand(a), newNoteCommand(a), newRmCommand(a), newRestoreCommand(a), newBlessCommand(a),
		newCICommand(a), newEnvCommand(a), newConfigCommand(a), newDoctorCommand(a), newTuneCommand(a), newModelCommand(a), newStoreCommand(a), newVersionCommand(a),
	} {
		cmd.AddCommand(c)
	}
	a.addPlotFlags(cmd)
	cmd.SetUsageTemplate(strings.ReplaceAll(cmd.UsageTemplate(), ".FlagUsages", fmt.Sprintf(".FlagUsagesWrapped %d", helpWidth)))
	help.ListFirstFlags(cmd)
	cmd.SetHelpCommand(help.Command(cmd, version, max(a.width, 40)))
	cmd.InitDefaultCompletionCmd("completion")
	if c, _, err := cmd.Find([]string{"completion"}); err == nil {
		c.Args, c.RunE = noArguments, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	help.AddCompletionCommand(cmd)
	return cmd
}

// helpWidth is how many columns help takes: those of the least terminal.
const helpWidth = 80

// checkFlags refuses flags that make no sense, whatever the command.
func (a *app) checkFlags(cmd *cobra.Command) error {
	if err := help.FlagAsValue(cmd); err != nil {
		return usageError{err}
	}
	if a.json && a.format != "" {
		return usageErrorf("--json and --format %s: want one of them", a.format)
	}
	if err := term.CheckColor("--color", a.color); err != nil {
		return usageError{err}
	}
	for _, dir := range a.stores {
		if dir == "" {
			return usageErrorf("--store: want a directory, got an empty name")
		}
	}
	return nil
}

// noArguments is cobra.NoArgs with the exit code of a usage error, and a hint at what was meant.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usageError{help.ArgumentsError(cmd, args)}
}

// arguments asks for between least and most arguments.
func arguments(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return usageErrorf("%s: want %s, got %s", strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" "), what, term.Count(len(args), "argument"))
		}
		return nil
	}
}

// readProject makes what the nearest project file says the default of variables and flags that are not set.
func (a *app) readProject(cmd *cobra.Command) (err error) {
	around := project.Environment{Home: a.getenv("HOME"), Environ: a.getenv, Formats: term.Formats, Command: cmd}
	if a.project, err = project.Read(around); err != nil {
		return usageError{err}
	}
	a.getenv = a.project.Getenv
	return nil
}

// readStores returns the stores that a reading command answers from.
func (a *app) readStores() []string {
	if len(a.stores) > 0 {
		return a.stores
	}
	if dir := a.getenv("NEUROLENS_STORE"); dir != "" {
		return []string{dir}
	}
	return []string{project.NearestStore(a.getenv("HOME"))}
}

// writeStore returns the one store of a command that writes, or that takes no more than one. If the user did not name it and it is not
// below the working directory, its path is printed to standard error.
func (a *app) writeStore() (string, error) {
	stores := a.readStores()
	if len(stores) > 1 {
		return "", usageErrorf("--store: this command takes one store, got %d", len(stores))
	}
	if len(a.stores) == 0 && a.project.Elsewhere(stores[0]) {
		fmt.Fprintln(a.stderr, "store "+stores[0])
	}
	return stores[0], checkStorePath(stores[0])
}

// newStore returns where a store is made that was asked for by that: here, if it was not named.
func (a *app) newStore() (string, error) {
	if len(a.stores) == 0 && a.getenv("NEUROLENS_STORE") == "" {
		return project.StoreHere, checkStorePath(project.StoreHere)
	}
	return a.writeStore()
}

// checkStorePath refuses a path that is not UTF-8, with all that it stands in: DuckDB takes no other, so that what is stored
// there could not be read.
func checkStorePath(dir string) error {
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil // whoever opens it says why
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if !utf8.ValidString(path) {
		return usageErrorf("--store: %q is not UTF-8, and no store under such a path can be read", path)
	}
	return nil
}

// memoryLimit bounds DuckDB for large queries, so that a benchmark on the same machine keeps its memory.
const memoryLimit = 4 << 30

func openForReading(ctx context.Context, stores []string) (*query.DB, error) {
	return query.Open(ctx, stores, query.Options{MemoryLimit: memoryLimit})
}

// remarks gives what prints each remark about an answer once.
func (a *app) remarks() func(text string) {
	var mu sync.Mutex
	said := map[string]bool{}
	return func(text string) {
		mu.Lock()
		defer mu.Unlock()
		if !said[text] {
			said[text] = true
			fmt.Fprintln(a.stderr, term.Message("neurolens: "+text))
		}
	}
}

// answerHeap is the size of the heap, in bytes, from which on a command that answers collects garbage as often as usual: a comparison of
// 100,000 points stays below 512 MB with it.
const answerHeap = 320 << 20

// open opens stores for a question, whose temporary files have a directory of their own where one can be made. Most answers end before
// garbage has to be collected: the names of a large store are a heap that doubles many times.
func (a *app) open(ctx context.Context, stores []string) (*query.DB, error) {
	debug.SetGCPercent(800)
	debug.SetMemoryLimit(answerHeap)
	o := query.Options{MemoryLimit: memoryLimit, Remark: a.remarks()}
	if dir, err := a.temporary.Dir(); err == nil && dir != nil {
		o.TempDir = dir.Path
	}
	return query.Open(ctx, stores, o)
}

// queryStores opens the stores for a question whose answer is printed in the format asked for.
func (a *app) queryStores(cmd *cobra.Command, answer func(db *query.DB, format string) error) error {
	format, err := a.outputFormat()
	if err != nil {
		return err
	}
	asking(cmd.Context(), true)
	db, err := a.open(cmd.Context(), a.readStores())
	if err != nil {
		return err
	}
	return errors.Join(answer(db, format), db.Close())
}

func usageErrorf(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// metricFlag defines --metric of a command that shows several metrics.
func metricFlag(cmd *cobra.Command, names *[]string, usage string) {
	cmd.Flags().StringSliceVar(names, "metric", nil, usage)
}

// oneMetricFlag defines that of a command that shows one.
func oneMetricFlag(cmd *cobra.Command, name *string, usage string) {
	cmd.Flags().StringVar(name, "metric", "", usage)
}

// metricNames returns the metrics that --metric names, without repetitions.
func metricNames(given []string) ([]string, error) {
	var names []string
	for _, name := range given {
		if name == "" {
			return nil, usageErrorf("--metric: want names of metrics, got an empty one")
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// reportAbsent says which metrics that a command was asked for no run has.
func (a *app) reportAbsent(command string, absent query.Absent) {
	for _, line := range views.AbsentMetrics(absent) {
		fmt.Fprintln(a.stderr, term.OneLine("neurolens: "+command+": "+line))
	}
}

// outputFormat returns the format asked for, else the table for people, wherever stdout goes: the log of a CI system is a pipe.
func (a *app) outputFormat() (string, error) {
	switch format := a.format; {
	case a.json:
		return term.FormatJSON, nil
	case format != "":
		return knownFormat("--format", format)
	}
	return a.defaultFormat()
}

// printing gives a command the format that its result is asked for in.
func (a *app) printing(run func(cmd *cobra.Command, args []string, format string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		format, err := a.outputFormat()
		if err != nil {
			return err
		}
		return run(cmd, args, format)
	}
}

// defaultFormat returns the format of a result for which no flag asks for one.
func (a *app) defaultFormat() (string, error) {
	if format := a.getenv("NEUROLENS_FORMAT"); format != "" {
		return knownFormat("NEUROLENS_FORMAT", format)
	}
	return term.FormatTable, nil
}

func knownFormat(source, format string) (string, error) {
	if !slices.Contains(term.Formats, format) {
		return "", usageErrorf("%s %q: want one of %s", source, format, strings.Join(term.Formats, " "))
	}
	return format, nil
}

// screen returns what of standard error can be drawn over; nil where nobody watches.
func (a *app) screen() *term.Screen {
	if !a.errTerminal || a.getenv("TERM") == "dumb" {
		return nil
	}
	s := term.NewScreen(a.stderr, a.errSize)
	s.Hidden = func() bool { return !term.InForeground(os.Stderr) }
	onContinue(s.Forget)
	return s
}

// console returns the console on which bench reports progress. It depends on the format of the summary.
func (a *app) console(format string) progress.Console {
	return progress.Console{W: a.stderr, Screen: a.screen(), Color: term.Colored(a.color, a.errTerminal, a.getenv), JSON: format == term.FormatJSONL, Now: a.now}
}

// display returns the width, the clock and the stores for answers to people.
func (a *app) display() views.Display {
	return views.Display{Width: a.width, Whole: !a.terminal, Now: a.now(), Stores: a.stores, UTC: a.format == term.FormatMD, Parent: parents()}
}

// parents returns a function that asks git once for the only parent of a commit in the repository of this folder; empty if there is none, or if
// git takes long.
func parents() func(commit string) string {
	asked := map[string]string{}
	return func(commit string) string {
		if _, ok := asked[commit]; !ok {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			asked[commit] = worktree.OnlyParent(ctx, ".", commit)
		}
		return asked[commit]
	}
}

// printer returns what writes results to standard output.
func (a *app) printer() term.Printer {
	return term.Printer{Out: a.stdout, Page: a.page(), Terminal: a.terminal, CSVRaw: a.csvRaw}
}

// page returns what tables are printed on. On a pipe names are whole: nobody can make a log wider to read the rest.
func (a *app) page() term.Page {
	return term.Page{Width: a.width, Color: term.Colored(a.color, a.terminal, a.getenv), Whole: !a.terminal}
}

// print writes a result in a format. view makes the view that table and md show.
func (a *app) print(format string, t answer.Table, view func() term.View) error {
	return a.printer().Print(format, t, view)
}
