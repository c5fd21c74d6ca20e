package expression

import (
	"cmp"
	"slices"
	"strings"
)

// compareVersions orders two texts as versions are: numbers in them count as numbers, so that 2.9 is before 2.10, and what is
// left out counts as 0, so that 2 and 2.0 are equal. A release comes after its previews (2.0rc1) and before what follows it
// (2.0.post1); what was built of it is the release (2.0+cu128). Texts without numbers are in alphabetical order, whatever their case.
func compareVersions(a, b string) int {
	a, b = strings.ToLower(a), strings.ToLower(b)
	a, builtA, _ := strings.Cut(a, "+")
	b, builtB, _ := strings.Cut(b, "+")
	first := true
	for a != "" || b != "" {
		x, restA := nextPart(a)
		y, restB := nextPart(b)
		if order := compareParts(x, y, first); order != 0 {
			return order
		}
		a, b, first = restA, restB, false
	}
	if builtA == "" || builtB == "" {
		return 0
	}
	return strings.Compare(builtA, builtB)
}

// between are the characters between the parts of a version.
const between = "._- "

// nextPart takes the next number, or the next letters, from a version.
func nextPart(text string) (part, rest string) {
	text = strings.TrimLeft(text, between)
	n := 0
	for n < len(text) && isDigit(text[n]) == isDigit(text[0]) && !strings.ContainsRune(between, rune(text[n])) {
		n++
	}
	return text[:n], text[n:]
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// previews are the words of versions that come before the release, in their order.
var previews = []string{"dev", "a", "alpha", "b", "beta", "c", "pre", "preview", "rc"}

// compareParts orders two parts, of which the first ones are no previews; an empty one is the end of its version.
func compareParts(x, y string, first bool) int {
	if byRank := cmp.Compare(rank(x, first), rank(y, first)); byRank != 0 {
		return byRank
	}
	if i, k := slices.Index(previews, x), slices.Index(previews, y); i >= 0 && k >= 0 {
		return cmp.Compare(i, k)
	}
	x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
	if x != "" && isDigit(x[0]) {
		return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y))
	}
	return strings.Compare(x, y)
}

// rank orders parts of different kinds: previews, the end of a version or 0, other words, numbers, words at the beginning.
func rank(part string, first bool) int {
	zero := strings.Trim(part, "0") == ""
	switch {
	case zero && !(first && part == ""):
		return 1
	case part == "":
		return 0
	case isDigit(part[0]):
		return 3
	case first:
		return 4
	case slices.Contains(previews, part):
		return 0
	}
	return 2
}
