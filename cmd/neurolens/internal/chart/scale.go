package chart

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// AxisScale is an axis with the range of values that it shows.
type AxisScale struct {
	Low, High float64 // of categories, half a place beyond the first and the last one
	axis      Axis
	twos      bool // all values are powers of two
}

// Tick is a value with its text.
type Tick struct {
	At   float64
	Text string
}

// NewAxisScale returns the scale of an axis on which all of these values can be seen. Values that have no place on it are left out.
func NewAxisScale(axis Axis, values []float64) AxisScale {
	s := AxisScale{Low: math.Inf(1), High: math.Inf(-1), axis: axis, twos: axis.Unit == ""}
	if axis.Scale == Categories {
		s.Low, s.High = -.5, float64(max(len(axis.Categories), 1))-.5
		return s
	}
	seen := 0
	for _, v := range values {
		if s.has(v) {
			seen++
			fraction, _ := math.Frexp(v)
			s.twos = s.twos && fraction == .5
			s.Low, s.High = min(s.Low, v), max(s.High, v)
		}
	}
	if axis.Low != 0 || axis.High != 0 {
		for _, v := range []float64{axis.Low, axis.High} {
			if s.has(v) {
				s.Low, s.High = min(s.Low, v), max(s.High, v)
			}
		}
	}
	s.twos = s.twos && seen > 0 || axis.Unit == "B"
	if axis.Own && axis.Scale == Linear && seen > 0 {
		const least = .1 // of the largest value: what differs by nearly nothing would look as if it changed
		if more := (least*max(math.Abs(s.Low), math.Abs(s.High)) - (s.High - s.Low)) / 2; more > 0 {
			s.Low, s.High = s.Low-more, s.High+more
		}
	}
	s.widen()
	return s
}

// widen gives a range to a scale that has none, or one that is too small for numbers between its ends.
func (s *AxisScale) widen() {
	size := max(math.Abs(s.Low), math.Abs(s.High))
	around, least := size/20, size*1e-9
	switch {
	case s.Low > s.High && s.axis.Scale == Log:
		s.Low, s.High = 1, 10
		return
	case s.Low > s.High:
		s.Low, s.High = 0, 1
		return
	case s.axis.Scale == Time:
		around, least = 60, 1e-3
	case s.axis.Whole:
		around = .5
	case size < smallest:
		around = 1
	}
	switch {
	case s.High-s.Low > least && s.High-s.Low > smallest:
	case s.axis.Scale == Log:
		s.Low, s.High = s.Low/1.5, s.High*1.5
	default:
		s.Low, s.High = s.Low-around, s.High+around
	}
}

// What has a place on an axis: times in seconds for which there are nanoseconds, numbers with which can be reckoned.
const (
	farthest = 9e9
	largest  = 1e300
	smallest = 1e-290
)

// has tells whether a value has a place on the axis.
func (s AxisScale) has(v float64) bool {
	switch s.axis.Scale {
	case Log:
		return v >= smallest && v <= largest
	case Time:
		return math.Abs(v) < farthest
	}
	return math.Abs(v) <= largest
}

// Place returns where a value lies, from 0 to 1 within the range, and false where it has no place: it is not known, infinite, or 0 or less
// on a log axis.
func (s AxisScale) Place(v float64) (float64, bool) {
	if within := s.Low <= v && v <= s.High; !within && !s.has(v) {
		return Unknown(), false
	}
	low, high := s.Low, s.High
	if s.axis.Scale == Log {
		v, low, high = math.Log(v), math.Log(low), math.Log(high)
	}
	return (v - low) / (high - low), true
}

// Value returns what lies at a place.
func (s AxisScale) Value(place float64) float64 {
	if s.axis.Scale == Log {
		return math.Exp(math.Log(s.Low) + place*(math.Log(s.High)-math.Log(s.Low)))
	}
	return s.Low + place*(s.High-s.Low)
}

// TickText writes a value of an axis for people.
func TickText(axis Axis, v float64) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case axis.Scale == Categories:
		return nameAt(axis.Categories, v)
	case axis.Scale == Time:
		return at(v).Format(time.DateTime)
	case axis.Unit == "" && v == math.Trunc(v) && math.Abs(v) < 1e15:
		return short(v)
	}
	return axis.quantity(v)
}

// Ticks returns at most so many round values within the scale, or all of its categories: which of their names there is room for, only
// who draws them knows.
func (s AxisScale) Ticks(most int) []Tick {
	switch s.axis.Scale {
	case Categories:
		ticks := make([]Tick, len(s.axis.Categories))
		for i, name := range s.axis.Categories {
			ticks[i] = Tick{float64(i), name}
		}
		return ticks
	case Time:
		return s.timeTicks(most)
	case Log:
		if ticks := s.measuredTicks(most); len(ticks) > 0 {
			return ticks
		}
		if ticks := s.logTicks(most); len(ticks) > 1 {
			return ticks
		}
	}
	if ticks := s.measuredTicks(most); len(ticks) > 0 {
		return ticks
	}
	return s.linearTicks(most)
}

// measuredTicks returns the measured values of an axis as ticks. If there are too many for the room, it leaves out values near others.
func (s AxisScale) measuredTicks(most int) (ticks []Tick) {
	last := math.Inf(-1)
	for _, v := range s.axis.Measured {
		place, ok := s.Place(v)
		if ok && place >= 0 && place <= 1 && (len(s.axis.Measured) <= most || place-last >= 1/float64(max(most-1, 1))-1e-9) {
			ticks, last = append(ticks, s.short(v)), place
		}
	}
	return ticks
}

// linearTicks returns multiples of 1, 2 or 5 times a power of ten, in one unit.
func (s AxisScale) linearTicks(most int) []Tick {
	name, factor := s.Unit()
	low, high := s.Low/factor, s.High/factor
	least := 0.
	if s.axis.Whole {
		least = 1
	}
	step, first, last := steps(low, high, least, max(most, 2))
	var ticks []Tick
	for n := first; n <= last; n++ {
		ticks = append(ticks, Tick{s.within(n * step * factor), withUnit(number(n*step, step), name)})
	}
	return ticks
}

// steps are round, at most so many between two values; where that leaves less than two of them, they are smaller. There are none where
// the values are too far apart for numbers, or too near for multiples of a step to be told from each other. A step is least at least.
func steps(low, high, least float64, most int) (step, first, last float64) {
	multiples := func() (first, last float64) { return math.Ceil(low/step - 1e-9), math.Floor(high/step + 1e-9) }
	step = max(roundStep((high/2-low/2)/float64(most)*2), least)
	first, last = multiples()
	const tries = 20
	for n := 0; n < tries && last-first+1 > float64(most); n++ {
		step = roundStep(step * 1.01)
		first, last = multiples()
	}
	for n := 0; n < tries && last-first < 1 && step > least; n++ { // two are more use than none, even where they are more than were asked for
		step = max(roundStep(step*.4), least)
		first, last = multiples()
	}
	const whole = 1 << 52 // up to here, every integer is a number of its own
	if !(math.Abs(first) < whole && math.Abs(last) < whole) || math.IsInf(step*first, 0) || math.IsInf(step*last, 0) {
		return 1, 1, 0
	}
	return step, first, last
}

// within returns a tick that rounding may have put beyond the scale.
func (s AxisScale) within(v float64) float64 { return min(max(v, s.Low), s.High) }

// number returns a multiple of a step with the digits that tell it from the next one; what is too large or small to be read so, in powers
// of ten.
func number(v, step float64) string {
	digits := -int(math.Floor(math.Log10(step) + 1e-9))
	size := math.Abs(v)
	if size < step/2 {
		return "0"
	}
	text := strconv.FormatFloat(size, 'f', max(digits, 0), 64)
	if digits > 6 || size >= 1e7 {
		text = strconv.FormatFloat(size, 'g', max(int(math.Floor(math.Log10(size)))+digits+1, 1), 64)
	}
	if v < 0 {
		return "−" + text
	}
	return text
}

// roundStep returns the smallest of 1, 2 and 5 times a power of ten that is at least so large.
func roundStep(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, factor := range []float64{1, 2, 5} {
		if factor*power >= v*(1-1e-9) {
			return factor * power
		}
	}
	return 10 * power
}

// logTicks returns powers of two where all values are; otherwise powers of ten with as many multiples between them as have room.
func (s AxisScale) logTicks(most int) []Tick {
	if s.twos {
		return s.powers(2, []float64{1}, max(1, math.Ceil((math.Log2(s.High/s.Low)+1)/float64(max(most, 2)))))
	}
	for _, multiples := range [][]float64{{1, 2, 5}, {1, 3}, {1}} {
		if ticks := s.powers(10, multiples, 1); len(ticks) <= most && len(ticks) > 1 {
			return ticks
		}
	}
	if ticks := s.powers(10, []float64{1}, 1); len(ticks) > 2 {
		return s.powers(10, []float64{1}, math.Ceil(float64(len(ticks))/float64(max(most, 2))))
	}
	all := s.powers(10, []float64{1, 2, 5}, 1)
	var some []Tick
	most = max(most, 2)
	for i := 0; i < len(all); i += (len(all) + most - 1) / most {
		some = append(some, all[i])
	}
	return some
}

// powers returns multiples of every step-th power of a base.
func (s AxisScale) powers(base float64, multiples []float64, stride float64) (ticks []Tick) {
	first := math.Ceil(math.Log(s.Low)/math.Log(base) - 1e-9)
	last := math.Floor(math.Log(s.High)/math.Log(base) + 1e-9)
	if len(multiples) > 1 {
		first--
	}
	for n := first; n <= last; n += stride {
		for _, m := range multiples {
			if v := m * math.Pow(base, n); v >= s.Low*(1-1e-9) && v <= s.High*(1+1e-9) {
				ticks = append(ticks, s.short(v))
			}
		}
	}
	return ticks
}

// short returns a tick with no more digits than it needs, in the unit that suits it.
func (s AxisScale) short(v float64) Tick {
	name, factor := s.axis.unitOf(v)
	return Tick{s.within(v), withUnit(short(v/factor), name)}
}

func short(v float64) string {
	if a := math.Abs(v); v != 0 && (a < 1e-4 || a >= 1e7) {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 9, 64), 64)
	if err != nil {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	return strings.Replace(strconv.FormatFloat(rounded, 'f', -1, 64), "-", "−", 1)
}

// Unit returns the unit in which people are shown the values of a scale, and how much of the stored one it is.
func (s AxisScale) Unit() (name string, factor float64) {
	return s.axis.unitOf(max(math.Abs(s.Low), math.Abs(s.High)))
}

// unitOf returns the unit in which people are shown a value, and how much of the stored one it is.
func (a Axis) unitOf(v float64) (name string, factor float64) {
	_, name, _ = strings.Cut(schema.ForPeople(v, a.Unit), " ")
	if _, factor, known := schema.StoredUnit(name); known {
		return name, factor
	}
	if prefix, is := strings.CutSuffix(name, a.Unit); is && prefix != "" { // kitems/s
		_, factor, _ = schema.StoredUnit(prefix + "/s")
		return name, factor
	}
	return name, 1
}

// quantity writes a value of an axis with its unit.
func (a Axis) quantity(v float64) string {
	digits, name, _ := strings.Cut(schema.ForPeople(v, a.Unit), " ")
	return withUnit(digits, name)
}

func withUnit(digits, name string) string {
	if name == "" {
		return digits
	}
	return digits + " " + name
}

// timeSteps are how far ticks of time may lie apart: months where there are any, else a duration.
var timeSteps = []struct {
	months int
	apart  time.Duration
	layout string
}{
	{0, time.Second, "15:04:05"},
	{0, 5 * time.Second, "15:04:05"},
	{0, 15 * time.Second, "15:04:05"},
	{0, time.Minute, "15:04"},
	{0, 5 * time.Minute, "15:04"},
	{0, 15 * time.Minute, "15:04"},
	{0, time.Hour, "15:04"},
	{0, 3 * time.Hour, "01-02 15:04"},
	{0, 6 * time.Hour, "01-02 15:04"},
	{0, 12 * time.Hour, "01-02 15:04"},
	{0, 24 * time.Hour, time.DateOnly},
	{0, 2 * 24 * time.Hour, time.DateOnly},
	{0, 7 * 24 * time.Hour, time.DateOnly},
	{0, 14 * 24 * time.Hour, time.DateOnly},
	{1, 0, time.DateOnly},
	{2, 0, time.DateOnly},
	{3, 0, "2006-01"},
	{6, 0, "2006-01"},
	{12, 0, "2006"},
	{24, 0, "2006"},
	{60, 0, "2006"},
	{120, 0, "2006"},
}

// timeTicks returns round times, in UTC.
func (s AxisScale) timeTicks(most int) []Tick {
	for _, step := range timeSteps {
		if step.months == 0 && (s.High-s.Low)/step.apart.Seconds() > float64(max(most, 1)+1) {
			continue
		}
		var ticks []Tick
		for t := first(at(s.Low), step.months, step.apart); seconds(t) <= s.High && len(ticks) <= most; {
			if seconds(t) >= s.Low {
				ticks = append(ticks, Tick{seconds(t), t.Format(step.layout)})
			}
			if step.months > 0 {
				t = t.AddDate(0, step.months, 0)
			} else {
				t = t.Add(step.apart)
			}
		}
		if len(ticks) <= most && len(ticks) > 1 {
			return ticks
		}
	}
	for _, unit := range []time.Duration{24 * time.Hour, time.Hour, time.Minute, time.Second} { // no round step has two places
		from, to := at(s.Low).Add(unit-1).Truncate(unit), at(s.High).Truncate(unit)
		if layout := map[bool]string{true: time.DateOnly, false: "15:04:05"}[unit > time.Hour]; seconds(to)-seconds(from) >= (s.High-s.Low)/2 {
			return []Tick{{seconds(from), from.Format(layout)}, {seconds(to), to.Format(layout)}}
		}
	}
	return nil
}

// first returns the last round time up to t.
func first(t time.Time, months int, apart time.Duration) time.Time {
	if months == 0 {
		return t.Truncate(apart)
	}
	since := t.Year()*12 + int(t.Month()) - 1
	since -= since % months
	return time.Date(since/12, time.Month(since%12+1), 1, 0, 0, 0, 0, time.UTC)
}

func at(v float64) time.Time { return time.Unix(0, int64(v*1e9)).UTC() }

func seconds(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }
