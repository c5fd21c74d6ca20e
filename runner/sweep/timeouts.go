package sweep

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// defaultSuiteTimeout is the deadline of all launches together.
const defaultSuiteTimeout = 4 * time.Hour

// measureRoom is how much longer than its budget a measurement may take, unless its deadline is given: the iteration
// that spends the budget has to end too.
const measureRoom = 5 * time.Second

// defaultTimeouts are the deadlines where the file says nothing. A process needs more time than an iteration.
func defaultTimeouts(command bool) Timeouts {
	t := Timeouts{
		Build: 10 * time.Minute, Setup: 30 * time.Second, Warmup: 15 * time.Second, Measure: defaultBudget + measureRoom,
		Validate: 15 * time.Second, Teardown: 10 * time.Second, Profile: 180 * time.Second,
	}
	if command {
		t.Warmup, t.Measure = 10*time.Minute, 10*time.Minute
	}
	return t
}

// readTimeouts reads the deadlines; the budget and the counts are read.
func (s *settings) readTimeouts(d *document, o Overrides) error {
	s.timeouts, s.suiteLimit = defaultTimeouts(d.keys["command"].given()), defaultSuiteTimeout
	limits := []struct {
		name string
		to   *time.Duration
	}{
		{string(schema.StageBuild), &s.timeouts.Build},
		{string(schema.StageSetup), &s.timeouts.Setup},
		{string(schema.StageWarmup), &s.timeouts.Warmup},
		{string(schema.StageMeasure), &s.timeouts.Measure},
		{string(schema.StageValidate), &s.timeouts.Validate},
		{string(schema.StageTeardown), &s.timeouts.Teardown},
		{string(schema.StageProfile), &s.timeouts.Profile},
		{"suite", &s.suiteLimit},
	}
	var names []string
	for _, limit := range limits {
		names = append(names, limit.name)
	}
	given, err := givenTimeouts(d, names)
	if err != nil {
		return err
	}
	multiplier, err := readMultiplier(d.keys["timeout_multiplier"], o.TimeoutMultiplier)
	if err != nil {
		return err
	}
	for _, limit := range limits {
		if f := given[limit.name]; f.given() {
			if *limit.to, err = f.duration(); err != nil {
				return err
			}
		}
		*limit.to = multiplied(*limit.to, multiplier)
	}
	s.calibration = calibrationTimeouts(multiplier)
	if d.keys["command"].given() || s.iterations > 0 {
		return nil // the deadline is that of one process, or there is no budget
	}
	asked := d.keys["budget"].given() || o.Budget != nil
	return s.fitBudget(given["measure"], asked, multiplier)
}

// calibrationTimeouts are the deadlines of points whose work is fixed: those of a sweep that says nothing.
func calibrationTimeouts(multiplier float64) Timeouts {
	t := defaultTimeouts(false)
	for _, limit := range []*time.Duration{
		&t.Build, &t.Setup, &t.Warmup, &t.Measure, &t.Validate, &t.Teardown, &t.Profile,
	} {
		*limit = multiplied(*limit, multiplier)
	}
	return t
}

// givenTimeouts are the deadlines in the file, by name. timeout alone is that of measure.
func givenTimeouts(d *document, names []string) (map[string]field, error) {
	given := map[string]field{}
	if f := d.keys["timeouts"]; f.given() {
		var err error
		if given, err = f.known("timeouts.", names); err != nil {
			return nil, err
		}
	}
	if f := d.keys["timeout"]; f.given() {
		if measure := given["measure"]; measure.given() {
			return nil, f.errorf("is timeouts.measure, which is on line %d", measure.line)
		}
		given["measure"] = f
	}
	return given, nil
}

// fitBudget keeps the deadline of measure above the budget, which is to end the stage well: a deadline that is not
// given makes room, one that contradicts a budget that was asked for is refused.
func (s *settings) fitBudget(measure field, asked bool, multiplier float64) error {
	if !measure.given() {
		s.timeouts.Measure = max(s.timeouts.Measure, s.budget+multiplied(measureRoom, multiplier))
		return nil
	}
	if !asked || s.timeouts.Measure > s.budget {
		return nil
	}
	limit := s.timeouts.Measure.String()
	if multiplier != 1 {
		limit += fmt.Sprintf(" (multiplied by %v)", multiplier)
	}
	return measure.errorf("%s is not above the budget of %s: raise it, or lower the budget", limit, s.budget)
}

// multiplied is at least a nanosecond: 0 would be no deadline.
func multiplied(d time.Duration, multiplier float64) time.Duration {
	return time.Duration(math.Ceil(float64(d) * multiplier))
}

// readMultiplier gives what deadlines are multiplied with.
func readMultiplier(f field, override *float64) (float64, error) {
	multiplier := 1.0
	if f.given() {
		var err error
		if multiplier, err = f.multiplier(); err != nil {
			return 0, err
		}
	}
	if override == nil {
		return multiplier, nil
	}
	if err := checkMultiplier(*override); err != nil {
		return 0, origin{name: "--timeout-multiplier"}.errorf(0, "%v", err)
	}
	return *override, nil
}

// multiplier is a factor for deadlines.
func (f field) multiplier() (float64, error) {
	value, err := f.decode()
	if err != nil {
		return 0, err
	}
	number, ok := value.(json.Number)
	if !ok {
		return 0, f.want("a number")
	}
	m, err := number.Float64()
	if err != nil {
		return 0, f.errorf("%v", err)
	}
	if err := checkMultiplier(m); err != nil {
		return 0, f.errorf("%v", err)
	}
	return m, nil
}

func checkMultiplier(m float64) error {
	if !(m > 0 && m <= maxMultiplier) { // NaN too
		return fmt.Errorf("want a number above 0 and at most %d, got %v", maxMultiplier, m)
	}
	return nil
}
