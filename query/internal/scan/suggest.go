package scan

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/schema"
)

// SuggestKey suggests a column, parameter or metric with a similar spelling ("; did you mean x?"); empty: none.
func SuggestKey(key string, parameters []string) string {
	lower := strings.ToLower(key)
	_, metric := schema.KindOfMetric(key)
	prefix, name, _ := strings.Cut(key, ":")
	near := ""
	switch {
	case name != "" && !filter.FieldOf(prefix+"."+name).Bare:
		near = prefix + "." + name
	case elsewhere[lower] != "":
		near = elsewhere[lower]
	case lower != key && !filter.FieldOf(lower).Bare:
		near = lower
	case lower == "n":
		near = "n_samples"
	case metric:
		near = filter.MetricPrefix + key
	default:
		candidates := append(slices.Clone(parameters), filter.Names()...)
		for _, c := range schema.Runs.Columns {
			candidates = append(candidates, c.Name)
		}
		near = schema.Nearest(key, candidates)
	}
	if near == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", near)
}

// elsewhere are other common names of keys.
var elsewhere = map[string]string{
	"host": "machine", "hostname": "machine", "node": "machine", "gpu": "gpu_name", "name": "benchmark", "test": "benchmark", "date": "when", "time": "when",
	"id": "run", "sha": "commit", "revision": "commit",
}

// SuggestRate suggests the rate of a unit, such as MB/s for MB; empty: there is none.
func SuggestRate(unit string) string {
	if _, _, known := schema.StoredUnit(unit + "/s"); known {
		return "; did you mean " + unit + "/s?"
	}
	return ""
}

// SuggestWord makes the suggestion of SuggestKey for a condition of a filter, which may also be a negation as in other tools
// (-key=value), or a value without a key.
func SuggestWord(w *filter.Word, parameters []string) string {
	if bare, negated := strings.CutPrefix(w.Key, "-"); negated && (!filter.FieldOf(bare).Bare || slices.Contains(parameters, bare)) {
		return "; did you mean not " + answer.Brief(strings.TrimPrefix(w.Text, "-")) + "?"
	}
	if _, ok := filter.LastButN(w.Text); ok {
		return "; did you mean " + filter.KeySession + "=" + w.Text + "?"
	}
	return SuggestKey(w.Key, parameters)
}

// NoEntry returns the remark that no run has an entry of a map, with the entry or column that was probably meant.
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

// patternOf returns a text with wildcards as a regular expression; empty: it has no wildcards.
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

// Nearest returns the candidate that a text probably means: one with a similar spelling, or the shortest one that contains it as a whole
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

// NoID returns the remark that no run or session has an id.
func NoID(w filter.CompiledWord) string {
	shown := answer.Brief(w.Text)
	last := strings.HasPrefix(strings.ToLower(w.Values[0].Text), "la")
	switch {
	case w.Key == filter.KeySession && slices.ContainsFunc(w.Values, countsFromLast):
		return shown + ": the store has fewer sessions with a start time (ingest --at gives one to runs of files)"
	case w.Key == filter.KeySession && last:
		return shown + ": no session id begins or ends with this; session=last is the newest session, session=last~1 the one before it"
	case last:
		return shown + ": no run id begins or ends with this; session=last selects the runs of the newest session, and neurolens show last shows the newest run"
	}
	return fmt.Sprintf("%s: no %s id begins or ends with this", shown, w.Key)
}

// countsFromLast reports whether a value is last or last~N.
func countsFromLast(v filter.Value) bool { _, ok := filter.LastButN(v.Text); return ok }

// shortCommit is the number of characters of a commit that are shown.
const shortCommit = 7

// NoCommit returns the remark that no run has a commit, with the commits of the runs if there are few.
func NoCommit(w filter.CompiledWord, commits []string) string {
	shown := answer.Brief(w.Text)
	if len(commits) == 0 {
		return shown + ": no run has a commit"
	}
	short := make([]string, len(commits))
	for i, c := range commits {
		short[i] = c[:min(shortCommit, len(c))]
	}
	return shown + ": no run has a commit that begins with this" + ListFew(short)
}

// SuggestUnits follows the remark that no run matches a condition on a metric, if runs have it in other units than the condition.
func SuggestUnits(w filter.CompiledWord, units []string) string {
	value, own, is := w.Values[0].Text, filter.UnitOf(w.Values[0].Text), "has no unit"
	if own != "" {
		is = "is in " + own
	}
	_, notNumber := schema.ParseQuantity(value)
	bare := own == "" && (notNumber != nil || slices.Contains(units, "ratio")) // numbers without a unit are compared with ratios
	if len(units) == 0 || bare || slices.Contains(units, own) || w.Field.Column.Unit != schema.UnitOfRow {
		return ""
	}
	units = slices.DeleteFunc(slices.Clone(units), func(unit string) bool { return unit == "" })
	return fmt.Sprintf("; runs have it in %s, but %s %s", strings.Join(units, ", "), answer.Brief(value), is)
}

// NoValue follows the remark that no run has the value of a condition on a text.
func NoValue(w filter.CompiledWord, values []string) string {
	value, column := w.Values[0].Text, w.Field.Column.Name
	whole := w.Field.Entry == "" && (column == "run_id" || column == "session_id")
	pattern := patternOf(value)
	switch {
	case pattern != "":
		return "; for a pattern, use ~ with a regular expression: " + answer.Brief(w.Key+"~"+pattern)
	case whole && len(value) < len(schema.ULID{}.String()):
		return fmt.Sprintf(": %s is a whole id; %s=%s takes the beginning or the end of one", column, strings.TrimSuffix(column, "_id"), answer.Brief(value))
	case column == "source" && slices.Contains(values, schema.SourceNeuroLens):
		return nearValue(value, values) + "; of the results that bench read in this format, the source is neurolens: env.runner.read=" + answer.Brief(value)
	case column == "git_commit" && beginsOne(value, values):
		return "; did you mean commit=" + answer.Brief(value) + " (the beginning of a commit)?"
	}
	return nearValue(value, values)
}

// beginsOne reports whether a text is the beginning of a value, and long enough to be meant as one.
func beginsOne(text string, values []string) bool {
	const short = 4
	return len(text) >= short && slices.ContainsFunc(values, func(v string) bool { return strings.HasPrefix(v, strings.ToLower(text)) })
}
