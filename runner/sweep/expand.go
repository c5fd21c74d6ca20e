package sweep

import (
	"slices"
	"strconv"

	"github.com/neurolens/neurolens/schema"
)

// expansion makes the points of a sweep.
type expansion struct {
	origin
	settings settings
	grid     *grid
	program  *program
	targets  []target
	// calibrate is the key where it asks for points; controls say which of the others are controls.
	calibrate field
	controls  []control

	points  []Point
	blocks  [][]int
	blockOf map[string]int
	models  map[string]*value // by name
	lines   map[string]int    // by point_id
	removed []int             // by entry of exclude

	executors  []schema.Executor // of all points, each once, also of those that are left out
	benchmarks []string          // likewise, as many as checkTargets names and one more
}

// expand makes the points. asked are the keys that not every executor takes.
func (e *expansion) expand(asked []request) (*Sweep, error) {
	e.models = map[string]*value{}
	e.blockOf, e.lines, e.removed = map[string]int{}, map[string]int{}, make([]int, len(e.grid.exclude))
	if err := e.add(nil, e.grid.line); err != nil {
		return nil, err
	}
	for i := range e.grid.include {
		entry := &e.grid.include[i]
		if err := e.add(entry, entry.at.line); err != nil {
			return nil, err
		}
	}
	if err := e.checkTaken(asked); err != nil {
		return nil, err
	}
	for i, n := range e.removed {
		if x := e.grid.exclude[i]; n == 0 && !e.grid.namesReplaced(x) {
			return nil, x.at.errorf("removes no point")
		}
	}
	if len(e.points) == 0 && len(e.targets) == 0 {
		return nil, e.grid.exclude[0].at.errorf("leaves no point")
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
	s := e.settings.sweep
	s.Points, s.blocks, s.calibration = e.points, e.blocks, calibration
	return &s, nil
}

// add makes the points of the grid, or of an entry of include. exclude has the last word over both.
func (e *expansion) add(from *entry, line int) error {
	return e.grid.rows(from, func(written []*value) error {
		row := e.grid.resolved(written)
		if err := e.checkModel(row); err != nil {
			return err
		}
		for i, v := range row {
			if v != written[i] { // every point has a text of its own
				e.program.size += len(v.text) + len(v.path)
			}
		}
		p, err := e.point(row)
		if err != nil {
			return err
		}
		if first, twice := e.lines[p.PointID]; twice {
			return from.at.errorf("the point %s is there already, from line %d", e.grid.describe(row), first)
		}
		e.lines[p.PointID], p.Line = line, line
		excluded := false
		for i := range e.grid.exclude {
			if e.grid.exclude[i].matches(row) {
				excluded = true
				e.removed[i]++
			}
		}
		if excluded {
			return nil
		}
		p.Control = e.controlled(&p)
		if !e.targeted(p.Benchmark) {
			return nil
		}
		block := e.grid.block(written)
		if _, known := e.blockOf[block]; !known {
			e.blockOf[block] = len(e.blocks)
			e.blocks = append(e.blocks, nil)
		}
		b := e.blockOf[block]
		e.blocks[b] = append(e.blocks[b], len(e.points))
		e.points = append(e.points, p)
		return nil
	})
}

// point makes the point of a row.
func (e *expansion) point(row []*value) (Point, error) {
	p := e.settings.point
	var backend *value
	for i, v := range row {
		switch e.grid.axes[i].name {
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
			p.Params[e.grid.axes[i].name] = v.text
			note(&p.Values, e.grid.axes[i].name, v.typed)
		}
		note(&p.Written, e.grid.axes[i].name, v.option)
	}
	if err := e.program.launch(&p, row, backend); err != nil {
		return Point{}, err
	}
	if !slices.Contains(e.executors, p.Executor) {
		e.executors = append(e.executors, p.Executor)
	}
	p.identify()
	return p, nil
}

// identify sets the point_id of a point whose other fields are set.
func (p *Point) identify() {
	var run schema.Run
	p.Fill(&run)
	p.PointID = schema.PointID(&run)
}

// note adds a text, if there is one, to a map, made where there is none.
func note(m *map[string]string, key, text string) {
	if text == "" {
		return
	}
	if *m == nil {
		*m = map[string]string{}
	}
	(*m)[key] = text
}

// integer is the value of an axis that readValue has found to be one.
func (v *value) integer() *int64 {
	n, _ := strconv.ParseInt(v.text, 10, 64)
	return &n
}
