package prepare

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/runner/python"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/runner/words"
	"github.com/neurolens/neurolens/schema"
)

// maxMissing is how many things that are missing an error names.
const maxMissing = 5

// CheckThere checks, before the first launch, whether everything exists that points run: interpreters, modules, files, classes and
// functions, models, programs. The error names what is missing, because every launch would fail. With notBuilt, points with a build are
// left out, because the build may create what is missing.
func (t *Targets) CheckThere(ctx context.Context, notBuilt bool) error {
	missing := missing{targets: t, sides: make([]map[string]bool, len(t.Sides)), needs: map[interpreterNeed][]need{}}
	for _, p := range t.run() {
		for on := range t.Sides {
			sub := Subject{p, on}
			if t.builds.points[sub].err != nil || notBuilt && len(p.Build) > 0 {
				continue
			}
			missing.look(t.Of(ctx, sub), on)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil // which ends the session by itself
	}
	missing.query(ctx)
	return missing.err()
}

// missing collects what is missing. Something that one of two sides has is not missing: the runs of the other side report it.
type missing struct {
	targets *Targets
	texts   []string
	sides   []map[string]bool
	needs   map[interpreterNeed][]need
	order   []interpreterNeed
}

// interpreterNeed is an interpreter with the environment in which points start it.
type interpreterNeed struct{ path, dir, pythonPath string }

// need is what a point needs from an interpreter, and where the sweep says so.
type need struct {
	side        int
	at          location
	need        python.Need
	interpreter python.Interpreter
	environ     []string
}

// add notes a text of a side; once it is missing on all of them, it is missing.
func (m *missing) add(side int, at location, text string) {
	if at.line > 0 {
		text = fmt.Sprintf("%s:%d: %s", at.file, at.line, text)
	}
	if m.sides[side] == nil {
		m.sides[side] = map[string]bool{}
	}
	m.sides[side][text] = true
	everywhere := !slices.ContainsFunc(m.sides, func(texts map[string]bool) bool { return !texts[text] })
	if everywhere && !slices.Contains(m.texts, text) {
		m.texts = append(m.texts, text)
	}
}

// look records what a target lacks, and what its interpreter must be asked about.
func (m *missing) look(t *Target, side int) {
	switch {
	case t.Refused != nil && t.Refused.Status == schema.StatusError:
		m.add(side, location{}, t.Refused.Error+m.unshared(t, t.Point.File)+m.unshared(t, t.Point.ModelPath))
	case t.Refused != nil && t.Refused.ErrorKind == kindForeign && t.Point.Executor == schema.ExecutorCommand:
		m.add(side, location{}, t.Refused.Error)
	case t.Refused != nil:
	case t.Spec.Command != nil:
		m.lookCommand(t, side)
	case t.Python.Path != "" && !t.Point.Optional: // what an optional one lacks its runs say
		m.need(t, side)
	}
}

// unshared is how to share a path of a target that neither side has.
func (m *missing) unshared(t *Target, path string) string {
	return m.targets.unshared(t.Point.Dir, path)
}

// lookCommand notes what is missing of a command. A setup may make it.
func (m *missing) lookCommand(t *Target, side int) {
	hooks := [][]string{t.Spec.Hooks.Setup}
	if hooks[0] == nil {
		hooks = [][]string{t.Spec.Command, t.Spec.Hooks.Prepare, t.Spec.Hooks.Cleanup}
	}
	for _, words := range hooks {
		if words == nil {
			continue
		}
		if err := t.checkProgram(words[0]); err != nil {
			m.add(side, t.at(t.Point.CommandLine), err.Error()+m.unshared(t, words[0]))
		}
	}
	if stdin := t.Spec.Stdin; stdin != "" && t.Spec.Hooks.Setup == nil && t.Spec.Hooks.Prepare == nil {
		if _, err := os.Stat(inDir(t.Spec.Dir, stdin)); err != nil {
			m.add(side, t.at(t.Point.CommandLine), fileError("stdin "+stdin, err).Error()+m.unshared(t, stdin))
		}
	}
	if err := checkOutput(&t.Spec); err != nil {
		m.add(side, t.at(t.Point.CommandLine), err.Error())
	}
}

// checkOutput checks the file for the standard output of a command. Each launch empties it, so it must not be the input of the command.
// Its folder must exist, unless a hook may create it.
func checkOutput(s *task.Spec) error {
	if s.Stdout == "" {
		return nil
	}
	path := inDir(s.Dir, s.Stdout)
	info, err := os.Stat(path)
	if s.Stdin != "" && s.Stdout != os.DevNull {
		in := inDir(s.Dir, s.Stdin)
		read, readErr := os.Stat(in)
		if filepath.Clean(in) == filepath.Clean(path) || err == nil && readErr == nil && os.SameFile(info, read) {
			return fmt.Errorf("output %s is also the file of stdin and would be overwritten: choose another file", s.Stdout)
		}
	}
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("output %s is a folder: want a file", s.Stdout)
	case err == nil || s.Hooks.Setup != nil || s.Hooks.Prepare != nil:
		return nil
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return fileError("the folder of output "+s.Stdout, err)
	}
	return nil
}

// need notes what a target needs from its interpreter.
func (m *missing) need(t *Target, side int) {
	environ := slices.Concat(os.Environ(), t.Spec.Env)
	key := interpreterNeed{t.Python.Path, t.Spec.Dir, t.Point.Env["PYTHONPATH"]}
	line := t.Point.FileLine
	if line == 0 {
		line = t.Point.ModelLine
	}
	a := need{side, t.at(line), t.settings.Need(), t.Python, environ}
	same := func(b need) bool { return a.need == b.need }
	if m.needs[key] == nil {
		m.order = append(m.order, key)
	}
	if !slices.ContainsFunc(m.needs[key], same) {
		m.needs[key] = append(m.needs[key], a)
	}
}

// query queries each interpreter once. If it does not answer, the runs report what is missing.
func (m *missing) query(ctx context.Context) {
	for _, key := range m.order {
		all := m.needs[key]
		var needs []python.Need
		for _, n := range all {
			needs = append(needs, n.need)
		}
		texts, err := all[0].interpreter.Missing(ctx, key.dir, all[0].environ, needs)
		if err != nil {
			continue
		}
		for i, text := range texts {
			if text != "" {
				m.add(all[i].side, all[i].at, text)
			}
		}
	}
}

// err names what is missing; nil: nothing.
func (m *missing) err() error {
	if len(m.texts) == 0 {
		return nil
	}
	shown := m.texts[:min(len(m.texts), maxMissing)]
	text := strings.Join(shown, "; ")
	if more := len(m.texts) - len(shown); more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return errors.New(text + "; nothing was started")
}

// programMeant suggests what was meant by a program that is not on PATH: a file in this folder, or a shell built-in.
func (t *Target) programMeant(name string) string {
	info, err := os.Stat(inDir(t.Spec.Dir, name))
	switch {
	case err == nil && info.Mode().IsRegular():
		return "; did you mean ./" + name + "?"
	case words.InShells(name):
		return "; it is built into shells: use --shell, or shell: true in a sweep file"
	}
	return ""
}

// checkProgram returns the reason why a program cannot be started.
func (t *Target) checkProgram(name string) error {
	environ := slices.Concat(os.Environ(), t.Spec.Env)
	path, err := task.LookPath(name, environ)
	switch {
	case err == nil:
		path = inDir(t.Spec.Dir, path)
	case strings.ContainsAny(name, " \t"):
		return fmt.Errorf("%s: no such program: write its arguments as a list, [%s]", name, strings.Join(strings.Fields(name), ", "))
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("%s: no such program on PATH%s", name, t.programMeant(name))
	default:
		return err
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return fileError(name, err)
	case info.IsDir():
		return fmt.Errorf("%s: is a directory", name)
	case info.Mode()&0o111 == 0:
		return fmt.Errorf("%s: not executable (chmod +x %s)", name, words.Quote(filepath.Base(name)))
	}
	if err := task.CheckInterpreter(path, t.Spec.Dir, environ); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
