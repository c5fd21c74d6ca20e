package sweep

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// maxText bounds the memory of all points.
const maxText = 128 << 20

// program is how a point is launched.
type program struct {
	file    field      // the whole file
	command bool       // there is one
	words   []template // wrapper, program, arguments
	first   int        // the program among the words
	env     []variable
	dir     *template

	sharedWords []string          // where they are the same at every point
	sharedEnv   map[string]string // likewise
	size        int               // bytes that the points take, see maxText
}

type variable struct {
	name string
	text template
}

func readProgram(d *document, axes []axis) (*program, error) {
	p := &program{file: d.file, command: d.keys["command"].given()}
	wrapper := d.keys["wrapper"]
	if wrapper.given() && !p.command {
		return nil, wrapper.errorf("goes before a command, and there is none")
	}
	for _, f := range []field{wrapper, d.keys["command"]} {
		if !f.given() {
			continue
		}
		p.first = len(p.words)
		if len(f.items()) == 0 {
			return nil, f.errorf("is empty")
		}
		for _, item := range f.items() {
			t, err := item.template(axes)
			if err != nil {
				return nil, err
			}
			p.words = append(p.words, t)
		}
	}
	if err := p.readEnv(d.keys["env"], axes); err != nil {
		return nil, err
	}
	if f := d.keys["cwd"]; f.given() {
		t, err := f.template(axes)
		if err != nil {
			return nil, err
		}
		p.dir = &t
	}
	return p, p.checkUse(axes)
}

func (p *program) readEnv(f field, axes []axis) error {
	if !f.given() {
		return nil
	}
	members, err := f.members("env.")
	if err != nil {
		return err
	}
	for _, m := range members {
		if strings.ContainsAny(m.key, "=\x00") {
			return m.value.errorf("a name cannot hold =")
		}
		t, err := m.value.template(axes)
		if err != nil {
			return err
		}
		p.env = append(p.env, variable{m.key, t})
	}
	return nil
}

// checkUse refuses an axis that a command never sees: its points would all measure the same.
func (p *program) checkUse(axes []axis) error {
	if !p.command {
		return nil
	}
	used := map[int]bool{}
	for _, t := range p.templates() {
		for _, part := range t.parts {
			used[part.axis] = true
		}
	}
	for i, a := range axes {
		if !a.label && !used[i] {
			return a.at.errorf("{%s} is used by no argument of command, nor by env, cwd or wrapper", a.name)
		}
	}
	return nil
}

func (p *program) templates() []template {
	all := slices.Clone(p.words)
	for _, v := range p.env {
		all = append(all, v.text)
	}
	if p.dir != nil {
		all = append(all, *p.dir)
	}
	return all
}

// launch sets how the point of a row is launched. backend is the row's, or nil.
func (p *program) launch(point *Point, row []*value, backend *value) error {
	point.Command = p.fillWords(row)
	point.Env = p.fillEnv(row)
	if p.dir != nil {
		point.Dir = p.dir.fill(row)
		p.size += len(point.Dir)
	}
	const entry = 32 // bytes that a parameter takes in its map, about
	if p.size += entry * len(point.Params); p.size > maxText {
		return p.file.errorf("the points take more than %d MiB: fewer points or shorter texts", maxText>>20)
	}
	if p.command {
		return p.nameCommand(point)
	}
	return p.chooseExecutor(point, backend)
}

func (p *program) fillWords(row []*value) []string {
	if p.sharedWords != nil || len(p.words) == 0 {
		return p.sharedWords
	}
	fixed := true
	words := make([]string, len(p.words))
	for i, t := range p.words {
		word := t.fill(row)
		words[i] = word
		p.size += 16 + len(word)
		fixed = fixed && t.fixed()
	}
	if fixed {
		p.sharedWords = words
	}
	return words
}

func (p *program) fillEnv(row []*value) map[string]string {
	if p.sharedEnv != nil || len(p.env) == 0 {
		return p.sharedEnv
	}
	fixed := true
	env := map[string]string{}
	for _, v := range p.env {
		env[v.name] = v.text.fill(row)
		p.size += 48 + len(env[v.name])
		fixed = fixed && v.text.fixed()
	}
	if fixed {
		p.sharedEnv = env
	}
	return env
}

// nameCommand makes the program's name the benchmark where the file gives none.
func (p *program) nameCommand(point *Point) error {
	point.Executor = schema.ExecutorCommand
	name := point.Command[p.first]
	if name == "" {
		return p.words[p.first].at.errorf("the program has no name")
	}
	if point.Benchmark == "" {
		point.Benchmark = filepath.Base(name)
	}
	return nil
}

// chooseExecutor goes by the backend where there is no command.
func (p *program) chooseExecutor(point *Point, backend *value) error {
	if backend == nil {
		return p.file.errorf("nothing to run: want command, or model and backend")
	}
	point.Executor = schema.Executor(backend.text)
	switch point.Executor {
	case schema.ExecutorBuiltin, schema.ExecutorONNXRT, schema.ExecutorTorch, schema.ExecutorTensorRT:
	default:
		return backend.at.errorf("without command, want builtin, onnxrt, torch or tensorrt, got %s", backend.at.got())
	}
	embedded := strings.HasPrefix(point.Model, builtinPrefix)
	switch {
	case point.Executor != schema.ExecutorBuiltin && point.ModelPath == "" && !embedded:
		return backend.at.errorf("%s needs a model: a file, or builtin:NAME", backend.text)
	case point.Executor == schema.ExecutorBuiltin && point.Model != "" && !embedded:
		return backend.at.errorf("builtin runs no model %s: want builtin:NAME", shorten(point.Model))
	case point.Model == "" && point.Benchmark == "":
		return backend.at.errorf("builtin needs a model (builtin:tiny_linear) or a benchmark (LayerNorm)")
	case point.Benchmark == "":
		point.Benchmark = point.Model
	}
	return nil
}
