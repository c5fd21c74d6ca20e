package scan

import (
	"regexp"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/schema"
)

// NoEntry is the remark that no run has an entry of a map, with the entry or column that was probably meant.
func NoEntry(w filter.CompiledWord, names []string) string {
	prefix := filter.PrefixOf(w.Field.Column.Name) + "."
	text := "no run has " + prefix + answer.Brief(w.Field.Entry)
	if near := Nearest(w.Field.Entry, names); near != "" {
		return text + "; did you mean " + prefix + answer.Brief(near) + "?"
	}
	if _, ok := schema.Runs.Column(schema.CanonicalAlias(w.Field.Entry)); ok {
		return text + "; did you mean the column " + w.Field.Entry + "?"
	}
	if prefix == "env." {
		return text + "; neurolens env lists the facts"
	}
	return text + ListFew(names)
}

// maxValues is the largest number of values that are listed for a value that no run has: as many as a program has metrics.
const maxValues = 4

// nearValue suggests the value that was probably meant, or lists all values if there are few.
func nearValue(value string, values []string) string {
	if bare := strings.Trim(value, "'"); bare != value && slices.Contains(values, bare) {
		return "; did you mean " + answer.Brief(bare) + "?"
	}
	if strings.ContainsAny(value, ";:=") {
		return "; conditions are separated by spaces"
	}
	if near := Nearest(value, values); near != "" {
		return "; did you mean " + answer.Brief(near) + "?"
	}
	return ListFew(values)
}

// patternOf is a text with wildcards as a regular expression; empty: it has no wildcards.
func patternOf(text string) string {
	if !strings.Contains(text, "*") {
		return ""
	}
	whole := "^" + strings.ReplaceAll(regexp.QuoteMeta(text), `\*`, ".*") + "$"
	return strings.TrimSuffix(strings.TrimPrefix(whole, "^.*"), ".*$")
}

// ListFew lists the values if there are few ("; runs have a, b"); otherwise it is empty.
func ListFew(values []string) string { return ListFewOf("runs", values) }

// ListFewOf is Few for the values of some runs ("; the newest runs have a, b").
func ListFewOf(runs string, values []string) string {
	if len(values) == 0 || len(values) > maxValues {
		return ""
	}
	shown := make([]string, len(values))
	for i, v := range values {
		shown[i] = answer.Brief(v)
	}
	return "; " + runs + " have " + strings.Join(shown, ", ")
}

// Nearest is the candidate that a text probably means: one with a similar spelling, or the shortest one that contains it as a whole
// word; empty: none.
func Nearest(text string, candidates []string) string {
	if near := schema.Nearest(text, candidates); near != "" {
		return near
	}
	const minLetters = 2 // of a text that is searched within candidates
	best := ""
	for _, c := range candidates {
		if len(text) >= minLetters && asWord(c, text) && (best == "" || len(c) < len(best)) {
			best = c
		}
	}
	return best
}

// asWord reports whether a text occurs in another one as a whole word.
func asWord(in, text string) bool {
	letter := func(b byte) bool {
		return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_'
	}
	for at := 0; ; at++ {
		i := strings.Index(in[at:], text)
		if i < 0 {
			return false
		}
		at += i
		end := at + len(text)
		if (at == 0 || !letter(in[at-1])) && (end == len(in) || !letter(in[end])) {
			return true
		}
	}
}
