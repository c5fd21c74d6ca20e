package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/progress"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/ingest/foreign/formats"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/runner/worktree"
	"github.com/neurolens/neurolens/schema"
)

type ingestFlags struct {
	from, mapping string
	tags, params  []string
	fromPath      string
	machine       string
	at, zone      string
	dryRun        bool
	list, schema  bool
	guess         bool
}

func newIngestCommand(a *app) *cobra.Command {
	var f ingestFlags
	cmd := &cobra.Command{
		Use:   "ingest FILE|DIR|-...",
		Short: "Import result files of other benchmark tools",
		Long: `Read result files of other benchmark tools, and store their runs. The format is
recognised by content. Folders are searched; gzip and UTF-16 work. The same
content is stored once, even if it is read again or from another path.

What cannot be understood is listed and counted, and the rest is stored; the
exit status is then 4. It is also 4 if the format of a named file is unknown. A
file in a folder may be of an unknown format: it is listed, and the exit status
stays 0 if another file was read.

Runs without a start time have no place in history and are never session=last.
--at gives it: a time, name or path (the date in the name or the folders of each
file), mtime, or commit. Given later, it replaces what was stored without it. So
does --machine, without which compare gives no verdict.

--list-formats lists the formats, and what becomes a run in each. Your own
program can write the format jsonl, one run per line; --json-schema prints its
schema. Any other table can be imported with --from csv or --from jsonl and a
mapping file (--map), which says what each column is. --guess prints a draft of
one, made of the names and values of the columns.

--from neurolens-parquet reads a folder that Spark, Trino or DuckDB filled with
rows of the tables runs, samples and ops of a store. Its runs keep their ids and
digests; a run that is not whole is refused.`,
		Example: `  neurolens ingest .benchmarks/ --tag branch=main
  neurolens ingest nights/ --at name
  hyperfine --export-json - 'sort big.txt' | neurolens ingest - --machine lab3
  neurolens ingest results.csv --guess > mapping.yaml
  neurolens ingest results.csv --from csv --map mapping.yaml --dry-run`,
		RunE: a.printing(func(cmd *cobra.Command, args []string, format string) error {
			switch {
			case f.list:
				all := views.Readable(formats.All())
				return a.print(format, answer.TableOf(views.FormatFields(), all), func() term.View { return views.Formats(all) })
			case f.schema:
				_, err := io.WriteString(a.stdout, formats.JSONSchema())
				return err
			case len(args) == 0:
				return usageErrorf("ingest: want files, folders or - for standard input")
			}
			if f.from == formats.NeurolensParquet {
				return a.ingestParquet(cmd.Context(), cmd.LocalNonPersistentFlags(), args, format)
			}
			if f.guess {
				return a.guess(cmd.Context(), f, args)
			}
			in, err := newIngesting(a, f, args)
			if err != nil {
				return err
			}
			in.flags = typedFlags(cmd, "from", "map", "dry-run", "format")
			if f.dryRun {
				return in.preview(cmd.Context(), format)
			}
			return in.store(cmd.Context(), format)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.from, "from", "", "read every file as `FORMAT`")
	flags.StringVar(&f.mapping, "map", "", "read the mapping `FILE`, which says what each column of csv or jsonl is")
	flags.BoolVar(&f.guess, "guess", false, "print a draft of a mapping for a file of CSV or JSON lines; store nothing")
	flags.StringArrayVar(&f.tags, "tag", nil, "store the tag `KEY=VALUE` with every run; repeatable")
	flags.StringArrayVarP(&f.params, "param", "P", nil, "add an axis that the file lacks to its runs: `KEY=VALUE`; repeatable")
	flags.StringVar(&f.fromPath, "param-from-path", "", "add axes from the path of each file: named groups of `REGEX`, such as (?P<isl>[0-9]+)")
	flags.StringVar(&f.machine, "machine", "", "machine `NAME`, for files that name none")
	flags.StringVar(&f.at, "at", "", "start time `WHEN` of runs whose file has none: a time, or name, path, mtime, commit")
	flags.StringVar(&f.zone, "tz", "", "time `ZONE` of times without one: Europe/Berlin, Local (default: UTC, marked naive)")
	flags.BoolVar(&f.dryRun, "dry-run", false, "show the runs; store nothing")
	flags.BoolVar(&f.list, "list-formats", false, "list the formats that can be read")
	flags.BoolVar(&f.schema, "json-schema", false, "print the JSON Schema of the format jsonl")
	return cmd
}

// guess prints a draft of a mapping for a file.
func (a *app) guess(ctx context.Context, f ingestFlags, paths []string) error {
	if f.mapping != "" {
		return usageErrorf("ingest: --guess prints a mapping, and --map names one: want one of them")
	}
	location, err := zoneNamed(f.zone)
	if err != nil {
		return err
	}
	sources, err := foreign.Sources(paths, os.Stdin)
	if err != nil {
		return usageErrorf("ingest: %w", err)
	}
	if len(sources) != 1 {
		return usageErrorf("ingest: --guess: want one file, or - for standard input, got %s", term.Count(len(sources), "file"))
	}
	file := sources[0]
	in, err := file.Open(ctx, location)
	if err != nil {
		return usageErrorf("ingest: %s: %w", file.Name, err)
	}
	defer in.Close()
	if known := foreign.Recognize(formats.All(), in.Head); f.from == "" && len(known) == 1 {
		return usageErrorf("ingest: --guess: %s has the format %s, which needs no mapping", file.Name, known[0].Name)
	}
	draft, err := formats.Guess(in, f.from)
	if err != nil {
		return usageErrorf("ingest: --guess: %s: %w", file.Name, err)
	}
	_, err = fmt.Fprintf(a.stdout, "# With this file as mapping.yaml, the runs are shown by\n# neurolens ingest %s --from %s --map mapping.yaml --dry-run\n%s", term.OneLine(term.ShellLine(file.Name)), draft.Table, draft.Text)
	return err
}

// ingesting is one call of the command.
type ingesting struct {
	*app
	options  ingest.ReadOptions
	dryRun   bool
	flags    []string // of the command line, for a command that reads with a mapping
	again    string   // see views.IngestReport.Again
	reading  *ingest.Reading
	progress *views.IngestProgress
}

func newIngesting(a *app, f ingestFlags, paths []string) (*ingesting, error) {
	in := &ingesting{app: a, options: ingest.ReadOptions{Formats: formats.All()}, dryRun: f.dryRun}
	if f.at == "" && !slices.Contains(a.args, "--") {
		in.again = progress.CommandLine(a.args)
	}
	o := &in.options
	var err error
	if o.From, err = f.format(); err != nil {
		return nil, err
	}
	if o.Location, err = zoneNamed(f.zone); err != nil {
		return nil, err
	}
	if o.Added, err = f.added(o.Location); err != nil {
		return nil, err
	}
	sources, err := foreign.Sources(paths, os.Stdin)
	if err != nil {
		return nil, usageErrorf("ingest: %w", err)
	}
	sources = slices.DeleteFunc(sources, func(s foreign.Source) bool { return s.Store && in.writesInto(s.Name) })
	if len(sources) == 0 {
		return nil, usageErrorf("ingest: these folders contain no files")
	}
	in.progress = views.NewIngestProgress(sources, a.screen(), a.now)
	in.reading = ingest.NewReading(sources, *o, in.progress)
	return in, nil
}

// format returns the format that --from and --map ask for; nil for none.
func (f ingestFlags) format() (*foreign.Format, error) {
	if f.mapping == "" {
		named, err := formats.Named(f.from)
		if err != nil {
			return nil, usageErrorf("ingest: --from %q: %w", f.from, err)
		}
		return named, nil
	}
	text, err := os.ReadFile(f.mapping)
	if err != nil {
		return nil, usageErrorf("ingest: --map: %w", err)
	}
	mapped, err := formats.Mapped(f.from, text)
	if at, is := errors.AsType[*formats.LineError](err); is {
		return nil, usageErrorf("ingest: --map %s:%d: %w", f.mapping, at.Line, at.Err)
	}
	if err != nil {
		return nil, usageErrorf("ingest: --map %s: %w", f.mapping, err)
	}
	return &mapped, nil
}

func zoneNamed(name string) (*time.Location, error) {
	if name == "" {
		return nil, nil
	}
	location, err := time.LoadLocation(name)
	if err != nil {
		return nil, usageErrorf("ingest: --tz %q: want a zone as Europe/Berlin, UTC or Local", name)
	}
	return location, nil
}

func (f ingestFlags) added(location *time.Location) (added foreign.Added, err error) {
	if added.Tags, err = assignments("--tag", f.tags); err != nil {
		return added, err
	}
	if added.Params, err = assignments("--param", f.params); err != nil {
		return added, err
	}
	for name, text := range added.Params {
		added.Params[name] = schema.CanonicalText(text)
	}
	if added.FromPath, err = foreign.PathExpression(f.fromPath); err != nil {
		return added, usageErrorf("ingest: --param-from-path %q: %w", f.fromPath, err)
	}
	added.Machine = f.machine
	added.Start, err = f.start(location)
	return added, err
}

// start returns how --at finds the start of a run; nil without --at.
func (f ingestFlags) start(location *time.Location) (foreign.Start, error) {
	if location == nil {
		location = time.UTC
	}
	switch f.at {
	case "":
		return nil, nil
	case atName:
		return foreign.StartOfName, nil
	case atPath:
		return foreign.StartOfPath, nil
	case atChange:
		return foreign.StartOfChange, nil
	case atCommit:
		return startOfCommit, nil
	}
	for _, layout := range append(foreign.ISO, "2006-01-02 15:04", "2006-01-02") {
		if at, err := time.ParseInLocation(layout, f.at, location); err == nil {
			return foreign.StartAt(at), nil
		}
	}
	return nil, usageErrorf("ingest: --at %q: want a time as 2026-01-31T10:00:00Z or 2026-01-31, or one of %s, %s, %s and %s", f.at, atName, atPath, atChange, atCommit)
}

// The values of --at besides a time.
const (
	atName   = "name"
	atPath   = "path"
	atChange = "mtime"
	atCommit = "commit"
)

// startOfCommit gives a run the time of the commit that it names, in the repository of the file or else of the current folder, or of the last
// commit that changed the file.
func startOfCommit(in *foreign.Input) foreign.RunStart {
	ctx, dir := context.Background(), filepath.Dir(in.Name)
	known := map[string]func() (time.Time, error){}
	return func(r *schema.Run) (time.Time, error) {
		commit := r.Env.GitCommit
		if known[commit] == nil {
			known[commit] = sync.OnceValues(func() (time.Time, error) {
				switch {
				case commit != "":
					at, err := worktree.CommitTime(ctx, dir, commit)
					if err == nil {
						return at, nil
					}
					if at, hereErr := worktree.CommitTime(ctx, ".", commit); hereErr == nil { // results outside of their repository
						return at, nil
					}
					return time.Time{}, fmt.Errorf("%w: want the file or the current folder in the repository that has it", err)
				case in.Folder == nil:
					return time.Time{}, errors.New("standard input and pipes are in no commit, and the run names none")
				}
				return worktree.LastChange(ctx, in.Name)
			})
		}
		return known[commit]()
	}
}

// ingestMemory is how many bytes are in memory before garbage is collected more often.
const ingestMemory = 300 << 20

// collectSeldom is for commands that make runs and let them go by the thousand: collecting garbage as often as usual takes a
// third of their time. Beyond so many bytes it is collected as often.
func collectSeldom(limit int64) {
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(limit)
}

// writesInto tells whether a folder is the store that the runs go into.
func (in *ingesting) writesInto(name string) bool {
	store, err := in.writeStore()
	return err == nil && isSameFile(name, store) // an error is reported when the store is opened
}

// isSameFile reports whether two paths name one file or folder.
func isSameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// openToIngest opens the store that imported runs go into.
func (a *app) openToIngest() (*ingest.Store, error) {
	dir, err := a.writeStore()
	if err != nil {
		return nil, err
	}
	collectSeldom(ingestMemory)
	return openForWriting(dir)
}

// store appends all runs, and prints what came of each file.
func (in *ingesting) store(ctx context.Context, format string) error {
	store, err := in.openToIngest()
	if err != nil {
		return err
	}
	done, err := in.reading.Into(ctx, store)
	in.progress.End()
	if closeErr := store.Close(); err == nil && closeErr != nil {
		err = closeErr
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		err = storeError{err}
	}
	report := in.report(ctx, done)
	t := views.IngestTable(in.reading.Reports)
	printed := in.print(format, t, report.View)
	if term.ForPeople(format) { // others have it in their rows
		report.Explain(in.stderr)
	}
	if err != nil {
		fmt.Fprintf(in.stderr, "%s stored before that\n", term.Count(done.Added, "run"))
		return errors.Join(err, printed)
	}
	if !term.ForPeople(format) { // whose table ends with it
		for _, line := range append(report.Times(), report.StoredText()) {
			fmt.Fprintln(in.stderr, "neurolens: ingest: "+line)
		}
	}
	return errors.Join(in.outcome(), printed)
}

// report returns the lines about what was read and what became of it.
func (in *ingesting) report(ctx context.Context, done ingest.Appended) views.IngestReport {
	dir := ""
	if len(in.stores) == 1 {
		dir = in.stores[0]
	}
	return views.IngestReport{
		Dir: dir, Files: in.reading.Reports, Known: in.reading.Known(), DryRun: in.dryRun, Tagged: len(in.options.Added.Tags) > 0,
		Stored: done, Replaced: in.reading.Replaced, Again: in.again, Drafts: in.drafts(ctx),
	}
}

// outcome returns the error of what was asked for and is not there.
func (in *ingesting) outcome() error {
	if in.reading.Incomplete() {
		return errRunsFailed
	}
	return nil
}

// preview prints the runs that would be stored as ls would print them, in the order of the files.
func (in *ingesting) preview(ctx context.Context, format string) error {
	if !term.ForPeople(format) {
		return in.previewPages(ctx, format)
	}
	var list query.Listing
	for run, err := range in.reading.Preview(ctx) {
		if err != nil {
			return err
		}
		if list.Total++; format != term.FormatTable || len(list.Runs) < lsTableLimit {
			list.Runs = append(list.Runs, query.ListedRunOf(&run))
		}
	}
	in.progress.End()
	v := in.listing(lsOptions{}).Runs(list)
	report := in.report(ctx, ingest.Appended{})
	v.Below = report.Summary()
	v.Compact = nil
	err := in.printer().View(format, v)
	report.Explain(in.stderr)
	return errors.Join(err, in.outcome())
}

// previewPages is preview for programs: the rows of runs.
func (in *ingesting) previewPages(ctx context.Context, format string) error {
	pages, t := in.printer().Pages(format), answer.Table{Columns: answer.RunColumns()}
	for run, err := range in.reading.Preview(ctx) {
		if err != nil {
			return err
		}
		if t.Rows = append(t.Rows, answer.RunRow(&run, schema.DigestOf(&run))); len(t.Rows) == previewPage {
			if err := pages.Page(t); err != nil {
				return err
			}
			t.Rows = nil
		}
	}
	in.progress.End()
	err := errors.Join(pages.Page(t), pages.End())
	in.report(ctx, ingest.Appended{}).Explain(in.stderr) // the rows are runs: nothing else says what was refused
	return errors.Join(err, in.outcome())
}

// previewPage is how many runs are printed at once.
const previewPage = 1000
