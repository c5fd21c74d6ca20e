package foreign

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

// Number is a number as written in a file: all its digits, or a word for a non-finite number. Empty is NULL. It can be decoded from JSON
// numbers, strings of digits and null.
type Number string

// UnmarshalJSON takes a number, a string and null.
func (n *Number) UnmarshalJSON(text []byte) error {
	switch jsontext.Value(text).Kind() {
	case jsontext.KindNull:
		*n = ""
		return nil
	case jsontext.KindNumber:
		*n = Number(text)
		return nil
	case jsontext.KindString:
		s, err := jsontext.Unquote(text)
		if err != nil {
			return err
		}
		word := strings.TrimSpace(s)
		if _, err := strconv.ParseFloat(word, 64); err != nil && word != "" && !isRange(err) {
			return fmt.Errorf("%q is not a number", Brief(word))
		}
		*n = Number(word)
		return nil
	}
	return fmt.Errorf("%s is not a number", Brief(string(text)))
}

// Int64 returns the number if it is a 64-bit integer, otherwise nil.
func (n Number) Int64() *int64 {
	if i, err := strconv.ParseInt(string(n), 10, 64); err == nil {
		return &i
	}
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return nil
	}
	return new(int64(f))
}

// Float64 returns the number, including NaN and infinity, or nil if it is NULL.
func (n Number) Float64() *float64 { return n.In("") }

// In converts the number from a unit to the stored unit (s: ns), or returns nil if it is NULL. Decimal digits stay exact: 0.0012 s is
// 1200000 ns.
func (n Number) In(unit string) *float64 {
	if n == "" {
		return nil
	}
	v, err := ScaleOf(unit).value([]byte(n))
	if err != nil {
		return nil
	}
	return &v
}

// Finite is In, but nil if the number is NaN or infinite.
func (n Number) Finite(unit string) *float64 {
	v := n.In(unit)
	if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
		return nil
	}
	return v
}

func isRange(err error) bool {
	e, ok := err.(*strconv.NumError)
	return ok && e.Err == strconv.ErrRange
}

// Brief shortens a text of a file, which may be long, for an error.
func Brief(text string) string {
	const limit = 60
	return clipped(strings.ToValidUTF8(text, ""), limit)
}

// clipped shortens a text to a number of bytes.
func clipped(text string, limit int) string {
	if len(text) > limit {
		return strings.ToValidUTF8(text[:limit], "") + "…"
	}
	return text
}

// Scale converts numbers of a unit to its stored unit: by moving the decimal point if possible, otherwise by a factor.
type Scale struct {
	point  int
	factor float64
}

// ScaleOf returns the scale of a unit.
func ScaleOf(unit string) Scale {
	_, factor, _ := schema.StoredUnit(unit)
	if point := math.Round(math.Log10(factor)); math.Pow(10, point) == factor {
		return Scale{point: int(point), factor: 1}
	}
	return Scale{factor: factor}
}

// Value is a sample in a stored unit: a real number, and also a tick if it is an integer.
type Value struct {
	integer bool
	tick    int64
	real    float64
}

// Value reads a number in the unit of the scale.
func (s Scale) Value(number []byte) (Value, error) {
	if s == (Scale{factor: 1}) {
		if i, ok := integer(number); ok && (i != 0 || number[0] != '-') { // a real can be -0
			return Value{true, i, float64(i)}, nil
		}
	}
	v, err := s.value(number)
	if v == math.Trunc(v) && math.Abs(v) <= exactIntegers {
		return Value{true, int64(v), v}, err
	}
	return Value{real: v}, err
}

// value parses a number. A number that is too large is infinite, as IEEE 754 rounds it.
func (s Scale) value(digits []byte) (float64, error) {
	var room [64]byte
	text := digits
	if s.point != 0 {
		text = s.shifted(room[:0], digits)
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil && !isRange(err) {
		return 0, fmt.Errorf("%q is not a number", Brief(string(digits)))
	}
	return v * s.factor, nil
}

// shifted appends the digits with the exponent that the unit needs.
func (s Scale) shifted(to, digits []byte) []byte {
	exponent := s.point
	if e := bytes.IndexAny(digits, "eE"); e >= 0 {
		own, err := strconv.Atoi(string(digits[e+1:]))
		if err != nil { // a word, or an exponent beyond all numbers
			return append(to, digits...)
		}
		digits, exponent = digits[:e], exponent+own
	} else if len(digits) == 0 || strings.IndexByte(".0123456789", digits[len(digits)-1]) < 0 {
		return append(to, digits...) // NaN, Infinity
	}
	to = append(append(to, digits...), 'e')
	return strconv.AppendInt(to, int64(exponent), 10)
}

// Series has samples in a stored unit, in order: Ticks of size 1 if all are integers, otherwise Reals.
type Series struct {
	Unit  string // the stored unit
	Given string // the unit of the file
	Ticks []int64
	Reals []float64

	room int // expected number of samples
}

// Len returns the number of samples.
func (s Series) Len() int { return max(len(s.Ticks), len(s.Reals)) }

// exactIntegers is the limit up to which a float64 represents every integer.
const exactIntegers = 1 << 53

// SeriesOf makes a series from texts of numbers in a unit.
func SeriesOf(numbers []Number, unit string) (Series, error) {
	s, scale := newSeries(unit)
	for _, n := range numbers {
		if n == "" {
			return Series{}, errors.New("a sample is null")
		}
		v, err := scale.Value([]byte(n))
		if err != nil {
			return Series{}, err
		}
		s.Append(v)
	}
	return s, nil
}

func newSeries(unit string) (Series, Scale) {
	stored, _, _ := schema.StoredUnit(unit)
	return Series{Unit: stored, Given: unit}, ScaleOf(unit)
}

// ReadSeries reads a JSON array of numbers in a unit. Nested arrays are read one after the other. A null, or anything
// else that is not a number, is an error.
func ReadSeries(text jsontext.Value, unit string) (Series, error) {
	s, scale := newSeries(unit)
	s.room = bytes.Count(text, []byte(",")) + 1
	for i := 0; i < len(text); {
		if strings.IndexByte("[], \t\n\r", text[i]) >= 0 {
			i++
			continue
		}
		end := endOf(text, i)
		number := text[i:end]
		if number[0] == '"' && len(number) > 2 && number[len(number)-1] == '"' {
			number = number[1 : len(number)-1]
		}
		v, err := scale.Value(number)
		if err != nil {
			return Series{}, err
		}
		s.Append(v)
		i = end
	}
	return s, nil
}

// endOf returns the end of the value that begins at i. A string with a quote inside is not a number anyway.
func endOf(text jsontext.Value, i int) int {
	if text[i] == '"' {
		if n := bytes.IndexByte(text[i+1:], '"'); n >= 0 {
			return i + 1 + n + 1
		}
	}
	end := i + 1
	for end < len(text) && text[end] != ',' && text[end] != ']' && text[end] > ' ' {
		end++
	}
	return end
}

// Append adds a sample. The first sample that is not an integer converts the earlier ones to reals.
func (s *Series) Append(v Value) {
	if s.Reals == nil && v.integer {
		s.Ticks = append(s.Ticks, v.tick)
		return
	}
	if s.Reals == nil {
		s.Reals = make([]float64, len(s.Ticks), max(s.room, 2*len(s.Ticks), 8))
		for i, t := range s.Ticks {
			s.Reals[i] = float64(t)
		}
		s.Ticks = nil
	}
	s.Reals = append(s.Reals, v.real)
}

// integer reads an integer of 64 bits.
func integer(number []byte) (n int64, ok bool) {
	const sure = 18 // number of digits that always fit
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

// Metric returns a metric with these samples. The direction is set for metrics that NeuroLens knows; for others, the reader
// has to set it.
func (s Series) Metric(name string, level schema.Level) schema.Metric {
	kind, _ := schema.KindOfMetric(name)
	m := schema.Metric{Name: name, Unit: s.Unit, Level: level, Ticks: s.Ticks, Reals: s.Reals, Better: kind.Better}
	if s.Ticks != nil {
		m.Tick = 1
	}
	return m
}

// Aggregate returns a metric without samples: the file has only aggregates. They are in the stored unit of unit.
func Aggregate(name, unit string, summary schema.Summary) schema.Metric {
	stored, _, _ := schema.StoredUnit(unit)
	kind, _ := schema.KindOfMetric(name)
	return schema.Metric{Name: name, Unit: stored, Summary: summary, Better: kind.Better}
}

// Add adds a metric to a run. If the unit of the file differs from the stored one, it is kept as a fact. An empty metric
// is left out.
func Add(r *schema.Run, m schema.Metric, unit string) {
	if m.Ticks == nil && m.Reals == nil && m.Summary == (schema.Summary{}) {
		return
	}
	if unit != m.Unit && unit != "" {
		SetFact(r, "source.unit."+m.Name, unit)
	}
	r.Metrics = append(r.Metrics, m)
}

// Put sets an entry of a map, which it creates if necessary.
func Put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

// FactVersion is the fact with the version of the measuring tool, if the tool is not the backend.
const FactVersion = "source.version"

// SetFact sets a fact about the environment of a run, unless the text is empty.
func SetFact(r *schema.Run, name, text string) {
	if text != "" {
		Put(&r.Env.Facts, name, text)
	}
}
