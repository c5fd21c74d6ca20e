package sweep

import (
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/schema"
)

// expansion creates the points of a sweep.
type expansion struct {
	origin
	sections []*section
	targets  []target
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
	removed   map[*yaml.Node]int // by entry of exclude
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
	if err := e.setReferences(o); err != nil {
		return nil, err
	}
	if err := e.checkRemoved(); err != nil {
		return nil, err
	}
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
	return &s, nil
}

// addAll creates the points of all sections.
func (e *expansion) addAll() error {
	e.blockOf, e.lines, e.removed = map[string]int{}, map[string]int{}, map[*yaml.Node]int{}
	rows := int(min(e.rows(), maxLaunches)) // a point is large: to grow a list of them copies each several times
	e.points, e.of = make([]Point, 0, rows), make([]*section, 0, rows)
	for _, p := range e.sections {
		if err := e.add(p, nil, p.grid.line); err != nil {
			return p.own(err)
		}
		for i := range p.grid.include {
			entry := &p.grid.include[i]
			if err := e.add(p, entry, entry.at.line); err != nil {
				return p.own(err)
			}
		}
	}
	return nil
}

// whole returns the settings of the whole sweep. If sections have different default repeats, as a command and a file have, the
// largest number applies.
func (e *expansion) whole() Sweep {
	repeated := slices.MaxFunc(e.sections, func(a, b *section) int { return a.settings.sweep.Repeats - b.settings.sweep.Repeats })
	s := repeated.settings.sweep
	s.Suite = e.suite()
	return s
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
			if e.removed[x.at.Node] == 0 && !p.grid.namesReplaced(x) {
				return x.at.errorf("no point matches it")
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
		if p.Skip, err = of.skip(&p); err != nil {
			return err
		}
		if p.Skip != nil {
			e.skipped, e.ofSkipped = append(e.skipped, p), append(e.ofSkipped, of)
			return nil
		}
		if err := of.complete(&p); err != nil {
			return err
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

// point creates the point of a row.
func (of *section) point(row []*value) (Point, error) {
	p := of.settings.point
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
