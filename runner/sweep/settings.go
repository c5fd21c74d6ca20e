package sweep

import (
	"maps"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"
)

// maxCount bounds iterations and repeats: every iteration has its place in memory before the run begins.
const maxCount = 10_000_000

// Counts and the budget where the file says nothing. A process needs a shorter warm-up than an iteration, and processes
// of one run share the minute in which they ran: many short runs, which are spread over time, say more than a long one. A command that
// discover has found is one of a suite, in which a kind of file takes no more time than the others.
const (
	defaultWarmup         = 10
	defaultWarmupCommand  = 1
	defaultBudget         = 10 * time.Second
	defaultBudgetCommand  = 300 * time.Millisecond
	defaultRepeats        = 1
	defaultRepeatsCommand = 10

	// defaultRepeatsAgainst is what it takes to tell two commits apart.
	defaultRepeatsAgainst = 6
)

// settings are what the keys say of launching.
type settings struct {
	sweep       Sweep    // without points
	point       Point    // how each is launched, whatever its executor
	calibration Timeouts // of the points of calibrate
	room        room     // of the budget
}

func readSettings(d *document) (settings, error) {
	var s settings
	for _, read := range []func(*document) error{
		s.readSuite, s.readTags, s.readWorker, s.readCounts, s.readOrder, s.readPrecision, s.readMaxRepeats,
		s.readBudget, s.readTimeouts, s.readThresholds, s.readAllowFailed, s.readSkipExit, s.readIgnoredExits, s.readPrimary, s.readTelemetry, s.readOrigins,
	} {
		if err := read(d); err != nil {
			return settings{}, err
		}
	}
	return s, nil
}

// read reads the value of a key to where the key has it.
func (s *settings) read(key string, f field) error {
	k := keyOf(key)
	if k.point != nil {
		return k.Value.read(f, k.point(&s.point))
	}
	return k.Value.read(f, k.sweep(&s.sweep))
}

// readBoth reads what the file says of a key, and then what the command line says: both have to make sense.
func (s *settings) readBoth(d *document, key string) error {
	for _, f := range []field{d.keys[key], d.option(key)} {
		if f.given() && !keyOf(key).isExpression(f) { // which has another value at each point
			if err := s.read(key, f); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *settings) readSuite(d *document) error {
	s.point.Suite = suiteOf(d.file.name)
	if f := d.keys["suite"]; f.given() {
		if err := s.read("suite", f); err != nil {
			return err
		}
		if err := f.checkUnfilled(s.point.Suite); err != nil {
			return err
		}
	}
	if f := d.option("suite"); f.given() {
		s.point.Suite = f.Value
		return checkOption(f.name, f.Value)
	}
	return nil
}

// StandardInput is the name of a sweep that is no file, in errors.
const StandardInput = "standard input"

// suiteOf is the label that a sweep file has where it says none. A sweep from standard input has none.
func suiteOf(file string) string {
	if file == StandardInput {
		return ""
	}
	base := filepath.Base(file)
	return strings.ToValidUTF8(strings.TrimSuffix(base, filepath.Ext(base)), "_")
}

func (s *settings) readTags(d *document) error {
	tags := map[string]string{}
	if f := d.keys["tags"]; f.given() {
		members, err := f.members("tags.")
		if err != nil {
			return err
		}
		for _, m := range members {
			if tags[m.key], err = m.value.scalar(); err != nil {
				return err
			}
			if err := m.value.checkUnfilled(tags[m.key]); err != nil {
				return err
			}
		}
	}
	for key, text := range d.over.Tags {
		if err := checkOption("--tag", key+text); err != nil {
			return err
		}
	}
	maps.Copy(tags, d.over.Tags)
	if len(tags) > 0 {
		s.sweep.Tags = tags
	}
	return nil
}

// checkOption refuses bytes of the command line that no store takes.
func checkOption(option, text string) error {
	if !utf8.ValidString(text) {
		return origin{name: option}.errorf(0, "want UTF-8, got %q", text)
	}
	return nil
}

func (s *settings) readCounts(d *document) error {
	p := &s.point
	p.Warmup, p.Repeats = defaultWarmup, defaultRepeats
	if d.keys["command"].given() {
		p.Warmup = defaultWarmupCommand
		p.WarmupOnce = !d.keys["warmup"].given() && !d.option("warmup").given()
		if !d.found {
			p.Repeats = defaultRepeatsCommand
		}
	}
	if p.ColdStart {
		p.Warmup = 0
	}
	if d.over.Against {
		p.Repeats = defaultRepeatsAgainst
	}
	for _, key := range []string{"repeats", "warmup", "iterations"} {
		if err := s.readBoth(d, key); err != nil {
			return err
		}
	}
	if d.option("cold_start").given() && !d.option("warmup").given() {
		p.Warmup = 0 // whatever the file says
	}
	p.WarmupOnce = p.WarmupOnce && p.Warmup > 0
	return s.readCold(d)
}

// coldOnce reports whether runs have one iteration because of a cold start: only the first one of a process is cold. Each process of a
// command is a start of its own.
func (s *settings) coldOnce(d *document) bool {
	return s.point.ColdStart && !d.keys["command"].given()
}

// readCold gives a cold start its one iteration. As with the warm-up, an option cold_start replaces what the file says; whoever asks for more
// in the same place wants repeats.
func (s *settings) readCold(d *document) error {
	if !s.coldOnce(d) {
		return nil
	}
	f := d.option("iterations")
	if !f.given() && !d.option("cold_start").given() {
		f = d.keys["iterations"]
	}
	if f.given() && s.point.Iterations != 1 {
		return f.errorf("want 1 with cold_start, because only the first iteration of a run is cold: use repeats")
	}
	s.point.Iterations = 1
	return nil
}

// readSkipExit reads the exit status with which a command skips a point.
func (s *settings) readSkipExit(d *document) error {
	f := d.keys["skip_exit"]
	if !f.given() {
		return nil
	}
	d.request("skip_exit", f)
	return s.read("skip_exit", f)
}

func (s *settings) readBudget(d *document) error {
	s.point.Budget = defaultBudget
	if d.keys["command"].given() {
		s.point.Budget = defaultBudgetCommand
	}
	return s.readBoth(d, "budget")
}
