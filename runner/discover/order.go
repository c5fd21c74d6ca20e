package discover

import (
	"cmp"
	"strings"
)

// comparePaths orders paths as people do: numbers in them by their value.
func comparePaths(a, b string) int {
	whole := strings.Compare(a, b)
	for a != "" && b != "" {
		if x, y := digits(a), digits(b); x > 0 && y > 0 {
			if order := compareNumbers(a[:x], b[:y]); order != 0 {
				return order
			}
			a, b = a[x:], b[y:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), whole)
}

// digits is how many digits a text begins with.
func digits(text string) int {
	return len(text) - len(strings.TrimLeft(text, "0123456789"))
}

// compareNumbers compares numbers of any length.
func compareNumbers(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}
