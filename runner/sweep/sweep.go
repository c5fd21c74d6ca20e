package sweep

import (
	"time"

	"github.com/neurolens/neurolens/schema"
)

// topKeys are the keys of a sweep file.
var topKeys = []string{
	"backend", "baseline", "benchmark", "budget", "command", "cwd", "env", "exclude", "grid", "include", "iterations",
	"model", "params", "repeats", "suite", "tags", "timeout", "timeout_multiplier", "timeouts", "variant", "warmup",
	"wrapper", "zip",
}

// Sweep is a sweep file with every point expanded and every default filled in.
type Sweep struct {
	Suite   string            // suite:, else the base name of the file without its extension
	Repeats int               // launches of each point, at least 1
	Timeout time.Duration     // of the whole session: after it nothing more is launched; with the multiplier applied
	Tags    map[string]string // stored with every run; nil where there are none
	Points  []Point           // in expansion order, each point_id once

	blocks [][]int // indices into Points: the points of one block, in expansion order
}

// Point is one combination of what is measured and its parameters, and how it is launched. Points of one sweep may
// share Command and Env: they are not to be changed.
type Point struct {
	PointID string // see schema.PointID
	Line    int    // of the file, where the point comes from: grid or an entry of include; 0 without a line

	// What is measured. An empty string and a nil pointer are NULL.
	Benchmark string
	Variant   string
	Backend   string
	Model     string // a name, as stored
	Precision string // canonical
	BatchSize *int64
	SeqLen    *int64
	Params    map[string]string // the other axes, in canonical text; nil where there are none

	// How it is launched.
	Executor   schema.Executor
	ModelPath  string            // the model's file as written; empty for builtin:NAME and where there is no file
	Command    []string          // wrapper, program and arguments, filled in; nil unless Executor is command
	Env        map[string]string // what is set on top of the environment, filled in; nil where there is nothing
	Dir        string            // cwd, filled in; empty: the working directory
	Warmup     int               // iterations before the measurement, 0 or more
	Iterations int               // exact; 0: not given, then until the executor's own count or the Budget
	Budget     time.Duration     // ends the measurement well
	Timeouts   Timeouts
}

// Timeouts are the deadlines of a run's stages, with the multiplier applied. With executor command, Warmup and
// Measure are those of each process.
type Timeouts struct {
	Setup, Warmup, Measure, Validate, Teardown time.Duration
}

// Overrides are the settings of the command line. They win over the file; the zero value changes nothing.
type Overrides struct {
	Suite             string
	Repeats           *int
	Warmup            *int
	Iterations        *int
	Budget            *time.Duration
	TimeoutMultiplier *float64
	// Params replaces or adds axes: the name and its values, separated by commas and read as YAML scalars
	// ("64,128"). Entries of include that name such an axis are left out.
	Params map[string]string
	Tags   map[string]string // added to the file's, key by key
}

// Launch is one launch of one point.
type Launch struct {
	Point    *Point
	Repeat   int // from 0
	Block    int // from 0, over the whole session: neighbours to be compared have the same number
	Position int // from 0, within the block
}

// Fill sets what the point decides of a run: the identity fields, PointID and Executor.
func (p *Point) Fill(run *schema.Run) {
	run.PointID = p.PointID
	run.Benchmark = p.Benchmark
	run.Variant = p.Variant
	run.Executor = p.Executor
	run.Backend = p.Backend
	run.Model = p.Model
	run.Precision = p.Precision
	run.BatchSize = p.BatchSize
	run.SeqLen = p.SeqLen
	run.Params = p.Params
}

// Launches lists every launch in the order in which they are to run: repeat by repeat over all blocks. The members of
// a block are neighbours, rotated from repeat to repeat and reversed after a full turn, so that over as many repeats
// as there are members each has had each position equally often.
func (s *Sweep) Launches() []Launch {
	launches := make([]Launch, 0, len(s.Points)*s.Repeats)
	for repeat := range s.Repeats {
		for b, block := range s.blocks {
			for position := range block {
				member := block[memberAt(len(block), repeat, b, position)]
				launches = append(launches, Launch{
					Point:    &s.Points[member],
					Repeat:   repeat,
					Block:    repeat*len(s.blocks) + b,
					Position: position,
				})
			}
		}
	}
	return launches
}

// memberAt says which of m members has a position of block b in a repeat.
func memberAt(m, repeat, b, position int) int {
	if repeat/m%2 == 1 {
		position = m - 1 - position
	}
	return (position + repeat + b) % m
}

// Parse reads the text of a sweep file, expands its points and applies what the command line says. name is the
// file's name in errors and gives the default suite. An error reads `name:line: what is wrong`, or names the
// option of the command line that it comes from.
func Parse(name string, src []byte, o Overrides) (*Sweep, error) {
	file, err := origin{name: name, lines: true}.load(src)
	if err != nil {
		return nil, err
	}
	d := &document{file: file}
	if d.keys, err = file.known("", topKeys); err != nil {
		return nil, err
	}
	axes, err := d.readGrid()
	if err != nil {
		return nil, err
	}
	s, err := readSettings(d, o)
	if err != nil {
		return nil, err
	}
	g, err := readGrid(d, axes, o)
	if err != nil {
		return nil, err
	}
	p, err := readProgram(d, g.axes)
	if err != nil {
		return nil, err
	}
	if err := g.checkSize(file.origin, s.repeats); err != nil {
		return nil, err
	}
	e := expansion{origin: file.origin, settings: s, grid: g, program: p}
	return e.expand()
}

// document is a file whose keys are known ones.
type document struct {
	file field
	keys map[string]field
}

// readGrid gives the axes under grid. repeats and tags may stand there too and win over those above.
func (d *document) readGrid() ([]member, error) {
	f := d.keys["grid"]
	if !f.given() {
		return nil, nil
	}
	members, err := f.members("axis ")
	if err != nil {
		return nil, err
	}
	var axes []member
	for _, m := range members {
		if _, setting := settingFlags[m.key]; setting {
			m.value.what = m.key
			d.keys[m.key] = m.value
			continue
		}
		axes = append(axes, m)
	}
	return axes, nil
}
