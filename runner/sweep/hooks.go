package sweep

import (
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/runner/shellwords"
)

// Hooks are programs with their arguments that run before and after the processes of a command, filled in; nil: none.
type Hooks struct {
	Setup, Prepare, Cleanup []string
}

// around is what the keys say of what is around the processes of a command.
type around struct {
	shell                   *template // that runs texts; nil: none
	setup, prepare, cleanup texts
	function                *template // of a Python file, that prepares an iteration; nil: none
	stdin                   *template
	stdout                  *template // the file that takes standard output; nil: none
	keep                    bool      // of what is printed
}

// standardShell is what runs texts where the name of no shell is given.
const standardShell = "sh"

// readShell reads which shell runs the command.
func (p *program) readShell(d *document) error {
	f := d.choose("shell")
	if !f.given() {
		return nil
	}
	d.request("shell", f)
	name := standardShell
	if f.Kind == yaml.ScalarNode && f.ShortTag() == "!!bool" {
		if on, err := f.boolean(); err != nil || !on {
			return err
		}
	} else {
		var err error
		if name, err = f.text(); err != nil {
			return err
		}
	}
	t, err := f.parse(name, p.scope)
	p.around.shell = &t
	return err
}

// shellTexts are the words by which a shell runs a text.
func (a *around) shellTexts(text template) texts {
	return texts{templates: []template{*a.shell, {parts: []part{{"-c", -1}}, at: text.at}, text}}
}

// readAround reads the hooks and the standard input.
func (p *program) readAround(d *document) error {
	for _, hook := range []struct {
		key string
		to  *texts
	}{{"setup", &p.around.setup}, {"prepare", &p.around.prepare}, {"cleanup", &p.around.cleanup}} {
		f := d.choose(hook.key)
		if !f.given() {
			continue
		}
		d.request(hook.key, f)
		var err error
		if hook.key == "prepare" && d.keys["file"].given() {
			err = p.readFunction(f)
		} else {
			*hook.to, err = p.readHook(f)
		}
		if err != nil {
			return err
		}
	}
	f := d.choose("stdin")
	if !f.given() {
		return nil
	}
	d.request("stdin", f)
	if f.ShortTag() == "!!null" {
		return nil
	}
	if f.Kind == yaml.ScalarNode && f.Value == "" {
		return f.errorf("is empty")
	}
	t, err := f.template(p.scope)
	p.around.stdin = &t
	return err
}

// readFunction reads the name of the function that prepares an iteration of a Python benchmark.
func (p *program) readFunction(f field) error {
	if f.Kind != yaml.ScalarNode {
		return f.errorf("want the name of a function in the file, got %s", f.got())
	}
	t, err := f.template(p.scope)
	p.around.function = &t
	return err
}

// setFunction sets the function that prepares an iteration of a point.
func (p *program) setFunction(point *Point, row []*value) error {
	t := p.around.function
	if t == nil {
		return nil
	}
	if point.Prepare = t.fill(row); !pythonName.MatchString(point.Prepare) {
		return t.at.errorf("want the name of a function in the file, got %q", shorten(point.Prepare))
	}
	*p.size += len(point.Prepare)
	return nil
}

// readHook reads a program with its arguments: a list, or a text.
func (p *program) readHook(f field) (texts, error) {
	if f.Kind != yaml.ScalarNode {
		return f.readTexts(p.scope)
	}
	if p.around.shell != nil {
		t, err := f.template(p.scope)
		return p.around.shellTexts(t), err
	}
	text, err := f.argument()
	if err != nil {
		return texts{}, err
	}
	parts, err := shellwords.Split(text)
	if err != nil {
		return texts{}, f.errorf("%v", err)
	}
	var w texts
	for _, part := range parts {
		t, err := f.parse(part, p.scope)
		if err != nil {
			return texts{}, err
		}
		w.templates = append(w.templates, t)
	}
	return w, nil
}

// templates are the texts in which an axis may stand.
func (a *around) templates() []template {
	all := slices.Concat(a.setup.templates, a.prepare.templates, a.cleanup.templates)
	for _, t := range []*template{a.stdin, a.stdout, a.function} {
		if t != nil {
			all = append(all, *t)
		}
	}
	return all
}

// nameOfCommand is the base name of the program: of the text that a shell runs it is that of its first word.
func (p *program) nameOfCommand(command []string) string {
	program := command[0]
	if p.around.shell != nil {
		if first := strings.Fields(command[2]); len(first) > 0 {
			program = first[0]
		}
	}
	return shellwords.ToUTF8(filepath.Base(program))
}

// fillAround sets what is around the processes of a point. What its processes read is a parameter of it: that is part of
// what is measured.
func (p *program) fillAround(point *Point, row []*value) error {
	a := &p.around
	point.Hooks = Hooks{Setup: a.setup.fill(row, p.size), Prepare: a.prepare.fill(row, p.size), Cleanup: a.cleanup.fill(row, p.size)}
	point.KeepOutput = a.keep
	var err error
	if a.stdout != nil {
		if point.Stdout, err = a.stdout.fillPath(row); err != nil {
			return err
		}
		*p.size += len(point.Stdout)
	}
	if a.shell != nil {
		point.Shell = a.shell.fill(row)
		if err := point.addParam("shell", point.Shell, a.shell.at); err != nil {
			return err
		}
	}
	if a.stdin == nil {
		return nil
	}
	if point.Stdin, err = a.stdin.fillPath(row); err != nil {
		return err
	}
	*p.size += len(point.Stdin)
	return point.addParam("stdin", shellwords.ToUTF8(a.stdin.fill(row)), a.stdin.at)
}

// addParam makes the value of a key a parameter of the point. One that is an axis too is said to be: see Repeat.
func (p *Point) addParam(name, text string, at field) error {
	if other, is := p.Params[name]; is && other != text {
		return at.errorf("there is an axis %s too, with the value %s: rename the axis, or write {%s} here", name, shorten(other), name)
	}
	if _, is := p.Params[name]; is && p.Written[name] == "" {
		note(&p.Written, name, optionValue(text))
	}
	note(&p.Params, name, text)
	return nil
}
