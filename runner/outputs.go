package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/runner/output"
	"github.com/neurolens/neurolens/runner/prepare"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// Extract applies the rules of a job to the outputs in a file. If it fails, began is the number of the rule that failed.
type Extract func(ctx context.Context, job output.ExtractJob, kept *os.File) (found []output.Extracted, began int, err error)

// extractHere applies rules in this process, limited only in time.
func extractHere(ctx context.Context, job output.ExtractJob, kept *os.File) (found []output.Extracted, began int, err error) {
	found = output.Extract(ctx, job, kept, func(rule int) { began = rule })
	return found, began, ctx.Err()
}

// leftovers are the results of a run apart from its metrics.
type leftovers struct {
	outputs []checked    // its outputs, compared with the correct ones
	results []schema.Run // of the tool that it ran
}

// reader returns a function that reads the outputs of a run: its metrics, and the fields of to; nil if there is nothing to read. want is
// the correct output, if there is one.
func (r *launcher) reader(ctx context.Context, t *prepare.Target, want *computed, to *leftovers) func(task.Kept) task.Reading {
	rules := slices.DeleteFunc(slices.Clone(t.Point.Metrics), func(r output.ExtractRule) bool { return r.Read != "" })
	if len(t.Point.Metrics) == 0 && !t.Point.Compared {
		return nil
	}
	limit := t.Spec.Deadlines.Validate
	return func(kept task.Kept) task.Reading {
		if t.Point.Compared {
			to.outputs = checkOutputs(ctx, kept, t.Point, want)
		}
		if ctx.Err() != nil {
			return task.Reading{Cancelled: true}
		}
		if len(t.Point.Metrics) == 0 {
			return task.Reading{}
		}
		found, wrong := r.extractAll(ctx, rules, kept, limit)
		switch {
		case ctx.Err() != nil:
			return task.Reading{Cancelled: true}
		case wrong != "":
			return task.Reading{Error: wrong}
		}
		reading := readingOf(rules, found)
		limited, stop := context.WithTimeout(ctx, limit)
		defer stop()
		to.results = r.resultsOf(limited, t.Point, kept, &reading)
		return reading
	}
}

// extractAll applies rules. An optional rule that takes too long, or too much memory, is left out with the reason, and the others
// are applied again. If a required rule fails, wrong is the reason.
func (r *launcher) extractAll(ctx context.Context, rules []output.ExtractRule, kept task.Kept, limit time.Duration) (all []output.Extracted, wrong string) {
	all = make([]output.Extracted, len(rules))
	left := make([]int, len(rules)) // rules that are still to be applied
	for i := range left {
		left[i] = i
	}
	for len(left) > 0 {
		some := make([]output.ExtractRule, len(left))
		for k, i := range left {
			some[k] = rules[i]
		}
		found, began, err := r.extractSome(ctx, some, kept, limit)
		if err == nil {
			for k, i := range left {
				all[i] = found[k]
			}
			return all, ""
		}
		at := left[began]
		if ctx.Err() != nil || !rules[at].Optional {
			return nil, fmt.Sprintf("metric %s: %v", rules[at].Name, err)
		}
		all[at].Error = err.Error()
		left = slices.Delete(left, began, began+1)
	}
	return all, ""
}

// extractSome applies rules once. If it fails, began is the number of the rule that failed.
func (r *launcher) extractSome(ctx context.Context, rules []output.ExtractRule, kept task.Kept, limit time.Duration) (found []output.Extracted, began int, err error) {
	limited, stop := context.WithTimeout(ctx, limit)
	defer stop()
	found, began, err = r.extract(limited, jobOf(rules, kept), kept.File)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("reading it took more than %s; raise timeouts.validate", limit)
	}
	return found, began, err
}

// jobOf returns the job that reads the metrics of a run.
func jobOf(rules []output.ExtractRule, kept task.Kept) output.ExtractJob {
	job := output.ExtractJob{Rules: rules, Processes: kept.Processes}
	for _, o := range kept.Outputs {
		job.Sections = append(job.Sections, output.Section{
			Process: o.Process, From: o.Name, Offset: o.Offset, Size: o.Size, Missing: o.Missing,
		})
	}
	return job
}

// readingOf converts the results for a run. The first required metric that cannot be read makes the run an error.
func readingOf(rules []output.ExtractRule, found []output.Extracted) task.Reading {
	reading := task.Reading{Missing: map[string]string{}}
	for i := range rules {
		r, f := &rules[i], &found[i]
		switch {
		case f.Error == "":
			reading.Metrics = append(reading.Metrics, f.Metric(r))
		case r.Optional && f.Absent:
			reading.Missing[r.Name] = output.Absent
		case r.Optional:
			reading.Missing[r.Name] = f.Error
		case reading.Error == "":
			reading.Error = fmt.Sprintf("metric %s: %s", r.Name, f.Error)
		}
	}
	return reading
}

// ReadResults reads the runs from the output of a benchmark tool, in a format with the given name. An empty one is that of the only format
// that recognises the output. file is the name of the output, without its folder. outputs has it and the files next to it that the process
// wrote too, by their names.
type ReadResults func(ctx context.Context, format, file string, outputs map[string]*io.SectionReader) ([]schema.Run, error)

// Unread are results of a benchmark tool that a command has printed, and that the sweep does not ask for.
type Unread struct {
	Format  string // its name
	Results int    // in the output of one process
}

// maxUnread is the maximum size, in B, of an output that is searched for results.
const maxUnread = 1 << 20

// unreadIn looks for results of a benchmark tool in the printed output of a command whose sweep reads no output. It returns nil if there are
// none.
func (r *launcher) unreadIn(ctx context.Context, l sweep.Launch, printed string) *Unread {
	p := l.Point
	if p.Executor != schema.ExecutorCommand || len(p.Metrics) > 0 || l.Profile != "" || r.read == nil || printed == "" || len(printed) > maxUnread {
		return nil
	}
	content := io.NewSectionReader(strings.NewReader(printed), 0, int64(len(printed)))
	runs, err := r.read(ctx, "", sweep.Stdout, map[string]*io.SectionReader{sweep.Stdout: content})
	if err != nil || len(runs) == 0 {
		return nil
	}
	return &Unread{runs[0].Source, len(runs)}
}

// resultsOf reads outputs of a run that are results of a benchmark tool. They count only if the run is finally ok.
func (r *launcher) resultsOf(ctx context.Context, p *sweep.Point, kept task.Kept, reading *task.Reading) (all []schema.Run) {
	for i := range p.Metrics {
		rule := &p.Metrics[i]
		if rule.Read == "" {
			continue
		}
		runs, missing, err := r.resultsIn(ctx, rule, p, kept)
		switch {
		case err == nil:
			all = append(all, runs...)
		case rule.Optional && missing:
			reading.Missing[rule.Name] = output.Absent
		case rule.Optional:
			reading.Missing[rule.Name] = err.Error()
		case reading.Error == "":
			reading.Error = fmt.Sprintf("metric %s: %s: %v", rule.Name, rule.From, err)
		}
	}
	return all
}

// resultsIn reads one output of the only process, and adds the fields of the point to its runs. missing reports that there is no
// such output.
func (r *launcher) resultsIn(ctx context.Context, rule *output.ExtractRule, p *sweep.Point, kept task.Kept) (runs []schema.Run, missing bool, err error) {
	o := outputOf(kept, rule.From)
	switch {
	case o.Missing == output.Absent:
		return nil, true, fmt.Errorf("the process did not write it")
	case o.Missing != "":
		return nil, false, fmt.Errorf("%s", o.Missing)
	case r.read == nil:
		return nil, false, fmt.Errorf("no reader for %s is available", rule.Read)
	}
	content := func(o task.KeptOutput) *io.SectionReader { return io.NewSectionReader(kept.File, o.Offset, o.Size) }
	outputs := map[string]*io.SectionReader{path.Base(rule.From): content(o)}
	for _, name := range r.targets.BesideOf(rule.Read, rule.From) {
		switch o := outputOf(kept, name); o.Missing {
		case "":
			outputs[path.Base(name)] = content(o)
		case output.Absent:
		default:
			return nil, false, fmt.Errorf("%s beside it: %s", path.Base(name), o.Missing)
		}
	}
	runs, err = r.read(ctx, rule.Read, path.Base(rule.From), outputs)
	if err != nil {
		return nil, false, err
	}
	for i := range runs {
		if err := checkTimes(&runs[i]); err != nil {
			return nil, false, err
		}
		if err := addPoint(&runs[i], p); err != nil {
			return nil, false, err
		}
		runs[i].Env.Facts = maps.Clone(runs[i].Env.Facts)
		if runs[i].Env.Facts == nil {
			runs[i].Env.Facts = map[string]string{}
		}
		runs[i].Env.Facts[schema.FactRead] = rule.Read
	}
	return runs, false, nil
}

// outputOf returns the output of a name of the only process.
func outputOf(kept task.Kept, name string) task.KeptOutput {
	i := slices.IndexFunc(kept.Outputs, func(o task.KeptOutput) bool { return o.Name == name })
	if i < 0 {
		return task.KeptOutput{Missing: output.Absent}
	}
	return kept.Outputs[i]
}

// checkTimes refuses a result with a time or a size below zero.
func checkTimes(run *schema.Run) error {
	for i := range run.Metrics {
		m := &run.Metrics[i]
		if m.Unit != "ns" && m.Unit != "B" {
			continue
		}
		if values := m.Values(); len(values) > 0 && slices.Min(values) < 0 {
			return fmt.Errorf("%s of %s is %s", m.Name, run.Benchmark, schema.ForPeople(slices.Min(values), m.Unit))
		}
	}
	return nil
}

// addPoint adds the fields of the point to a run of a tool. Labels of the point replace the labels of the tool. If a size or parameter
// of the tool differs from the point, the tool did not measure the requested point.
func addPoint(run *schema.Run, p *sweep.Point) error {
	for _, label := range []struct{ to, from *string }{
		{&run.Variant, &p.Variant}, {&run.Backend, &p.Backend}, {&run.Model, &p.Model},
	} {
		if *label.from != "" {
			*label.to = *label.from
		}
	}
	asked := map[string]string{"precision": p.Precision}
	maps.Copy(asked, p.Params)
	for name, n := range map[string]*int64{"batch_size": p.BatchSize, "seq_len": p.SeqLen} {
		if n != nil {
			asked[name] = fmt.Sprint(*n)
		}
	}
	run.Params = maps.Clone(run.Params)
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		if asked[name] == "" {
			continue
		}
		if applied := setAxis(run, name, asked[name], p); applied != asked[name] {
			return fmt.Errorf("%s %s was requested, but the result has %s (rename the axis if it means something else)", name, asked[name], applied)
		}
	}
	run.PointID = schema.PointID(run)
	return nil
}

// setAxis sets the value of an axis, unless the run has one itself, and returns the value that the run has then.
func setAxis(run *schema.Run, name, value string, p *sweep.Point) string {
	number := func(column **int64, asked *int64) string {
		if *column == nil {
			*column = asked
		}
		return fmt.Sprint(**column)
	}
	switch name {
	case "precision":
		if run.Precision == "" {
			run.Precision = value
		}
		return run.Precision
	case "batch_size":
		return number(&run.BatchSize, p.BatchSize)
	case "seq_len":
		return number(&run.SeqLen, p.SeqLen)
	}
	if has, is := run.Params[name]; is {
		return has
	}
	if run.Params == nil {
		run.Params = map[string]string{}
	}
	run.Params[name] = value
	return value
}

// results turns the runs that a tool reported in the output of launch l into runs of this session.
func (a *assembler) results(l sweep.Launch, t *prepare.Target, came launched) []schema.Run {
	var all []schema.Run
	for _, tool := range came.results {
		o := task.Outcome{
			Status: tool.Status, Stage: tool.Stage, ErrorKind: tool.ErrorKind, Error: tool.Error, StartedAt: came.outcome.StartedAt,
			Metrics: tool.Metrics, Ops: tool.Ops, Applied: tool.Applied, Work: tool.Work, Warnings: tool.Warnings,
			BackendVersion: tool.BackendVersion, Facts: maps.Clone(tool.Env.Facts), Missing: map[string]string{},
		}
		run := a.run(l, t, o, came.volatile)
		run.Benchmark, run.Variant, run.Backend, run.Model = tool.Benchmark, tool.Variant, tool.Backend, tool.Model
		run.Precision, run.BatchSize, run.SeqLen, run.Params, run.PointID = tool.Precision, tool.BatchSize, tool.SeqLen, tool.Params, tool.PointID
		run.Purpose = tool.Purpose
		if l.Point.Primary == "" || run.Metric(l.Point.Primary) == nil { // the sweep names no metric, or the result does not have it
			run.Primary = tool.Primary
		}
		if alike(came.results, tool.PointID) > 1 { // the launch does not distinguish them
			run.RepeatIndex, run.BlockIndex, run.PositionIndex = nil, nil, nil
		}
		stat.Complete(&run)
		all = append(all, run)
	}
	var ids []string // of one millisecond: they are given out again, so that runs are in the order of the output
	for i := range all {
		ids = append(ids, all[i].RunID)
	}
	slices.Sort(ids)
	for i := range all {
		all[i].RunID = ids[i]
	}
	return all
}

// alike counts the runs of a point.
func alike(runs []schema.Run, point string) (n int) {
	for i := range runs {
		if runs[i].PointID == point {
			n++
		}
	}
	return n
}

// levels records, by point id, what a sample measures if the worker decides it: a single iteration, or the mean of several.
// Samples of different levels cannot be compared. So a function whose time is close to the limit keeps the level of its first
// run, on both sides and in later sessions.
type levels map[string]schema.Level

// learn adds the runs of earlier sessions, newest first. Runs whose iterations are too short for the clock are ignored.
func (l levels) learn(runs []schema.Run) {
	for i := range runs {
		if !slices.Contains(runs[i].Warnings, stat.WarnShort) {
			l.note(runs[i].PointID, &runs[i])
		}
	}
}

// note adds a run, unless the point has a level already.
func (l levels) note(point string, run *schema.Run) {
	if l[point] != "" || run.Executor != schema.ExecutorPython || run.Status != schema.StatusOK ||
		run.Purpose != schema.PurposeMeasure || run.Env.Facts[factIterationsPerSample] != "" {
		return
	}
	if latency := run.Metric(schema.PrimaryMetric); latency != nil {
		l[point] = latency.Level
	}
}

// of returns the level for a launch of a point; empty: its worker decides.
func (l levels) of(p *sweep.Point) schema.Level {
	if p.IterationsPerSample > 0 {
		return ""
	}
	return l[p.PointID]
}

// factIterationsPerSample is the fact with the setting of that name, if it was set.
const factIterationsPerSample = "runner.iterations_per_sample"

// nsPerSecond converts latencies, which are in nanoseconds, for rates.
const nsPerSecond = 1e9

// addWork sets amounts of work that the benchmark did not report, and adds rates: work divided by latency, sample by sample.
// Rates exist only if the sweep has the key work.
func addWork(run *schema.Run, p *sweep.Point) {
	if p.Work == nil || run.Purpose != schema.PurposeMeasure {
		return
	}
	if run.Work.Items == nil {
		run.Work.Items = p.Work.Items
	}
	if run.Work.Bytes == nil {
		run.Work.Bytes = p.Work.Bytes
	}
	if run.Work.Flops == nil {
		run.Work.Flops = p.Work.Flops
	}
	var bytes *float64
	if run.Work.Bytes != nil {
		bytes = new(float64(*run.Work.Bytes))
	}
	for _, rate := range []struct {
		metric string
		amount *float64
	}{{"throughput", run.Work.Items}, {"bandwidth", bytes}, {"compute", run.Work.Flops}} {
		if rate.amount != nil && run.Metric(rate.metric) == nil { // a benchmark may have measured it itself
			addRate(run, rate.metric, *rate.amount)
		}
	}
}

// addRate adds the metric of a rate. If an iteration took no measurable time, the run has no rate.
func addRate(run *schema.Run, name string, amount float64) {
	latency := run.Metric(schema.PrimaryMetric)
	if latency == nil {
		return
	}
	taken := latency.Values()
	if len(taken) == 0 {
		return
	}
	if slices.Min(taken) <= 0 {
		run.Env.Missing[name] = "a latency is 0"
		return
	}
	rates := make([]float64, len(taken))
	for i, ns := range taken {
		rates[i] = amount / (ns / nsPerSecond)
	}
	kind, _ := schema.KindOfMetric(name)
	run.Metrics = append(run.Metrics, schema.Metric{
		Name: name, Unit: kind.Unit, Better: kind.Better, Clock: latency.Clock, Level: latency.Level,
		Reals: rates, AtNS: latency.AtNS, IterationsPerSample: latency.IterationsPerSample,
	})
}
