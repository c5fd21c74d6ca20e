package sweep

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/schema"
)

// expansion creates the points of a sweep.
type expansion struct {
	origin
	sections []*section
	partial  bool // see isPartial
	targets  []target
	selected []target // which sections may have points; those of targets
	// calibrate is the key where it asks for points; controls say which of the others are controls.
	calibrate field
	controls  []control

	file    field // the whole sweep
	points  []Point
	skipped []Point
	of      []*section // of each point, those of calibrate apart
	// ofSkipped are the sections of skipped points.
	ofSkipped []*section
	blocks    [][]int
	blockOf   map[string]int
	lines     map[string]int     // by point_id
	ids       []string           // its keys, in the order of the points
	removed   map[*yaml.Node]int // by entry of exclude
	takers    *parameters        // what functions take
	named     []string           // benchmarks of all points, as many as checkTargets names and one more
}

// expand creates the points.
func (e *expansion) expand(o Overrides) (*Sweep, error) {
	if err := e.addAll(); err != nil {
		return nil, err
	}
	if err := e.checkTaken(); err != nil {
		return nil, err
	}
	if err := e.takers.check(e.takers.single(e.sections)); err != nil {
		return nil, err
	}
	if err := e.setReferences(o); err != nil {
		return nil, err
	}
	if err := e.checkRemoved(); err != nil {
		return nil, err
	}
	e.evenRepeats()
	calibration, err := e.addCalibration()
	if err != nil {
		return nil, err
	}
	if err := e.checkControls(); err != nil {
		return nil, err
	}
	if err := e.checkTargets(); err != nil {
		return nil, err
	}
	s := e.whole()
	s.Points, s.Skipped, s.blocks, s.calibration = e.points, e.skipped, e.blocks, calibration
	s.Notes = e.takers.notes()
	return &s, nil
}

// addAll creates the points of all sections.
func (e *expansion) addAll() error {
	e.blockOf, e.lines, e.removed = map[string]int{}, map[string]int{}, map[*yaml.Node]int{}
	over := e.sections[0].over
	e.takers = newParameters(over.Files)
	if over.Base != nil {
		e.takers.files = over.Base
	}
	rows, _ := e.rows()
	room := int(min(rows, maxLaunches)) // a point is large: to grow a list of them copies each several times
	e.points, e.of = make([]Point, 0, room), make([]*section, 0, room)
	for i, p := range e.sections {
		if err := e.addSection(i); err != nil {
			return p.own(err)
		}
	}
	return nil
}

// addSection creates the points of a section. If the settings beside its file are wrong at one of them, the section is that without them; if
// targets do not select it, it has no points.
func (e *expansion) addSection(i int) error {
	p := e.sections[i]
	before := e.mark(*p.program.size)
	err := e.addPoints(p)
	switch {
	case err == nil:
		return nil
	case !p.mayBe(e.selected):
		e.restore(before)
		*p.program.size = before.size
		e.partial = true
		return nil
	case p.instead == nil:
		return err
	}
	*p.program.size = before.size
	plain, other := readSection(p.instead, p.program.size)
	if other != nil || plain.unused != nil {
		return err
	}
	plain.fault, plain.coordinates = err.Error(), p.coordinates
	e.restore(before)
	e.sections[i], e.partial = plain, true
	return e.addPoints(plain)
}

func (e *expansion) addPoints(p *section) error {
	if err := e.add(p, nil, p.grid.line); err != nil {
		return err
	}
	for i := range p.grid.include {
		entry := &p.grid.include[i]
		if err := e.add(p, entry, entry.at.line); err != nil {
			return err
		}
	}
	return nil
}

// extent is how far an expansion is.
type extent struct{ points, skipped, blocks, ids, less, size int }

func (e *expansion) mark(size int) extent {
	return extent{len(e.points), len(e.skipped), len(e.blocks), len(e.ids), len(e.takers.ids), size}
}

// restore takes back the points since a mark.
func (e *expansion) restore(to extent) {
	e.points, e.of = e.points[:to.points], e.of[:to.points]
	e.skipped, e.ofSkipped = e.skipped[:to.skipped], e.ofSkipped[:to.skipped]
	for _, id := range e.ids[to.ids:] {
		delete(e.lines, id)
	}
	for _, id := range e.takers.ids[to.less:] {
		delete(e.takers.points, id)
	}
	e.blocks, e.ids, e.takers.ids = e.blocks[:to.blocks], e.ids[:to.ids], e.takers.ids[:to.less]
	for i, block := range e.blocks {
		e.blocks[i] = slices.DeleteFunc(block, func(point int) bool { return point >= to.points })
	}
	maps.DeleteFunc(e.blockOf, func(_ string, block int) bool { return block >= to.blocks })
}

// whole returns the settings of the whole sweep.
func (e *expansion) whole() Sweep {
	s := e.sections[0].settings.sweep
	for _, p := range e.sections {
		s.MaxRepeats = max(s.MaxRepeats, p.settings.sweep.MaxRepeats)
	}
	s.Suite, s.Repeats = e.suite(), e.repeatsOfPoints()
	if s.RelError == 0 && s.Looks == nil {
		s.MaxRepeats = s.Repeats
	}
	return s
}

// repeatsOfPoints is the largest number of repeats that a point has, at least 1.
func (e *expansion) repeatsOfPoints() int {
	most := 1
	for i := range e.points {
		most = max(most, e.points[i].Repeats)
	}
	return most
}

// mostRepeats is the largest number of repeats that a section has.
func (e *expansion) mostRepeats() int {
	most := 1
	for _, p := range e.sections {
		most = max(most, p.settings.point.Repeats)
	}
	return most
}

// evenRepeats gives all points of a block the same number of repeats: the largest that is set for one of them, else the largest of their
// defaults.
func (e *expansion) evenRepeats() {
	for _, block := range e.blocks {
		set, most := 0, 0
		for _, i := range block {
			n := e.points[i].Repeats
			if most = max(most, n); e.of[i].setsRepeats() {
				set = max(set, n)
			}
		}
		for _, i := range block {
			e.points[i].Repeats = cmp.Or(set, most)
		}
	}
}

// setsRepeats reports whether the document or the command line says how many repeats there are.
func (d *document) setsRepeats() bool {
	return d.keys["repeats"].given() || d.option("repeats").given()
}

// suite is the label of all sections, or that of the file if the sections differ.
func (e *expansion) suite() string {
	first := e.sections[0].settings.point.Suite
	for _, p := range e.sections {
		if p.settings.point.Suite != first {
			return suiteOf(e.file.name)
		}
	}
	return first
}

// checkRemoved refuses an exclude that matches no point, or all of them.
func (e *expansion) checkRemoved() error {
	for _, p := range e.sections {
		for _, x := range p.grid.exclude {
			if e.removed[x.at.Node] > 0 || p.grid.namesReplaced(x) {
				continue
			}
			err := x.at.errorf("no point matches it")
			switch {
			case p.instead != nil && x.at.name != e.name: // which the settings beside the file say
				e.blame(p, err)
			case !e.partial:
				return err
			}
		}
		if len(e.points)+len(e.skipped) == 0 && len(e.targets) == 0 {
			return p.grid.exclude[0].at.errorf("no point is left")
		}
	}
	return nil
}

// add creates the points of a section's grid, or of an entry of include. exclude applies to both.
func (e *expansion) add(of *section, from *entry, line int) error {
	return of.grid.rows(from, func(written []*value) error {
		row, err := of.grid.resolved(written)
		if err != nil {
			return err
		}
		if err := of.checkModel(row); err != nil {
			return err
		}
		for i, v := range row {
			if v != written[i] { // every point has a text of its own
				*of.program.size += len(v.text) + len(v.path)
			}
		}
		p, err := of.point(row)
		if err != nil {
			return err
		}
		if first, twice := e.lines[p.PointID]; twice {
			at := field{origin: e.origin, line: line}
			if from != nil {
				at = from.at
			}
			return at.errorf("the point %s already exists, from line %d", of.grid.describe(row), first)
		}
		e.lines[p.PointID], p.Line = line, line
		e.ids = append(e.ids, p.PointID)
		excluded := false
		for i := range of.grid.exclude {
			if x := &of.grid.exclude[i]; x.matches(row) {
				excluded = true
				e.removed[x.at.Node]++
			}
		}
		if excluded {
			return nil
		}
		p.Control = e.controlled(&p)
		if !e.targeted(&p, of.also) {
			return nil
		}
		if p.Skip, p.Fault, err = of.skip(&p); err != nil {
			return err
		}
		if p.Skip == nil {
			if err := of.count(&p); err != nil {
				return err
			}
			e.takers.leaveOut(of, &p)
		}
		if p.Skip != nil {
			e.skipped, e.ofSkipped = append(e.skipped, p), append(e.ofSkipped, of)
			return nil
		}
		if err := of.setWork(&p); err != nil {
			return err
		}
		if fault := cmp.Or(of.fault, p.Fault); fault != "" {
			p.fail(fault)
		}
		block := of.block(written)
		if _, known := e.blockOf[block]; !known {
			e.blockOf[block] = len(e.blocks)
			e.blocks = append(e.blocks, nil)
		}
		b := e.blockOf[block]
		e.blocks[b] = append(e.blocks[b], len(e.points))
		e.points, e.of = append(e.points, p), append(e.of, of)
		return nil
	})
}

// fail makes all runs of a point errors. Nothing of it is built, profiled or compared.
func (p *Point) fail(why string) {
	p.Fault, p.Build, p.Profile, p.Reference, p.Compared = why, nil, nil, nil, false
}

// point creates the point of a row.
func (of *section) point(row []*value) (Point, error) {
	p := of.settings.point
	p.Found = of.found
	p.Called = of.called
	var backend *value
	for i, v := range row {
		switch of.grid.axes[i].name {
		case "benchmark":
			p.Benchmark = v.text
		case "variant":
			p.Variant = v.text
		case "backend":
			p.Backend, backend = v.text, v
		case "model":
			p.Model, p.ModelPath, p.ModelLine = v.text, v.path, v.at.fileLine()
		case "precision":
			p.Precision = v.text
		case "batch_size":
			p.BatchSize = v.integer()
		case "seq_len":
			p.SeqLen = v.integer()
		default:
			if p.Params == nil {
				p.Params = map[string]string{}
			}
			p.Params[of.grid.axes[i].name] = v.text
			note(&p.Values, of.grid.axes[i].name, v.typed)
		}
		note(&p.Written, of.grid.axes[i].name, v.option)
		note(&p.Scaled, of.grid.axes[i].name, of.grid.axes[i].base)
	}
	for label := range of.spread {
		note(&p.Written, label, optionText(p.textOf(label)))
	}
	if err := of.program.launch(&p, row, backend); err != nil {
		return Point{}, err
	}
	if !slices.Contains(of.executors, p.Executor) {
		of.executors = append(of.executors, p.Executor)
	}
	p.identify()
	return p, nil
}

// identify sets the point_id, after all other fields are set.
func (p *Point) identify() {
	var run schema.Run
	p.Fill(&run)
	p.PointID = schema.PointID(&run)
}

// note sets a text in a map, unless the text is empty. It creates the map if necessary.
func note(m *map[string]string, key, text string) {
	if text == "" {
		return
	}
	if *m == nil {
		*m = map[string]string{}
	}
	(*m)[key] = text
}

// integer is the value of an axis that readValue has checked.
func (v *value) integer() *int64 {
	n, _ := strconv.ParseInt(v.text, 10, 64)
	return &n
}
