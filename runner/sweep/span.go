package sweep

import (
	"math/big"
	"strings"

	"go.yaml.in/yaml/v4"

	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// spanText is a text that stands for numbers: 1..8, 0.1..0.5..0.1 with a step, 1..1024*2 with a factor.
var spanText = regexp.MustCompile(`^(-?[0-9]+(?:\.[0-9]+)?)\.\.(-?[0-9]+(?:\.[0-9]+)?)(?:(\.\.|\*)([0-9]+(?:\.[0-9]+)?))?$`)

// spanLike is a text that is most likely meant as a span.
var spanLike = regexp.MustCompile(`^-?[0-9][0-9.eE+-]*\.\.`)

// maxSpan bounds the numbers that one text stands for.
const maxSpan = 10_000

// span returns the numbers that a value stands for: from the first, by the step (1) or the factor, up to the last. Any other
// value, and one that is quoted, stands for itself.
func (f field) span() ([]field, error) {
	if f.Kind != yaml.ScalarNode || f.Style&quotedStyle != 0 {
		return []field{f}, nil
	}
	m := spanText.FindStringSubmatch(f.Value)
	switch {
	case m == nil && spanLike.MatchString(f.Value):
		return nil, f.errorf("%s: want a span of numbers (1..8, 1..8..2, 1..1024*2), or quotes around a text", shorten(f.Value))
	case m == nil:
		return []field{f}, nil
	}
	at, last, by := rational(m[1]), rational(m[2]), big.NewRat(1, 1)
	if m[4] != "" {
		by = rational(m[4])
	}
	factor := m[3] == "*"
	switch {
	case at.Cmp(last) > 0:
		return nil, f.errorf("%s: want the lower end first", shorten(f.Value))
	case !factor && by.Sign() == 0:
		return nil, f.errorf("%s: want a step above 0", shorten(f.Value))
	case factor && (by.Cmp(big.NewRat(1, 1)) <= 0 || at.Sign() <= 0):
		return nil, f.errorf("%s: want a factor above 1, and a first number above 0", shorten(f.Value))
	}
	var all []field
	for at.Cmp(last) <= 0 {
		if len(all) == maxSpan {
			return nil, f.errorf("%s: more than %d values", shorten(f.Value), maxSpan)
		}
		all = append(all, f.numbered(at))
		if factor {
			at.Mul(at, by)
		} else {
			at.Add(at, by)
		}
	}
	return all, nil
}

// rational is the number of a text that spanText has checked.
func rational(text string) *big.Rat {
	number, _ := new(big.Rat).SetString(text)
	return number
}

// numbered is a field with a number in place of its value. It has as many digits as the number needs: ends and steps are
// decimal, and so is what they make.
func (f field) numbered(number *big.Rat) field {
	digits, _ := number.FloatPrec()
	node := *f.Node
	node.Tag, node.Value = "!!int", number.FloatString(digits)
	if strings.Contains(node.Value, ".") {
		node.Tag = "!!float"
	}
	f.Node = &node
	return f
}
