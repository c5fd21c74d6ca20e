package sweep

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
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
func (s *settings) readTimeouts(d *document) error {
	s.point.Timeouts, s.sweep.Timeout = defaultTimeouts(d.keys["command"].given()), defaultSuiteTimeout
	given, err := givenTimeouts(d)
	if err != nil {
		return err
	}
	multiplier, err := readMultiplier(d)
	if err != nil {
		return err
	}
	for _, k := range deadlines {
		limit := &s.sweep.Timeout
		if k.point != nil {
			limit = k.point(&s.point).(*time.Duration)
		}
		if f := given[k.Name]; f.given() {
			if err := k.Value.read(f, limit); err != nil {
				return err
			}
		}
		*limit = multiplied(*limit, multiplier)
	}
	for tool, limit := range s.point.ProfileTimeouts {
		s.point.ProfileTimeouts[tool] = multiplied(limit, multiplier)
	}
	s.calibration = calibrationTimeouts(multiplier)
	if d.keys["command"].given() || s.point.Iterations > 0 {
		return nil // the deadline is that of one process, or there is no budget
	}
	s.room = room{measure: given["measure"], multiplier: multiplier}
	budget := d.keys["budget"]
	s.room.budgetSet = budget.given() && !keyOf("budget").isExpression(budget) || d.option("budget").given()
	if err := s.room.fit(&s.point); err != nil {
		return err
	}
	s.room.budgetSet = s.room.budgetSet || budget.given() // an expression says what it is at each point
	return nil
}

// calibrationTimeouts are the deadlines of points whose work is fixed: those of a sweep that says nothing.
func calibrationTimeouts(multiplier float64) Timeouts {
	p := Point{Timeouts: defaultTimeouts(false)}
	for _, k := range deadlines {
		if k.point != nil {
			limit := k.point(&p).(*time.Duration)
			*limit = multiplied(*limit, multiplier)
		}
	}
	return p.Timeouts
}

// givenTimeouts are the deadlines in the file, by name. timeout alone is that of measure.
func givenTimeouts(d *document) (map[string]field, error) {
	given := map[string]field{}
	if f := d.keys["timeouts"]; f.given() {
		var err error
		if given, err = f.known("timeouts.", deadlineNames()); err != nil {
			return nil, err
		}
	}
	if f := d.keys["timeout"]; f.given() {
		if measure := given["measure"]; measure.given() {
			return nil, f.errorf("is the same as timeouts.measure (line %d): use one of them", measure.line)
		}
		given["measure"] = f
	}
	return given, nil
}

// room is what the deadline of measure leaves a budget.
type room struct {
	measure    field // the deadline; not given: it makes room
	budgetSet  bool  // the budget is set
	multiplier float64
}

// fit keeps the deadline of measure above the budget, which is to end the stage well: a deadline that is not
// given makes room, one that contradicts a budget that was asked for is refused.
func (r room) fit(p *Point) error {
	if !r.measure.given() {
		p.Timeouts.Measure = max(p.Timeouts.Measure, p.Budget+multiplied(measureRoom, r.multiplier))
		return nil
	}
	if !r.budgetSet || p.Timeouts.Measure > p.Budget {
		return nil
	}
	limit := p.Timeouts.Measure.String()
	if r.multiplier != 1 {
		limit += fmt.Sprintf(" (multiplied by %v)", r.multiplier)
	}
	return r.measure.errorf("%s is not longer than the budget of %s: raise it, or lower the budget", limit, p.Budget)
}

// multiplied is at least a nanosecond: 0 would be no deadline.
func multiplied(d time.Duration, multiplier float64) time.Duration {
	return time.Duration(math.Ceil(float64(d) * multiplier))
}

// deadlineNames are the keys of timeouts as an error lists them.
func deadlineNames() (names []string) {
	for _, k := range deadlines {
		names = append(names, k.Name)
	}
	return names
}

// readMultiplier returns what deadlines are multiplied with.
func readMultiplier(d *document) (float64, error) {
	multiplier := 1.0
	if f := d.keys["timeout_multiplier"]; f.given() {
		var err error
		if multiplier, err = f.multiplier(); err != nil {
			return 0, err
		}
	}
	f := d.option("timeout_multiplier")
	if !f.given() {
		return multiplier, nil
	}
	multiplier, err := strconv.ParseFloat(f.Value, 64)
	if err != nil {
		return 0, f.want("a number")
	}
	if err := checkMultiplier(multiplier); err != nil {
		return 0, f.errorf("%v", err)
	}
	return multiplier, nil
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
