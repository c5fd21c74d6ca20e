package sweep

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/runner/builtin"
	"github.com/neurolens/neurolens/schema"
)

// calibrationBenchmark is the benchmark of the points that calibrate adds; the variant names the kernel.
const calibrationBenchmark = "calibration"

// maxKnown bounds the values that are kept to say which one was meant.
const maxKnown = 1000

// control chooses points by the value of an axis: the change under test cannot touch them.
type control struct {
	at      field
	axis    string // of the column, or of the parameter
	text    string // canonical
	lenient bool   // the command line has taken points away
	matched bool
	known   map[string]bool // other values that points have
}

// readCalibrate returns the key calibrate if it is true, else the zero field.
func (d *document) readCalibrate() (field, error) {
	f := d.keys["calibrate"]
	if !f.given() {
		return field{}, nil
	}
	wanted, err := f.boolean()
	if err != nil || !wanted {
		return field{}, err
	}
	return f, nil
}

// readControls reads what names controls: axis=value, or a list of such.
func readControls(sections []*section, f field) ([]control, error) {
	if !f.given() {
		return nil, nil
	}
	if len(f.Content) > maxEntries {
		return nil, f.errorf("more than %d entries", maxEntries)
	}
	var all []control
	for _, item := range f.items() {
		c, err := readControl(sections, item)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(o control) bool { return o.axis == c.axis && o.text == c.text }) {
			return nil, item.errorf("%s appears twice", item.got())
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		return nil, f.errorf("is empty")
	}
	return all, nil
}

// readControl reads one axis=value. Every point has a benchmark, also where it is no axis.
func readControl(sections []*section, f field) (control, error) {
	name, word, err := f.assignment()
	if err != nil {
		return control{}, err
	}
	g := sections[0].grid
	for _, s := range sections { // the axis is that of the first which has it
		if s.concerns(name) {
			g = s.grid
			break
		}
	}
	c := control{at: f, known: map[string]bool{}, lenient: slices.ContainsFunc(sections, func(s *section) bool { return s.grid.dropped })}
	i, _ := findAxis(g.axes, name)
	if i < 0 && name == "benchmark" {
		if c.axis, c.text = name, word; word == "" {
			return control{}, f.errorf("%q is not a value of axis %s", word, name)
		}
		return c, nil
	}
	if i, err = g.index(f, name); err != nil {
		return control{}, err
	}
	c.axis, c.lenient = g.axes[i].name, c.lenient || g.axes[i].replaced
	c.text, err = g.axes[i].read(f, name, word)
	return c, err
}

// controlled reports whether a point is one of the controls, and notes which of them chooses it.
func (e *expansion) controlled(p *Point) bool {
	is := false
	for i := range e.controls {
		c := &e.controls[i]
		text := p.textOf(c.axis)
		switch {
		case text == c.text:
			c.matched, is = true, true
		case len(c.known) < maxKnown:
			c.known[text] = true
		}
	}
	return is
}

// textOf is the canonical text that a point has of an axis.
func (p *Point) textOf(axis string) string {
	number := func(n *int64) string {
		if n == nil {
			return ""
		}
		return strconv.FormatInt(*n, 10)
	}
	switch axis {
	case "benchmark":
		return p.Benchmark
	case "variant":
		return p.Variant
	case "backend":
		return p.Backend
	case "model":
		return p.Model
	case "precision":
		return p.Precision
	case "batch_size":
		return number(p.BatchSize)
	case "seq_len":
		return number(p.SeqLen)
	}
	return p.Params[axis]
}

// checkControls refuses what chooses no point.
func (e *expansion) checkControls() error {
	for _, c := range e.controls {
		if c.matched || c.lenient || e.partial {
			continue
		}
		remedy, known := "", slices.Sorted(maps.Keys(c.known))
		switch near := schema.Nearest(c.text, known); {
		case near != "":
			remedy = ": did you mean " + near + "?"
		case c.axis == "benchmark" && c.text == calibrationBenchmark:
			remedy = ": calibrate: true adds such points"
		case len(known) <= maxNamed:
			remedy = ": want one of " + shorten(strings.Join(known, " "))
		}
		return c.at.errorf("no point has %s=%s%s", c.axis, shorten(c.text), remedy)
	}
	return nil
}

// addCalibration adds the points of calibrate, and gives their places. They are controls, and what the file says of
// launching and --targets do not reach them: their work is the same in every sweep.
func (e *expansion) addCalibration() ([]int, error) {
	if !e.calibrate.given() {
		return nil, nil
	}
	var places []int
	for _, kernel := range builtin.Calibrations() {
		p := Point{
			Line: e.calibrate.line, Suite: e.suite(), Benchmark: calibrationBenchmark, Variant: kernel, Backend: string(schema.ExecutorBuiltin),
			Control: true, Calibration: true, Executor: schema.ExecutorBuiltin, Primary: schema.PrimaryMetric,
			Repeats: e.repeatsOfPoints(), Warmup: builtin.CalibrationWarmup, Iterations: builtin.CalibrationIterations, Timeouts: e.sections[0].settings.calibration,
			Thresholds: commonThresholds(e.sections),
		}
		p.identify()
		if first, twice := e.lines[p.PointID]; twice {
			return nil, e.calibrate.errorf("the point benchmark=%s variant=%s already exists, from line %d",
				p.Benchmark, p.Variant, first)
		}
		e.noteCalibration(&p)
		places = append(places, len(e.points))
		e.points = append(e.points, p)
	}
	return places, nil
}

// noteCalibration has what chooses a point of calibrate count as used.
func (e *expansion) noteCalibration(p *Point) {
	e.targeted(p, nil)
	for i := range e.controls {
		c := &e.controls[i]
		c.matched = c.matched || c.text != "" && p.textOf(c.axis) == c.text
	}
}
