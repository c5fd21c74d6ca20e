package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/progress"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/bisect"
	"github.com/neurolens/neurolens/runner/cmdline"
	"github.com/neurolens/neurolens/runner/device"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/worktree"
	"github.com/neurolens/neurolens/schema"
)

// bisectFlags are the flags of bisect, besides those of bench that say which points are run, and how.
type bisectFlags struct {
	metric, threshold, log string
	firstParent            bool
	maxBlocks              int
}

// defaultMaxBlocks is how many blocks a step has at most: enough to find 15 % where single runs differ by 10 %.
const defaultMaxBlocks = 300

// minMaxBlocks is the fewest: the first look.
const minMaxBlocks = 6

func newBisectCommand(a *app) *cobra.Command {
	runs, f := benchFlags{}, bisectFlags{}
	cmd := &cobra.Command{
		Use:   "bisect GOOD BAD SWEEP.yaml",
		Short: "Find the commit that made a benchmark slower or faster",
		Long: `Find the commit between GOOD and BAD that made a benchmark slower or faster.
Each step measures one commit and GOOD alternately in one session, each in a git
repository of its own: git commands of a build do not reach yours. The sweep
file is your current one; the code that it runs comes from each commit.

The first step compares BAD with GOOD and picks the point with the clearest
difference. -P and --targets choose another point. After that, a tested commit
counts as BAD if its change is at least half of the change of BAD, and else as
GOOD. A step adds blocks (one run of each side) until the confidence interval of
the change excludes that half. At most 5 % of searches name a wrong commit: this
error rate is shared among all steps and all looks. If a change came gradually,
the commit that passes the half is found.

A commit is skipped, and a commit near it tried, if its build fails, all its
runs fail, it lacks the point, or --max-blocks runs do not decide. If only
skipped commits are left, all candidates are named.

All decisions are written to a log in the format of git bisect log. Its path is
printed. The same command continues from the log and does not measure decided
steps again. To measure a step again, delete its lines, or the whole file.

Exit status: 0 the commit was found; 2 the input makes no sense; 3 several
candidates are left, or GOOD and BAD are not known to differ; 4 GOOD or BAD
cannot be measured.`,
		Example: `  neurolens bisect v1.4 main sweep.yaml
  neurolens bisect 3f9c1d2 HEAD sweep.yaml -P batch_size=16 --metric peak_memory`,
		Args: cobra.ArbitraryArgs, // see read
		RunE: func(cmd *cobra.Command, args []string) error {
			b := &bisector{bench: &bench{app: a, cmd: cmd, flags: &runs}, flags: f}
			if err := b.read(args); err != nil {
				return err
			}
			return b.run()
		},
	}
	runs.defineRuns(cmd, "profile", "repeats", "rel_error", "max_repeats", "order") // bisect decides these
	flags := cmd.Flags()
	oneMetricFlag(cmd, &f.metric, "bisect the metric `NAME` (default: the primary metric)")
	flags.StringVar(&f.threshold, "threshold", "", "smallest change that counts: `5%`, 3ms (default: 2%)")
	flags.IntVar(&f.maxBlocks, "max-blocks", defaultMaxBlocks, "at most `N` runs per side in a step")
	flags.BoolVar(&f.firstParent, "first-parent", false, "ignore commits that merges brought in")
	flags.StringVar(&f.log, "log", "", "write decisions to `FILE` (default: in your cache)")
	return cmd
}

// bisector is one call of the command.
type bisector struct {
	*bench
	flags     bisectFlags
	threshold *judge.Threshold // nil: that of the sweep, or the usual one
	history   worktree.History
	log       *bisect.Log
	progress  *progress.BisectProgress
	store     *ingest.Store
}

// read reads the command line, the sweep file, the history and the log.
func (b *bisector) read(args []string) (err error) {
	if len(args) != 3 {
		return usageErrorf("bisect: want GOOD, BAD and a sweep file, got %s", term.Count(len(args), "argument"))
	}
	if b.flags.maxBlocks < minMaxBlocks {
		return usageErrorf("--max-blocks: want at least %d, got %d", minMaxBlocks, b.flags.maxBlocks)
	}
	if b.flags.threshold != "" {
		threshold, err := judge.ParseThreshold(b.flags.threshold)
		if err != nil {
			return usageErrorf("--%w", err)
		}
		if k, _ := schema.KindOfMetric(b.flags.metric); threshold.Absolute && threshold.Unit == "" && k.Scale != schema.ScaleDifference {
			return usageErrorf("--threshold %q: want a share (5%%), or an amount with its unit", b.flags.threshold)
		}
		b.threshold = &threshold
	}
	if b.format, err = b.outputFormat(); err != nil {
		return err
	}
	if b.source, err = cmdline.File(args[2]); err != nil {
		return usageErrorf("bisect: %w%s", err, sweepOf(args[2]))
	}
	defer b.source.Close()
	if b.overrides, err = b.bench.flags.overrides(b.app, b.cmd); err != nil {
		return err
	}
	b.overrides.Against, b.overrides.UntilConclusive = true, true
	b.overrides.Given["order"], b.overrides.Given["profile"] = sweep.OrderInterleaved, ""
	b.overrides.Given["max_repeats"] = strconv.Itoa(b.flags.maxBlocks)
	if b.dir, err = b.writeStore(); err != nil {
		return err
	}
	if err := b.readSweep(); err != nil {
		return err
	}
	if b.sweep = b.sweep.Only(func(p *sweep.Point) bool { return !p.Control }); len(b.sweep.Points) == 0 {
		return usageErrorf("%s: every point is a control, which no commit changes", b.source.Path)
	}
	if b.history, err = worktree.Between(b.cmd.Context(), ".", args[0], args[1], b.flags.firstParent); err != nil {
		return usageError{err}
	}
	return b.openLog()
}

// sweepOf says how to write a sweep file for what bench measures without one, such as app.py:parse. It is empty for what should be a sweep
// file.
func sweepOf(target string) string {
	file, _, _ := strings.Cut(target, ":")
	if slices.Contains([]string{".yaml", ".yml", ""}, filepath.Ext(file)) {
		return ""
	}
	file = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)) + ".yaml"
	return fmt.Sprintf("; want a sweep file: neurolens bench %s --print-sweep > %s writes one", term.ShellWord(target), term.ShellWord(file))
}

// openLog opens the log of this search: that of --log, or the one in the user's cache.
func (b *bisector) openLog() (err error) {
	path, key := b.flags.log, b.key()
	if path == "" {
		if path, err = bisect.DefaultLog(key); err != nil {
			return err
		}
	}
	if b.log, err = bisect.OpenLog(path, key, b.history); err != nil {
		return usageError{err}
	}
	return nil
}

// keyFlags are the flags that make a search another one, besides those with which runs are made.
var keyFlags = []string{"param", "targets", "python", "metric", "first-parent"}

// key is by what a search is known again: what it measures, where, and how.
func (b *bisector) key() string {
	host, _ := os.Hostname() // where it has none, nothing else distinguishes machines that share a cache
	dir, _ := os.Getwd()
	store, _ := filepath.Abs(b.dir)
	parts := []string{
		b.history.Good.ID, b.history.Bad.ID, b.sweep.SHA256, b.source.Path, dir, store, host, b.getenv("NEUROLENS_MACHINE"),
		repeatableFlags(b.cmd, b.overrides, nil),
	}
	for _, name := range keyFlags {
		parts = append(parts, b.cmd.Flags().Lookup(name).Value.String())
	}
	sum := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:8])
}

// run searches and prints what was found.
func (b *bisector) run() error {
	ctx := b.cmd.Context()
	search := b.newSearch()
	b.progress = progress.NewBisectProgress(b.console(b.format), search)
	b.progress.Begin(len(b.sweep.Points))
	if b.log.Exists() {
		b.progress.Log(b.log.Path, len(b.log.Steps))
	}
	var err error
	if b.store, err = openForWriting(b.dir); err != nil {
		return err
	}
	end, err := search.Run(ctx)
	if err == nil {
		err = b.record(search, end)
	}
	if closed := b.store.Close(); err == nil && closed != nil {
		err = storeError{closed}
	}
	switch {
	case errors.Is(err, bisect.ErrContradiction):
		return usageErrorf("%s: %w", b.log.Path, err)
	case errors.Is(err, errInterrupted):
		fmt.Fprintln(b.stderr, "interrupted: finished runs are stored; the same command continues")
		return context.Canceled
	case err != nil:
		return err
	}
	return b.report(search, end)
}

// record tags the runs that compared the ends with the answer, which history repeats.
func (b *bisector) record(search *bisect.Search, end bisect.End) error {
	db, err := query.Open(b.cmd.Context(), []string{b.dir}, query.Options{})
	if err != nil {
		return err
	}
	defer db.Close()
	for of, found := range search.Answers(end) {
		selection := fmt.Sprintf("session_id=%s point_id=%s tag.%s!=%s", of.Session, of.PointID, schema.TagBisectFound, found)
		runs, err := db.RunIDs(b.cmd.Context(), selection)
		if err != nil {
			return err
		}
		if len(runs) == 0 { // an earlier call did, or the log was written by hand
			continue
		}
		for _, tag := range [][2]string{{schema.TagBisectGood, search.History.Good.ID}, {schema.TagBisectMetric, of.Metric}, {schema.TagBisectFound, found}} {
			if _, err := b.store.Annotate(ingest.Annotation{Kind: schema.EventTag, Runs: runs, Key: tag[0], Value: tag[1]}); err != nil {
				return storeError{err}
			}
		}
	}
	return nil
}

// report prints how a search ended.
func (b *bisector) report(search *bisect.Search, end bisect.End) error {
	t := answer.TableOf(progress.BisectFields(), progress.BisectRows(search, end))
	if err := b.print(b.format, t, func() term.View {
		return progress.BisectAnswer{Search: search, End: end, Suite: b.sweep.Suite, Metric: b.flags.metric, Dir: b.dir, Reader: b.display()}.View()
	}); err != nil {
		return err
	}
	switch {
	case len(end.Candidates) == 1:
		return nil
	case end.Unmeasured():
		return errRunsFailed
	}
	return errInconclusive
}

// newSearch returns the search, from its beginning.
func (b *bisector) newSearch() *bisect.Search {
	return bisect.New(bisect.Options{
		History: b.history, Looks: len(b.sweep.Looks), MaxBlocks: b.flags.maxBlocks, Known: b.log.Steps,
		MinChange: b.least, Decide: decideHalfway, Measure: b.measure,
		Decided: func(step *bisect.Step) error {
			if step.Result == bisect.Skip && step.Reason == "" {
				step.Reason = "not decided: " + term.Count(step.Blocks, "block")
			}
			b.progress.Step(*step)
			return b.log.Add(*step)
		},
	})
}

// decideHalfway has judge answer what a search asks.
func decideHalfway(q bisect.Question, blocks []float64) bisect.Decision {
	h := judge.Halfway{Known: math.NaN(), Error: q.Error, Looks: q.Looks, Min: q.MinChange}
	if q.Known != nil {
		h.Known = *q.Known
	}
	change, like := h.Look(blocks)
	return bisect.Decision{Change: change, Like: string(like), Nothing: h.Negligible(change), More: h.BlocksFor(change, len(blocks))}
}

// thresholdOf returns the threshold of a metric at a point: from the command line, else from the sweep, else the usual one.
func (b *bisector) thresholdOf(p *sweep.Point, metric string) judge.Threshold {
	given := judge.Thresholds{}
	if t, err := judge.ParseThreshold(p.Thresholds[metric]); err == nil {
		given[metric] = t
	}
	if b.threshold != nil {
		given[metric] = *b.threshold
	}
	return given.For(metric)
}

// least returns the smallest change that counts, in the scale of blocks. By difference, a share is one of the smaller side, as in compare.
func (b *bisector) least(s *bisect.Series) float64 {
	at := slices.IndexFunc(b.sweep.Points, func(p sweep.Point) bool { return p.PointID == s.Point.ID })
	return b.thresholdOf(&b.sweep.Points[at], s.Metric).In(s.Scale, min(math.Abs(s.Level(0)), math.Abs(s.Level(1))))
}

// errNoUse ends a session in which a commit turned out to be of no use.
var errNoUse = errors.New("the commit cannot be measured")

// errInterrupted ends a search before its answer.
var errInterrupted = errors.New("interrupted")

// measure runs one session of the good commit against another. A commit that git cannot check out has no session.
func (b *bisector) measure(ctx context.Context, t bisect.Trial) (*bisect.Session, error) {
	s := b.sweep
	if t.Point != "" {
		s = s.Only(func(p *sweep.Point) bool { return p.PointID == t.Point })
	}
	session := bisect.NewSession(b.points(s, t.Scale), b.flags.metric)
	inner, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	options := b.options(b.progress.Observe)
	options.Keep = b.store.KeepArtifact
	options.Done, options.Against, options.Head = nil, b.history.Good.ID, t.Commit.ID
	options.FindInconclusive = func([]schema.Run) map[string]string {
		open := map[string]string{}
		for _, id := range t.Open(session) {
			open[id] = "not decided"
		}
		b.progress.Looked(session.Blocks(), len(open))
		return open
	}
	b.progress.Test(t.Commit)
	ran := map[string]bool{} // sides
	result, err := runner.Run(inner, s, options, func(run schema.Run) error {
		run.Warnings = append(run.Warnings, schema.WarnBisect)
		if err := b.store.Append(run); err != nil {
			return storeError{err}
		}
		if ran[run.Side] = true; len(ran) > 1 && !b.log.Exists() { // both sides were launched, in either order, and are to be compared
			b.progress.Log(b.log.Path, 0)
			if err := b.log.Create(); err != nil {
				return err
			}
		}
		session.Add(&run)
		if session.Useless() {
			stop(errNoUse)
		}
		return nil
	})
	if _, bad := errors.AsType[storeError](err); ctx.Err() != nil && !bad {
		return nil, errInterrupted
	}
	session.ID = result.Session
	return session, b.excused(err, t.Commit, session)
}

// points returns the points of a sweep with their names in the whole sweep and their scale of comparison. If the scale is not known yet, a
// threshold that is an amount makes it the difference.
func (b *bisector) points(s *sweep.Sweep, scale schema.Scale) []bisect.Point {
	names := progress.PointNames(b.sweep)
	all := make([]bisect.Point, len(s.Points))
	for i := range s.Points {
		p := &s.Points[i]
		all[i] = bisect.Point{ID: p.PointID, Name: names[p.PointID], Scale: scale}
		if metric := cmp.Or(b.flags.metric, p.Primary); scale == "" && schema.ScaleOf(metric) == schema.ScaleRatio && b.thresholdOf(p, metric).Absolute {
			all[i].Scale = schema.ScaleDifference
		}
	}
	return all
}

// excused makes what keeps a single commit from being measured the reason why it is skipped. What keeps the ends from it,
// or any commit, stays an error.
func (b *bisector) excused(err error, commit worktree.Commit, session *bisect.Session) error {
	_, busy := errors.AsType[*device.BusyError](err)
	_, input := errors.AsType[*runner.InputError](err)
	switch {
	case err == nil:
	case !input || busy || commit.ID == b.history.Bad.ID:
		return explained(err)
	default:
		session.Excuse(term.OneLine(err.Error()))
	}
	return nil
}
