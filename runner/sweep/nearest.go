package sweep

import (
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// remedy says what may have been meant by a name that is none of known.
func remedy(name string, known []string) string {
	if schema.IsAxisColumn(schema.CanonicalAlias(name)) {
		return "an axis belongs under grid"
	}
	if near := nearest(name, known); near != "" {
		return "did you mean " + near + "?"
	}
	if len(known) == 0 {
		return "there is none here"
	}
	return "want one of " + strings.Join(known, " ")
}

// nearest gives the one of known that is at most a third of its letters away, or nothing.
func nearest(name string, known []string) string {
	best, least := "", len(name)
	if len(name) > 40 { // no key is near, and the distance would cost
		return ""
	}
	for _, k := range known {
		if d := distance(name, k); d < least && d <= max(1, len(k)/3) {
			best, least = k, d
		}
	}
	return best
}

// distance counts the letters to insert, remove, replace or swap with a neighbour to make b of a.
func distance(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		above := row
		row = make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(above[j]+cost, above[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before = above
	}
	return row[len(b)]
}
