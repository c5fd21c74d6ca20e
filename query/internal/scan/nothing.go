package scan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/schema"
)

// NoID is the remark that no run or session has an id.
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

// NoCommit is the remark that no run has a commit, with the commits of the runs if there are few.
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
	case column == "status" && slices.Contains([]string{"failed", "failure", "fail"}, value):
		return "; status!=ok selects every run that is not ok"
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
