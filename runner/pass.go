package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/neurolens/neurolens/runner/prepare"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/profiler"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
)

// pass is a launch under a profiler that starts the program. It is judged by the report, because the exit status of the profiler is that
// of the program, or says nothing.
type pass struct {
	*launcher
	tool    profiler.Tool
	program string // path of the tool
	args    []string
	worker  bool // it runs a worker, not a command
	ranges  bool // only the iterations that the worker marks are recorded
	limit   time.Duration

	report string // the file of the last attempt to keep: its report, or what there is of it; empty: there is none
	again  bool   // there is no report, and another attempt may have one
}

// factProfileArgs is the fact with further arguments of a profiler, as JSON. factRanges is the fact with the package whose ranges told a
// profiler what to record.
const (
	factProfileArgs = "profile.args"
	factRanges      = "profile.ranges"
)

// missingOps is the key of the reason why a report gives no operators.
const missingOps = "ops"

// kindNoReport: a profiler left no report, and did not say why.
const kindNoReport = "profiler"

// profileOf returns the profiler of a run and its arguments, as a slot has them.
func profileOf(run *schema.Run) string {
	return run.Env.Facts[schema.FactProfile] + run.Env.Facts[factProfileArgs]
}

// profilerArguments returns the further arguments of the profiler of a launch as they are stored, without secrets; empty if there are none.
func profilerArguments(l sweep.Launch) string {
	list := l.Point.ProfileArgs[l.Profile]
	if len(list) == 0 {
		return ""
	}
	environ := os.Environ()
	for name, value := range l.Point.Env {
		environ = append(environ, name+"="+value)
	}
	return prepare.JSONList(probe.NewMask(environ).Arguments(list))
}

// findTools finds the profilers that start programs among those that points name: the paths of their programs, and why others are absent.
func findTools(points []sweep.Point) (paths, absent map[string]string) {
	paths, absent = map[string]string{}, map[string]string{}
	for i := range points {
		for _, name := range points[i].Profile {
			tool, outside := profiler.Of(name)
			if !outside || paths[name] != "" || absent[name] != "" {
				continue
			}
			path, err := exec.LookPath(tool.Finds)
			if err == nil {
				path, err = filepath.Abs(path) // a worker may run in another folder
			}
			if err != nil {
				absent[name] = tool.Absent()
				continue
			}
			paths[name] = path
		}
	}
	return paths, absent
}

// newPass makes the specification of a launch one of a pass; nil: the launch has no profiler that starts programs.
func (r *launcher) newPass(l sweep.Launch, spec *task.Spec) *pass {
	tool, outside := profiler.Of(l.Profile)
	if !outside {
		return nil
	}
	p := &pass{
		launcher: r, tool: tool, program: r.tools[tool.Name], args: l.Point.ProfileArgs[tool.Name], limit: spec.Deadlines.Profile,
		worker: spec.Executor != schema.ExecutorCommand, ranges: tool.Ranges && spec.Program != nil,
	}
	if spec.Executor == schema.ExecutorCommand {
		spec.Iterations = 1
	}
	// A profiler makes every stage slower. What the program prints is no result of a measurement.
	spec.Deadlines.Setup, spec.Deadlines.Warmup = max(spec.Deadlines.Setup, p.limit), max(spec.Deadlines.Warmup, p.limit)
	spec.Watch, spec.Keep, spec.Read = false, nil, nil
	spec.Profiler = &task.Profiler{
		Args: func(folder string) []string { return tool.Start(p.program, folder, p.ranges, p.args) },
		Env:  tool.Env, Grace: profiler.Grace,
	}
	return p
}

// run runs the pass, and once more if it left no report: a profiler may fail by chance, or not see the ranges that it was to record.
func (p *pass) run(ctx context.Context, spec task.Spec, leaving *leaving, observe func(task.Progress)) (task.Outcome, error) {
	spec.Leave = func(left task.Left) {
		if p.end(ctx, left); !p.again {
			left.Profile = cmp.Or(p.report, left.Profile)
			leaving.take(left)
		}
	}
	outcome, err := p.pool.Run(ctx, spec, observe)
	if err == nil && p.again && ctx.Err() == nil {
		outcome, err = p.pool.Run(ctx, spec, observe)
	}
	return outcome, err
}

// end judges a run that has ended, and adds what its report says.
func (p *pass) end(ctx context.Context, left task.Left) {
	o, retried := left.Outcome, p.again
	p.report, p.again = "", false
	switch o.Status {
	case schema.StatusOK, schema.StatusCrashed, schema.StatusTimeout, schema.StatusError:
	default:
		return
	}
	printed := []string{content(left.Stderr), content(left.Stdout)}
	report := filepath.Join(left.Profiler, p.tool.Report)
	if exists(report) {
		p.report = report
		p.read(ctx, left, o)
		return
	}
	p.report = p.partial(left.Profiler)
	if o.Status == schema.StatusTimeout || o.Status == schema.StatusError {
		return
	}
	why, unmarked := p.tool.Refusal(printed...), p.ranges && (o.Missing[factRanges] != "" || !p.tool.Begun(printed...))
	if p.again = !retried && (why == "" || unmarked); p.again {
		p.ranges = p.ranges && !unmarked
	}
	o.Stage = schema.StageProfile
	if why != "" {
		o.Status, o.ErrorKind, o.Error = schema.StatusUnsupported, kindNotApplied, p.tool.Name+": "+why
		return
	}
	o.Status, o.ErrorKind = schema.StatusError, kindNoReport
	o.Error = p.tool.Name + " left no report: " + cmp.Or(task.ErrorLine(printed[0]), task.ErrorLine(printed[1]), "it printed nothing")
}

// partial returns the path of what a tool leaves instead of a report; empty: nothing.
func (p *pass) partial(folder string) (found string) {
	_ = filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && p.tool.Partial(path) {
			found = path
		}
		return nil
	})
	return found
}

// read adds the contents of the report to the outcome.
func (p *pass) read(ctx context.Context, left task.Left, o *task.Outcome) {
	if o.Status == schema.StatusCrashed && o.Signal == "" && p.tool.EndsProgram { // it ended the program after the last launch that it records
		o.Status, o.Stage, o.ErrorKind, o.Error, o.ExitCode = schema.StatusOK, "", "", "", nil
	}
	p.judgeRanges(o)
	if p.tool.Metric != "" {
		p.addTotal(o)
	}
	if p.tool.Format == "" {
		return
	}
	runs, err := p.runsOf(ctx, left.Profiler)
	if kept := filepath.Join(left.Profiler, cmp.Or(p.tool.Kept, p.tool.Report)); exists(kept) {
		p.report = kept
	}
	switch {
	case err == nil:
		addProfile(o, runs)
	case o.Status == schema.StatusOK && errors.As(err, new(*unreadableError)):
		o.Status, o.Stage, o.ErrorKind, o.Error = schema.StatusError, schema.StageProfile, kindNoReport, err.Error()
	default:
		o.Missing[missingOps] = err.Error()
	}
}

// addTotal adds the metric that is a number in the report.
func (p *pass) addTotal(o *task.Outcome) {
	file, err := os.Open(p.report)
	if err != nil {
		o.Missing[p.tool.Metric] = err.Error()
		return
	}
	defer file.Close()
	n, ok := p.tool.Total(content(file))
	if !ok {
		o.Missing[p.tool.Metric] = "the report of " + p.tool.Name + " has no total"
		return
	}
	kind, _ := schema.KindOfMetric(p.tool.Metric)
	o.Metrics = append(o.Metrics, schema.Metric{
		Name: p.tool.Metric, Unit: kind.Unit, Better: kind.Better, Clock: p.tool.Name, Level: schema.LevelProcess, Tick: 1, Ticks: []int64{n},
	})
}

// judgeRanges removes the number of iterations if set-up and warm-up of a worker are in the report too.
func (p *pass) judgeRanges(o *task.Outcome) {
	if !p.tool.Ranges {
		delete(o.Facts, factRanges)
		delete(o.Missing, factRanges)
		if p.tool.Whole && p.worker {
			delete(o.Facts, task.FactProfiled)
		}
		return
	}
	if !p.ranges && o.Facts[factRanges] != "" {
		o.Missing[factRanges] = "the profiler saw none"
		if o.Facts[factRanges] == "nvtx" {
			o.Missing[factRanges] += ": nsys 2023.4 sees those of nvtx 0.2.11 and earlier; pip install nvtx==0.2.11"
		}
		delete(o.Facts, factRanges)
	}
	if o.Missing[factRanges] != "" {
		delete(o.Facts, task.FactProfiled)
	}
}

// PassNotes returns what the report of a run under a profiler lacks, a line each with the reason; nil of other runs.
func PassNotes(run *schema.Run) (notes []string) {
	if run.Purpose != schema.PurposeProfile {
		return nil
	}
	if why := run.Env.Missing[factRanges]; why != "" {
		notes = append(notes, "no ranges (NVTX), so set-up and warm-up are in the report: "+why)
	}
	if why := run.Env.Missing[missingOps]; why != "" {
		notes = append(notes, "no operators: "+why)
	}
	if tool, _ := profiler.Of(run.Env.Facts[schema.FactProfile]); run.Env.Missing[tool.Metric] != "" {
		notes = append(notes, "no "+tool.Metric+": "+run.Env.Missing[tool.Metric])
	}
	return notes
}

// exists reports whether there is a file with content.
func exists(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() > 0
}

// unreadableError is that the tool itself cannot read its report.
type unreadableError struct{ error }

// runsOf reads the report in a folder, by way of a file that the tool makes of it.
func (p *pass) runsOf(ctx context.Context, folder string) ([]schema.Run, error) {
	if words, output := p.tool.Convert(p.program, folder); words != nil {
		o, err := p.pool.Run(ctx, task.Spec{
			Launch:    task.Launch{Executor: schema.ExecutorCommand, Command: words, Stdout: output, Iterations: 1},
			Env:       append([]string{"TMPDIR=" + folder}, p.tool.Env...),
			Deadlines: task.EachStage(p.limit),
		}, nil)
		if err == nil && o.Status != schema.StatusOK {
			err = errors.New(o.Error)
		}
		if err != nil {
			return nil, &unreadableError{fmt.Errorf("reading the report of %s: %w", p.tool.Name, err)}
		}
	}
	if err := p.tool.Fold(folder); err != nil {
		return nil, &unreadableError{fmt.Errorf("reading the report of %s: %w", p.tool.Name, err)}
	}
	file, err := os.Open(filepath.Join(folder, p.tool.Read))
	if err != nil {
		return nil, &unreadableError{fmt.Errorf("reading the report of %s: %w", p.tool.Name, err)}
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if p.launcher.read == nil {
		return nil, fmt.Errorf("no reader for %s is available", p.tool.Format)
	}
	return p.launcher.read(ctx, p.tool.Format, p.tool.Read, map[string]*io.SectionReader{p.tool.Read: io.NewSectionReader(file, 0, info.Size())})
}

// maxPrinted is how much of the output of a run is searched for the words of a tool, in B, from the end.
const maxPrinted = 1 << 20

// content returns the end of a file.
func content(file *os.File) string {
	info, err := file.Stat()
	if err != nil {
		return ""
	}
	size := min(info.Size(), maxPrinted)
	text, _ := io.ReadAll(io.NewSectionReader(file, info.Size()-size, size))
	return string(text)
}
