package prepare

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"

	"github.com/neurolens/neurolens/runner/builtin"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/python"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// Target is a point on a side, with everything that is known about it before its launch.
type Target struct {
	Point          *sweep.Point
	Spec           task.Spec
	Facts          map[string]string  // stored with every run
	Python         python.Interpreter // the zero value where there is none
	ModelSHA256    string
	BackendVersion string        // if it is known before a launch; a Python worker reports it
	Built          *int64        // the time of its builds, in ns
	Refused        *task.Outcome // why it cannot be launched
	Changed        bool          // its files have changed since the session began

	settings  python.Settings
	model     []byte            // a generated model
	described *python.Described // what the file of the model says; nil: it is no ONNX file
	pending   *conversion       // that the model still needs
	converted *converted        // the file that runs instead of the model; nil: the model itself
	file      string            // the sweep's name
	launched  bool
}

// kindForeign is the kind of error of a program that is in another tree than that of its side.
const kindForeign = "not_applied"

// kindFault is the kind of error of a point with a mistake in its settings, or without a benchmark in its file.
const kindFault = "settings"

// kindAbsent is the kind of error of something optional that does not exist.
const kindAbsent = "absent"

// modelFile is the name of a generated model in the run directory.
const modelFile = "model.onnx"

// builtinPrefix marks a model that NeuroLens makes itself.
const builtinPrefix = "builtin:"

// Of prepares a point on a side, once.
func (t *Targets) Of(ctx context.Context, sub Subject) *Target {
	if target, ok := t.known[sub]; ok {
		return target
	}
	p, side := sub.Point, t.Sides[sub.Side]
	target := newTarget(t.Sweep.Name, p, side)
	for _, m := range p.Metrics {
		for _, name := range t.BesideOf(m.Read, m.From) {
			if !slices.Contains(target.Spec.Keep, name) {
				target.Spec.Keep = append(target.Spec.Keep, name)
			}
		}
	}
	target.Spec.Env = t.environ(sub.Side, p.Env)
	target.Facts[FactConfig], target.Facts[FactPoints] = configHash(p), t.points
	if p.Fault != "" {
		target.refuse(schema.StatusError, kindFault, location{}, errors.New(p.Fault))
	}
	if p.Skip != nil { // nothing of it is looked for: that may be why it is skipped
		t.known[sub] = target
		return target
	}
	if b, ok := t.builds.points[sub]; ok {
		if b.took > 0 { // something of it ran
			target.Built = &b.took
		}
		switch {
		case b.absent && p.Optional:
			target.refuse(schema.StatusSkipped, kindAbsent, target.at(p.BuildLine), b.err)
		case b.err != nil:
			target.refuse(b.status, kindBuild, target.at(p.BuildLine), b.err)
		}
	}
	if err := t.absent(p, sub.Side); err != nil {
		target.refuse(schema.StatusSkipped, "not_on_side", location{}, err)
	}
	t.known[sub] = target
	switch p.Executor {
	case schema.ExecutorBuiltin:
		target.BackendVersion = t.Version
		if err := builtin.Check(target.Spec.Config); err != nil {
			target.refuse(schema.StatusError, "model", target.at(p.ModelLine), err)
		}
	case schema.ExecutorCommand:
		t.prepareCommand(target, side)
	default:
		t.preparePython(ctx, target, side)
	}
	if r := p.Reference; r != nil && r.File != "" {
		if hash, err := t.sha256(t.Path(sub, r.File)); err == nil {
			target.Facts[factReference] = hash
		}
	}
	if hash := t.builds.hashes[sub.Side]; len(p.Build) > 0 && hash != "" {
		target.Facts[FactBuild] = hash
	}
	if text := t.lacks[sub]; text != "" {
		target.lack(text)
	}
	return target
}

// BesideOf are the files beside an output of a benchmark tool that are read together with it in a format, if the process writes them. An output
// of no format has none.
func (t *Targets) BesideOf(format, output string) []string {
	if t.Beside == nil || format == "" {
		return nil
	}
	folder, file := path.Split(output)
	names := t.Beside(format, file)
	for i := range names {
		names[i] = folder + names[i]
	}
	return names
}

// newTarget is what a sweep says of a point.
func newTarget(file string, p *sweep.Point, side Side) *Target {
	t := &Target{
		Point: p, Facts: requested(p), file: file,
		Spec: task.Spec{
			Executor: p.Executor, Command: p.Command, Dir: side.resolve(p.Dir), Config: configOf(p),
			SkipExit: p.SkipExit, AnyExit: p.AnyExit, Exits: p.Exits, Hooks: task.Hooks(p.Hooks), Stdin: p.Stdin, Stdout: p.Stdout, Start: p.Start, Warmup: p.Warmup, Iterations: p.Iterations, Budget: p.Budget, Deadlines: deadlinesOf(p.Timeouts),
		},
	}
	for _, m := range p.Metrics {
		if !slices.Contains(t.Spec.Keep, m.From) {
			t.Spec.Keep = append(t.Spec.Keep, m.From)
		}
	}
	if from := outputOf(p); from != "" && !slices.Contains(t.Spec.Keep, from) {
		t.Spec.Keep = append(t.Spec.Keep, from)
	}
	for axis, base := range p.Scaled {
		t.Facts[factScale+axis] = base
	}
	for axis, text := range p.Written {
		t.Facts[factAxis+axis] = text
	}
	if len(p.Origins) > 0 {
		t.Facts[schema.FactOrigins] = jsonMap(p.Origins)
	}
	if p.Control {
		t.Facts[schema.FactControl] = "true"
	}
	if p.Command != nil {
		t.Facts[factCommandLine] = jsonList(t.Mask().Arguments(p.Command))
	}
	for key, words := range map[string][]string{"setup": p.Hooks.Setup, "prepare": p.Hooks.Prepare, "cleanup": p.Hooks.Cleanup} {
		if words != nil {
			t.Facts[factSetting+key] = jsonList(t.Mask().Arguments(words))
		}
	}
	if p.RelError > 0 {
		t.Spec.Enough = enough(p.RelError)
	}
	return t
}

// outputOf is the output of a point, in the form of task.Spec.Keep; empty: it is not checked.
func outputOf(p *sweep.Point) string {
	switch {
	case !p.Compared:
		return ""
	case p.Output != nil:
		return p.Output.From
	}
	return task.Output
}

// at is a line of the sweep file.
func (t *Target) at(line int) location { return location{t.file, line} }

// environOf is what is added to the environment.
func environOf(variables map[string]string) []string {
	var env []string
	for _, key := range slices.Sorted(maps.Keys(variables)) {
		env = append(env, key+"="+variables[key])
	}
	return env
}

// enough is a function that reports whether latencies determine their location with a relative error.
func enough(relError float64) func([]int64) bool {
	return func(latencies []int64) bool {
		values := make([]float64, len(latencies))
		for i, v := range latencies {
			values[i] = float64(v)
		}
		reached, ok := stat.BatchMeans(values)
		return ok && reached <= relError
	}
}

func deadlinesOf(t sweep.Timeouts) task.Deadlines {
	return task.Deadlines{
		Setup: t.Setup, Warmup: t.Warmup, Measure: t.Measure, Validate: t.Validate, Teardown: t.Teardown, Profile: t.Profile,
	}
}

// SpecOf is the specification of one launch. level is what the samples of a Python file must measure; empty: its worker decides.
func (t *Target) SpecOf(l sweep.Launch, level schema.Level) task.Spec {
	spec := t.Spec
	if t.Point.WarmupOnce && t.launched {
		spec.Warmup = 0
	}
	settings := t.settings
	settings.Profile, settings.Level = l.Profile, level
	settings.Operators = t.Point.Executor == schema.ExecutorONNXRT && t.Point.Operators && l.Profile == "" && l.Repeat == 0
	if l.Profile != "" {
		spec.Profile, spec.Enough = true, nil
		spec.Deadlines.Profile = l.Timeouts().Profile
	}
	if settings.Profile != "" || settings.Level != "" || settings.Operators {
		if made, err := t.program(settings); err == nil { // it was made once already
			spec.Program = made.Program
		}
	}
	return spec
}

// refuse keeps the first reason why a target cannot be launched. The reason names the line of the sweep file, if it is known.
func (t *Target) refuse(status schema.Status, kind string, at location, err error) {
	if t.Refused != nil {
		return
	}
	stage := schema.StageSetup
	if kind == kindBuild || kind == kindConvert {
		stage = schema.StageBuild
	}
	text := err.Error()
	if at.line > 0 {
		text = fmt.Sprintf("%s:%d: %s", at.file, at.line, text)
	}
	t.Refused = &task.Outcome{Status: status, Stage: stage, ErrorKind: kind, Error: text}
}

// refuseFile keeps the reason why a file of a target cannot be read. An optional file that is missing makes the point skipped.
func (t *Target) refuseFile(kind string, at location, what string, err error) {
	status := schema.StatusError
	if t.Point.Optional && errors.Is(err, fs.ErrNotExist) {
		status, kind = schema.StatusSkipped, kindAbsent
	}
	t.refuse(status, kind, at, fileError(what, err))
}

// location is a line of a sweep file; 0 is not known.
type location struct {
	file string
	line int
}

// fileError is an error of reading a file, without the words of the system call.
func fileError(what string, err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	return fmt.Errorf("%s: %w", what, err)
}

// Mask hides the secrets in the settings and output of a launch.
func (t *Target) Mask() probe.Mask { return probe.NewMask(slices.Concat(os.Environ(), t.Spec.Env)) }
