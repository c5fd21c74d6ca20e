package scan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
)

// ExplainEmpty explains why a selection is empty: with an error if the filter probably has a typo, otherwise with remarks on the conditions
// that match no run. It reads all runs, so it is only called for empty selections.
func (r *Reader) ExplainEmpty(ctx context.Context, sel Selection) error {
	if r.Conn.Remark == nil {
		return r.Check(ctx, sel.PossibleTypos)
	}
	reasons, err := r.EmptyReasons(ctx, sel)
	for _, text := range reasons {
		r.Conn.Remark(text)
	}
	return err
}

// EmptyReasons returns the remarks of ExplainEmpty.
func (r *Reader) EmptyReasons(ctx context.Context, sel Selection) (reasons []string, err error) {
	if err := r.Check(ctx, sel.PossibleTypos); err != nil {
		return nil, err
	}
	if len(sel.Words) == 0 || len(r.Src.Live) == 0 && len(r.Src.Read) == 0 {
		return nil, nil
	}
	columns := []string{"true"}
	for _, w := range sel.Words {
		columns = append(columns, "coalesce(bool_or("+w.SQL+"), false)")
	}
	row, err := r.Conn.One(ctx, duck.Statement{SQL: "SELECT " + strings.Join(columns, ", ") + " FROM " + r.Src.Scan(sel.Columns, ""), Args: sel.Args[:sel.WordArgs]})
	if err != nil {
		return nil, err
	}
	each := true
	for i, w := range sel.Words {
		if row[1+i] == true {
			continue
		}
		if each = false; !w.Positive {
			continue
		}
		text, err := r.whyNot(ctx, w)
		if err != nil {
			return nil, err
		}
		reasons = append(reasons, text)
	}
	if each && len(sel.Words) > 1 && !sel.Bounded {
		reasons = append(reasons, "each condition of the filter matches some run, but no run matches all of them")
	}
	return reasons, nil
}

// remarkAbsent remarks on values that no run has in conditions that do not make the answer empty: one value of a short list, and
// everything in a condition that excludes values, is one of several alternatives, or asks for NULL. A parameter that no run has is an
// error here too. Conditions that make the answer empty are handled by ExplainEmpty.
func (r *Reader) remarkAbsent(ctx context.Context, cond filter.Condition) error {
	if len(r.Src.Live) == 0 && len(r.Src.Read) == 0 {
		return nil
	}
	for _, w := range cond.Words {
		known, err := r.knowsKey(ctx, w, cond.PossibleTypos)
		if err == nil && known && r.Conn.Remark != nil {
			err = r.remarkValues(ctx, w)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// knowsKey reports whether some run has the map entry of a silent condition, and remarks if none has.
func (r *Reader) knowsKey(ctx context.Context, w filter.CompiledWord, doubts []filter.PossibleTypo) (bool, error) {
	if w.Field.Entry == "" || !w.Silent {
		return true, nil
	}
	x := duck.Identifier(w.Field.Column.Name)
	known, err := r.some(ctx, filter.Condition{SQL: x + "[" + duck.Literal(w.Field.Entry) + "] IS NOT NULL", Columns: []*schema.Column{w.Field.Column}})
	switch {
	case err != nil || known:
		return known, err
	case w.Field.Bare:
		return false, r.Check(ctx, slices.DeleteFunc(slices.Clone(doubts), func(d filter.PossibleTypo) bool { return d.Word != w.Word || d.Unit != "" }))
	case r.Conn.Remark != nil:
		text, err := r.whyNot(ctx, w)
		if err != nil {
			return false, err
		}
		r.Conn.Remark(text)
	}
	return false, nil
}

// some reports whether some run meets a condition. It stops at the first one.
func (r *Reader) some(ctx context.Context, cond filter.Condition) (bool, error) {
	row, err := r.Conn.One(ctx, duck.Statement{SQL: "SELECT true FROM " + r.Src.Scan(cond.Columns, cond.SQL) + " LIMIT 1", Args: cond.Args})
	return len(row) > 0, err
}

// remarkValues remarks on values that no run has. Excluding an absent value may be intended, so for excluded values it only remarks on
// ids, and on values that are spelt like an existing one.
func (r *Reader) remarkValues(ctx context.Context, w filter.CompiledWord) error {
	const short = 8 // maximum number of values: each is searched in all runs
	list := w.Positive && len(w.Values) > 1
	if w.Field.Metric != "" || strings.TrimPrefix(w.Op, "!") != "=" || !list && !w.Silent || len(w.Values) > short {
		return nil
	}
	var absent []string
	for _, v := range w.Values {
		text, err := r.absent(ctx, w, v)
		if err != nil {
			return err
		}
		if text != "" {
			absent = append(absent, text)
		}
	}
	if w.Silent || len(absent) < len(w.Values) {
		for _, text := range absent {
			r.Conn.Remark(text)
		}
	}
	return nil
}

// absent is the remark that no run has a value; empty: a run has it, or no remark is needed.
func (r *Reader) absent(ctx context.Context, w filter.CompiledWord, v filter.Value) (string, error) {
	if v.Null() {
		return "", nil
	}
	one, err := r.Selected(ctx, Question{Filter: w.Having(v)})
	if err != nil {
		return "", err
	}
	if known, err := r.some(ctx, one.Condition); err != nil || known {
		return "", err
	}
	if !w.Positive && !filter.StandsForIDs(w.Key) {
		values, err := r.valuesOf(ctx, w.Field)
		if err != nil || Nearest(v.Text, values) == "" {
			return "", err
		}
	}
	return r.whyNot(ctx, one.Words[0])
}

// valuesOf are the different texts of a field in all runs.
func (r *Reader) valuesOf(ctx context.Context, f filter.Field) ([]string, error) {
	if f.Kind() != schema.KindString {
		return nil, nil
	}
	x := duck.Identifier(f.Column.Name)
	if f.Entry != "" {
		x += "[" + duck.Literal(f.Entry) + "]"
	}
	return r.Texts(ctx, x, f.Column.Name)
}

// whyNot explains why a condition matches no run, with the key or value that was probably meant.
func (r *Reader) whyNot(ctx context.Context, w filter.CompiledWord) (string, error) {
	key, shown := w.Key, answer.Brief(w.Text)
	switch {
	case key == filter.KeyRun, key == filter.KeySession:
		return NoID(w), nil
	case key == filter.KeyCommit:
		commits, err := r.Texts(ctx, "git_commit", "git_commit")
		return NoCommit(w, commits), err
	case w.Field.Entry != "":
		names, err := r.Texts(ctx, "unnest(map_keys("+duck.Identifier(w.Field.Column.Name)+"))", w.Field.Column.Name)
		if err != nil {
			return "", err
		}
		if !slices.Contains(names, w.Field.Entry) {
			return NoEntry(w, names), nil
		}
	}
	text := "no run matches " + shown
	if c, stored := schema.Runs.Column(w.Field.Column.Name); stored && w.Field.Entry+w.Field.Metric == "" {
		row, err := r.Conn.One(ctx, duck.Statement{SQL: "SELECT count(" + duck.Identifier(c.Name) + ") FROM " + r.Src.Scan([]*schema.Column{c}, "")})
		if err != nil || duck.Integer(row[0]) == 0 {
			return text + "; no run has a value of " + key, err
		}
	}
	if w.Field.Metric != "" || w.Field.Column.Unit == schema.UnitOfRow {
		units, err := r.unitsOf(ctx, w)
		return text + SuggestUnits(w, units), err
	}
	if w.Op != "=" || w.Field.Kind() != schema.KindString {
		return text, nil
	}
	values, err := r.valuesOf(ctx, w.Field)
	return text + NoValue(w, values), err
}

// unitsOf are the units in which runs have the metric of a condition.
func (r *Reader) unitsOf(ctx context.Context, w filter.CompiledWord) ([]string, error) {
	if w.Field.Metric != "" {
		return r.ofSamples(ctx, metricUnit, ofMetric, w.Field.Metric)
	}
	return r.Texts(ctx, "unit", "unit")
}

// meant adds, to the error about a word without an operator, the condition that was probably meant.
func (r *Reader) meant(ctx context.Context, err error) error {
	var no *filter.NoConditionError
	if !errors.As(err, &no) || no.Names() || r.Src.Runs() == 0 {
		return err
	}
	condition, failed := r.conditionOf(ctx, no.Word)
	if failed != nil {
		return failed
	}
	if condition != "" {
		no.Hint = fmt.Sprintf("want KEY=VALUE; did you mean %s?", condition)
	}
	return err
}

// wordColumns are the columns in which a word without a key is searched, in this order.
var wordColumns = []string{"status", "precision", "suite", "benchmark", "variant", "backend", "model", "machine", "gpu_name", "metric", "side", "purpose", "source"}

// conditionOf is the condition that a word probably means: a value of a column, parameter or tag, an id, or a value with a similar
// spelling.
func (r *Reader) conditionOf(ctx context.Context, word string) (string, error) {
	if _, ok := filter.LastButN(word); ok {
		return filter.KeySession + "=" + word, nil
	}
	near := ""
	for _, name := range wordColumns {
		values, err := r.Texts(ctx, duck.Identifier(name), name)
		if err != nil {
			return "", err
		}
		texts := []string{word}
		if canonical, err := schema.CanonicalPrecision(word); err == nil && name == "precision" {
			texts = append(texts, canonical)
		}
		for _, text := range texts {
			if slices.Contains(values, text) {
				return name + "=" + filter.QuoteWord(word), nil
			}
		}
		if like := Nearest(word, values); like != "" && near == "" {
			near = name + "=" + answer.Brief(filter.QuoteWord(like))
		}
	}
	for _, column := range []string{"params", "tags"} {
		entries, err := r.Texts(ctx, "unnest(list_transform(map_entries("+column+"), lambda e: e.value || chr(0) || e.key))", column)
		if err != nil {
			return "", err
		}
		for _, entry := range entries {
			switch value, key, _ := strings.Cut(entry, "\x00"); {
			case value != word:
			case column == "params":
				return filter.ParameterKey(key) + "=" + filter.QuoteWord(word), nil
			default:
				return filter.PrefixOf(column) + "." + key + "=" + filter.QuoteWord(word), nil
			}
		}
	}
	const minID = 6                                                                                        // letters of an id
	for key, column := range map[string]string{filter.KeyRun: "run_id", filter.KeySession: "session_id"} { // ids are of either
		if len(word) < minID {
			break
		}
		if ids, err := r.like(ctx, likeness{what: key + "s", column: column, text: word}); err == nil && len(ids) == 1 {
			return key + "=" + word, nil
		}
	}
	return r.metricMeant(ctx, word, near)
}

// metricMeant is the condition for the name of a metric, otherwise near.
func (r *Reader) metricMeant(ctx context.Context, word, near string) (string, error) {
	_, known := schema.KindOfMetric(word)
	names, err := r.newest(hintRuns).Metrics(ctx)
	if err == nil && (known || slices.Contains(names, word)) {
		return "metric=" + word, nil
	}
	return near, err
}
