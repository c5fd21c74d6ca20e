package draw

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/figure"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/schema"
)

// axis places values.
type axis struct {
	figure.Axis
	low, high float64
	ticks     []tick
	title     string
	places    []float64 // the values that marks have, where they are few
	ordinal   []float64 // of an axis of places: the value of each
	signed    bool      // of differences
	blank     bool      // there are no values
}

type tick struct {
	at   float64
	text string
}

// span gathers which values are to be seen.
type span struct {
	low, high float64
	positive  bool
	distinct  []float64 // until they are too many
	many      bool
}

func newSpan() *span { return &span{low: math.Inf(1), high: math.Inf(-1), positive: true} }

const fewPlaces = 12

func (s *span) add(values ...float64) {
	for _, v := range values {
		if !finite(v) {
			continue
		}
		s.low, s.high = min(s.low, v), max(s.high, v)
		s.positive = s.positive && v > 0
		if !s.many && !slices.Contains(s.distinct, v) {
			s.distinct = append(s.distinct, v)
			s.many = len(s.distinct) > fewPlaces
		}
	}
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// newAxis is the axis that shows all values of a span. What is not positive has no place on a logarithmic axis: with it, the axis is
// linear.
func newAxis(spec figure.Axis, s *span) *axis {
	a := &axis{Axis: spec}
	if spec.Scale == figure.Categories {
		a.low, a.high = -.5, max(float64(len(spec.Categories)), s.high+1, 1)-.5
		return a
	}
	if spec.Low != 0 || spec.High != 0 {
		s.add(spec.Low, spec.High)
	}
	if s.low > s.high {
		a.blank = true
		s.add(0, 1)
	}
	if !s.positive && a.Scale == figure.Log {
		a.Scale = figure.Linear
	}
	if !s.many {
		a.places = slices.Sorted(slices.Values(s.distinct))
	}
	a.low, a.high = s.low, s.high
	fixed := func(end, v float64) bool { return (spec.Low != 0 || spec.High != 0) && end == v }
	lowFixed, highFixed := fixed(spec.Low, s.low), fixed(spec.High, s.high)
	if a.low == a.high {
		a.widen()
		return a
	}
	const room = .04
	if a.Scale == figure.Log {
		more := math.Pow(a.high/a.low, room)
		if finite(more) {
			a.low, a.high = a.low/more, min(a.high*more, math.MaxFloat64)
		}
		a.low = max(a.low, math.SmallestNonzeroFloat64)
	} else {
		more := (a.high/2 - a.low/2) * 2 * room
		if finite(more) {
			a.low, a.high = max(a.low-more, -math.MaxFloat64), min(a.high+more, math.MaxFloat64)
		}
	}
	if lowFixed {
		a.low = s.low
	}
	if highFixed {
		a.high = s.high
	}
	return a
}

// widen makes an axis of a single value one with a place around it.
func (a *axis) widen() {
	v := a.low
	if a.Scale == figure.Log {
		a.low, a.high = max(v/2, math.SmallestNonzeroFloat64), min(v*2, math.MaxFloat64)
		return
	}
	around := math.Abs(v) / 20
	if a.Scale == figure.Time {
		around = 3600
	}
	if around == 0 {
		around = 1
	}
	a.low, a.high = max(v-around, -math.MaxFloat64), min(v+around, math.MaxFloat64)
}

// share is where a value lies between the ends, from 0 to 1. What lies beyond an end counts as that end.
func (a *axis) share(v float64) float64 {
	var s float64
	if a.Scale == figure.Log {
		if v <= 0 {
			return 0
		}
		low := math.Log(a.low)
		s = (math.Log(v) - low) / (math.Log(a.high) - low)
	} else {
		v = a.place(v)
		s = (v/2 - a.low/2) / (a.high/2 - a.low/2)
	}
	return min(max(s, 0), 1)
}

// placeable tells whether a value has a place on the axis.
func (a *axis) placeable(v float64) bool {
	if !finite(v) {
		return false
	}
	if a.Scale == figure.Categories {
		v = a.place(v)
		return v >= a.low && v <= a.high
	}
	return a.Scale != figure.Log || v > 0
}

// inside tells whether a value lies between the ends.
func (a *axis) inside(v float64) bool {
	return a.placeable(v) && (a.Scale == figure.Categories || v >= a.low && v <= a.high)
}

// divide makes the ticks of an axis, about as many as asked for, and its title.
func (a *axis) divide(most int) {
	most = max(most, 2)
	a.title = whole(a.Label)
	if a.blank {
		return
	}
	switch a.Scale {
	case figure.Categories:
		for i := range int(a.high + .5) {
			text := strconv.Itoa(i)
			if i < len(a.Categories) {
				text = a.Categories[i]
			}
			at := float64(i)
			if a.ordinal != nil {
				at = a.ordinal[i]
			}
			a.ticks = append(a.ticks, tick{at, text})
		}
	case figure.Time:
		a.divideTime(most)
	case figure.Log:
		a.divideLog(most)
	default:
		a.divideLinear(most)
	}
	switch a.Better {
	case figure.Lower:
		a.title = strings.TrimSpace(a.title + " (lower is better)")
	case figure.Higher:
		a.title = strings.TrimSpace(a.title + " (higher is better)")
	}
}

// unitOf is the unit in which a value is shown, and how many stored ones it is.
func unitOf(v float64, stored string) (name string, factor float64) {
	if stored == "ratio" {
		return "%", .01
	}
	_, name, found := strings.Cut(schema.ForPeople(v, stored), " ")
	if !found {
		return stored, 1
	}
	if back, factor, known := schema.StoredUnit(name); known && back == stored {
		return name, factor
	}
	return stored, 1
}

func (a *axis) divideLinear(most int) {
	unit, factor := unitOf(max(math.Abs(a.low), math.Abs(a.high)), a.Unit)
	low, high := a.low/factor, a.high/factor
	if len(a.places) > 1 && len(a.places) <= min(most, 8) && a.Unit == "" && wholes(a.places) && even(a.places) {
		for _, v := range a.places {
			a.ticks = append(a.ticks, tick{v, short(v)})
		}
		return
	}
	step := niceStep((high/2-low/2)*2, most)
	decimals := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	for i := math.Ceil(low/step - 1e-9); i*step <= high+step*1e-9 && len(a.ticks) < 100; i++ {
		v := i * step
		text := strconv.FormatFloat(v, 'f', min(decimals, 12), 64)
		if unit == "" || unit == a.Unit || math.Abs(v) >= 1e5 || decimals > 6 {
			text = shortOf(v, decimals)
		}
		if strings.Trim(text, "-0.") == "" {
			text = "0"
		}
		a.ticks = append(a.ticks, tick{v * factor, a.sign(v) + strings.TrimPrefix(text, "-")})
	}
	a.name(unit)
}

// sign is what stands before a number: a plus too, where the axis is of differences.
func (a *axis) sign(v float64) string {
	switch {
	case v < 0:
		return "−"
	case v > 0 && a.signed:
		return "+"
	}
	return ""
}

// name says the unit behind what is measured.
func (a *axis) name(unit string) {
	if unit == "" {
		return
	}
	if a.title == "" {
		a.title = unit
		return
	}
	a.title += ", " + whole(unit)
}

func wholes(values []float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return v != math.Trunc(v) || math.Abs(v) > 1e6 })
}

// even tells whether no two neighbours are much nearer than others, so that a text at each has room.
func even(values []float64) bool {
	least, most := math.Inf(1), 0.0
	for i := 1; i < len(values); i++ {
		least, most = min(least, values[i]-values[i-1]), max(most, values[i]-values[i-1])
	}
	return most <= 3*least
}

// niceStep is 1, 2 or 5 times a power of ten.
func niceStep(length float64, most int) float64 {
	if length <= 0 || !finite(length) {
		return 1
	}
	raw := length / float64(most)
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, f := range []float64{1, 2, 5} {
		if raw <= f*power*(1+1e-9) {
			return f * power
		}
	}
	return 10 * power
}

// short prints a number with few digits.
func short(v float64) string { return shortOf(v, -1) }

func shortOf(v float64, decimals int) string {
	a := math.Abs(v)
	if a >= 1e5 && a < 1e15 {
		for _, s := range []struct {
			factor float64
			suffix string
		}{{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}} {
			if a >= s.factor {
				return trimmed(strconv.FormatFloat(v/s.factor, 'g', 6, 64)) + s.suffix
			}
		}
	}
	if a != 0 && (a >= 1e15 || a < 1e-4) {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	if decimals >= 0 && v == math.Trunc(v) && decimals == 0 && a >= 1e4 {
		return strings.Replace(term.Thousands(int(a)), "-", "−", 1)
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// trimmed is a number without zeros at its end.
func trimmed(s string) string {
	if !strings.Contains(s, ".") || strings.Contains(s, "e") {
		return s
	}
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

// quantity prints a value in the unit that suits it, without zeros at its end: 10 µs.
func quantity(v float64, unit string) string {
	if unit == "" {
		return short(v)
	}
	digits, name, _ := strings.Cut(schema.ForPeople(v, unit), " ")
	return strings.TrimSpace(trimmed(digits) + " " + name)
}

func (a *axis) divideLog(most int) {
	if n := len(a.places); n > 1 && n <= min(most, fewPlaces) && a.Unit == "" && wholes(a.places) {
		for _, v := range a.places {
			a.ticks = append(a.ticks, tick{v, short(v)})
		}
		return
	}
	base, steps := 10.0, []float64{1, 2, 5}
	if _, factor := unitOf(a.high, a.Unit); math.Log2(factor) == math.Trunc(math.Log2(factor)) && strings.HasPrefix(a.Unit, "B") {
		base, steps = 16, []float64{1, 2, 4, 8}
	}
	decades := math.Log(a.high/a.low) / math.Log(base)
	if decades < .7 {
		a.divideLinear(most)
		return
	}
	var finer [][]float64
	if base == 16 {
		finer = [][]float64{steps, {1, 4}, {1}}
	} else {
		finer = [][]float64{steps, {1, 3}, {1}}
	}
	for _, set := range finer {
		if a.ticks = a.powers(base, 1, set); len(a.ticks) <= most && len(a.ticks) > 1 {
			return
		}
	}
	for every := 2; len(a.ticks) > most && every < 400; every++ {
		a.ticks = a.powers(base, every, []float64{1})
	}
	if len(a.ticks) < 2 {
		a.ticks = a.powers(base, 1, steps)
	}
}

// powers are the ticks at some multiples of every so many powers of a base.
func (a *axis) powers(base float64, every int, multiples []float64) []tick {
	var ticks []tick
	first := math.Floor(math.Log(a.low)/math.Log(base)) - 1
	first -= math.Mod(first, float64(every))
	for e := first; ; e += float64(every) {
		for _, m := range multiples {
			v := m * math.Pow(base, e)
			if e >= 0 {
				v = m * math.Round(math.Pow(base, e))
			}
			if v > a.high {
				return ticks
			}
			if v >= a.low {
				ticks = append(ticks, tick{v, quantity(v, a.Unit)})
			}
		}
	}
}

// timeSteps are the distances that ticks in time may have: so many months, or so many seconds.
var timeSteps = []struct {
	months int
	every  time.Duration
	format string
}{
	{0, time.Second, "15:04:05"},
	{0, 5 * time.Second, "15:04:05"},
	{0, 15 * time.Second, "15:04:05"},
	{0, time.Minute, "15:04"},
	{0, 5 * time.Minute, "15:04"},
	{0, 15 * time.Minute, "15:04"},
	{0, time.Hour, "15:04"},
	{0, 3 * time.Hour, "15:04"},
	{0, 6 * time.Hour, "2 Jan 15:04"},
	{0, 12 * time.Hour, "2 Jan 15:04"},
	{0, 24 * time.Hour, "2 Jan"},
	{0, 2 * 24 * time.Hour, "2 Jan"},
	{0, 7 * 24 * time.Hour, "2 Jan"},
	{0, 14 * 24 * time.Hour, "2 Jan"},
	{1, 0, "Jan 2006"},
	{3, 0, "Jan 2006"},
	{6, 0, "Jan 2006"},
	{12, 0, "2006"},
	{60, 0, "2006"},
	{1200, 0, "2006"},
}

const averageMonth = 30.44 * 24 * 3600

func (a *axis) divideTime(most int) {
	from, until := instant(a.low), instant(a.high)
	for _, step := range timeSteps {
		seconds := step.every.Seconds() + float64(step.months)*averageMonth
		if (a.high-a.low)/seconds > float64(most) {
			continue
		}
		at := from.Truncate(max(step.every, 1))
		if step.months > 0 {
			months := from.Year()*12 + int(from.Month()) - 1
			months -= months % step.months
			at = time.Date(months/12, time.Month(months%12+1), 1, 0, 0, 0, 0, time.UTC)
		}
		for !at.After(until) {
			if !at.Before(from) {
				a.ticks = append(a.ticks, tick{float64(at.Unix()), at.Format(step.format)})
			}
			if at = at.Add(step.every); step.months > 0 {
				at = at.AddDate(0, step.months, 0)
			}
		}
		break
	}
	day := from.Format("2 Jan 2006")
	switch {
	case day == until.Format("2 Jan 2006"):
		a.name(day + " UTC")
	case from.Year() == until.Year():
		a.name(strconv.Itoa(from.Year()) + " UTC")
	default:
		a.name("UTC")
	}
}

// instant is a time that a calendar has.
func instant(seconds float64) time.Time {
	const year9999 = 253402300799
	return time.Unix(int64(min(max(seconds, 0), year9999)), 0).UTC()
}

// newOrdinal is an axis that gives each of the values that there are a place of the same width, in order: that of a heat map.
func newOrdinal(spec figure.Axis, values []float64) *axis {
	values = slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return !finite(v) })
	slices.Sort(values)
	values = slices.Compact(values)
	a := &axis{Axis: spec, ordinal: values}
	a.Scale = figure.Categories
	a.Categories = nil
	for _, v := range values {
		text := quantity(v, spec.Unit)
		if spec.Scale == figure.Time {
			text = instant(v).Format("2 Jan 2006 15:04")
		}
		a.Categories = append(a.Categories, text)
	}
	a.low, a.high = -.5, max(float64(len(values)), 1)-.5
	return a
}

// place is where a value lies in order, on an axis of places.
func (a *axis) place(v float64) float64 {
	if a.ordinal == nil {
		return v
	}
	i, found := slices.BinarySearch(a.ordinal, v)
	if !found {
		return math.NaN()
	}
	return float64(i)
}
