package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/runner/builtin"
	"github.com/neurolens/neurolens/runner/onnx"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/python"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// target is a point on a side with all that is known of it before it is launched.
type target struct {
	point *sweep.Point
	spec  task.Spec
	facts map[string]string // stored with every run

	python         python.Interpreter // the zero value where there is none
	settings       python.Settings
	model          []byte // a generated one
	modelSHA256    string
	backendVersion string        // where it is known before a launch; a Python worker says it
	built          *int64        // what its builds took, in ns
	refused        *task.Outcome // why it cannot be launched
	launched       bool
	changed        bool // its files are not those that the session began with
	identity       map[string]string
}

// modelFile is the name of a generated model in the run directory.
const modelFile = "model.onnx"

// factAxis begins the facts of axes whose canonical text does not say how to write them again; the axis follows.
const factAxis = "runner.axis."

// builtinPrefix marks a model that NeuroLens makes itself.
const builtinPrefix = "builtin:"

// target prepares a point on a side, once.
func (s *session) target(ctx context.Context, sub subject) *target {
	if t, ok := s.host.targets[sub]; ok {
		return t
	}
	p, side := sub.point, s.sides[sub.side]
	t := &target{
		point: p, facts: asked(p),
		spec: task.Spec{
			Executor: p.Executor, Command: p.Command, Dir: side.resolve(p.Dir), Config: configOf(p),
			Env: environOf(p.Env), Warmup: p.Warmup, Iterations: p.Iterations, Budget: p.Budget, Deadlines: deadlinesOf(p.Timeouts),
		},
	}
	for axis, text := range p.Written {
		t.facts[factAxis+axis] = text
	}
	if p.Control {
		t.facts[schema.FactControl] = "true"
	}
	if p.Command != nil {
		t.facts[factCommandLine] = jsonList(t.mask().Arguments(p.Command))
	}
	if b, ok := s.built[sub]; ok {
		t.built = &b.took
		if b.err != nil {
			t.refuse(b.status, kindBuild, location{s.sweep.Name, p.BuildLine}, b.err)
		}
	}
	if p.RelError > 0 {
		t.spec.Enough = enough(p.RelError)
	}
	if err := s.absent(p, sub.side); err != nil {
		t.refuse(schema.StatusSkipped, "not_on_side", location{}, err)
	}
	s.host.targets[sub] = t
	switch p.Executor {
	case schema.ExecutorBuiltin:
		t.backendVersion = s.host.version
		if err := builtin.Check(t.spec.Config); err != nil {
			t.refuse(schema.StatusError, "model", location{s.sweep.Name, p.ModelLine}, err)
		}
	case schema.ExecutorCommand:
		s.prepareCommand(t, side)
	default:
		s.preparePython(ctx, t, side)
	}
	t.facts[factConfig], t.facts[factPoints] = configHash(t), s.host.points
	if hash := s.hashes[sub.side]; len(p.Build) > 0 && hash != "" {
		t.facts[factBuild] = hash
	}
	return t
}

// environOf is what is added to the environment.
func environOf(variables map[string]string) []string {
	var env []string
	for _, key := range slices.Sorted(maps.Keys(variables)) {
		env = append(env, key+"="+variables[key])
	}
	return env
}

// enough tells that latencies give their location to a relative error.
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

// specOf is the target for one launch.
func (t *target) specOf(l sweep.Launch) task.Spec {
	spec := t.spec
	if t.point.WarmupOnce && t.launched {
		spec.Warmup, spec.TracePeak = 0, true
	}
	if l.Profile == "" {
		return spec
	}
	spec.Profile, spec.Enough = true, nil
	settings := t.settings
	settings.Profile = l.Profile
	if made, err := t.program(settings); err == nil { // it was made once already
		spec.Program = made.Program
	}
	return spec
}

// refuse keeps the first reason why a target cannot be launched. It names the line of the sweep file, if that is known.
func (t *target) refuse(status schema.Status, kind string, at location, err error) {
	if t.refused != nil {
		return
	}
	stage := schema.StageSetup
	if kind == kindBuild {
		stage = schema.StageBuild
	}
	text := err.Error()
	if at.line > 0 {
		text = fmt.Sprintf("%s:%d: %s", at.file, at.line, text)
	}
	t.refused = &task.Outcome{Status: status, Stage: stage, ErrorKind: kind, Error: text}
}

// location is a line of a sweep file; 0 is not known.
type location struct {
	file string
	line int
}

// preparePython finds the interpreter, and the file or model that it is to run.
func (s *session) preparePython(ctx context.Context, t *target, side side) {
	p := t.point
	at := func(line int) location { return location{s.sweep.Name, line} }
	var err error
	if t.python, err = s.host.interpreter(ctx, p.Python); err != nil {
		t.refuse(schema.StatusError, "python", at(p.PythonLine), err)
	}
	for name, version := range t.python.Packages {
		t.facts[identityPrefix+name] = version
	}
	if p.File != "" {
		t.hash(s.host, "benchmark.sha256", p.File, at(p.FileLine))
	}
	if p.Executor != schema.ExecutorPython {
		s.prepareModel(t, at(p.ModelLine))
	}
	t.settings = settingsOf(p)
	t.settings.Foreign, t.settings.Exempt = side.others, side.exempt
	if t.model != nil {
		t.settings.ModelFile = modelFile
	}
	if t.refused != nil {
		return
	}
	made, err := t.program(t.settings)
	if err != nil {
		t.refuse(schema.StatusError, "python", location{}, err)
		return
	}
	t.spec.Program, t.spec.Env = made.Program, append(made.Env, t.spec.Env...)
}

// program is the worker's part of a Spec, with the generated model among its files.
func (t *target) program(settings python.Settings) (task.Spec, error) {
	made, err := t.python.Spec(settings)
	if err == nil && t.model != nil {
		made.Program.Files[modelFile] = t.model
	}
	return made, err
}

// hash keeps the hash of a file that has to be there.
func (t *target) hash(h *host, fact, path string, at location) {
	text, err := h.sha256(inDir(t.spec.Dir, path))
	if err != nil {
		kind, _, _ := strings.Cut(fact, ".")
		t.refuse(schema.StatusError, kind, at, fileError(path, err))
		return
	}
	t.facts[fact] = text
}

// prepareModel hashes the model's file, or makes the model.
func (s *session) prepareModel(t *target, at location) {
	p := t.point
	if p.ModelPath != "" {
		text, err := s.host.sha256(inDir(t.spec.Dir, p.ModelPath))
		if err != nil {
			t.refuse(schema.StatusError, "model", at, fileError("model "+p.ModelPath, err))
		}
		t.modelSHA256 = text
		return
	}
	name, ok := strings.CutPrefix(p.Model, builtinPrefix)
	if !ok || p.Executor == schema.ExecutorTorch {
		return
	}
	precision := p.Precision
	if precision == "" {
		precision = "fp32"
	}
	model, err := onnx.Generate(name, precision)
	if err != nil && !slices.Contains(onnx.Names(), name) {
		t.refuse(schema.StatusError, "model", at, fmt.Errorf("model %s: %w", p.Model, err))
		return
	}
	if err != nil {
		t.refuse(schema.StatusUnsupported, "precision", at, err)
		return
	}
	t.model, t.modelSHA256 = model, hashOf(model)
}

// fileError is an error of reading a file, without the words of the system call.
func fileError(what string, err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	return fmt.Errorf("%s: %w", what, err)
}

// inDir is a path as a process in dir sees it; dir is empty for the working directory.
func inDir(dir, path string) string {
	if dir == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// settingsOf is what a Python worker is told of a point.
func settingsOf(p *sweep.Point) python.Settings {
	settings := python.Settings{
		File: p.File, Object: p.Object, Worker: p.Worker, Used: p.Used, Fixed: p.Fixed,
	}
	if p.Executor == schema.ExecutorPython {
		settings.Values = map[string]json.RawMessage{}
		for axis, value := range p.Values {
			settings.Values[axis] = json.RawMessage(value)
		}
	} else {
		settings.Backend, settings.Model = string(p.Executor), p.ModelPath
		if p.ModelPath == "" {
			settings.Model = p.Model
		}
	}
	return settings
}

// configOf is a point as a worker is told of it: the axes with a column under their names, the others prefixed param.
// What the point does not say is left out, and so are the labels that mean nothing to the builtin worker.
func configOf(p *sweep.Point) map[string]string {
	if p.Calibration {
		return map[string]string{builtin.CalibrationKey: p.Variant}
	}
	config := map[string]string{}
	texts := map[string]string{"benchmark": p.Benchmark, "model": p.Model, "precision": p.Precision}
	if p.Executor != schema.ExecutorBuiltin {
		texts["backend"], texts["variant"] = p.Backend, p.Variant
	}
	for key, text := range texts {
		if text != "" {
			config[key] = text
		}
	}
	for key, n := range map[string]*int64{"batch_size": p.BatchSize, "seq_len": p.SeqLen} {
		if n != nil {
			config[key] = strconv.FormatInt(*n, 10)
		}
	}
	for name, text := range p.Params {
		config["param."+name] = text
	}
	return config
}

// asked are the settings of a launch that are not part of what is measured.
func asked(p *sweep.Point) map[string]string {
	facts := map[string]string{}
	for key, text := range p.Settings() {
		facts[factSetting+key] = text
	}
	if p.Object != "" {
		facts[factObject] = p.Object
	}
	return facts
}

// factCommandLine is the fact with the arguments of a command, less their secrets.
const factCommandLine = "runner.command"

// mask hides the secrets of what a launch is told and says.
func (t *target) mask() probe.Mask { return probe.NewMask(slices.Concat(os.Environ(), t.spec.Env)) }

// jsonList is a list of texts as canonical JSON.
func jsonList(list []string) string {
	words := make([]any, len(list))
	for i, word := range list {
		words[i] = word
	}
	text, err := schema.CanonicalJSON(words)
	if err != nil {
		return "" // texts always have one
	}
	return text
}

// configHash is the hash of everything that a launch is told, deadlines apart: a run that did not need a longer one
// counts. Files stand in it by name; their hashes are facts of their own.
func configHash(t *target) string {
	p := t.point
	lines := []string{string(p.Executor), p.Python, strconv.Itoa(p.Threads), time.Duration(p.MinRunTime).String()}
	for key, value := range asked(p) {
		lines = append(lines, key+"="+value)
	}
	for key, value := range p.Env {
		lines = append(lines, "env."+key+"="+value)
	}
	for i, command := range p.Build {
		lines = append(lines, fmt.Sprintf("build.%d=%s", i, jsonList(command)))
	}
	if p.Executor == schema.ExecutorPython {
		for axis, value := range p.Values {
			lines = append(lines, "value."+axis+"="+value)
		}
	}
	for _, setting := range p.Fixed {
		lines = append(lines, "fixed="+setting)
	}
	slices.Sort(lines)
	return hashOf([]byte(jsonList(lines)))
}
