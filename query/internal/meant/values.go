package meant

import (
	"regexp"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/internal/fault"
	"github.com/neurolens/neurolens/schema"
)

// NoEntry says that no run has an entry of a map, and which one may be meant: one like it, else a column of that name.
func NoEntry(w filter.CompiledWord, names []string) string {
	prefix := filter.PrefixOf(w.Field.Column.Name) + "."
	text := "no run has " + prefix + fault.Brief(w.Field.Entry)
	if near := Similar(w.Field.Entry, names); near != "" {
		return text + "; did you mean " + prefix + fault.Brief(near) + "?"
	}
	if _, ok := schema.Runs.Column(schema.CanonicalAlias(w.Field.Entry)); ok {
		return text + "; did you mean the column " + w.Field.Entry + "?"
	}
	if prefix == "env." {
		return text + "; neurolens env names the facts"
	}
	return text + Few(names)
}

// mostValues is how many values are named in place of one that no run has.
const mostValues = 3

// Value names the value that was probably meant, else all where they are few.
func Value(value string, values []string) string {
	if bare := strings.Trim(value, "'"); bare != value && slices.Contains(values, bare) {
		return "; did you mean " + fault.Brief(bare) + "?"
	}
	if strings.ContainsAny(value, ";:=") {
		return "; conditions are separated by spaces"
	}
	if near := Similar(value, values); near != "" {
		return "; did you mean " + fault.Brief(near) + "?"
	}
	return Few(values)
}

// Pattern is a text with wildcards as a regular expression; empty where it has none.
func Pattern(text string) string {
	if !strings.Contains(text, "*") {
		return ""
	}
	whole := "^" + strings.ReplaceAll(regexp.QuoteMeta(text), `\*`, ".*") + "$"
	return strings.TrimSuffix(strings.TrimPrefix(whole, "^.*"), ".*$")
}

// Few names values, where they are few.
func Few(values []string) string {
	if len(values) == 0 || len(values) > mostValues {
		return ""
	}
	shown := make([]string, len(values))
	for i, v := range values {
		shown[i] = fault.Brief(v)
	}
	return "; runs have " + strings.Join(shown, ", ")
}

// Similar is the text that another one probably means: one that is spelt like it, else the shortest one that has it as a
// whole word.
func Similar(text string, candidates []string) string {
	if near := schema.Nearest(text, candidates); near != "" {
		return near
	}
	const least = 2 // letters, to be looked for in others
	best := ""
	for _, c := range candidates {
		if len(text) >= least && asWord(c, text) && (best == "" || len(c) < len(best)) {
			best = c
		}
	}
	return best
}

// asWord tells whether a text stands in another one, with nothing that belongs to a word on either side.
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
