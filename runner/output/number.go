package output

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// The most bytes of the text of a number, and of what an error shows of one.
const (
	maxNumber = 800
	maxShown  = 40
)

// maxExponent bounds an exponent: beyond it a number is 0 or has no float64, whatever its digits within maxNumber are.
const maxExponent = 2000

// decimal is a number and the unit behind it.
var decimal = regexp.MustCompile(`^([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(?:[eE]([-+]?[0-9]+))?(?:[ \t]*([^-+.,0-9 \t].*|1/.+))?$`)

// number reads a text that a rule has found, in the stored unit of its metric.
func (r *ExtractRule) number(text string) (float64, error) {
	text = strings.TrimSpace(text)
	if len(text) > maxNumber {
		return 0, fmt.Errorf("%s has %d characters: want a number", shown(text), len(text))
	}
	m := decimal.FindStringSubmatch(text)
	switch {
	case m != nil:
	case strings.ContainsRune(text, ','):
		return 0, fmt.Errorf("%s: a comma may be a decimal point or separate thousands: match digits only", shown(text))
	default:
		return 0, fmt.Errorf("%s: want a number", shown(text))
	}
	factor, err := r.factor(m[3])
	if err != nil {
		return 0, fmt.Errorf("%s: %w", shown(text), err)
	}
	exponent, err := strconv.Atoi("0" + strings.TrimLeft(m[2], "+-"))
	if err != nil || exponent > maxExponent {
		return 0, fmt.Errorf("%s: the exponent is beyond %d", shown(text), maxExponent)
	}
	if strings.HasPrefix(m[2], "-") {
		exponent = -exponent
	}
	value, err := product(m[1], exponent, factor)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", shown(text), err)
	}
	return value, nil
}

// factor is how many of the stored unit one of the number's is. given is the unit behind the number, or empty.
func (r *ExtractRule) factor(given string) (float64, error) {
	unit := r.unit()
	stored, factor, _ := schema.StoredUnit(unit)
	if given == "" {
		return factor, nil
	}
	own, factor, known := schema.StoredUnit(strings.TrimSpace(given))
	switch {
	case unit == "":
		return 0, fmt.Errorf("want a number without a unit, or set the unit of the metric: unit: %q", given)
	case !known && given != unit:
		return 0, fmt.Errorf("unit %q is not known", given)
	case own != stored:
		return 0, fmt.Errorf("%s is not a unit for a metric in %s", given, unit)
	}
	return factor, nil
}

// product is digits times ten to an exponent times a factor, rounded once. The factor counts as the decimal number that
// it prints as: 0.01 is one hundredth.
func product(digits string, exponent int, factor float64) (float64, error) {
	x, ok := new(big.Rat).SetString(fmt.Sprintf("%se%d", digits, exponent))
	y, ok2 := new(big.Rat).SetString(strconv.FormatFloat(factor, 'g', -1, 64))
	if !ok || !ok2 {
		return 0, fmt.Errorf("want a number")
	}
	value, _ := x.Mul(x, y).Float64()
	switch {
	case math.IsInf(value, 0):
		return 0, fmt.Errorf("too large for a float64")
	case value == 0 && x.Sign() != 0:
		return 0, fmt.Errorf("too small for a float64")
	}
	return value, nil
}

// shown is a text as an error shows it.
func shown(text string) string {
	if len(text) > maxShown {
		return strconv.Quote(text[:maxShown]) + "…"
	}
	return strconv.Quote(text)
}
