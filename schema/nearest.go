package schema

import "strings"

// Nearest returns the candidate that a misspelt word probably means. It allows insertions, removals, replacements and swaps (the
// Damerau-Levenshtein distance) of at most a third of the candidate's letters, or of one, and ignores case. It returns an empty string
// if no candidate is near, and for words of more than 40 bytes.
func Nearest(word string, candidates []string) string {
	best, least := "", len(word)
	if len(word) > 40 { // no name is that long, and computing the distance takes time
		return ""
	}
	word = strings.ToLower(word)
	for _, c := range candidates {
		if d := distance(word, strings.ToLower(c)); d < least && d <= max(1, len(c)/3) {
			best, least = c, d
		}
	}
	return best
}

// distance counts the insertions, removals, replacements and swaps of neighbours that turn a into b.
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
