package layout

import (
	"math"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// number is a JSON number in its printed form; empty means null.
type number string

// MarshalJSON prints the number.
func (n number) MarshalJSON() ([]byte, error) {
	if n == "" {
		return []byte("null"), nil
	}
	return []byte(n), nil
}

// in converts a value from a stored unit to another unit of the same kind. If the units differ by a power of ten, only the decimal
// point moves, so the value can be read back exactly. A value that is not finite becomes null.
func in(v *float64, unit string) number {
	if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
		return ""
	}
	_, factor, _ := schema.StoredUnit(unit)
	if point := math.Round(math.Log10(factor)); math.Pow(10, point) == factor {
		return plain(strconv.FormatFloat(*v, 'e', -1, 64), -int(point))
	}
	return real(*v / factor)
}

// real returns the value unchanged.
func real(v float64) number {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return plain(strconv.FormatFloat(v, 'e', -1, 64), 0)
}

// integer formats a count.
func integer(n *int64) number {
	if n == nil {
		return ""
	}
	return number(strconv.FormatInt(*n, 10))
}

// plain moves the decimal point of a number with an exponent and writes it without exponent where that is short enough. A real number
// keeps its decimal point, as in Python.
func plain(digits string, places int) number {
	mantissa, exponent, _ := strings.Cut(digits, "e")
	e, err := strconv.Atoi(exponent)
	if err != nil {
		return number(digits)
	}
	e += places
	sign := ""
	if strings.HasPrefix(mantissa, "-") {
		sign, mantissa = "-", mantissa[1:]
	}
	figures := strings.Replace(mantissa, ".", "", 1)
	if strings.Trim(figures, "0") == "" {
		return "0.0"
	}
	switch {
	case e < -7 || e > 20:
		text := sign + figures[:1]
		if len(figures) > 1 {
			text += "." + figures[1:]
		}
		return number(text + "e" + strconv.Itoa(e))
	case e < 0:
		return number(sign + "0." + strings.Repeat("0", -e-1) + figures)
	case len(figures) <= e+1:
		return number(sign + figures + strings.Repeat("0", e+1-len(figures)) + ".0")
	}
	return number(sign + figures[:e+1] + "." + figures[e+1:])
}

// float returns the value of a number; 0 for null.
func (n number) float() float64 {
	v, err := strconv.ParseFloat(string(n), 64)
	if err != nil {
		return 0
	}
	return v
}
