package sweep

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// maxSeed is the largest that NumPy takes.
	maxSeed = math.MaxUint32
	// reproducibleSeed is the seed of a sweep that is to be reproducible and names none. frameworks.py of package python
	// has it too, for a benchmark that asks for it itself.
	reproducibleSeed = 42

	defaultMinRunTime = 200 * time.Millisecond

	timingAuto       = "auto"
	timingTorchTimer = "torch_timer"
)

var (
	timings   = []string{timingAuto, "perf_counter", "cuda_event", "triton", timingTorchTimer}
	profilers = []string{"ort", "torch"}
)

// workerSettings are what a Python worker is told, equal for all points that take it.
type workerSettings struct {
	timing       string
	minRunTime   time.Duration
	seed         *int64
	reproducible bool
	coldStart    bool
	flushL2      bool
	profile      []string
	fixed        []string // by the command line
}

func (s *settings) readWorker(d *document, o Overrides) error {
	w := &s.worker
	for _, read := range []func(*document, Overrides) error{w.readSwitches, w.readSeed, w.readTiming, w.readProfile} {
		if err := read(d, o); err != nil {
			return err
		}
	}
	w.readFixed(d, o)
	return nil
}

// readSwitches reads what is either so or not.
func (w *workerSettings) readSwitches(d *document, o Overrides) error {
	for _, c := range []struct {
		name     string
		override bool
		to       *bool
	}{
		{"reproducible", o.Reproducible, &w.reproducible},
		{"cold_start", o.ColdStart, &w.coldStart},
		{"flush_l2", false, &w.flushL2},
	} {
		f := d.keys[c.name]
		if c.override {
			f = option("--"+strings.ReplaceAll(c.name, "_", "-"), "!!bool", "true")
		}
		if !f.given() {
			continue
		}
		var err error
		if *c.to, err = f.boolean(); err != nil {
			return err
		}
		if *c.to {
			d.ask(c.name, f)
		}
	}
	return nil
}

func (w *workerSettings) readSeed(d *document, o Overrides) error {
	f := d.keys["seed"]
	if o.Seed != nil {
		f = option("--seed", "!!int", strconv.FormatInt(*o.Seed, 10))
	}
	if !f.given() && w.reproducible {
		w.seed = new(int64(reproducibleSeed))
	}
	if !f.given() {
		return nil
	}
	n, err := f.integer(0, maxSeed, "a number")
	if err != nil {
		return err
	}
	w.seed = &n
	d.ask("seed", f)
	return nil
}

func (w *workerSettings) readTiming(d *document, o Overrides) error {
	w.timing, w.minRunTime = timingAuto, defaultMinRunTime
	if f := d.choose("timing", o.Timing); f.given() {
		var err error
		if w.timing, err = f.oneOf(timings); err != nil {
			return err
		}
		d.ask("timing", f)
	}
	f := d.keys["min_run_time"]
	if !f.given() {
		return nil
	}
	// A benchmark may choose its own timing, and the command line another one than the file was written for.
	own := w.timing == timingAuto && d.keys["file"].given()
	if w.timing != timingTorchTimer && !own && o.Timing == "" {
		return f.errorf("means nothing with timing %s: only torch_timer takes it", w.timing)
	}
	var err error
	w.minRunTime, err = f.duration()
	d.ask("min_run_time", f)
	return err
}

// readProfile reads the profilers, each of which makes a pass of its own.
func (w *workerSettings) readProfile(d *document, o Overrides) error {
	var items []field
	if f := d.keys["profile"]; f.given() {
		items = f.items()
	}
	if o.Profile != nil {
		items = nil
		for _, text := range o.Profile {
			items = append(items, option("--profile", "!!str", text))
		}
	}
	for _, f := range items {
		tool, err := f.oneOf(profilers)
		if err != nil {
			return err
		}
		if slices.Contains(w.profile, tool) {
			return f.errorf("%s is there twice", tool)
		}
		w.profile = append(w.profile, tool)
		d.ask("profile "+tool, f)
	}
	return nil
}

// readFixed notes what the command line says, and no benchmark may change. A cold start has no warm-up, unless the
// file itself asks for one.
func (w *workerSettings) readFixed(d *document, o Overrides) {
	cold := w.coldStart && (o.ColdStart || !d.keys["warmup"].given())
	for _, c := range []struct {
		name  string
		fixed bool
	}{
		{"iterations", o.Iterations != nil},
		{"warmup", o.Warmup != nil || cold},
		{"seed", o.Seed != nil || o.Reproducible && !d.keys["seed"].given()},
		{"timing", o.Timing != ""},
	} {
		if c.fixed {
			w.fixed = append(w.fixed, c.name)
		}
	}
}

// set gives a point what means something to its executor.
func (w *workerSettings) set(p *Point) {
	p.ColdStart, p.Fixed = w.coldStart, w.fixed
	if takes(p.Executor, "timing") {
		p.Timing, p.MinRunTime, p.Seed, p.Reproducible = w.timing, w.minRunTime, w.seed, w.reproducible
	}
	p.FlushL2 = w.flushL2 && takes(p.Executor, "flush_l2")
	for _, tool := range w.profile {
		if takes(p.Executor, "profile "+tool) {
			p.Profile = append(p.Profile, tool)
		}
	}
}
