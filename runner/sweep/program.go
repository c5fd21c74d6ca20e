package sweep

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/runner/builtin"
	"github.com/neurolens/neurolens/runner/output"
	"github.com/neurolens/neurolens/runner/shellwords"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
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
	inCommand map[int]bool // axes in the texts with which a command runs
	used      []string     // axes in these and in the texts of a Python worker
	seed      *int64
	scope     *scope

	sharedEnv     map[string]string    // where it is the same at every point
	buildEnv      map[string]string    // the variables of env without an axis
	sharedBuild   [][]string           // if it is the same at every point
	sharedMetrics []output.ExtractRule // if it is the same at every point
	size          *int                 // bytes that the points of all parts take, see maxText
}

// lines are the lines of keys, for messages about other keys; 0: not set.
type lines struct {
	file, python, build, command int
}

type variable struct {
	name string
	text template
}

func readProgram(d *document, axes []axis, seed *int64, size *int) *program {
	p := &program{document: d.file, seed: seed, size: size, scope: &scope{axes: axes, seed: seed, runs: true, used: map[int]bool{}}}
	d.checkSeed(axes)
	for _, read := range []func(*document){
		chosen("shell", p.readShell), p.readCommand, p.readAround, given("file", p.readSource), given("env", p.readEnv), given("cwd", p.readDir),
		given("build", p.readBuild), p.readStdout, func(*document) { p.inCommand = maps.Clone(p.scope.used) },
		p.readPythonTexts, given("inputs", p.readInputs), given("session", p.readSession), p.noteUsed,
		given("metrics", p.readMetrics), p.readNumbers, given("reference", p.readReference), given("artifacts", p.readArtifacts),
	} {
		read(d)
	}
	p.buildEnv = p.fixedEnv()
	p.lines = lines{file: d.line("file"), python: d.line("python"), build: d.line("build"), command: d.line("command")}
	if d.option("python").given() {
		p.lines.python = 0
	}
	if wrapper := d.line("wrapper"); wrapper > 0 { // the wrapper is the program that is started
		p.lines.command = wrapper
	}
	return p
}

// noteUsed records the axes in the texts that were read. Texts that are read later only concern outputs.
func (p *program) noteUsed(*document) {
	for i, a := range p.scope.axes {
		if p.scope.used[i] {
			p.used = append(p.used, a.name)
		}
	}
	p.scope.used = nil
}

func (p *program) readCommand(d *document) {
	wrapper, command := d.keys["wrapper"], d.keys["command"]
	if wrapper.given() && !command.given() {
		panic(wrapper.errorf("goes before a command, but there is no command"))
	}
	p.wrapper.read(wrapper, p.scope)
	if p.around.shell == nil {
		p.command.read(command, p.scope)
		return
	}
	if !command.given() {
		return // another check reports it
	}
	if command.Kind != yaml.ScalarNode {
		panic(command.errorf("want one text, because of shell, got %s", command.got()))
	}
	t := command.template(p.scope)
	if strings.TrimSpace(command.Value) == "" {
		panic(command.errorf("the name of the program is empty"))
	}
	p.command = p.around.shellTexts(t)
}

// readSource reads the Python file.
func (p *program) readSource(d *document, f field) {
	if command := d.keys["command"]; command.given() {
		panic(f.errorf("cannot be combined with command (line %d): use one of them", command.line))
	}
	p.source = new(f.staticTemplate(p.scope))
}

func (p *program) readEnv(_ *document, f field) {
	for _, m := range f.members("env.") {
		if strings.ContainsAny(m.key, "=\x00") {
			panic(m.value.errorf("a name cannot contain ="))
		}
		m.value.checkUnfilled(m.key)
		p.env = append(p.env, variable{m.key, m.value.template(p.scope)})
	}
}

func (p *program) readDir(_ *document, f field) {
	p.dir = new(f.staticTemplate(p.scope))
}

// checkUse refuses an axis that the command does not use, because its points would all measure the same.
func (p *program) checkUse() {
	if p.checkArguments(); !p.isCommand() {
		return
	}
	for i, a := range p.scope.axes {
		if !a.label && !p.inCommand[i] {
			panic(a.at.errorf("not used by the command: write {%s} in command, wrapper, build, env or cwd", a.name))
		}
	}
}

func (p *program) isCommand() bool { return len(p.command.templates) > 0 }

// launch sets how the point of a row is launched. backend is the backend of the row, or nil.
func (p *program) launch(point *Point, row []*value, backend *value) {
	if tooLong(p.scope.filled, row) {
		panic(p.document.tooMuchText())
	}
	point.Env, point.BuildEnv = p.fillEnv(row), p.buildEnv
	if p.dir != nil {
		point.Dir = p.dir.fillPath(row)
	}
	p.choose(point, row, backend)
	p.fillBuild(point, row)
	p.python.set(point, row)
	p.fillMetrics(point, row)
	p.fillInputs(point, row)
	p.fillSession(point, row)
	if slices.Contains(pythonRun, point.Executor) {
		point.Used = p.used
	}
	if point.clearUntaken(); p.scope.seedUsed {
		point.Seed = p.seed
	}
	p.fillReference(point, row)
	p.fillArtifacts(point, row)
	p.checkOutput(point)
	point.Derived, point.Checks = p.derived, p.checks
	point.FileLine, point.PythonLine, point.BuildLine = p.lines.file, p.lines.python, p.lines.build
	point.CommandLine = p.lines.command
	const entry = 32 // bytes that a parameter takes in its map, about
	*p.size += entry*(len(point.Params)+len(point.Values)+len(point.Written)) + len(point.Dir) + len(point.File)
	if *p.size += len(point.Python) + len(point.Provider) + len(point.Device); *p.size > maxText {
		panic(p.document.tooMuchText())
	}
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

// choose selects the program: the command, the file, or the program of the backend.
func (p *program) choose(point *Point, row []*value, backend *value) {
	switch {
	case p.isCommand():
		p.setCommand(point, row)
		return
	case p.source != nil:
		p.splitSource(point, row)
		return
	}
	p.chooseBackend(point, backend)
}

// setCommand sets the command. The name of the program is the benchmark, unless the file sets one.
func (p *program) setCommand(point *Point, row []*value) {
	point.Executor, point.Command = schema.ExecutorCommand, p.command.fill(row, p.size)
	if len(point.Command) == 0 || point.Command[0] == "" {
		panic(p.command.templates[0].at.errorf("the name of the program is empty"))
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
	p.fillAround(point, row)
}

// chooseBackend uses the backend if there is neither command nor file.
func (p *program) chooseBackend(point *Point, backend *value) {
	if backend == nil {
		panic(p.document.errorf("nothing to run: want command, file, or model and backend"))
	}
	point.Executor = schema.Executor(backend.text)
	switch point.Executor {
	case schema.ExecutorBuiltin, schema.ExecutorONNXRT, schema.ExecutorTorch, schema.ExecutorTensorRT:
	default:
		hint := ""
		if own := map[string]string{"onnxruntime": "onnxrt", "onnx": "onnxrt", "ort": "onnxrt", "pytorch": "torch", "trt": "tensorrt"}[strings.ToLower(backend.text)]; own != "" {
			hint = ": did you mean " + own + "?"
		}
		panic(backend.at.errorf("without command or file, want builtin, onnxrt, torch or tensorrt, got %s%s",
			backend.at.got(), hint))
	}
	embedded := strings.HasPrefix(point.Model, builtin.ModelPrefix)
	switch {
	case point.Executor != schema.ExecutorBuiltin && point.ModelPath == "" && !embedded:
		panic(backend.at.errorf("%s needs a model: a file, or builtin:NAME", backend.text))
	case point.Executor == schema.ExecutorBuiltin && point.Model != "" && !embedded:
		panic(backend.at.errorf("builtin cannot run the model %s: want builtin:NAME", shorten(point.Model)))
	case point.Model == "" && point.Benchmark == "":
		panic(backend.at.errorf("builtin needs a model (builtin:tiny_linear) or a benchmark (LayerNorm)"))
	case point.Benchmark == "":
		point.Benchmark = point.Model
	}
}

// maxBuilds bounds the commands of build; maxShares the paths of share.
const (
	maxBuilds = 100
	maxShares = 100
)

const pythonSuffix = ".py"

var pythonName = regexp.MustCompile(`^[\pL_][\pL\pN_]*$`)

// splitSource sets the Python file of a point, and the object in it that runs.
func (p *program) splitSource(point *Point, row []*value) {
	point.Executor = schema.ExecutorPython
	text := p.source.fillPath(row)
	file, object := text, ""
	good := utf8.ValidString(text)
	if at := strings.LastIndexByte(text, ':'); at >= 0 && !strings.HasSuffix(text, pythonSuffix) {
		file, object = text[:at], text[at+1:]
		good = pythonName.MatchString(object)
	}
	base := filepath.Base(file)
	if !good || !strings.HasSuffix(base, pythonSuffix) || base == pythonSuffix {
		panic(p.source.at.errorf("want path.py or path.py:Name, got %q", shorten(text)))
	}
	point.File, point.Object = file, object
	p.setFunction(point, row)
	if point.Benchmark != "" {
		return
	}
	if point.Benchmark = base; object != "" {
		point.Benchmark += ":" + object
	}
}

// readBuild reads the commands that are to run before anything is measured: a list of argument lists, or one list.
func (p *program) readBuild(_ *document, f field) {
	f.checkWords()
	commands := []field{f}
	if f.Kind == yaml.SequenceNode && len(f.Content) > 0 && f.Content[0].Kind == yaml.SequenceNode {
		commands = f.items()
	}
	if len(commands) > maxBuilds {
		panic(f.errorf("more than %d commands", maxBuilds))
	}
	for _, command := range commands {
		if len(commands) > 1 && command.Kind != yaml.SequenceNode {
			panic(command.want("a list of words, or a list of such lists"))
		}
		w := command.readTexts(p.scope)
		if slices.ContainsFunc(w.templates, template.hasRunDir) {
			panic(command.errorf("a build runs before all runs, so it cannot use %s, the directory of one run", RunDir))
		}
		p.build = append(p.build, w)
	}
}

// fillBuild sets the build commands of a point.
func (p *program) fillBuild(point *Point, row []*value) {
	if len(p.build) == 0 || !keyOf("build").takes(point.Executor) {
		return
	}
	if point.Build = p.sharedBuild; point.Build != nil {
		return
	}
	fixed := true
	for i := range p.build {
		b := &p.build[i]
		words := b.fill(row, p.size)
		if len(words) == 0 || words[0] == "" {
			panic(b.templates[0].at.errorf("the name of the program is empty"))
		}
		point.Build = append(point.Build, words)
		fixed = fixed && b.fixed()
	}
	if *p.size += 24 * len(point.Build); fixed {
		p.sharedBuild = point.Build
	}
}

// fixedEnv returns the variables of env that are the same at every point by their text: with the others, one command of build would
// become one per point.
func (p *program) fixedEnv() map[string]string {
	var env map[string]string
	for _, v := range p.env {
		if !v.text.fixed() || v.text.hasRunDir() {
			continue
		}
		if env == nil {
			env = map[string]string{}
		}
		env[v.name] = v.text.fill(nil)
	}
	return env
}

// readShare reads the ignored paths that both sides of a comparison of two commits are to see.
func (d *document) readShare() []string {
	f := d.keys["share"]
	if len(f.items()) > maxShares {
		panic(f.errorf("more than %d paths", maxShares))
	}
	var paths []string
	for _, item := range f.items() {
		text := item.text()
		item.checkUnfilled(text)
		clean := path.Clean(item.expandPath(text))
		if clean == "." || clean == ".." || strings.HasPrefix(clean, "../") || path.IsAbs(clean) {
			panic(item.errorf("want a path below the working directory, got %q", shorten(text)))
		}
		if slices.Contains(paths, clean) {
			panic(item.errorf("%q appears twice", shorten(text)))
		}
		paths = append(paths, clean)
	}
	return paths
}

// around has the programs and files around the processes of a command.
type around struct {
	shell                   *template // runs texts; nil: none
	setup, prepare, cleanup texts
	function                *template // of a Python file, prepares an iteration; nil: none
	stdin                   *template
	stdout                  *template // the file that receives standard output; nil: none
	keep                    bool      // whether the printed output is kept
}

// standardShell runs texts if no shell is named.
const standardShell = "sh"

// readShell reads the shell that runs the command.
func (p *program) readShell(_ *document, f field) {
	name := standardShell
	if f.Kind == yaml.ScalarNode && f.ShortTag() == "!!bool" {
		if !f.boolean() {
			return
		}
	} else {
		name = f.text()
	}
	p.around.shell = new(f.parse(name, p.scope))
}

// shellTexts returns the words by which a shell runs a text.
func (a *around) shellTexts(text template) texts {
	return texts{templates: []template{*a.shell, {parts: []part{{"-c", -1}}, at: text.at}, text}}
}

// readAround reads the hooks and the standard input.
func (p *program) readAround(d *document) {
	for _, hook := range []struct {
		key string
		to  *texts
	}{{"setup", &p.around.setup}, {"prepare", &p.around.prepare}, {"cleanup", &p.around.cleanup}} {
		f := d.choose(hook.key)
		if !f.given() {
			continue
		}
		d.request(hook.key, f)
		if hook.key == "prepare" && d.keys["file"].given() {
			p.readFunction(f)
		} else {
			*hook.to = p.readHook(f)
		}
	}
	f := d.choose("stdin")
	if !f.given() {
		return
	}
	d.request("stdin", f)
	if f.ShortTag() == "!!null" {
		return
	}
	if f.Kind == yaml.ScalarNode && f.Value == "" {
		panic(f.errorf("is empty"))
	}
	p.around.stdin = new(f.template(p.scope))
}

// readFunction reads the name of the function that prepares an iteration of a Python benchmark.
func (p *program) readFunction(f field) {
	if f.Kind != yaml.ScalarNode {
		panic(f.errorf("want the name of a function in the file, got %s", f.got()))
	}
	p.around.function = new(f.template(p.scope))
}

// setFunction sets the function that prepares an iteration of a point.
func (p *program) setFunction(point *Point, row []*value) {
	t := p.around.function
	if t == nil {
		return
	}
	if point.Prepare = t.fill(row); !pythonName.MatchString(point.Prepare) {
		panic(t.at.errorf("want the name of a function in the file, got %q", shorten(point.Prepare)))
	}
	*p.size += len(point.Prepare)
}

// readHook reads a program with its arguments: a list, or a text.
func (p *program) readHook(f field) texts {
	if f.Kind != yaml.ScalarNode {
		return f.readTexts(p.scope)
	}
	if p.around.shell != nil {
		return p.around.shellTexts(f.template(p.scope))
	}
	parts, err := shellwords.Split(f.argument())
	if err != nil {
		panic(f.errorf("%v", err))
	}
	var w texts
	for _, part := range parts {
		w.templates = append(w.templates, f.parse(part, p.scope))
	}
	return w
}

// nameOfCommand returns the base name of the program; for a text that a shell runs, of its first word.
func (p *program) nameOfCommand(command []string) string {
	program := command[0]
	if p.around.shell != nil {
		if first := strings.Fields(command[2]); len(first) > 0 {
			program = first[0]
		}
	}
	return shellwords.ToUTF8(filepath.Base(program))
}

// fillAround sets the programs and files around the processes of a point. The input of its processes is a parameter of the point,
// because it is part of the measured work.
func (p *program) fillAround(point *Point, row []*value) {
	a := &p.around
	point.Hooks = task.Hooks{Setup: a.setup.fill(row, p.size), Prepare: a.prepare.fill(row, p.size), Cleanup: a.cleanup.fill(row, p.size)}
	point.KeepOutput = a.keep
	if a.stdout != nil {
		point.Stdout = a.stdout.fillPath(row)
		*p.size += len(point.Stdout)
	}
	if a.shell != nil {
		point.Shell = a.shell.fill(row)
		point.addParam("shell", point.Shell, a.shell.at)
	}
	if a.stdin == nil {
		return
	}
	point.Stdin = a.stdin.fillPath(row)
	*p.size += len(point.Stdin)
	point.addParam("stdin", shellwords.ToUTF8(a.stdin.fill(row)), a.stdin.at)
}

// addParam makes the value of a key a parameter of the point. It records whether the key is an axis too: see Repeat.
func (p *Point) addParam(name, text string, at field) {
	if other, is := p.Params[name]; is && other != text {
		panic(at.errorf("there is an axis %s too, with the value %s: rename the axis, or write {%s} here", name, shorten(other), name))
	}
	if _, is := p.Params[name]; is && p.Written[name] == "" {
		note(&p.Written, name, optionValue(text))
	}
	note(&p.Params, name, text)
}

// pythonTexts are the texts that determine the environment of a Python worker.
type pythonTexts []pythonText

// pythonText is the value of a key: a text, or else the value of the axis of its name.
type pythonText struct {
	Key
	text *template
	axis int // -1: there is none
}

// readPythonTexts reads the keys that determine the environment of a worker, and their overrides on the command line.
func (p *program) readPythonTexts(d *document) {
	for _, name := range []string{"python", "provider", "device", "threads"} {
		text := pythonText{Key: keyOf(name), axis: -1}
		if name != "python" { // its axis has no use but in the text
			text.axis, _ = findAxis(p.scope.axes, name)
		}
		if f := d.option(name); f.given() {
			text.text = text.option(d, f)
		} else if f := d.keys[name]; f.given() {
			text.text = text.read(d, f, p.scope)
		}
		p.python = append(p.python, text)
	}
}

// option returns a text of the command line unchanged.
func (p *pythonText) option(d *document, f field) *template {
	checkOption(f.name, f.Value)
	if p.axis >= 0 {
		panic(f.errorf("%s is an axis of this sweep: use -P %s=VALUE", p.Name, p.Name))
	}
	if p.Name != "python" { // it may come from the environment, for any sweep
		d.request(p.Name, f)
	}
	return &template{parts: []part{{f.Value, -1}}, at: f}
}

// read reads a text of the file. If there is an axis of the same name, the text must contain it: otherwise the axis would have no
// effect.
func (p *pythonText) read(d *document, f field, s *scope) *template {
	t := f.template(s)
	if p.axis >= 0 && !t.uses(p.axis) {
		panic(f.errorf("there is an axis %[1]s too: write {%[1]s} here, or remove this key", p.Name))
	}
	d.request(p.Name, f)
	return &t
}

// fill returns the text at a point, and where it comes from.
func (p *pythonText) fill(row []*value) (text string, at field, given bool) {
	switch {
	case p.text != nil:
		return p.text.fill(row), p.text.at, true
	case p.axis >= 0:
		return row[p.axis].text, row[p.axis].at, true
	}
	return "", field{}, false
}

// set gives a point the texts that its executor uses.
func (p pythonTexts) set(point *Point, row []*value) {
	for i := range p {
		key := &p[i]
		text, at, given := key.fill(row)
		if !given || !key.takes(point.Executor) {
			continue
		}
		if text == "" {
			panic(at.errorf("is empty"))
		}
		if key.Name == "python" {
			var err error
			if text, err = ExpandPath(text); err != nil {
				panic(at.errorf("%v", err))
			}
		}
		switch to := key.point(point).(type) {
		case *string:
			*to = text
		case *int:
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 || n > maxThreads {
				panic(at.errorf("want a whole number from 1 to %d, got %q", maxThreads, shorten(text)))
			}
			*to = n
		}
	}
}

// checkSeed refuses a seed together with an axis of that name if {seed} in a command would be ambiguous. A Python function may have a
// parameter seed in addition: some kernels draw their own numbers.
func (d *document) checkSeed(axes []axis) {
	at := slices.IndexFunc(d.requests, func(r request) bool { return r.key == "seed" })
	axis, _ := findAxis(axes, "seed")
	switch {
	case at < 0 || axis < 0 || d.keys["file"].given():
		return
	case d.requests[at].at.lines:
		panic(d.requests[at].at.errorf("there is an axis seed too: remove one of them"))
	}
	panic(d.requests[at].at.errorf("seed is an axis of this sweep: use -P seed=VALUE"))
}
