package sweep

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/runner/discover"
	"github.com/neurolens/neurolens/runner/extract"
	"github.com/neurolens/neurolens/runner/fact"
	"github.com/neurolens/neurolens/schema"
)

// Sweep is a sweep file with every point expanded and every default filled in.
type Sweep struct {
	Name       string            // of the file, for messages
	SHA256     string            // of the file's bytes, in hex
	Suite      string            // that of all points; where they have several, the base name of the file without its extension
	Repeats    int               // launches of each point, at least 1
	Order      string            // OrderInterleaved, orderRandom or orderSequential
	RelError   float64           // the precision asked for, a share; 0: none
	MaxRepeats int               // what RelError or Looks may take; Repeats where there is neither
	Looks      []int             // numbers of repeats, from Repeats to MaxRepeats, after which those that are settled have no more; nil: see Overrides.UntilSettled
	Timeout    time.Duration     // of the whole session: after it nothing more is launched; with the multiplier applied
	Tags       map[string]string // stored with every run; nil where there are none
	Facts      map[string]string // about the machine, that a user has given other values; nil where there are none
	Baseline   string            // axis=value that others are compared with, in canonical text; empty where the file names none
	Share      []string          // ignored paths that both sides of a comparison of two commits are to see
	Points     []Point           // that run, in expansion order, those of calibrate last; each point_id once; not to be moved once there are launches
	Skipped    []Point           // that skip_if leaves out, in expansion order; likewise
	Left       []discover.Left   // files that discover looked at and that are no benchmarks, with paths from the working directory

	blocks      [][]int // indices into Points: the points of one block, in expansion order
	calibration []int   // indices into Points, which are in no block
}

// Point is one combination of what is measured and its parameters, and how it is launched. Points of one sweep may
// share slices and maps: they are not to be changed. Lines are those of the sweep file; 0 where it has none.
type Point struct {
	PointID string // see schema.PointID
	Line    int    // where the point comes from: grid or an entry of include

	Suite string // a label of its runs, which is no part of what is measured

	// What is measured. An empty string and a nil pointer are NULL.
	Benchmark string
	Variant   string
	Backend   string
	Model     string // a name, as stored
	Precision string // canonical
	BatchSize *int64
	SeqLen    *int64
	Params    map[string]string // the other axes, in canonical text; nil where there are none

	Skip *Skip // why it is not run; nil: it is

	// Control: the change under test cannot touch the point. Calibration: it is one that calibrate adds, and a control.
	Control, Calibration bool

	// What the canonical text of an axis does not say; nil where it says all.
	Values  map[string]string // by name in Params: the value with its type, as JSON (1.0, "64")
	Written map[string]string // by axis: the value as Overrides.Params takes it

	Work *schema.Work // of an iteration, where the benchmark itself does not say; nil: work is not given, and no rates are wanted

	Scaled map[string]string // by axis: what scale made its value of; nil where nothing is scaled

	// What its output is, and what it has to be; nil: nobody looks at it.
	Output        *Output    // of a command
	Reference     *Reference // of what it computes
	Deterministic bool       // every run of it has the same output, bit by bit
	Compared      bool       // its output is looked at

	Artifacts *Artifacts // which files of its runs are kept; nil: nothing is said

	// What is made of its metrics, in the order in which it can be computed, and what they have to meet.
	Derived, Checks []*Result
	Primary         string // the metric that it is about; empty: not given

	Thresholds map[string]string // by metric, what nobody wants to hear of: "5%" of its value, or "2000000 ns"; nil where there are none

	// What runs.
	Executor    schema.Executor
	ModelPath   string            // the model's file as written; empty for builtin:NAME and where there is no file
	ModelLine   int               // of the model
	Command     []string          // wrapper, program and arguments, filled in; nil unless Executor is command
	File        string            // the Python file as written, filled in; empty unless Executor is python
	Object      string            // class or function in File; empty: the only one that fits
	FileLine    int               // of file
	CommandLine int               // of command
	Build       [][]string        // commands to run first, filled in; nil where there are none
	BuildLine   int               // of build
	Env         map[string]string // what is set on top of the environment, filled in; nil where there is nothing
	BuildEnv    map[string]string // what of it is set for Build: the variables in which no axis stands
	Dir         string            // cwd, filled in; empty: the working directory
	SkipExit    int               // exit status by which a process of a command skips the point; 0: none
	AnyExit     bool              // every exit status of a process is no failure
	Exits       []int             // exit statuses other than 0 that are no failure; nil where there are none
	Hooks       Hooks             // what runs around its processes
	Shell       string            // that runs the text of the command; empty: none
	Start       []string          // what starts the shell alone, which is no part of the latency; nil: none
	Stdin       string            // the file that each process reads, filled in; empty: nothing
	Stdout      string            // the file that takes its standard output, filled in; empty: the run has one, and nobody else
	KeepOutput  bool              // what it prints is kept with the run
	Metrics     []extract.Rule    // what is read of outputs, filled in; nil where there is nothing
	Used        []string          // axes that stand in texts: what runs need not take them too; nil unless it runs in Python

	// How a Python worker runs it.
	Worker
	Python     string   // the interpreter; empty: not given, or it runs in none
	PythonLine int      // of python
	Profile    []string // tools (ort, torch), each of which makes a pass of its own
	// ProfileTimeouts are the deadlines of passes that have one of their own, by tool, with the multiplier applied; nil: none has.
	ProfileTimeouts map[string]time.Duration

	// How long it runs.
	Warmup     int           // iterations before the measurement, 0 or more
	WarmupOnce bool          // the first run of the point in a session has a warm-up, the others have none
	Iterations int           // exact; 0: not given, then until RelError, the executor's own count, or the Budget
	Budget     time.Duration // ends the measurement well
	RelError   float64       // a share; 0: none
	Fixed      []string      // what the command line, a preset or a variant decides of iterations, warmup, seed and timing
	Timeouts   Timeouts

	// Origins are the layers that stored settings come from, by key: see layerSweep. A key that is not there is not given.
	Origins map[string]string
}

// Timeouts are the deadlines of a run's stages, with the multiplier applied. With executor command, Warmup and
// Measure are those of each process. Build is that of each command.
type Timeouts struct {
	Build, Setup, Warmup, Measure, Validate, Teardown, Profile time.Duration
}

// String is the deadlines as they are stored with a run: build=10m0s setup=30s ...
func (t Timeouts) String() string {
	return fmt.Sprintf("build=%s setup=%s warmup=%s measure=%s validate=%s teardown=%s profile=%s",
		t.Build, t.Setup, t.Warmup, t.Measure, t.Validate, t.Teardown, t.Profile)
}

// Overrides are the settings of the command line. They win over the file; the zero value changes nothing.
type Overrides struct {
	// Given are the values of options that go before a key, by the key, as the file would have them: "10s", "1%", "ort,torch".
	// A key that means something to some executors alone is refused where no point has one of them; but python, which may come
	// from the environment.
	Given map[string]string

	// Defaults hold where the file says nothing, the later before the earlier.
	Defaults []Defaults

	// Params replaces or adds axes: the name and its values, separated by commas and read as YAML scalars
	// ("64,128"). Entries of include that name such an axis are left out.
	Params map[string]string
	Tags   map[string]string // added to the file's, key by key

	Formats []string // that the read of metrics may name; nil: any

	Presets []string // of the file, the later over the earlier
	Set     []string // KEY=VALUE: any key, with dots where it stands in another one, and its value as YAML

	// Place says in errors what a line of the file stands for, where nobody has written that; nil: the file has lines.
	Place func(line int) string

	Against bool // two commits are to be compared: 6 repeats unless told
	// UntilSettled adds repeats until two commits are told apart, up to max_repeats, or 30: looks
	// at 6, 9, 14, 20 ... of them are planned. They win over the file's repeats, and over its rel_error as to repeats.
	UntilSettled bool
	// Files is the working directory, in which discover looks; nil: there is nothing in it.
	Files fs.FS
	// Facts answers what expressions ask about the machine. It is asked for the facts alone that the file names. nil: none is known.
	Facts *fact.Machine
	// Targets are globs (see path.Match) of a suite, a benchmark, suite:benchmark or suite:benchmark:variant: points that none
	// matches are left out, but for those of calibrate. After the suite, a benchmark whose name begins with suite/ may go
	// without that.
	Targets []string
}

// Fill sets what the point decides of a run: the suite, the identity fields, PointID and Executor.
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

// readText is Read of a text.
func readText(name string, src []byte, o Overrides) (*Sweep, error) {
	file, err := origin{name: name, lines: true, place: o.Place}.load(src)
	if err != nil {
		return nil, err
	}
	documents, sections, err := readAll(file, o)
	if err != nil {
		return nil, err
	}
	e := expansion{origin: file.origin, file: file, sections: sections}
	if e.targets, err = readTargets(o.Targets); err != nil {
		return nil, err
	}
	d := documents[0] // what is for the whole sweep is the same in all
	share, err := d.readShare()
	if err != nil {
		return nil, err
	}
	if e.calibrate, err = d.readCalibrate(); err != nil {
		return nil, err
	}
	if e.controls, err = readControls(sections, d.keys["control"]); err != nil {
		return nil, err
	}
	if err := e.checkSize(o.Against); err != nil {
		return nil, err
	}
	sweep, err := e.expand(o)
	if err != nil {
		return nil, err
	}
	sweep.Name, sweep.Share, sweep.SHA256 = name, share, fmt.Sprintf("%x", sha256.Sum256(src))
	sweep.Facts, sweep.Baseline = o.Facts.Given(), baselineOf(sections)
	sweep.Left = d.left
	return sweep, nil
}

// readAll reads all sections of a file.
func readAll(file field, o Overrides) ([]*document, []*section, error) {
	documents, err := readLayers(file, o)
	if err != nil {
		return nil, nil, err
	}
	sections, err := readSections(documents)
	return documents, sections, err
}

// document is a plain sweep file: its keys are known ones, and its layers are merged.
type document struct {
	file  field
	keys  map[string]field
	over  Overrides
	asked []request

	of        []string              // the benchmark and the variant that it is of, as "variant CUDA"; nil: the whole file
	alone     bool                  // there is no other document of the file
	spread    map[string][]string   // by label, all names under benchmarks or variants
	chosen    map[string]bool       // by label: the command line says which of them run
	left      []discover.Left       // what discover did not take
	also      []string              // what targets may call its benchmark besides its name
	elsewhere map[string]bool       // axes that other documents of the file have, and this one has not
	from      map[*yaml.Node]string // the layer of a node; those of the sweep itself are not there
	language  *language             // of expressions; nil before the first one
}

// line is that of a key in the file, 0 where it is not there, or nobody has written the file, or it comes from elsewhere.
func (d *document) line(key string) int {
	f := d.keys[key]
	if d.file.place != nil || f.given() && f.name != d.file.name {
		return 0
	}
	return f.line
}

// readGrid gives the axes under grid.
func (d *document) readGrid() ([]member, error) {
	f := d.keys["grid"]
	if !f.given() {
		return nil, nil
	}
	return f.members("axis ")
}
