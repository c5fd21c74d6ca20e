package sweep

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/runner/output"
	"github.com/neurolens/neurolens/schema"
)

// maxText bounds the memory of all points.
const maxText = 128 << 20

// program is how a point is launched.
type program struct {
	document field // the whole file
	wrapper  texts // a program and its arguments that go before the command
	command  texts // the program and its arguments
	source   *template
	env      []variable
	dir      *template
	build    []texts
	lines    lines
	python   pythonTexts
	metrics  []metric

	derived, checks []*Result
	around          around

	output    *outputSpec
	reference *referenceSpec
	artifacts *artifactsSpec
	inputs    []inputSpec
	session   *sessionSpec
	used      []string // axes that stand in texts
	seed      *int64
	scope     *scope

	sharedEnv     map[string]string    // where it is the same at every point
	buildEnv      map[string]string    // what of env no axis stands in
	sharedBuild   [][]string           // likewise
	sharedMetrics []output.ExtractRule // likewise
	size          *int                 // bytes that the points of all parts take, see maxText
}

// lines are those of keys, for the messages of others; 0: not there.
type lines struct {
	file, python, build, command int
}

type variable struct {
	name string
	text template
}

func readProgram(d *document, axes []axis, seed *int64, size *int) (*program, error) {
	p := &program{document: d.file, seed: seed, size: size, scope: &scope{axes: axes, seed: seed, runs: true}}
	if err := d.checkSeed(axes); err != nil {
		return nil, err
	}
	for _, read := range []func(*document) error{p.readShell, p.readCommand, p.readAround, p.readSource, p.readEnv, p.readDir, p.readBuild, p.readMetrics, p.readOutput, p.readReference, p.readArtifacts, p.readInputs, p.readSession} {
		if err := read(d); err != nil {
			return nil, err
		}
	}
	p.buildEnv = p.fixedEnv()
	var err error
	if p.python, err = readPythonTexts(d, p.scope); err != nil {
		return nil, err
	}
	p.used = p.usedAxes()
	p.lines = lines{file: d.line("file"), python: d.line("python"), build: d.line("build"), command: d.line("command")}
	if d.option("python").given() {
		p.lines.python = 0
	}
	if wrapper := d.line("wrapper"); wrapper > 0 { // which is what is started
		p.lines.command = wrapper
	}
	return p, nil
}

func (p *program) readCommand(d *document) error {
	wrapper, command := d.keys["wrapper"], d.keys["command"]
	if wrapper.given() && !command.given() {
		return wrapper.errorf("goes before a command, but there is no command")
	}
	if err := p.wrapper.read(wrapper, p.scope); err != nil {
		return err
	}
	if p.around.shell == nil {
		return p.command.read(command, p.scope)
	}
	if !command.given() {
		return nil // which what takes the key says
	}
	if command.Kind != yaml.ScalarNode {
		return command.errorf("want one text, because of shell, got %s", command.got())
	}
	t, err := command.template(p.scope)
	if err == nil && strings.TrimSpace(command.Value) == "" {
		err = command.errorf("the name of the program is empty")
	}
	p.command = p.around.shellTexts(t)
	return err
}

// readSource reads the Python file.
func (p *program) readSource(d *document) error {
	f := d.keys["file"]
	if !f.given() {
		return nil
	}
	if command := d.keys["command"]; command.given() {
		return f.errorf("cannot be combined with command (line %d): use one of them", command.line)
	}
	t, err := f.lasting(p.scope)
	p.source = &t
	return err
}

func (p *program) readEnv(d *document) error {
	f := d.keys["env"]
	if !f.given() {
		return nil
	}
	members, err := f.members("env.")
	if err != nil {
		return err
	}
	for _, m := range members {
		if strings.ContainsAny(m.key, "=\x00") {
			return m.value.errorf("a name cannot contain =")
		}
		if err := m.value.checkUnfilled(m.key); err != nil {
			return err
		}
		t, err := m.value.template(p.scope)
		if err != nil {
			return err
		}
		p.env = append(p.env, variable{m.key, t})
	}
	return nil
}

func (p *program) readDir(d *document) error {
	f := d.keys["cwd"]
	if !f.given() {
		return nil
	}
	t, err := f.lasting(p.scope)
	p.dir = &t
	return err
}

// checkUse refuses an axis that the command does not use, because its points would all measure the same.
func (p *program) checkUse() error {
	if err := p.checkArguments(); err != nil || !p.isCommand() {
		return err
	}
	used := map[int]bool{}
	for _, t := range p.templates() {
		for _, part := range t.parts {
			used[part.axis] = true
		}
	}
	for i, a := range p.scope.axes {
		if !a.label && !used[i] {
			return a.at.errorf("not used by the command: write {%s} in command, wrapper, build, env or cwd", a.name)
		}
	}
	return nil
}

func (p *program) isCommand() bool { return len(p.command.templates) > 0 }

// usedAxes lists the axes that texts contain.
func (p *program) usedAxes() []string {
	var names []string
	all := p.templates()
	for _, text := range p.python {
		if text.text != nil {
			all = append(all, *text.text)
		}
	}
	for _, in := range p.inputs {
		all = append(all, in.templates()...)
	}
	all = append(all, p.session.templates()...)
	for i, a := range p.scope.axes {
		if slices.ContainsFunc(all, func(t template) bool { return t.uses(i) }) {
			names = append(names, a.name)
		}
	}
	return names
}

// templates are all texts except those of a Python worker.
func (p *program) templates() []template {
	all := slices.Concat(p.wrapper.templates, p.command.templates)
	if p.source != nil {
		all = append(all, *p.source)
	}
	for _, b := range p.build {
		all = append(all, b.templates...)
	}
	for _, v := range p.env {
		all = append(all, v.text)
	}
	if p.dir != nil {
		all = append(all, *p.dir)
	}
	return append(all, p.around.templates()...)
}

// launch sets how the point of a row is launched. backend is that of the row, or nil.
func (p *program) launch(point *Point, row []*value, backend *value) error {
	if tooLong(p.scope.filled, row) {
		return p.document.tooMuchText()
	}
	point.Env, point.BuildEnv = p.fillEnv(row), p.buildEnv
	var err error
	if p.dir != nil {
		if point.Dir, err = p.dir.fillPath(row); err != nil {
			return err
		}
	}
	if err := p.choose(point, row, backend); err != nil {
		return err
	}
	if err := p.fillBuild(point, row); err != nil {
		return err
	}
	if err := p.python.set(point, row); err != nil {
		return err
	}
	if err := p.fillMetrics(point, row); err != nil {
		return err
	}
	if err := p.fillInputs(point, row); err != nil {
		return err
	}
	if err := p.fillSession(point, row); err != nil {
		return err
	}
	if slices.Contains(pythonRun, point.Executor) {
		point.Used = p.used
	}
	if point.clearUntaken(); p.scope.seedUsed {
		point.Seed = p.seed
	}
	if err := p.fillReference(point, row); err != nil {
		return err
	}
	if err := p.fillArtifacts(point, row); err != nil {
		return err
	}
	if err := p.checkOutput(point); err != nil {
		return err
	}
	p.fillResults(point)
	point.FileLine, point.PythonLine, point.BuildLine = p.lines.file, p.lines.python, p.lines.build
	point.CommandLine = p.lines.command
	const entry = 32 // bytes that a parameter takes in its map, about
	*p.size += entry*(len(point.Params)+len(point.Values)+len(point.Written)) + len(point.Dir) + len(point.File)
	if *p.size += len(point.Python) + len(point.Provider) + len(point.Device); *p.size > maxText {
		return p.document.tooMuchText()
	}
	return nil
}

// tooMuchText refuses the points of a file.
func (f field) tooMuchText() error {
	return f.errorf("the points take more than %d MiB of memory: use fewer points or shorter texts", maxText>>20)
}

func (p *program) fillEnv(row []*value) map[string]string {
	if p.sharedEnv != nil || len(p.env) == 0 {
		return p.sharedEnv
	}
	fixed := true
	env := map[string]string{}
	for _, v := range p.env {
		env[v.name] = v.text.fill(row)
		*p.size += 48 + len(env[v.name])
		fixed = fixed && v.text.fixed()
	}
	if fixed {
		p.sharedEnv = env
	}
	return env
}

// choose decides what runs: the command, the file, or what the backend names.
func (p *program) choose(point *Point, row []*value, backend *value) error {
	switch {
	case p.isCommand():
		return p.setCommand(point, row)
	case p.source != nil:
		return p.splitSource(point, row)
	}
	return p.chooseBackend(point, backend)
}

// setCommand sets the command. The name of the program is the benchmark, unless the file sets one.
func (p *program) setCommand(point *Point, row []*value) error {
	point.Executor, point.Command = schema.ExecutorCommand, p.command.fill(row, p.size)
	if len(point.Command) == 0 || point.Command[0] == "" {
		return p.command.templates[0].at.errorf("the name of the program is empty")
	}
	if point.Benchmark == "" {
		point.Benchmark = p.nameOfCommand(point.Command)
	}
	before := p.wrapper.fill(row, p.size)
	if len(before) > 0 {
		point.Command = slices.Concat(before, point.Command)
	}
	if p.around.shell != nil {
		point.Start = append(slices.Clone(point.Command[:len(point.Command)-1]), "")
	}
	return p.fillAround(point, row)
}

// chooseBackend uses the backend if there is neither command nor file.
func (p *program) chooseBackend(point *Point, backend *value) error {
	if backend == nil {
		return p.document.errorf("nothing to run: want command, file, or model and backend")
	}
	point.Executor = schema.Executor(backend.text)
	switch point.Executor {
	case schema.ExecutorBuiltin, schema.ExecutorONNXRT, schema.ExecutorTorch, schema.ExecutorTensorRT:
	default:
		hint := ""
		if own := map[string]string{"onnxruntime": "onnxrt", "onnx": "onnxrt", "ort": "onnxrt", "pytorch": "torch", "trt": "tensorrt"}[strings.ToLower(backend.text)]; own != "" {
			hint = ": did you mean " + own + "?"
		}
		return backend.at.errorf("without command or file, want builtin, onnxrt, torch or tensorrt, got %s%s",
			backend.at.got(), hint)
	}
	embedded := strings.HasPrefix(point.Model, builtinPrefix)
	switch {
	case point.Executor != schema.ExecutorBuiltin && point.ModelPath == "" && !embedded:
		return backend.at.errorf("%s needs a model: a file, or builtin:NAME", backend.text)
	case point.Executor == schema.ExecutorBuiltin && point.Model != "" && !embedded:
		return backend.at.errorf("builtin cannot run the model %s: want builtin:NAME", shorten(point.Model))
	case point.Model == "" && point.Benchmark == "":
		return backend.at.errorf("builtin needs a model (builtin:tiny_linear) or a benchmark (LayerNorm)")
	case point.Benchmark == "":
		point.Benchmark = point.Model
	}
	return nil
}
