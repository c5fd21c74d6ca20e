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
	"github.com/neurolens/neurolens/runner/shellwords"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
)

// maxMissing is how many things that are missing an error names.
const maxMissing = 5

// kindMissing is the kind of error of a run whose point needs something that does not exist.
const kindMissing = "missing"

// CheckThere checks, before the first launch, whether the requirements of points exist: interpreters, modules, files, classes and
// functions, models, programs. It refuses the targets that lack something, and returns the points that lack it on all sides. If all
// points do, and none of them was found by discover, the error names the missing requirement.
func (t *Targets) CheckThere(ctx context.Context) ([]*sweep.Point, error) {
	missing := missing{targets: t, needs: map[interpreterNeed][]need{}}
	for _, p := range t.run() {
		for on := range t.Sides {
			sub := Subject{p, on}
			if t.builds.points[sub].err != nil || t.NotBuilt(sub) {
				continue
			}
			missing.check(t.Of(ctx, sub), on)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, nil // the caller ends the session
	}
	missing.query(ctx)
	missing.refuse()
	var lacking []*sweep.Point
	all, found := true, false
	for i := range t.Sweep.Points {
		p := &t.Sweep.Points[i]
		lacks := t.lacksEverywhere(p)
		if lacks {
			lacking = append(lacking, p)
		}
		own := p.Reference != nil && p.Reference.Function != "" && t.lacksEverywhere(p.Reference.Point) // a name in the same file
		all, found = all && (lacks || own || p.Calibration), found || p.Found
	}
	if all && !found {
		return nil, missing.err()
	}
	return lacking, nil
}

// lacksEverywhere reports whether a point lacks something on all sides.
func (t *Targets) lacksEverywhere(p *sweep.Point) bool {
	for on := range t.Sides {
		if t.lacks[Subject{p, on}] == "" {
			return false
		}
	}
	return true
}

// missing collects the things that targets lack.
type missing struct {
	targets *Targets
	lacks   []lack
	needs   map[interpreterNeed][]need
	order   []interpreterNeed
}

// lack is something that a target lacks.
type lack struct {
	target *Target
	side   int
	text   string
}

// interpreterNeed is an interpreter with the environment in which points start it.
type interpreterNeed struct{ path, dir, pythonPath string }

// need is a requirement of targets for an interpreter, and its line in the sweep.
type need struct {
	side        int
	at          location
	need        python.Need
	interpreter python.Interpreter
	environ     []string
	targets     []*Target
}

// add records something that a target lacks on a side.
func (m *missing) add(t *Target, side int, at location, text string) {
	if at.line > 0 {
		text = fmt.Sprintf("%s:%d: %s", at.file, at.line, text)
	}
	m.lacks = append(m.lacks, lack{t, side, text})
}

// refuse refuses the targets that lack something.
func (m *missing) refuse() {
	for _, l := range m.lacks {
		if sub := (Subject{l.target.Point, l.side}); m.targets.lacks[sub] == "" {
			m.targets.lacks[sub] = l.text
			l.target.lack(l.text)
		}
	}
}

// check records what a target lacks, and the requirements to query its interpreter for.
func (m *missing) check(t *Target, side int) {
	switch {
	case t.Point.Fault != "": // it cannot lack anything
	case t.Refused != nil && t.Refused.Status == schema.StatusError:
		m.add(t, side, location{}, t.Refused.Error+m.unsharedAdvice(t, t.Point.File)+m.unsharedAdvice(t, t.Point.ModelPath))
	case t.Refused != nil && t.Refused.ErrorKind == kindForeign && t.Point.Executor == schema.ExecutorCommand:
		m.add(t, side, location{}, t.Refused.Error)
	case t.Refused != nil:
	case t.Spec.Command != nil:
		m.checkCommand(t, side)
	case t.Python.Path != "" && !t.Point.Optional: // an optional point reports its missing requirements in its runs
		m.need(t, side)
	}
}

// unsharedAdvice returns how to share a path of a target that neither side has.
func (m *missing) unsharedAdvice(t *Target, path string) string {
	return m.targets.unsharedAdvice(t.Point.Dir, path)
}

// checkCommand records the files that a command lacks. With a setup, which may make them, only the setup itself is checked.
func (m *missing) checkCommand(t *Target, side int) {
	hooks := [][]string{t.Spec.Hooks.Setup}
	if hooks[0] == nil {
		hooks = [][]string{t.Spec.Command, t.Spec.Hooks.Prepare, t.Spec.Hooks.Cleanup}
	}
	for _, words := range hooks {
		if words == nil {
			continue
		}
		if err := t.checkProgram(words[0]); err != nil {
			m.add(t, side, t.at(t.Point.CommandLine), err.Error()+m.unsharedAdvice(t, words[0]))
		}
	}
	if stdin := t.Spec.Stdin; stdin != "" && t.Spec.Hooks.Setup == nil && t.Spec.Hooks.Prepare == nil {
		if _, err := os.Stat(task.InDir(t.Spec.Dir, stdin)); err != nil {
			m.add(t, side, t.at(t.Point.CommandLine), fileError("stdin "+stdin, err).Error()+m.unsharedAdvice(t, stdin))
		}
	}
	if err := checkOutput(&t.Spec); err != nil {
		m.add(t, side, t.at(t.Point.CommandLine), err.Error())
	}
}

// checkOutput checks the file for the standard output of a command. Each launch empties it, so it must not be the input of the command.
// Its folder must exist, unless a hook may create it.
func checkOutput(s *task.Spec) error {
	if s.Stdout == "" {
		return nil
	}
	path := task.InDir(s.Dir, s.Stdout)
	info, err := os.Stat(path)
	if s.Stdin != "" && s.Stdout != os.DevNull {
		in := task.InDir(s.Dir, s.Stdin)
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

// need records the requirements of a target on its interpreter.
func (m *missing) need(t *Target, side int) {
	environ := slices.Concat(os.Environ(), t.Spec.Env)
	key := interpreterNeed{t.Python.Path, t.Spec.Dir, t.Point.Env["PYTHONPATH"]}
	line := t.Point.FileLine
	if line == 0 {
		line = t.Point.ModelLine
	}
	a := need{side, t.at(line), t.settings.Need(), t.Python, environ, []*Target{t}}
	if m.needs[key] == nil {
		m.order = append(m.order, key)
	}
	if at := slices.IndexFunc(m.needs[key], func(b need) bool { return a.need == b.need }); at >= 0 {
		m.needs[key][at].targets = append(m.needs[key][at].targets, t)
	} else {
		m.needs[key] = append(m.needs[key], a)
	}
}

// query queries each interpreter once. If one does not answer, the runs report the missing requirements.
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
			for _, t := range all[i].targets {
				if text != "" {
					m.add(t, all[i].side, all[i].at, text)
				}
			}
		}
	}
}

// err names the missing requirements; nil: none.
func (m *missing) err() error {
	var texts []string
	for _, l := range m.lacks {
		if !slices.Contains(texts, l.text) {
			texts = append(texts, l.text)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	text := strings.Join(texts[:min(len(texts), maxMissing)], "; ")
	if more := len(texts) - maxMissing; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return errors.New(text + "; nothing was started")
}

// lack refuses a target that lacks something. A target that is already refused gets the advice how to provide it.
func (t *Target) lack(text string) {
	if t.Refused != nil {
		t.Refused.Error = text
		return
	}
	t.refuse(schema.StatusError, kindMissing, location{}, errors.New(text))
}

// programMeant suggests a replacement for a program that is not on PATH: a file in this folder, or a shell built-in.
func (t *Target) programMeant(name string) string {
	info, err := os.Stat(task.InDir(t.Spec.Dir, name))
	switch {
	case err == nil && info.Mode().IsRegular():
		return "; did you mean ./" + name + "?"
	case shellwords.InShells(name):
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
		path = task.InDir(t.Spec.Dir, path)
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
		return fmt.Errorf("%s: not executable (chmod +x %s)", name, shellwords.Quote(filepath.Base(name)))
	}
	if err := task.CheckInterpreter(path, t.Spec.Dir, environ); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
