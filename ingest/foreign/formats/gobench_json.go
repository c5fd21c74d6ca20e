package formats

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"slices"

	"github.com/neurolens/neurolens/ingest/foreign"
)

// goTestEvent is an event of go test -json.
type goTestEvent struct {
	Time    foreign.Text
	Action  string
	Package string
	Test    string
	Output  string
}

// goEvents reads events. Packages are tested by a process each, whose events may stand between those of others.
type goEvents struct {
	in       *foreign.Input
	out      *foreign.Output
	procs    goProcs
	packages map[string]*goPackage
}

// goPackage is the process of a package.
type goPackage struct {
	parser  *goParser
	partial map[string][]byte // by test: what is printed of a line that has not ended
}

func readGoEvents(in *foreign.Input, lines *goLines, out *foreign.Output) error {
	g := goEvents{in: in, out: out, procs: goProcsOf(goEventNames(in.Head.Bytes)), packages: map[string]*goPackage{}}
	for {
		line, err := lines.next()
		switch {
		case errors.Is(err, io.EOF):
			for _, name := range slices.Sorted(maps.Keys(g.packages)) {
				if err := g.end(name); err != nil {
					return err
				}
			}
			return nil
		case errors.Is(err, errLongGoLine):
			out.Refuse(lines.where(), err)
			continue
		case err != nil:
			return err
		case !bytes.HasPrefix(line, []byte("{")):
			continue // what the compiler printed
		}
		var e goTestEvent
		if err := foreign.DecodeAt(lines.where(), line, &e); err != nil {
			if err := out.RefuseMismatch(err); err != nil {
				return err
			}
			continue
		}
		if err := g.event(lines.n, &e); err != nil {
			return err
		}
	}
}

// Bounds of what is held of packages that have not ended.
const (
	maxGoPackages = 1000
	maxGoPartial  = 1000
)

// event handles an event, which is on one line.
func (g *goEvents) event(n int, e *goTestEvent) error {
	p := g.packages[e.Package]
	if p == nil {
		if len(g.packages) >= maxGoPackages {
			for name := range maps.Clone(g.packages) {
				if err := g.end(name); err != nil {
					return err
				}
			}
		}
		p = &goPackage{&goParser{in: g.in, out: g.out, procs: g.procs}, map[string][]byte{}}
		g.packages[e.Package] = p
	}
	switch e.Action {
	case "start", "run":
		p.parser.now = string(e.Time)
	case "output":
		return p.output(n, e)
	case "pass", "fail", "skip":
		if e.Test == "" {
			return g.end(e.Package)
		}
	}
	return nil
}

// end ends the process of a package.
func (g *goEvents) end(name string) error {
	p := g.packages[name]
	delete(g.packages, name)
	if p == nil {
		return nil
	}
	return p.parser.end()
}

// output takes what a test printed: lines, or pieces of them.
func (p *goPackage) output(n int, e *goTestEvent) error {
	text := append(p.partial[e.Test], e.Output...)
	for {
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		if !whole {
			break
		}
		if err := p.parser.line(n, line); err != nil {
			return err
		}
		text = rest
	}
	delete(p.partial, e.Test)
	if len(text) > 0 && len(text) < maxGoLine && len(p.partial) < maxGoPartial {
		p.partial[e.Test] = text
	}
	return nil
}

// goEventNames are the names of the benchmarks in the events at the beginning of a file.
func goEventNames(head []byte) map[string]bool {
	names := map[string]bool{}
	for line := range bytes.Lines(head) {
		var e goTestEvent
		if foreign.Decode(line, &e) == nil {
			maps.Copy(names, goNames([]byte(e.Output)))
		}
	}
	return names
}
