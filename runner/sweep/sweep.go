package sweep

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/runner/discover"
	"github.com/neurolens/neurolens/runner/expression"
	"github.com/neurolens/neurolens/runner/output"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
)

// Sweep is a sweep file with all points expanded and all defaults filled in.
type Sweep struct {
	Name       string                       // of the file, for messages
	SHA256     string                       // of the file's bytes, in hex
	Suite      string                       // of all points; if they differ, the base name of the file without its extension
	Repeats    int                          // the most runs that a point has, at least 1; see Point.Repeats
	Order      string                       // OrderInterleaved, orderRandom or orderSequential
	RelError   float64                      // the requested precision, as a share; 0: none
	MaxRepeats int                          // the limit for RelError and Looks; equal to Repeats without them
	Looks      []int                        // numbers of repeats, from Repeats to MaxRepeats, after which conclusive points stop; nil: see Overrides.UntilConclusive
	Timeout    time.Duration                // of the whole session: after it nothing more is launched; with the multiplier applied
	Tags       map[string]string            // stored with every run; nil: none
	Facts      map[string]string            // facts about the machine that a user has set to other values; nil: none
	Baseline   string                       // axis=value that others are compared with, in canonical text; empty: the file has none
	Share      []string                     // paths ignored by git that both sides of a comparison of two commits need
	Points     []Point                      // points that run, in expansion order, those of calibrate last; each point_id once; must not move once there are launches
	Skipped    []Point                      // points that skip_if skips, in expansion order; must not move either
	Notes      []string                     // hints to show before the sweep runs
	Left       []discover.Left              // files that discover examined and that are not benchmarks, with paths from the working directory
	Found      map[string]map[string]string // facts about the files that discover took, by path from the working directory

	others []Point // points of other shards, which do not run, and count in the numbers of blocks; nil unless the sweep is a shard
	places []int   // where the points of the whole sweep are: in Points, or after these in others; nil unless the sweep is a shard

	blocks      [][]int // the points of each block, in expansion order, by index: see at
	calibration []int   // points that belong to no block, by index
}

// Point is one combination of all axes, and how it is launched. Points of one sweep may share slices and maps, so these must not
// be changed. Lines refer to the sweep file; 0: there is none.
type Point struct {
	PointID string // see schema.PointID

	Suite string // a label of its runs, which does not identify the point

	// What is measured. An empty string and a nil pointer are NULL.
	Benchmark string
	Variant   string
	Backend   string
	Model     string // a name, as stored
	Precision string // canonical
	BatchSize *int64
	SeqLen    *int64
	Params    map[string]string // the other axes, in canonical text; nil: none

	Skip  *Skip  // why it does not run; nil: it runs
	Fault string // why none of its runs can be launched, such as a mistake in the settings next to its file; empty: no reason is known
	Found bool   // discover has found it

	// Control: the change under test cannot affect the point. Calibration: calibrate has added it; it is a control too.
	Control, Calibration bool

	// Properties of an axis that its canonical text does not contain; nil: none.
	Values  map[string]string // by name in Params: the value with its type, as JSON (1.0, "64")
	Written map[string]string // by axis: the value as Overrides.Params takes it
	Called  map[string]string // by axis of the sweep: its name as it was written, if it is another one, such as dtype for precision

	Work *schema.Work // of an iteration, unless the benchmark reports it; nil: work is not set, and no rates are computed

	Scaled map[string]string // by axis: the base of a scaled value; nil: nothing is scaled

	// Its output, and the correct output; nil: not checked.
	Output        *Output    // of a command
	Reference     *Reference // of the numbers that it computes
	Deterministic bool       // all its runs must have the same output, bit by bit
	Compared      bool       // its output is checked

	Artifacts *Artifacts // which files of its runs are kept; nil: not set

	// Metrics that are derived, in an order in which they can be computed, and conditions.
	Derived, Checks []*Result
	Primary         string // the metric that tables show; empty: not set
	AllowFailed     string // how many requests of a run may fail: "3", or "1%" of all; empty: none

	Thresholds map[string]string // by metric, the smallest change that counts: "5%" of its value, or "2000000 ns"; nil: none

	// What runs, and for how long. All texts of Launch are filled in; Command includes the wrapper; Iterations 0 means: until RelError, the
	// executor's default, or the Budget.
	task.Launch
	ModelPath   string               // the model's file as written; empty for builtin:NAME and without a file
	ModelLine   int                  // of the model
	File        string               // the Python file as written, filled in; empty unless Executor is python
	Object      string               // class or function in File; empty: the only one that fits
	FileLine    int                  // of file
	CommandLine int                  // of command
	Build       [][]string           // commands to run first, filled in; nil: none
	BuildLine   int                  // of build
	Env         map[string]string    // environment variables to add, filled in; nil: none
	BuildEnv    map[string]string    // the variables of Env that Build gets: those without an axis
	Shell       string               // the shell that runs the text of the command; empty: none
	KeepOutput  bool                 // its printed output is kept with the run
	Metrics     []output.ExtractRule // metrics to read from outputs, filled in; nil: none
	Used        []string             // axes that texts contain, so that the benchmark need not take them; nil unless it runs in Python

	Operators bool // the first run of the point reports its operators: profile is not set

	// Settings of its Python worker.
	Worker
	Python     string   // the interpreter; empty: not set, or not needed
	PythonLine int      // of python
	Profile    []string // profilers, each of which makes an extra pass
	// ProfileArgs are arguments for profilers that start the program, by profiler; nil: none.
	ProfileArgs map[string][]string
	// ProfileTimeouts are the deadlines for passes that have their own, by profiler, with the multiplier applied; nil: none.
	ProfileTimeouts map[string]time.Duration

	Telemetry *Telemetry // readings while a run measures; nil: none

	// How long it runs, and how often.
	Repeats    int      // runs; more may follow: see Sweep.MaxRepeats; points of one block have the same number
	WarmupOnce bool     // only the first run of the point in a session has a warm-up
	RelError   float64  // a share; 0: none
	Fixed      []string // settings among iterations, warmup, seed, timing and timeouts that the command line, a preset or a variant sets
	Timeouts   Timeouts

	// Origins are the layers that stored settings come from, by key: see layerSweep. Keys that are not set are missing.
	Origins map[string]string
}

// Timeouts are the deadlines for the stages of a run, with the multiplier applied. Build applies to each build command.
type Timeouts struct {
	Build time.Duration
	task.Deadlines
}

// String returns the deadlines in their stored form: build=10m0s setup=30s ...
func (t Timeouts) String() string {
	return fmt.Sprintf("build=%s setup=%s warmup=%s measure=%s validate=%s teardown=%s profile=%s",
		t.Build, t.Setup, t.Warmup, t.Measure, t.Validate, t.Teardown, t.Profile)
}

// Overrides are the settings of the command line. They take precedence over the file. The zero value changes nothing.
type Overrides struct {
	// Given are the values of options that override a key, by key, in the syntax of the file: "10s", "1%", "ort,torch". A key that
	// only some executors use is refused if no point has one of these. python is not, because it may come from the environment.
	Given map[string]string

	// Defaults apply if the file does not set a key. A later one takes precedence.
	Defaults []Defaults

	// Params replaces or adds axes: the name, and its values separated by commas and read as YAML scalars ("64,128"). Entries of
	// include that name such an axis are dropped.
	Params map[string]string
	// reference are the values of axes at a reference, by column and as in Params, over these.
	reference map[string]string

	Tags map[string]string // added to the file's, key by key

	Formats []string // that read of metrics may name; nil: any

	Presets []string // names in the file; a later one overrides an earlier one
	Set     []string // KEY=VALUE: any key, with dots for nested keys, and its value as YAML

	// DescribeLine describes a line of a generated file in errors; nil: the file has real lines.
	DescribeLine func(line int) string

	Against bool // two commits are compared: 6 repeats by default
	// UntilConclusive adds repeats until a comparison of two commits is conclusive, up to max_repeats, or 30. Looks after 6, 9, 14,
	// 20 ... repeats are planned. They override the repeats and rel_error of the file.
	UntilConclusive bool
	// Base is Files with the files that only the base of a comparison has: benchmarks that discover finds there run only on the base;
	// nil: there is no base.
	Base fs.FS
	// Files is the working directory, which discover searches; nil: it is empty.
	Files fs.FS
	// Facts provides the facts about the machine that expressions use. Only these are read. nil: none is known.
	Facts *expression.Machine
	// Targets are globs (see path.Match) for a suite, a benchmark, suite:benchmark or suite:benchmark:variant. Points that no glob
	// matches are left out, except those of calibrate. After its suite, a benchmark whose name begins with suite/ may be named without
	// this prefix.
	Targets []string
}

// Fill sets the fields of a run that the point determines: the suite, the identity fields, PointID and Executor.
func (p *Point) Fill(run *schema.Run) {
	run.Suite = p.Suite
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

// readText is Read for a text.
func readText(name string, src []byte, o Overrides) (s *Sweep, err error) {
	err = schema.Catch(func() { s = readSweep(name, src, o) })
	return s, err
}

func readSweep(name string, src []byte, o Overrides) *Sweep {
	file := origin{name: name, lines: true, describeLine: o.DescribeLine}.load(src)
	documents, sections := readAll(file, o)
	e := expansion{origin: file.origin, file: file, sections: sections, partial: isPartial(documents, sections), targets: readTargets(o.Targets)}
	e.selected = e.targets
	d := documents[0] // settings of the whole sweep are the same in all
	share := d.readShare()
	e.calibrate = d.readCalibrate()
	e.controls = readControls(sections, d.keys["control"])
	e.checkSize(o.Against)
	sweep := e.expand(o)
	sweep.Name, sweep.Share, sweep.SHA256 = name, share, fmt.Sprintf("%x", sha256.Sum256(src))
	sweep.Facts, sweep.Baseline = o.Facts.Given(), baselineOf(sections)
	sweep.Left, sweep.Found = d.left, d.facts
	return sweep
}

// readAll reads all sections of a file that can be read; see readSections.
func readAll(file field, o Overrides) ([]*document, []*section) {
	targets := readTargets(o.Targets)
	documents := readLayers(file, o, targets)
	return documents, readSections(documents, targets)
}

// document is a plain sweep file: all its keys are known, and its layers are merged.
type document struct {
	file     field
	keys     map[string]field
	over     Overrides
	requests []request

	of            []string                     // the benchmark and the variant that it is of, as "variant CUDA"; nil: the whole file
	alone         bool                         // the file has no other document
	expanded      map[string][]string          // by label, all names under benchmarks or variants
	chosen        map[string]bool              // by label: the command line has selected some of them
	left          []discover.Left              // files that discover did not select
	facts         map[string]map[string]string // by path: facts about the selected ones
	found         bool                         // discover has found its benchmark
	fault         string                       // why it cannot run at all; empty: no reason is known
	withoutConfig *document                    // the same without the settings next to its file; nil: there are none
	unclear       map[*yaml.Node]string        // entries of skip_if that cannot be evaluated, with the reason
	aliases       []string                     // other names of its benchmark in targets
	unscaled      map[string]bool              // axes of scale that its command does not use
	otherAxes     map[string]bool              // axes that other documents of the file have, and this one has not
	from          map[*yaml.Node]string        // the layer of a node; nodes of the sweep itself are missing
	env           *exprEnv                     // of expressions; nil before the first one
}

// line returns the line of a key in the file; 0 if the key is not in it, or the file was generated.
func (d *document) line(key string) int {
	f := d.keys[key]
	if d.file.describeLine != nil || f.given() && f.name != d.file.name {
		return 0
	}
	return f.line
}

// Only returns the sweep with only the wanted points, in the same order and blocks.
func (s *Sweep) Only(wanted func(*Point) bool) *Sweep {
	only := *s
	only.Points, only.Skipped = nil, nil
	for i := range s.Skipped {
		if wanted(&s.Skipped[i]) {
			only.Skipped = append(only.Skipped, s.Skipped[i])
		}
	}
	at := map[int]int{} // of a point, where it was and where it is
	for i := range s.Points {
		if wanted(&s.Points[i]) {
			at[i] = len(only.Points)
			only.Points = append(only.Points, s.Points[i])
		}
	}
	move := func(points []int) (moved []int) {
		for _, i := range points {
			if to, ok := at[i]; ok {
				moved = append(moved, to)
			}
		}
		return moved
	}
	only.blocks, only.calibration = nil, move(s.calibration)
	for _, block := range s.blocks {
		if moved := move(block); len(moved) > 0 {
			only.blocks = append(only.blocks, moved)
		}
	}
	return &only
}

// Suites lists the labels of all points, each once, in alphabetical order. A shard has the labels of the whole sweep.
func (s *Sweep) Suites() []string {
	labels := map[string]bool{}
	for _, points := range [][]Point{s.Points, s.Skipped, s.others} {
		for i := range points {
			labels[points[i].Suite] = true
		}
	}
	return slices.Sorted(maps.Keys(labels))
}

// Outline lists the names in a sweep file. Nothing is expanded, discovered or checked.
type Outline struct {
	Suite   string
	Axes    []OutlinedAxis // in the order of the file
	Presets []string
}

// OutlinedAxis is an axis with its values as written in the file.
type OutlinedAxis struct {
	Name   string
	Values []string
}

// OutlineOf reads the outline of a sweep file. For an incomplete file, it returns what can be read.
func OutlineOf(name string, src []byte) (o Outline, err error) {
	var file field
	if err := schema.Catch(func() { file = origin{name: name, lines: true}.load(src) }); err != nil {
		return Outline{}, err
	}
	for key, value := range pairs(file.Node) {
		switch key {
		case "suite":
			o.Suite = value.Value
		case "presets":
			o.Presets = keysOf(value)
		case "benchmarks", "variants":
			o.add(strings.TrimSuffix(key, "s"), keysOf(value)...)
		case "benchmark", "variant", "backend", "model":
			o.add(key, valuesOf(value)...)
		case "grid", "params", "scale":
			o.addAll(value)
		case "include":
			for _, entry := range value.Content {
				o.addAll(entry)
			}
		}
	}
	return o, nil
}

// addAll adds the axes of a map from names to values, except repeats and tags.
func (o *Outline) addAll(axes *yaml.Node) {
	for name, value := range pairs(axes) {
		if name != "repeats" && name != "tags" {
			o.add(name, valuesOf(value)...)
		}
	}
}

// add adds values to an axis, each once.
func (o *Outline) add(name string, values ...string) {
	at := slices.IndexFunc(o.Axes, func(a OutlinedAxis) bool { return a.Name == name })
	if at < 0 {
		at = len(o.Axes)
		o.Axes = append(o.Axes, OutlinedAxis{Name: name})
	}
	axis := &o.Axes[at]
	for _, value := range values {
		if !slices.Contains(axis.Values, value) {
			axis.Values = append(axis.Values, value)
		}
	}
}

// pairs returns the keys of a map with their values; for any other node none.
func pairs(n *yaml.Node) func(yield func(string, *yaml.Node) bool) {
	return func(yield func(string, *yaml.Node) bool) {
		if n.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i].Value, n.Content[i+1]) {
				return
			}
		}
	}
}

func keysOf(n *yaml.Node) (names []string) {
	for name := range pairs(n) {
		names = append(names, name)
	}
	return names
}

// valuesOf returns the values of an axis that one word can name: scalars, the keys of a map, and the name or path of a model.
func valuesOf(n *yaml.Node) []string {
	switch n.Kind {
	case yaml.ScalarNode:
		if n.ShortTag() != "!!null" {
			return []string{n.Value}
		}
	case yaml.SequenceNode:
		var values []string
		for _, item := range n.Content {
			if item.Kind == yaml.ScalarNode {
				values = append(values, item.Value)
			}
		}
		return values
	case yaml.MappingNode:
		return keysOf(n)
	}
	return nil
}
