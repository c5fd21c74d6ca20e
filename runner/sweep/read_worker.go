package sweep

import (
	"math"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

const (
	// maxSeed is the largest that NumPy takes.
	maxSeed = math.MaxUint32
	// reproducibleSeed is the seed of a sweep that is to be reproducible and names none. frameworks.py of package python
	// has it too, for a benchmark that asks for it itself.
	reproducibleSeed = 42

	defaultMinRunTime = 200 * time.Millisecond
)

// readWorker reads what a Python worker is told, and what else is said as its keys are.
func (s *settings) readWorker(d *document) error {
	for _, read := range []func(*document) error{s.readSwitches, s.readSeed, s.readTiming, s.readIterationsPerSample, s.readProfile} {
		if err := read(d); err != nil {
			return err
		}
	}
	s.readFixed(d)
	return nil
}

// readSwitches reads what is either so or not.
func (s *settings) readSwitches(d *document) error {
	for _, k := range keys {
		if k.Value.Kind != Switch || k.point == nil {
			continue
		}
		f := d.choose(k.Name)
		if !f.given() {
			continue
		}
		if err := s.read(k.Name, f); err != nil {
			return err
		}
		if *k.point(&s.point).(*bool) {
			d.request(k.Name, f)
		}
	}
	return nil
}

func (s *settings) readSeed(d *document) error {
	f := d.choose("seed")
	if !f.given() {
		if s.point.Reproducible || d.keys["reference"].given() && !d.keys["command"].given() { // two outputs need the same inputs
			s.point.Seed = new(int64(reproducibleSeed))
		}
		return nil
	}
	d.request("seed", f)
	return s.read("seed", f)
}

func (s *settings) readTiming(d *document) error {
	s.point.Timing, s.point.MinRunTime = automatic, defaultMinRunTime
	if f := d.choose("timing"); f.given() {
		if err := s.read("timing", f); err != nil {
			return err
		}
		d.request("timing", f)
	}
	f := d.keys["min_run_time"]
	if !f.given() {
		return nil
	}
	// A benchmark may choose its own timing, and the command line another one than the file was written for.
	own := s.point.Timing == automatic && d.keys["file"].given()
	if s.point.Timing != timingTorchTimer && !own && !d.option("timing").given() {
		return f.errorf("not supported with timing %s: only with torch_timer", s.point.Timing)
	}
	d.request("min_run_time", f)
	return s.read("min_run_time", f)
}

// readIterationsPerSample reads how many iterations are timed in one go: a number, or auto.
func (s *settings) readIterationsPerSample(d *document) error {
	f := d.choose("iterations_per_sample")
	if !f.given() {
		return nil
	}
	d.request("iterations_per_sample", f)
	if f.Kind == yaml.ScalarNode && f.Value == automatic {
		return nil
	}
	n, err := f.integer(1, maxCount, "a number or auto")
	s.point.IterationsPerSample = int(n)
	return err
}

// readProfile reads the profilers, each of which makes a pass of its own.
func (s *settings) readProfile(d *document) error {
	s.point.Operators = !d.keys["profile"].given() && !d.option("profile").given()
	items := d.optionItems("profile")
	if f := d.keys["profile"]; f.given() && items == nil {
		items = f.items()
	}
	for _, f := range items {
		if err := s.readProfiler(d, f); err != nil {
			return err
		}
	}
	return nil
}

// readProfiler reads a profiler: its name, or a map that has a deadline too.
func (s *settings) readProfiler(d *document, f field) error {
	name, limit := f, field{}
	if f.Kind == yaml.MappingNode {
		said, err := f.known("profile.", keyNames(profilerKeys))
		if err != nil {
			return err
		}
		if name, limit = said["tool"], said["timeout"]; !name.given() {
			return f.errorf("want a tool: one of %s", strings.Join(profilerNames, " "))
		}
	}
	tool, err := name.oneOf(profilerNames)
	if err != nil {
		return err
	}
	if slices.Contains(s.point.Profile, tool) {
		return f.errorf("%s appears twice", tool)
	}
	s.point.Profile = append(s.point.Profile, tool)
	d.request("profile "+tool, f)
	if !limit.given() {
		return nil
	}
	if s.point.ProfileTimeouts == nil {
		s.point.ProfileTimeouts = map[string]time.Duration{}
	}
	s.point.ProfileTimeouts[tool], err = limit.duration()
	return err
}

// readFixed notes what the command line, a preset or a variant says, and no benchmark may change. A cold start has one iteration,
// and no warm-up unless the file itself asks for one.
func (s *settings) readFixed(d *document) {
	given := d.decided
	cold := s.point.ColdStart && (given("cold_start") || !d.keys["warmup"].given())
	for _, c := range []struct {
		name  string
		fixed bool
	}{
		{"iterations", given("iterations") || s.coldOnce(d)},
		{"warmup", given("warmup") || cold},
		{"seed", given("seed") || given("reproducible") && !d.keys["seed"].given()},
		{"timing", given("timing")},
		{"iterations_per_sample", given("iterations_per_sample")},
		{"timeouts", given("timeouts") || given("timeout")},
	} {
		if c.fixed {
			s.point.Fixed = append(s.point.Fixed, c.name)
		}
	}
}

// untaken are the keys that mean something to some executors alone, which a point takes from what all have in common.
func (p *Point) clearUntaken() {
	for i := range keys {
		if k := &keys[i]; k.point != nil && !k.takes(p.Executor) {
			k.clear(p)
		}
	}
	p.Profile = slices.DeleteFunc(slices.Clone(p.Profile), func(tool string) bool {
		return !slices.Contains(profilers[tool], p.Executor)
	})
}
