package sweep

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// section is the content of one plain document: the points of one benchmark and one variant, or of the whole sweep.
type section struct {
	*document
	settings settings
	grid     *grid
	program  *program
	skips    []skipRule
	work     *work
	counted  []counted
	models   map[string]*value // by name
	called   map[string]string // by axis: its name as it was written

	// coordinates are the axes that the points of a block have in common; nil: all but the compared ones.
	coordinates map[string]bool
	executors   []schema.Executor // of all its points, without repetition, including points that are left out

	unused error // an axis that its command does not use; nil: none
}

// readSections reads all documents. An error that only some documents have names the benchmark and variant. A document with an error is
// left out if targets do not select it. If the error is in the settings next to a file, the section is read without them and has the
// error as its fault. The same applies if a file that discover has found does not use an axis, and others do.
func readSections(documents []*document, targets []target) []*section {
	var sections []*section
	var left error
	size := 0
	for _, d := range documents {
		s, err := readSection(d, &size)
		wrong := err
		if wrong == nil {
			wrong = cmp.Or(s.unused, s.tooMany())
		}
		if wrong != nil && d.withoutConfig != nil {
			if plain, other := readSection(d.withoutConfig, &size); other == nil && plain.unused == nil {
				s, plain.fault, err = plain, wrong.Error(), nil
			}
		}
		switch {
		case err == nil:
			sections = append(sections, s)
		case d.mayBeTargeted(targets):
			if slices.ContainsFunc(documents, func(other *document) bool { return !other.fails(err) }) {
				err = d.own(err)
			}
			panic(err)
		case left == nil:
			left = err
		}
	}
	if len(sections) == 0 {
		panic(left)
	}
	noteUnused(sections, targets)
	if err := checkBaseline(sections); err != nil && !isPartial(documents, sections) {
		panic(err)
	}
	shareCoordinates(sections)
	return sections
}

// tooMany returns an error if settings next to a file give the section alone more runs than a sweep may have.
func (p *section) tooMany() error {
	if p.withoutConfig == nil || p.runs() <= maxLaunches {
		return nil
	}
	return fmt.Errorf("the settings of %s: %.4g runs (points x repeats): want at most %d", p.nameOf("benchmark"), p.runs(), maxLaunches)
}

// isPartial reports whether sections do not represent all documents as written. An entry that matches nothing may then concern a missing
// one.
func isPartial(documents []*document, sections []*section) bool {
	return len(sections) < len(documents) || slices.ContainsFunc(sections, func(s *section) bool { return s.fault != "" })
}

// noteUnused records an axis that a command does not use as the fault of its section. It is an error if all sections have it, and for
// commands that the sweep names.
func noteUnused(sections []*section, targets []target) {
	var first, named error
	all := true
	for _, s := range sections {
		switch {
		case !s.mayBeTargeted(targets):
		case s.unused == nil:
			all = false
		default:
			first = cmp.Or(first, s.unused)
			all = all && s.unused.Error() == first.Error()
			if !s.found && named == nil {
				named = s.own(s.unused)
			}
		}
	}
	switch {
	case first == nil:
	case all:
		panic(first)
	case named != nil:
		panic(named)
	}
	for _, s := range sections {
		if s.unused != nil {
			s.fault = cmp.Or(s.fault, s.unused.Error())
		}
	}
}

// readSection reads a document. It adds the bytes of its points to size.
func readSection(d *document, size *int) (p *section, err error) {
	p = &section{document: d, models: map[string]*value{}}
	err = schema.Catch(func() { p.read(size) })
	return p, err
}

func (p *section) read(size *int) {
	d := p.document
	axes := d.keys["grid"].members("axis ")
	p.settings = readSettings(d)
	seed := p.settings.point.Seed
	p.grid = readGrid(d, axes, seed)
	for _, a := range p.grid.axes {
		note(&p.called, a.name, a.typed)
	}
	p.program = readProgram(d, p.grid.axes, seed, size)
	p.unused = schema.Catch(p.program.checkUse)
	p.program.readResults(d, p.grid)
	p.program.checkPrimary(d)
	p.program.checkCounters(d, p.settings.point.Counters)
	p.skips = d.readSkips(p.grid, seed)
	p.counted = d.readCounted(p.grid, seed)
	p.work = d.readWork(p.grid, seed)
	if d.env != nil && d.env.seedUsed { // as in a word of a command
		p.program.scope.seedUsed = true
	}
}

// fails reports whether a document has the same error.
func (d *document) fails(err error) bool {
	_, own := readSection(d, new(int))
	return own != nil && own.Error() == err.Error()
}

// own adds the benchmark and variant to an error.
func (d *document) own(err error) error {
	if d.alone {
		return err
	}
	return fmt.Errorf("%w (%s)", err, singleBraces.Replace(strings.Join(d.of, ", ")))
}

// applicable returns the axes among params, as in Overrides, that apply to the document. Benchmarks and variants are selected by name, and
// axes of other documents do not apply.
func (d *document) applicable(params map[string]string) map[string]string {
	params = maps.Clone(params)
	maps.DeleteFunc(params, func(name, _ string) bool {
		_, spread := d.expanded[name]
		return spread || !d.hasAxis(name)
	})
	return params
}

// checkBaseline refuses a baseline that no section has.
func checkBaseline(sections []*section) error {
	missing := sections[0].grid.baseline.missing
	for _, p := range sections {
		if b := p.grid.baseline; b.given && b.missing == nil {
			return nil
		} else if b.missing != nil {
			missing = b.missing
		}
	}
	return missing
}

// baselineOf returns the baseline of the sweep, as axis=value; empty: it has none.
func baselineOf(sections []*section) string {
	for _, p := range sections {
		if text := p.grid.baseline.text; text != "" {
			return text
		}
	}
	return ""
}

// shareCoordinates finds the axes in which the points of a block agree, if they come from several sections: the axes that all of
// these sections have and that are not constant. Axes of one variant alone, such as its backend, may differ within a block.
func shareCoordinates(sections []*section) {
	for label, other := range map[string]string{"variant": "benchmark", "benchmark": "variant"} {
		together := map[string][]*section{}
		for _, p := range sections {
			if _, spread := p.expanded[label]; spread && p.grid.compares(label) {
				name := p.nameOf(other)
				together[name] = append(together[name], p)
			}
		}
		for _, group := range together {
			common := commonAxes(group)
			common[other] = true
			for _, p := range group {
				p.coordinates = common
			}
		}
	}
}

// nameOf returns the benchmark or variant of the document; empty: it has none.
func (d *document) nameOf(label string) string {
	for _, of := range d.of {
		if name, found := strings.CutPrefix(of, label+" "); found {
			return name
		}
	}
	return ""
}

// commonAxes returns the axes that all sections have, and that have several values in at least one of them.
func commonAxes(sections []*section) map[string]bool {
	have, vary := map[string]int{}, map[string]bool{}
	for _, p := range sections {
		for _, a := range p.grid.axes {
			have[a.name]++
			vary[a.name] = vary[a.name] || len(a.values) > 1
		}
	}
	common := map[string]bool{}
	for name, n := range have {
		common[name] = n == len(sections) && vary[name]
	}
	return common
}
