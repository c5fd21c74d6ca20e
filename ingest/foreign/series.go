package foreign

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

// Series is samples in a stored unit, in order: Ticks of 1 where all are integers, else Reals.
type Series struct {
	Unit  string // stored
	Given string // the unit of the file
	Ticks []int64
	Reals []float64

	room int // about how many there will be
}

// Len is the number of samples.
func (s Series) Len() int { return max(len(s.Ticks), len(s.Reals)) }

// exactIntegers is up to where a float64 holds every integer.
const exactIntegers = 1 << 53

// SeriesOf makes a series of the texts of numbers in a unit.
func SeriesOf(numbers []Number, unit string) (Series, error) {
	stored, _, _ := schema.StoredUnit(unit)
	s, sc := Series{Unit: stored, Given: unit}, scaleOf(unit)
	for _, n := range numbers {
		if n == "" {
			return Series{}, fmt.Errorf("a sample is null")
		}
		if err := s.add([]byte(n), sc); err != nil {
			return Series{}, err
		}
	}
	return s, nil
}

// ReadSeries reads a JSON array of numbers in a unit. Arrays in it are taken one after the other. A null, or anything
// else that is no number, is an error.
func ReadSeries(text jsontext.Value, unit string) (Series, error) {
	stored, _, _ := schema.StoredUnit(unit)
	s, sc := Series{Unit: stored, Given: unit, room: bytes.Count(text, []byte(",")) + 1}, scaleOf(unit)
	for i := 0; i < len(text); {
		switch c := text[i]; c {
		case '[', ']', ',', ' ', '\t', '\n', '\r':
			i++
		default:
			end := i + 1
			for end < len(text) && text[end] != ',' && text[end] != ']' && text[end] > ' ' {
				end++
			}
			number := text[i:end]
			if c == '"' && len(number) > 2 && number[len(number)-1] == '"' {
				number = number[1 : len(number)-1]
			}
			if err := s.add(number, sc); err != nil {
				return Series{}, err
			}
			i = end
		}
	}
	return s, nil
}

// add reads a sample. The first that is no integer makes reals of those before.
func (s *Series) add(number []byte, sc scale) error {
	if s.Reals == nil && sc == (scale{factor: 1}) {
		if i, ok := integer(number); ok {
			s.Ticks = append(s.Ticks, i)
			return nil
		}
	}
	v, err := sc.value(number)
	if err != nil {
		return err
	}
	if s.Reals == nil && v == math.Trunc(v) && math.Abs(v) <= exactIntegers {
		s.Ticks = append(s.Ticks, int64(v))
		return nil
	}
	if s.Reals == nil {
		s.Reals = make([]float64, len(s.Ticks), max(s.room, 2*len(s.Ticks), 8))
		for i, t := range s.Ticks {
			s.Reals[i] = float64(t)
		}
		s.Ticks = nil
	}
	s.Reals = append(s.Reals, v)
	return nil
}

// integer reads an integer of 64 bits.
func integer(number []byte) (n int64, ok bool) {
	const sure = 18 // digits that always fit
	if len(number) > sure+1 {
		n, err := strconv.ParseInt(string(number), 10, 64)
		return n, err == nil && number[0] != '+'
	}
	digits := number
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) == 0 {
		return 0, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	if len(digits) < len(number) {
		n = -n
	}
	return n, true
}

// Metric is a metric with these samples. Which way is better is known of the metrics that NeuroLens knows; a reader of
// others says so itself.
func (s Series) Metric(name string, level schema.Level) schema.Metric {
	m := schema.Metric{Name: name, Unit: s.Unit, Level: level, Ticks: s.Ticks, Reals: s.Reals}
	if s.Ticks != nil {
		m.Tick = 1
	}
	if kind, ok := schema.KindOfMetric(name); ok {
		m.Better = kind.Better
	}
	return m
}

// Aggregate is a metric of which the file has no samples, only what they were summarised to, in the stored unit of unit.
func Aggregate(name, unit string, summary schema.Summary) schema.Metric {
	stored, _, _ := schema.StoredUnit(unit)
	m := schema.Metric{Name: name, Unit: stored, Summary: summary}
	if kind, ok := schema.KindOfMetric(name); ok {
		m.Better = kind.Better
	}
	return m
}

// Add gives a run a metric, and keeps as a fact the unit that the file has it in, where that is another one. A metric
// without anything is left out.
func Add(r *schema.Run, m schema.Metric, unit string) {
	if m.Ticks == nil && m.Reals == nil && m.Summary == (schema.Summary{}) {
		return
	}
	if unit != m.Unit && unit != "" {
		SetFact(r, "source.unit."+m.Name, unit)
	}
	r.Metrics = append(r.Metrics, m)
}

// FactVersion is the fact of which version the tool is that measured, where it is not the backend.
const FactVersion = "source.version"

// SetFact gives a run a fact of its environment, unless the text is empty.
func SetFact(r *schema.Run, name, text string) {
	if text == "" {
		return
	}
	if r.Env.Facts == nil {
		r.Env.Facts = map[string]string{}
	}
	r.Env.Facts[name] = text
}
