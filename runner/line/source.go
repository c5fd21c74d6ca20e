package line

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/neurolens/neurolens/runner/sweep"
)

// Asked is what bench was asked to measure.
type Asked struct {
	Args  []string
	Dash  int       // how many of them stand before --; negative: there is none
	File  string    // the sweep file, by an option of its own; empty: not given
	Shell bool      // each program is run by sh
	Axes  []string  // see line
	Stdin io.Reader // what - stands for
}

// Source is the text of a sweep: of a file, of standard input, or made of a line.
type Source struct {
	io.ReadCloser
	Path  string   // of the file; empty: there is none
	Texts []string // of the line; nil: there is none
}

// Open opens the sweep that was asked for.
func Open(a Asked) (*Source, error) {
	switch {
	case a.File != "" && len(a.Args) > 0:
		return nil, fmt.Errorf("the sweep file is given twice: %s and --config %s", a.Args[0], a.File)
	case a.File != "":
		a.Args, a.Dash = []string{a.File}, -1
	case len(a.Args) == 0:
		return nil, errors.New("want a sweep file, or a program: neurolens bench -- sleep 1")
	case a.Dash > 0:
		return nil, fmt.Errorf("%q stands before --, and a program behind it: want one of them", a.Args[0])
	case a.Dash == 0 || !isFile(a.Args):
		return a.line()
	case len(a.Args) > 1:
		return nil, fmt.Errorf("want one sweep file, got %d arguments", len(a.Args))
	}
	if a.Shell {
		return nil, errors.New("--shell: means nothing with a sweep file: there it is command: [sh, -c, ...]")
	}
	if a.Args[0] == "-" {
		return &Source{ReadCloser: io.NopCloser(a.Stdin)}, nil
	}
	file, err := os.Open(a.Args[0])
	if err != nil {
		return nil, fmt.Errorf("reading the sweep: %w", err)
	}
	return &Source{ReadCloser: file, Path: a.Args[0]}, nil
}

// line is a sweep made of the arguments: each is a text, or, behind --, a word of one.
func (a *Asked) line() (*Source, error) {
	l := line{Texts: a.Args, Axes: a.Axes}
	if a.Dash == 0 { // the words of one program
		text, err := joined(a.Args)
		if err != nil {
			return nil, err
		}
		l.Texts = []string{text}
	} else if a.Shell { // which is what is measured, and not the program alone
		l.Texts = slices.Clone(a.Args)
		for i, text := range a.Args {
			var err error
			if l.Texts[i], err = joined([]string{"sh", "-c", text}); err != nil {
				return nil, err
			}
		}
	}
	src, err := l.sweep()
	if err != nil {
		return nil, err
	}
	return &Source{ReadCloser: io.NopCloser(bytes.NewReader(src)), Texts: l.Texts}, nil
}

// Name is what errors about the sweep begin with: its file, or what prints it where there is none.
func (s *Source) Name() string {
	switch {
	case s.Path != "":
		return s.Path
	case s.Texts != nil:
		return "bench --print-sweep"
	}
	return "standard input"
}

// Keep is the sweep file of a line, with what the command line says besides written into it.
func (s *Source) Keep(o sweep.Overrides) ([]byte, error) {
	if s.Texts == nil {
		return nil, fmt.Errorf("--print-sweep: %s is a sweep file already", s.Name())
	}
	if len(o.Targets) > 0 {
		return nil, errors.New("--print-sweep: a sweep file has no --targets: leave out what is not to run")
	}
	src, err := io.ReadAll(s)
	if err != nil {
		return nil, err
	}
	kept, err := sweep.Kept(src, o)
	if err == nil {
		_, err = sweep.Read(s.Name(), bytes.NewReader(kept), sweep.Overrides{Facts: o.Facts})
	}
	return kept, err
}
