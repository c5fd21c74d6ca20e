package runner

import (
	"context"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"

	"github.com/neurolens/neurolens/runner/output"
	"github.com/neurolens/neurolens/runner/prepare"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// ReadResults reads the runs from the output of a benchmark tool, in a format that is known by name. file is the name of the
// output, without its folder. outputs has it and those of the files beside it that the process wrote too, by their names.
type ReadResults func(ctx context.Context, format, file string, outputs map[string]*io.SectionReader) ([]schema.Run, error)

// factRead is the fact with the format of the output that a run was read from.
const factRead = "runner.read"

// resultsOf reads outputs of a run that are results of a benchmark tool. They count only if the run is ok in the end.
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
		runs[i].Env.Facts[factRead] = rule.Read
	}
	return runs, false, nil
}

// outputOf is the output of a name of the only process.
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

// addPoint adds the fields of the point to a run of a tool. Labels of the point replace those of the tool. If a size or parameter
// of the tool differs from that of the point, the tool did not measure what was requested.
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
	if has, said := run.Params[name]; said {
		return has
	}
	if run.Params == nil {
		run.Params = map[string]string{}
	}
	run.Params[name] = value
	return value
}

// results makes runs of this session of what a tool's output has of a launch, whose own run is of.
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
		if l.Point.Primary == "" || run.Metric(l.Point.Primary) == nil { // the sweep does not say, or the result does not have it
			run.Primary = tool.Primary
		}
		if alike(came.results, tool.PointID) > 1 { // the launch says nothing of which of them is meant
			run.RepeatIndex, run.BlockIndex, run.PositionIndex = nil, nil, nil
		}
		stat.Complete(&run)
		all = append(all, run)
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
