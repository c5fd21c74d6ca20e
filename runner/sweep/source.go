package sweep

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// maxBuilds bounds the commands of build; maxShares the paths of share.
const (
	maxBuilds = 100
	maxShares = 100
)

const pythonSuffix = ".py"

var pythonName = regexp.MustCompile(`^[\pL_][\pL\pN_]*$`)

// splitSource sets the Python file, and what of it runs, of a point.
func (p *program) splitSource(point *Point, row []*value) error {
	point.Executor = schema.ExecutorPython
	text, err := p.source.fillPath(row)
	if err != nil {
		return err
	}
	file, object := text, ""
	good := utf8.ValidString(text)
	if at := strings.LastIndexByte(text, ':'); at >= 0 && !strings.HasSuffix(text, pythonSuffix) {
		file, object = text[:at], text[at+1:]
		good = pythonName.MatchString(object)
	}
	base := filepath.Base(file)
	if !good || !strings.HasSuffix(base, pythonSuffix) || base == pythonSuffix {
		return p.source.at.errorf("want path.py or path.py:Name, got %q", shorten(text))
	}
	point.File, point.Object = file, object
	if err := p.setFunction(point, row); err != nil {
		return err
	}
	if point.Benchmark != "" {
		return nil
	}
	if point.Benchmark = base; object != "" {
		point.Benchmark += ":" + object
	}
	return nil
}

// readBuild reads the commands that are to run before anything is measured: a list of argument lists, or one list.
func (p *program) readBuild(d *document) error {
	f := d.keys["build"]
	if !f.given() {
		return nil
	}
	d.request("build", f)
	if err := f.checkWords(); err != nil {
		return err
	}
	commands := []field{f}
	if f.Kind == yaml.SequenceNode && len(f.Content) > 0 && f.Content[0].Kind == yaml.SequenceNode {
		commands = f.items()
	}
	if len(commands) > maxBuilds {
		return f.errorf("more than %d commands", maxBuilds)
	}
	for _, command := range commands {
		if len(commands) > 1 && command.Kind != yaml.SequenceNode {
			return command.want("a list of words, or a list of such lists")
		}
		w, err := command.readTexts(p.scope)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(w.templates, template.hasRunDir) {
			return command.errorf("a build runs before all runs, so it cannot use %s, the directory of one run", RunDir)
		}
		p.build = append(p.build, w)
	}
	return nil
}

// fillBuild sets the commands that a point has to have run.
func (p *program) fillBuild(point *Point, row []*value) error {
	if len(p.build) == 0 || !keyOf("build").takes(point.Executor) {
		return nil
	}
	if point.Build = p.sharedBuild; point.Build != nil {
		return nil
	}
	fixed := true
	for i := range p.build {
		b := &p.build[i]
		words := b.fill(row, p.size)
		if len(words) == 0 || words[0] == "" {
			return b.templates[0].at.errorf("the name of the program is empty")
		}
		point.Build = append(point.Build, words)
		fixed = fixed && b.fixed()
	}
	if *p.size += 24 * len(point.Build); fixed {
		p.sharedBuild = point.Build
	}
	return nil
}

// fixedEnv are the variables of env that are the same at every point by what is written: with the others one command
// of build would be as many as there are points.
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
func (d *document) readShare() ([]string, error) {
	f := d.keys["share"]
	if !f.given() {
		return nil, nil
	}
	if len(f.items()) > maxShares {
		return nil, f.errorf("more than %d paths", maxShares)
	}
	var paths []string
	for _, item := range f.items() {
		text, err := item.text()
		if err != nil {
			return nil, err
		}
		if err := item.checkUnfilled(text); err != nil {
			return nil, err
		}
		if text, err = ExpandPath(text); err != nil {
			return nil, item.errorf("%v", err)
		}
		clean := path.Clean(text)
		if clean == "." || clean == ".." || strings.HasPrefix(clean, "../") || path.IsAbs(clean) {
			return nil, item.errorf("want a path below the working directory, got %q", shorten(text))
		}
		if slices.Contains(paths, clean) {
			return nil, item.errorf("%q appears twice", shorten(text))
		}
		paths = append(paths, clean)
	}
	return paths, nil
}
