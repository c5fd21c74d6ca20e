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
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/runner/builtin"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/python"
	"github.com/neurolens/neurolens/runner/shellwords"
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
	Python         python.Interpreter // the zero value if there is none
	ModelSHA256    string
	BackendVersion string        // if it is known before a launch; a Python worker reports it
	Built          *int64        // the time of its builds, in ns
	Refused        *task.Outcome // why it cannot be launched
	Changed        bool          // its files have changed since the session began

	settings  python.Settings
	model     []byte            // a generated model
	described *python.Described // description in the file of the model; nil: it is no ONNX file
	pending   *conversion       // that the model still needs
	converted *converted        // the file that runs instead of the model; nil: the model itself
	file      string            // the sweep's name
	launched  bool
}

// kindForeign is the kind of error of a program outside the tree of its side.
const kindForeign = "not_applied"

// kindFault is the kind of error of a point with a mistake in its settings, or without a benchmark in its file.
const kindFault = "settings"

// kindAbsent is the kind of error of something optional that does not exist.
const kindAbsent = "absent"

// modelFile is the name of a generated model in the run directory.
const modelFile = "model.onnx"

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
	if p.Skip != nil { // a skipped point is not examined: a missing requirement may be why it is skipped
		t.known[sub] = target
		return target
	}
	if b, ok := t.builds.points[sub]; ok {
		if b.took > 0 { // a part of it ran
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

// BesideOf returns the files next to an output of a benchmark tool that are read together with it in a format, if the process writes
// them. An output without a format has none.
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

// newTarget returns a target with the settings of its point, before anything is looked up.
func newTarget(file string, p *sweep.Point, side Side) *Target {
	t := &Target{
		Point: p, Facts: requested(p), file: file,
		Spec: task.Spec{Launch: p.Launch, Config: configOf(p), Deadlines: p.Timeouts.Deadlines},
	}
	t.Spec.Dir = side.resolve(p.Dir)
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
		t.Facts[factCommandLine] = JSONList(t.Mask().Arguments(p.Command))
	}
	for key, words := range map[string][]string{"setup": p.Hooks.Setup, "prepare": p.Hooks.Prepare, "cleanup": p.Hooks.Cleanup} {
		if words != nil {
			t.Facts[factSetting+key] = JSONList(t.Mask().Arguments(words))
		}
	}
	if p.RelError > 0 {
		t.Spec.Enough = enough(p.RelError)
	}
	return t
}

// outputOf returns the output of a point, in the form of task.Spec.Keep; empty: it is not checked.
func outputOf(p *sweep.Point) string {
	switch {
	case !p.Compared:
		return ""
	case p.Output != nil:
		return p.Output.From
	}
	return task.Output
}

// at returns a line of the sweep file.
func (t *Target) at(line int) location { return location{t.file, line} }

// environOf returns variables as KEY=VALUE, sorted.
func environOf(variables map[string]string) []string {
	var env []string
	for _, key := range slices.Sorted(maps.Keys(variables)) {
		env = append(env, key+"="+variables[key])
	}
	return env
}

// enough returns a function that reports whether latencies determine their location with a relative error.
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

// SpecOf returns the specification of one launch. level is the required level of the samples of a Python file; empty: its worker
// decides.
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

// location is a line of a sweep file; 0: unknown.
type location struct {
	file string
	line int
}

// fileError returns an error of reading a file, without the words of the system call.
func fileError(what string, err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	return fmt.Errorf("%s: %w", what, err)
}

// Mask hides the secrets in the settings and output of a launch.
func (t *Target) Mask() probe.Mask { return probe.NewMask(slices.Concat(os.Environ(), t.Spec.Env)) }

// configOf returns a point in the form that a worker gets: axes with a column under their names, the others with the prefix param. Axes
// that the point does not have are left out, and so are labels that the builtin worker does not use.
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

// requested returns the settings of a launch that do not identify the point.
func requested(p *sweep.Point) map[string]string {
	facts := map[string]string{}
	for key, text := range p.Settings() {
		facts[factSetting+key] = text
	}
	if p.Object != "" {
		facts[factObject] = p.Object
	}
	return facts
}

// JSONList returns a list of texts as canonical JSON; texts that are not UTF-8 are encoded by shellwords.ToUTF8.
func JSONList(list []string) string {
	all := make([]any, len(list))
	for i, word := range list {
		all[i] = shellwords.ToUTF8(word)
	}
	text, err := schema.CanonicalJSON(all)
	if err != nil {
		return "" // texts always have one
	}
	return text
}

// jsonMap returns a map of texts as canonical JSON.
func jsonMap(texts map[string]string) string {
	object := map[string]any{}
	for key, text := range texts {
		object[key] = text
	}
	text, err := schema.CanonicalJSON(object)
	if err != nil {
		return "" // texts always have one
	}
	return text
}

// configHash returns the hash of all settings of a launch, except deadlines: a run that did not need a longer one counts. Files are
// included by name; their hashes are separate facts.
func configHash(p *sweep.Point) string {
	lines := []string{string(p.Executor), p.Python, strconv.Itoa(p.Threads), time.Duration(p.MinRunTime).String()}
	for key, value := range requested(p) {
		lines = append(lines, key+"="+value)
	}
	for key, value := range p.Env {
		lines = append(lines, "env."+key+"="+value)
	}
	for i, command := range p.Build {
		lines = append(lines, fmt.Sprintf("build.%d=%s", i, JSONList(command)))
	}
	if p.Executor == schema.ExecutorPython {
		for axis, value := range p.Values {
			lines = append(lines, "value."+axis+"="+value)
		}
		for axis, names := range p.Spellings() {
			if names[0] != axis {
				lines = append(lines, "called."+axis+"="+names[0])
			}
		}
		for axis, text := range p.WrittenTexts() {
			lines = append(lines, "written."+axis+"="+text)
		}
	}
	if p.Fault != "" {
		lines = append(lines, "fault="+p.Fault)
	}
	for _, setting := range p.Fixed {
		if setting != "timeouts" {
			lines = append(lines, "fixed="+setting)
		}
	}
	slices.Sort(lines)
	return hashOf([]byte(JSONList(lines)))
}

// The facts that identify a run for a later session that continues its session.
const (
	FactPoints      = "sweep.points_sha256" // identifies sessions with the same points
	FactBuild       = "build.sha256"        // the hash of the files that builds made
	factCommand     = "command.sha256"      // the hash of the program of a command
	FactCommandFile = "command.sha256."     // the hash of a file that a command names; the word follows
	FactConfig      = schema.FactConfig
	FactInstalled   = "python.installed." // the version of a package of an interpreter; its name follows

	// factCommandLine is the fact with the arguments of a command, less their secrets.
	factCommandLine = "runner.command"

	FactTree        = "git.tree"    // the hash of the files of the working tree
	FactTreeChanged = "git.changed" // the files that differ from the commit; see worktree.Code

	factBenchmark  = "benchmark.sha256"
	factReference  = "reference.sha256" // the hash of a file that outputs are compared with
	factOpset      = "model.opset"
	factParameters = "model.parameters"
	factWeights    = "model.weights." // the number of weights in a format; the format follows
	factExternal   = "model.external" // the number of files with external data
	factSetting    = "runner."        // a setting of a launch; the key of the sweep file follows
	factObject     = "runner.object"  // the object of the Python file that runs
	// factAxis is the prefix of facts about axes whose canonical text differs from the written one; the axis follows.
	factAxis = "runner.axis."
	// factScale is the prefix of facts with the bases of axes that depend on the machine; the axis follows.
	factScale = "runner.scale."
)

// CodeFacts returns the facts that are equal in two runs of the same code and configuration.
func CodeFacts() []string {
	return []string{FactTree, factBenchmark, factCommand, factReference, FactBuild, FactConfig}
}

// IsSetting reports whether a fact is a setting of a launch.
func IsSetting(fact string) bool {
	key, is := strings.CutPrefix(fact, factSetting)
	return fact == factObject || is && sweep.IsStored(key)
}

// FactTraceback is the fact with the traceback of an exception.
const FactTraceback = "runner.traceback"

// Check makes a run unsupported if the requested settings were not applied, and adds the line of the sweep to errors.
func (t *Target) Check(o *task.Outcome) {
	checkApplied(t.Spec.Config, o)
	t.noteConverted(o)
	t.annotateSweepLine(o)
}

// annotateSweepLine adds the line of the sweep file to an error of a Python worker during its setup about the model, the file, or the
// requested settings. An exception of a benchmark has its own line.
func (t *Target) annotateSweepLine(o *task.Outcome) {
	p := t.Point
	line := p.ModelLine
	if p.File != "" {
		line = p.FileLine
	}
	if line == 0 || o.Stage != schema.StageSetup || p.Executor == schema.ExecutorBuiltin || p.Executor == schema.ExecutorCommand {
		return
	}
	switch o.ErrorKind {
	case "not_applied", "not_implemented":
	case "setup", "import":
		if p.File != "" && o.Facts[FactTraceback] != "" {
			return
		}
	default:
		return
	}
	o.Error = fmt.Sprintf("%s:%d: %s", t.file, line, o.Error)
}

// checkApplied makes a run unsupported if the requested settings were not applied, so that a benchmark cannot silently change an axis.
// Its samples and operators are dropped, because they do not belong to the point.
func checkApplied(requested map[string]string, o *task.Outcome) {
	if o.Status != schema.StatusOK || o.Applied == nil {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(requested)) {
		applied, known := o.Applied[key]
		if !known || applied == requested[key] {
			continue
		}
		o.Status, o.Stage, o.ErrorKind = schema.StatusUnsupported, schema.StageSetup, "not_applied"
		o.Error = key + " " + requested[key] + " was requested, but " + applied + " was applied"
		o.Metrics, o.Ops = nil, nil
		return
	}
}
