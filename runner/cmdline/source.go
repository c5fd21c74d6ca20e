package cmdline

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/runner/shellwords"
	"github.com/neurolens/neurolens/runner/sweep"
)

// Args is the command line of bench.
type Args struct {
	Args  []string
	Words []string  // of the whole command line
	Dash  int       // number of them before --; negative: there is no --
	File  string    // the sweep file of the option for it; empty: not given
	Stdin io.Reader // the input for -
}

// Source is the text of a sweep: of a file, of standard input, or generated from a command line.
type Source struct {
	io.ReadCloser
	Path  string   // of the file; empty: there is none
	Texts []string // of the line; nil: there is none
	Note  string   // a hint to show before it runs; empty: none

	describeLine func(line int) string
}

// Open opens the requested sweeps: several sweep files, or one sweep. Options of the command line about programs are escaped for the
// sweep of a command line, in which a brace that names no axis is literal.
func Open(a Args, o *sweep.Overrides) ([]*Source, error) {
	if err := a.refuseValueApart(); err != nil {
		return nil, err
	}
	switch {
	case a.File != "" && len(a.Args) > 0:
		return nil, fmt.Errorf("the sweep file is given twice: %s and --config %s", a.Args[0], a.File)
	case a.File != "":
		a.Args, a.Dash = []string{a.File}, -1
	case len(a.Args) == 0:
		return nil, errors.New("want a sweep file, or a program: neurolens bench -- sleep 1")
	case a.Dash > 0:
		return nil, fmt.Errorf("%q is before --, and a program after it: use only one of them", a.Args[0])
	case a.Dash < 0 && len(a.Args) == 1 && isPlainFile(a.Args[0]):
		if err := refuseScript(a.Args[0]); err != nil {
			return nil, err
		}
	case a.Dash == 0 || !slices.ContainsFunc(a.Args, isFile):
		source, err := a.line(o)
		return []*Source{source}, err
	}
	return a.files()
}

// File opens a sweep file.
func File(name string) (*Source, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("reading the sweep: %w%s", err, fileBeside(name))
	}
	return &Source{ReadCloser: file, Path: name}, nil
}

// files opens sweep files.
func (a *Args) files() (all []*Source, err error) {
	for i, name := range a.Args {
		switch {
		case len(a.Args) > 1 && !isFile(name):
			err = fmt.Errorf("%q is a program, and there is a sweep file too: use only one of them%s", name, axisMeant(name))
		case len(a.Args) > 1 && name == "-":
			err = errors.New("- (standard input) cannot be combined with other sweep files")
		case slices.Contains(a.Args[:i], name):
			err = fmt.Errorf("%s appears twice", name)
		case name == "-":
			return []*Source{{ReadCloser: io.NopCloser(a.Stdin)}}, nil
		}
		var file *Source
		if err == nil {
			file, err = File(name)
		}
		if err != nil {
			for _, s := range all {
				_ = s.Close()
			}
			return nil, err
		}
		all = append(all, file)
	}
	return all, nil
}

// line returns a sweep made of the arguments: each is a text or, after --, a word of one.
func (a *Args) line(o *sweep.Overrides) (*Source, error) {
	shell, asked := o.Given["shell"]
	l := line{texts: a.Args, axes: o.Params, shell: asked && shell != "false"}
	if err := a.refuseUnquotedArguments(o); err != nil && !l.shell {
		return nil, err
	}
	if err := a.refuseQuotedProgram(l.shell); err != nil {
		return nil, err
	}
	if a.Dash == 0 { // the words of one program
		l.texts = []string{shellwords.Join(a.Args)}
		if l.shell {
			l.texts[0] = shellwords.JoinRaw(a.Args)
		}
	}
	if err := l.nameTexts(); err != nil {
		return nil, err
	}
	for _, key := range sweep.FilledOptions() {
		if text, given := o.Given[key]; given {
			o.Given[key] = l.template(text, &l.shared)
		}
	}
	for _, text := range o.Set {
		if err := l.refuseSet(text); err != nil {
			return nil, err
		}
		_ = l.template(text, &l.shared)
	}
	src, err := l.sweep()
	if err != nil {
		return nil, err
	}
	s := &Source{ReadCloser: io.NopCloser(bytes.NewReader(src)), Texts: l.texts, Note: l.unfilled(), describeLine: lineDescriptions(src, l.texts)}
	o.DescribeLine = s.describeLine
	return s, nil
}

// lineDescriptions returns a function that names the program of a line of a sweep.
func lineDescriptions(src []byte, texts []string) func(int) string {
	var document struct{ Variants yaml.Node }
	_ = yaml.Unmarshal(src, &document) // it was written by us
	return func(line int) string {
		at := 0
		for i := 0; i < len(document.Variants.Content); i += 2 {
			if document.Variants.Content[i].Line <= line {
				at = i/2 + 1
			}
		}
		switch {
		case at > 0 && at <= len(texts):
			return "bench: " + shellwords.Shown(texts[at-1])
		case len(texts) == 1:
			return "bench: " + shellwords.Shown(texts[0])
		}
		return "bench"
	}
}

// Name returns the beginning of errors about the sweep.
func (s *Source) Name() string {
	switch {
	case s.Path != "":
		return s.Path
	case s.Texts != nil:
		return "bench"
	}
	return sweep.StandardInput
}

// notKept are options of bench that affect the runs and have no key in a sweep file.
var notKept = []string{"against", "until-conclusive", "rerun", "max-time", "no-skip-after-oom", "out-dir", "layout"}

// Keep returns the sweep file of a command line, with the other options written into it. given reports whether an option of bench is set.
func (s *Source) Keep(o sweep.Overrides, given func(option string) bool) ([]byte, error) {
	if s.Texts == nil {
		return nil, fmt.Errorf("--print-sweep: %s is already a sweep file", s.Name())
	}
	if len(o.Targets) > 0 {
		return nil, errors.New("--print-sweep: a sweep file cannot contain --targets: leave out what should not run")
	}
	if at := slices.IndexFunc(notKept, given); at >= 0 {
		return nil, fmt.Errorf("--print-sweep: a sweep file cannot contain --%s: use it when you run the file", notKept[at])
	}
	src, err := io.ReadAll(s)
	if err != nil {
		return nil, err
	}
	if _, err := sweep.Read(s.Name(), bytes.NewReader(src), o); err != nil { // its errors name the line
		return nil, err
	}
	kept, err := sweep.Kept(src, o)
	if err == nil {
		_, err = sweep.Read("bench --print-sweep", bytes.NewReader(kept), sweep.Overrides{Facts: o.Facts})
	}
	return kept, err
}
