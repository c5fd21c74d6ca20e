package discover

import (
	"cmp"
	"strings"
)

// comparePaths orders names and paths as people do, with numbers by their value.
func comparePaths(a, b string) int {
	whole := strings.Compare(a, b)
	for {
		same := commonLength(a, b)
		if same == len(a) || same == len(b) {
			return cmp.Or(cmp.Compare(len(a), len(b)), whole)
		}
		start := same
		for start > 0 && isDigit(a[start-1]) {
			start--
		}
		x, y := digits(a[start:]), digits(b[start:])
		if x == 0 || y == 0 {
			return cmp.Compare(a[same], b[same])
		}
		if order := compareNumbers(a[start:start+x], b[start:start+y]); order != 0 {
			return order
		}
		a, b = a[start+x:], b[start+y:]
	}
}

// compareWalked orders paths as a tree is walked: the content of a folder comes before its neighbours.
func compareWalked(a, b string) int {
	same := commonLength(a, b)
	switch {
	case same == len(a) || same == len(b):
		return cmp.Compare(len(a), len(b))
	case a[same] == '/':
		return -1
	case b[same] == '/':
		return 1
	}
	return cmp.Compare(a[same], b[same])
}

// commonLength is how many bytes two texts have in common at their beginning.
func commonLength(a, b string) int {
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	return same
}

// digits is how many digits a text begins with.
func digits(text string) int {
	n := 0
	for n < len(text) && isDigit(text[n]) {
		n++
	}
	return n
}

// compareNumbers compares numbers of any length.
func compareNumbers(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}
