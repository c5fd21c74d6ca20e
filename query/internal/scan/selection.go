package scan

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/duckdb/duckdb-go/v2"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
)

// Question selects runs and their order.
type Question struct {
	Filter string
	Bounds Period
	Sort   []string // "-key" is descending; empty: newest first
	Metric string   // metric of the statistics in Filter and Sort; empty: the primary one of each run
}

// Everything reports whether the question selects all runs, newest first.
func (q *Question) Everything() bool {
	return strings.TrimSpace(q.Filter) == "" && q.Bounds == (Period{}) && len(q.Sort) == 0
}

// Selection is a compiled question, with the sources that it needs.
type Selection struct {
	filter.Condition
	Order   []filter.SortKey
	Src     *Sources
	Bounded bool // there are time bounds; the condition includes them
}

// Selected compiles a question. The condition includes the bounds.
func (r *Reader) Selected(ctx context.Context, q Question) (Selection, error) {
	lookups := filter.Lookups{
		IDs:     func(key, value string) ([]string, error) { return r.ids(ctx, key, value) },
		Counted: func(session string) ([]string, error) { return r.counted(ctx, session) },
		Metric:  func(metric, value string) (string, error) { return r.metricTable(ctx, metric, value) },
		Shown:   q.Metric,
	}
	cond, err := filter.Compile(q.Filter, lookups)
	if err != nil {
		return Selection{}, r.meant(ctx, err)
	}
	order, err := filter.Sort(&cond, q.Sort, lookups)
	if err != nil {
		return Selection{}, err
	}
	for _, re := range cond.Regexes {
		if err := r.Conn.Query(ctx, duck.Statement{SQL: "SELECT regexp_matches('', $1)", Args: []any{re}}, ignore); err != nil && ctx.Err() == nil {
			return Selection{}, answer.InputError("filter: %s: %v", answer.Brief(re), err)
		}
	}
	if err := r.applyEventsFor(ctx, &cond); err != nil {
		return Selection{}, err
	}
	sel := Selection{cond, order, r.Src.Within(q.Bounds), q.Bounds != (Period{})}
	sel.Restrict(q.Bounds)
	return sel, r.remarkAbsent(ctx, cond)
}

// ignore drops a row, for statements whose rows do not matter.
func ignore([]driver.Value) error { return nil }

// Restrict adds bounds to the condition. It compares ids of runs, which begin with their time.
func (s *Selection) Restrict(b Period) {
	var parts []string
	at := func(op string, ms int64, matches func(run, bound string) bool) {
		bound := firstID(ms)
		s.Args = append(s.Args, bound)
		parts = append(parts, fmt.Sprintf("run_id %s $%d::VARCHAR", op, len(s.Args)))
		s.Tests = append(s.Tests, filter.Test{Column: schema.RunColumn("run_id"), Matches: func(cell any) bool {
			run, _ := cell.(string)
			return matches(run, bound)
		}})
	}
	if b.Since > 0 {
		at(">=", b.Since, func(run, bound string) bool { return run >= bound })
	}
	if b.Until > 0 {
		at("<", b.Until, func(run, bound string) bool { return run < bound })
	}
	for _, text := range []*string{&s.SQL, &s.Reach} {
		all := parts
		if *text != "" {
			all = slices.Insert(slices.Clone(parts), 0, *text)
		}
		*text = strings.Join(all, " AND ")
	}
}

// firstID returns FirstID as text.
func firstID(ms int64) string { return FirstID(ms).String() }

// Matches returns SQL that reports whether a row matches. It is never NULL.
func (s *Selection) Matches() string {
	if s.SQL == "" {
		return "true"
	}
	return "coalesce(" + s.SQL + ", false)"
}

// where returns the SQL of the rows that match or have a value to be counted in NotNumbers.
func (s *Selection) where() string {
	if len(s.NotNumbers) == 0 {
		return s.SQL
	}
	return s.Reach
}

// Chosen are the runs that match a question, in its order.
type Chosen struct {
	IDs        []schema.ULID // up to the limit
	Total      int           // number of all matching runs
	NotNumbers map[string]int
}

// tally reads the number of matching runs, and of values that are not numbers.
func (s *Selection) tally(total any, notNumbers []driver.Value) Chosen {
	n, _ := total.(int64)
	found := Chosen{Total: int(n), NotNumbers: map[string]int{}}
	for i, c := range s.NotNumbers {
		if n, _ := notNumbers[i].(int64); n > 0 {
			found.NotNumbers[c.Key] += int(n)
		}
	}
	return found
}

// AppendID appends the id in a cell. A cell that is not an id is an error of the file.
func AppendID(ids []schema.ULID, value any) ([]schema.ULID, error) {
	text, _ := value.(string)
	id, err := schema.ParseULID(text)
	if err != nil {
		return nil, &duck.Error{Message: fmt.Sprintf("run_id: %v", err), Kind: duckdb.ErrorTypeIO}
	}
	return append(ids, id), nil
}

// Check rejects possible typos that no run has. In a store without runs it accepts everything.
func (r *Reader) Check(ctx context.Context, doubts []filter.PossibleTypo) error {
	if len(doubts) == 0 || len(r.Src.Live) == 0 && len(r.Src.Read) == 0 {
		return nil
	}
	names, err := r.Texts(ctx, "unnest(map_keys(params))", "params")
	if err != nil {
		return err
	}
	units, err := r.Texts(ctx, "unit", "unit")
	if err != nil {
		return err
	}
	for _, d := range doubts {
		switch {
		case d.Unit != "" && !slices.Contains(units, d.Unit):
			return filter.ErrorAt(d.Word.Text, d.Offset, "unit %q is not known, and no run has it%s", answer.Brief(d.Unit), SuggestRate(d.Unit))
		case d.Unit == "" && !slices.Contains(names, d.Field.Entry):
			hint, err := r.noKey(ctx, d, names)
			if err != nil {
				return err
			}
			return filter.ErrorAt(d.Word.Text, d.Offset, "no column or parameter is called %q%s", answer.Brief(d.Word.Key), hint)
		}
	}
	return nil
}

// Texts returns the different values of an expression over a column of all runs, ascending.
func (r *Reader) Texts(ctx context.Context, expression, column string) ([]string, error) {
	if column == tags && r.Src.tagKeys != nil { // a question has made the table of only some keys
		if err := r.changeTags(ctx, nil); err != nil {
			return nil, err
		}
	}
	text := "SELECT DISTINCT " + expression + " AS x FROM " + r.Src.Scan([]*schema.Column{schema.RunColumn(column)}, "") + " ORDER BY x"
	return r.texts(ctx, duck.Statement{SQL: text})
}

// RestrictedTo returns the SQL of a condition and of the test whether a row matches, for a WHERE clause. DuckDB can skip files by the
// statistics for either part.
func (s *Selection) RestrictedTo(condition string) string {
	if s.SQL == "" {
		return condition
	}
	return condition + " AND (" + s.SQL + ")"
}

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

// absent returns the remark that no run has a value; empty: a run has it, or no remark is needed.
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

// valuesOf returns the different texts of a field in all runs.
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
		if hint := SuggestUnits(w, units); hint != "" || err != nil || w.Field.Metric != "" || !slices.Contains(schema.OfSeveral, w.Field.Column.Name) {
			return text + hint, err
		}
		names, err := r.RecentMetrics(ctx)
		if i := slices.IndexFunc(names, func(name string) bool { return strings.Contains(name, w.Field.Column.Name) }); i >= 0 {
			text += fmt.Sprintf("; of the metric %s: %s", names[i], answer.Brief(filter.MetricPrefix+names[i]+strings.TrimPrefix(w.Text, w.Key)))
		}
		return text, err
	}
	if w.Op != "=" || w.Field.Kind() != schema.KindString {
		return text, nil
	}
	values, err := r.valuesOf(ctx, w.Field)
	return text + NoValue(w, values), err
}

// unitsOf returns the units in which runs have the metric of a condition.
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

// conditionOf returns the condition that a word probably means: a value of a column, parameter or tag, an id, or a value with a similar
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
	for key, column := range map[string]string{filter.KeyRun: "run_id", filter.KeySession: "session_id"} { // an id may identify either
		if len(word) < minID {
			break
		}
		if ids, err := r.like(ctx, likeness{what: key + "s", column: column, text: word}); err == nil && len(ids) == 1 {
			return key + "=" + word, nil
		}
	}
	return r.metricMeant(ctx, word, near)
}

// metricMeant returns the condition for the name of a metric, otherwise near.
func (r *Reader) metricMeant(ctx context.Context, word, near string) (string, error) {
	_, known := schema.KindOfMetric(word)
	names, err := r.newest(suggestRuns).Metrics(ctx)
	if err == nil && (known || slices.Contains(names, word)) {
		return "metric=" + word, nil
	}
	return near, err
}
