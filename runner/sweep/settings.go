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
// of one run share the minute in which they ran: many short runs, which are spread over time, say more than a long one.
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

// settings are what all points have in common.
type settings struct {
	suite       string
	tags        map[string]string
	repeats     int
	warmup      int
	warmupOnce  bool // before the first run of each point alone
	iterations  int
	budget      time.Duration
	timeouts    Timeouts
	suiteLimit  time.Duration
	calibration Timeouts // of the points of calibrate
	order       string
	relError    float64 // 0: not asked for
	maxRepeats  int
	looks       []int // nil: not until it is settled
	thresholds  map[string]string
	worker      workerSettings
}

func readSettings(d *document, o Overrides) (settings, error) {
	var s settings
	for _, read := range []func(*document, Overrides) error{
		s.readSuite, s.readTags, s.readWorker, s.readCounts, s.readOrder, s.readPrecision, s.readMaxRepeats,
		s.readBudget, s.readTimeouts, s.readThresholds,
	} {
		if err := read(d, o); err != nil {
			return settings{}, err
		}
	}
	return s, nil
}

func (s *settings) readSuite(d *document, o Overrides) error {
	if f := d.keys["suite"]; f.given() {
		var err error
		if s.suite, err = f.text(); err != nil {
			return err
		}
		if err := f.checkUnfilled(s.suite); err != nil {
			return err
		}
	} else {
		base := filepath.Base(d.file.name)
		s.suite = strings.ToValidUTF8(strings.TrimSuffix(base, filepath.Ext(base)), "_")
	}
	if o.Suite != "" {
		s.suite = o.Suite
		return checkOption("--suite", o.Suite)
	}
	return nil
}

func (s *settings) readTags(d *document, o Overrides) error {
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
	for key, text := range o.Tags {
		if err := checkOption("--tag", key+text); err != nil {
			return err
		}
	}
	maps.Copy(tags, o.Tags)
	if len(tags) > 0 {
		s.tags = tags
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

func (s *settings) readCounts(d *document, o Overrides) error {
	s.warmup, s.repeats = defaultWarmup, defaultRepeats
	if d.keys["command"].given() {
		s.warmup, s.repeats = defaultWarmupCommand, defaultRepeatsCommand
		s.warmupOnce = !d.keys["warmup"].given() && o.Warmup == nil
	}
	if s.worker.coldStart {
		s.warmup = 0
	}
	if o.Against {
		s.repeats = defaultRepeatsAgainst
	}
	for _, c := range []struct {
		name     string
		least    int
		override *int
		to       *int
	}{
		{"repeats", 1, o.Repeats, &s.repeats},
		{"warmup", 0, o.Warmup, &s.warmup},
		{"iterations", 1, o.Iterations, &s.iterations},
	} {
		if f := d.keys[c.name]; f.given() {
			n, err := f.integer(int64(c.least), maxCount, "a number")
			if err != nil {
				return err
			}
			*c.to = int(n)
		}
		if c.override == nil {
			continue
		}
		if *c.to = *c.override; *c.to < c.least || *c.to > maxCount {
			return origin{name: "--" + c.name}.errorf(0, "want a whole number from %d to %d, got %d",
				c.least, maxCount, *c.to)
		}
	}
	if o.ColdStart && o.Warmup == nil {
		s.warmup = 0 // whatever the file says
	}
	s.warmupOnce = s.warmupOnce && s.warmup > 0
	return nil
}

func (s *settings) readBudget(d *document, o Overrides) error {
	s.budget = defaultBudget
	if d.keys["command"].given() {
		s.budget = defaultBudgetCommand
	}
	if f := d.keys["budget"]; f.given() {
		var err error
		if s.budget, err = f.duration(); err != nil {
			return err
		}
	}
	if o.Budget == nil {
		return nil
	}
	s.budget = *o.Budget
	if err := checkDuration(s.budget); err != nil {
		return origin{name: "--budget"}.errorf(0, "%v", err)
	}
	return nil
}
