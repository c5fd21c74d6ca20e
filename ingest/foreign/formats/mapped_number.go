package formats

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ncruces/go-strftime"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// numerals says how the numbers of a table are written.
type numerals struct {
	decimal   string            // the decimal mark
	thousands string            // between thousands; empty: nothing
	units     map[string]string // units by the words for them after numbers
}

func (n numerals) check() error {
	switch {
	case n.decimal != "." && n.decimal != ",":
		return fmt.Errorf(`decimal: %q: want "." or ","`, n.decimal)
	case n.thousands != "" && !strings.Contains(".,' _\u00a0\u202f\u2019", n.thousands):
		return fmt.Errorf(`thousands: %q: want one of . , ' _ or a space`, n.thousands)
	case n.thousands == n.decimal:
		return fmt.Errorf("thousands: %q is the decimal mark", n.thousands)
	}
	for word, unit := range n.units {
		if _, _, known := schema.StoredUnit(unit); !known {
			return fmt.Errorf("units: %s: unknown unit %q", word, unit)
		}
	}
	return nil
}

// numberWithUnit is a number, and the text after it.
var numberWithUnit = regexp.MustCompile(`^([-+]?[0-9.,][0-9.,'_\x{a0}\x{202f}\x{2019} ]*(?:[eE][-+]?[0-9]+)?)(?:[ \x{a0}\x{202f}]*([^-+0-9.,'_ \x{a0}\x{202f}\x{2019}].*))?$`)

// read reads a number with the text after it. The number has a decimal point and nothing between thousands.
func (n numerals) read(text string) (number, unit string, err error) {
	if _, err := strconv.ParseFloat(text, 64); err == nil && n.decimal == "." {
		return text, "", nil
	}
	m := numberWithUnit.FindStringSubmatch(text)
	if m == nil {
		if _, err := strconv.ParseFloat(text, 64); err == nil { // NaN, Inf
			return text, "", nil
		}
		return "", "", fmt.Errorf("%q is not a number", foreign.Brief(text))
	}
	digits := strings.TrimRight(m[1], " \u00a0\u202f")
	if n.thousands != "" {
		if digits, err = n.withoutThousands(digits); err != nil {
			return "", "", fmt.Errorf("%q: %w", foreign.Brief(text), err)
		}
	}
	if n.decimal == "," {
		if strings.Contains(digits, ".") {
			return "", "", fmt.Errorf(`%q is not a number whose decimal mark is a comma`, foreign.Brief(text))
		}
		digits = strings.Replace(digits, ",", ".", 1)
	}
	if _, err := strconv.ParseFloat(digits, 64); err != nil {
		why := ""
		if strings.ContainsAny(digits, ",'_ \u00a0\u202f\u2019") {
			why = "; decimal and thousands of the mapping say how numbers are written"
		}
		return "", "", fmt.Errorf("%q is not a number%s", foreign.Brief(text), why)
	}
	return digits, strings.TrimSpace(m[2]), nil
}

// withoutThousands removes the separators of thousands.
func (n numerals) withoutThousands(digits string) (string, error) {
	whole, rest, marked := strings.Cut(digits, n.decimal)
	groups := strings.Split(strings.TrimLeft(whole, "+-"), n.thousands)
	for i, g := range groups {
		if i > 0 && len(g) != 3 || i == 0 && len(groups) > 1 && (len(g) == 0 || len(g) > 3) {
			return "", fmt.Errorf("%q does not separate thousands", n.thousands)
		}
	}
	if strings.Contains(rest, n.thousands) {
		return "", fmt.Errorf("%q stands after the decimal mark", n.thousands)
	}
	whole = strings.ReplaceAll(whole, n.thousands, "")
	if marked {
		whole += n.decimal + rest
	}
	return whole, nil
}

// rateOfWords matches the unit of a rate that names the counted things: tokens/s, ops/ms, jobs per min.
var rateOfWords = regexp.MustCompile(`^[A-Za-z]+(?: ?/ ?| per )(ns|us|ms|s|sec|second|min|minute|h|hour)$`)

// periods gives, for the period of a rate, the unit in which the rate is kept, and the number by which to divide the rate for that unit.
var periods = map[string]struct {
	unit    string
	divisor float64
}{
	"ns": {"G/s", 1}, "us": {"M/s", 1}, "ms": {"k/s", 1}, "s": {"1/s", 1}, "sec": {"1/s", 1}, "second": {"1/s", 1},
	"min": {"1/s", 60}, "minute": {"1/s", 60}, "h": {"1/s", 3600}, "hour": {"1/s", 3600},
}

// stored is the unit in which the values of a column are kept, and the number by which they are divided for that: words in the
// unit of a rate say what is counted.
func (m mappedMetric) stored() (unit string, divisor float64) {
	kind, _ := schema.KindOfMetric(m.Metric)
	if m.Unit == "" {
		return kind.Unit, 1
	}
	if rate := rateOfWords.FindStringSubmatch(m.Unit); rate != nil && kind.Unit == "1/s" {
		if _, _, known := schema.StoredUnit(m.Unit); !known {
			p := periods[rate[1]]
			return p.unit, p.divisor
		}
	}
	return m.Unit, 1
}

// number reads a cell as a number in the stored unit of its column. A unit in the cell is converted.
func (m mappedMetric) number(n numerals, cell string) (string, error) {
	digits, own, err := n.read(cell)
	if err != nil {
		return "", err
	}
	unit, divisor := m.stored()
	if word, ok := n.units[own]; ok {
		own = word
	}
	if own != "" && own != unit && own != m.Unit {
		shifted, err := converted(digits, own, unit)
		if err != nil {
			return "", fmt.Errorf("%q: %w", foreign.Brief(cell), err)
		}
		digits = shifted
	}
	if divisor != 1 {
		v, err := strconv.ParseFloat(digits, 64)
		if err != nil {
			return "", err
		}
		digits = strconv.FormatFloat(v/divisor, 'g', -1, 64)
	}
	return digits, nil
}

// converted converts a number between units of one kind: exactly, if only its decimal point moves.
func converted(digits, from, to string) (string, error) {
	stored, factor, known := schema.StoredUnit(from)
	into, toFactor, toKnown := schema.StoredUnit(to)
	switch {
	case !known:
		return "", fmt.Errorf("unknown unit %s: translate it under units", foreign.Brief(from))
	case to == "":
		return "", fmt.Errorf("the column has no unit: add unit: %s", from)
	case !toKnown || stored != into:
		return "", fmt.Errorf("the column is in %s, not in %s", to, foreign.Brief(from))
	}
	ratio := factor / toFactor
	if point := math.Round(math.Log10(ratio)); math.Pow(10, point) == ratio && !strings.ContainsAny(digits, "eEnN") {
		return digits + "e" + strconv.Itoa(int(point)), nil
	}
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return "", err
	}
	return strconv.FormatFloat(v*ratio, 'g', -1, 64), nil
}

// errLayout says what time may be.
var errLayout = errors.New(`want unix_s, unix_ms, unix_us or unix_ns, or how a time is written: "2006/01/02 15:04:05" as in Go, or "%Y/%m/%d %H:%M:%S" as in strftime; leave it out for ISO 8601`)

// fraction is the part of a layout for fractions of a second. Without it, any number of digits is read.
var fraction = regexp.MustCompile(`([05])[.,][09]+`)

// layoutOf converts the format of a time, as Go or strftime writes it, to a layout of Go.
func layoutOf(text string) (string, error) {
	layout := text
	if strings.Contains(text, "%") {
		var err error
		if layout, err = strftime.Layout(text); err != nil {
			return "", fmt.Errorf("%w: %w", err, errLayout)
		}
	}
	layout = fraction.ReplaceAllString(layout, "$1")
	day := time.Date(2033, 11, 28, 0, 0, 0, 0, time.UTC)
	if read, err := time.Parse(layout, day.Format(layout)); err != nil || !read.Equal(day) {
		return "", errLayout
	}
	return layout, nil
}
