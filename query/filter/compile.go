package filter

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/lazyregexp"
)

// Condition is a compiled filter: SQL over columns of runs with parameters. It never contains text of a user.
type Condition struct {
	SQL           string // empty: every run
	Reach         string // like SQL, but values that are not numbers also satisfy < and >; the same as SQL if there are no < and >
	Args          []any
	Columns       []*schema.Column // columns that the SQL reads
	Tags          []string         // entries of tags that the SQL reads; empty text: the map itself
	NotNumbers    []NotNumber
	Regexes       []string // regular expressions, which DuckDB has to accept as well
	PossibleTypos []PossibleTypo
	Words         []CompiledWord
	WordArgs      int // number of leading Args that belong to Words
	// Tests are conditions that need no SQL. A run that passes them all matches, unless the filter has other conditions: OnlySQL.
	Tests   []Test
	OnlySQL bool
}

// CompiledWord is a condition of a filter and its SQL.
type CompiledWord struct {
	*Word
	Field    Field
	SQL      string
	Positive bool // it selects runs that have something, instead of excluding them
	// Silent means that runs can match although no run has the named value: because the condition excludes it, is one of several
	// alternatives, or matches NULL.
	Silent bool
}

// NotNumber is a condition that compares texts as numbers; SQL finds the values that are not numbers.
type NotNumber struct {
	Key string
	SQL string // true for rows with such a value
}

// PossibleTypo is a key or a unit that may be misspelt. It is only checked if no run matches, because that reads all runs.
type PossibleTypo struct {
	Word   *Word
	Offset int
	Field  Field
	Unit   string // an unknown unit, instead of Field
}

// compiler compiles a filter to a condition.
type compiler struct {
	Condition
	lookups Lookups
	seen    map[string]bool // columns that are in Condition.Columns
	places  map[any]string  // parameters by value
	within  int             // number of nots around the current node
	either  int             // number of ors around the current node
}

// Lookups give a filter access to the stores.
type Lookups struct {
	// IDs finds the ids for a value of run=, session=, baseline= or commit=. No id is not an error.
	IDs func(key, value string) ([]string, error)
	// Counted finds the ids of the runs of earlier sessions that a session counts as its own, because it continued them.
	Counted func(session string) ([]string, error)
	// Metric makes a table with the values of a metric and returns its name. The table has the columns of_run, value and unit;
	// the argument value is the SQL of the value over a row of samples.
	Metric func(metric, value string) (table string, err error)
	// Shown is the metric whose numbers a listing shows; empty: the primary metric of each run.
	Shown string
}

// field resolves a key. A summary column, such as p99, refers to the shown metric.
func (l Lookups) field(key string) Field {
	f := FieldOf(key)
	if l.Shown == "" || f.Entry != "" || f.Metric != "" {
		return f
	}
	name := f.Column.Name
	if columnAliases[key] != nil {
		name = key
	}
	if of := metricField(l.Shown + "." + name); of.Metric == l.Shown {
		return of
	}
	return f
}

// Compile compiles the text of a filter. Errors wrap ErrInput, or are those of lookups.
func Compile(text string, lookups Lookups) (Condition, error) {
	n, err := parseFilter(text)
	if err != nil || n == nil {
		return Condition{}, err
	}
	c := &compiler{lookups: lookups, seen: map[string]bool{}, places: map[any]string{}}
	if c.SQL, c.Reach, err = c.node(n); err != nil {
		return Condition{}, err
	}
	c.NotNumbers, c.WordArgs = eachOnce(c.NotNumbers), len(c.Args)
	return c.Condition, nil
}

// Check returns the error of Compile for a text that is wrong whatever the stores have.
func Check(text string) error {
	_, err := Compile(text, Lookups{
		IDs:     func(string, string) ([]string, error) { return nil, nil },
		Counted: func(string) ([]string, error) { return nil, nil },
		Metric:  func(string, string) (string, error) { return "none", nil },
	})
	return err
}

// eachOnce removes repetitions, for example of a key with two bounds, so that its values are counted once.
func eachOnce(all []NotNumber) []NotNumber {
	var some []NotNumber
	for _, n := range all {
		if !slices.Contains(some, n) {
			some = append(some, n)
		}
	}
	return some
}

// node compiles a node to its SQL and its Reach. A "not" matches values that < and > cannot compare, so its Reach is the same.
func (c *compiler) node(n *node) (text, reach string, err error) {
	if n.kind == tokenWord {
		return c.word(n.word)
	}
	c.OnlySQL = c.OnlySQL || n.kind != tokenAnd
	switch n.kind {
	case tokenNot:
		c.within++
		defer func() { c.within-- }()
	case tokenOr:
		c.either++
		defer func() { c.either-- }()
	}
	texts, reaches := make([]string, len(n.parts)), make([]string, len(n.parts))
	for i, part := range n.parts {
		if texts[i], reaches[i], err = c.node(part); err != nil {
			return "", "", err
		}
	}
	switch n.kind {
	case tokenNot:
		return not(texts[0]), not(texts[0]), nil
	case tokenAnd:
		return joined(texts, " AND "), joined(reaches, " AND "), nil
	default:
		return joined(texts, " OR "), joined(reaches, " OR "), nil
	}
}

func joined(conditions []string, operator string) string {
	return "(" + strings.Join(conditions, operator) + ")"
}

// not returns the exact complement, NULL included.
func not(condition string) string { return "NOT coalesce(" + condition + ", false)" }

func (c *compiler) word(w *Word) (text, reach string, err error) {
	f := c.lookups.field(w.Key)
	if f.Bare && w.hasUnit() {
		f = metricField(w.Key)
	}
	op, negated := strings.CutPrefix(w.Op, "!")
	known, tests := len(c.NotNumbers), len(c.Tests)
	switch op {
	case "=":
		text, err = c.equal(w, f)
	case "~":
		text, err = c.match(w, f)
	default:
		text, err = c.order(w, f)
	}
	if err != nil {
		return "", "", err
	}
	c.OnlySQL = c.OnlySQL || negated || len(w.Values) > 1 || len(c.Tests) == tests
	if f.Bare {
		c.PossibleTypos = append(c.PossibleTypos, PossibleTypo{Word: w, Offset: w.offset, Field: f})
	}
	if negated {
		text = not(text)
	}
	positive := c.within == 0 && !negated
	c.Words = append(c.Words, CompiledWord{w, f, text, positive, !positive || c.either > 0 || slices.ContainsFunc(w.Values, Value.Null)})
	reach = text
	for _, n := range c.NotNumbers[known:] {
		reach = joined([]string{reach, n.SQL}, " OR ")
	}
	return text, reach, nil
}

// hasUnit reports whether a word compares, by < or > or a range, with a number that has a unit. Parameters have no units.
func (w *Word) hasUnit() bool {
	unit := func(text string) bool {
		n, err := schema.ParseQuantity(text)
		return err == nil && n.Unit != ""
	}
	for _, v := range w.Values {
		from, to, isRange := v.ends()
		switch {
		case v.quoted:
		case strings.ContainsAny(w.Op, "<>") && unit(v.Text), isRange && (unit(from.Text) || unit(to.Text)):
			return true
		}
	}
	return false
}

func (w *Word) fail(v Value, format string, args ...any) error {
	return ErrorAt(w.Text, v.offset, format, args...)
}

// bind makes a value a parameter of the SQL and returns its placeholder.
func (c *compiler) bind(v any) string {
	place, ok := c.places[v]
	if !ok {
		c.Args = append(c.Args, v)
		place = "$" + strconv.Itoa(len(c.Args))
		switch v.(type) {
		case string:
			place += "::VARCHAR"
		case int64:
			place += "::BIGINT"
		case float64:
			place += "::DOUBLE"
		}
		c.places[v] = place
	}
	return place
}

func (c *compiler) read(column *schema.Column) string {
	if !c.seen[column.Name] {
		c.seen[column.Name] = true
		c.Columns = append(c.Columns, column)
	}
	return duck.Identifier(column.Name)
}

// expression returns the SQL of a field.
func (c *compiler) expression(f Field) string {
	if f.Column.Name == tags && !slices.Contains(c.Tags, f.Entry) {
		c.Tags = append(c.Tags, f.Entry)
	}
	switch {
	case f.Column == columnAliases["spread"]:
		for _, name := range []string{"mad", "n_samples", "p50"} {
			c.read(schema.RunColumn(name))
		}
		return spreadSQL
	case f.Entry == "" && slices.Contains(schema.OfSeveral, f.Column.Name):
		c.read(schema.RunColumn("n_samples"))
		return ofSeveral(c.read(f.Column))
	case f.Entry == "":
		return c.read(f.Column)
	}
	return c.read(f.Column) + "[" + c.bind(f.Entry) + "]"
}

// equal compiles =. A run matches if one of the values is equal.
func (c *compiler) equal(w *Word, f Field) (string, error) {
	var alternatives []string
	for _, v := range w.Values {
		if f.Metric != "" && v.Null() {
			some, err := c.ofMetric(f, "value IS NOT NULL")
			if err != nil {
				return "", err
			}
			alternatives = append(alternatives, "NOT "+some)
			continue
		}
		if v.Null() && w.Key != KeyBaseline {
			alternatives = append(alternatives, c.expression(f)+" IS NULL")
			continue
		}
		text, err := c.equalTo(w, f, v)
		if err != nil {
			return "", err
		}
		alternatives = append(alternatives, text)
	}
	return "(" + strings.Join(alternatives, " OR ") + ")", nil
}

func (c *compiler) equalTo(w *Word, f Field, v Value) (string, error) {
	if from, to, ok := v.ends(); ok && f.takesRange(from, to) {
		return c.between(w, f, from, to)
	}
	if k := f.Kind(); k == schema.KindInt || k == schema.KindReal {
		return c.compare(w, f, "=", v)
	}
	x := c.expression(f)
	switch f.Kind() {
	case schema.KindBool:
		if v.quoted || v.Text != "true" && v.Text != "false" {
			return "", w.fail(v, "want true, false or null")
		}
		return x + " = " + v.Text, nil
	case schema.KindList:
		if f.Column.Children[0].Kind != schema.KindString {
			return "", w.fail(v, "%s is a list of records: only null can be compared with it", f.Column.Name)
		}
		return "list_contains(" + x + ", " + c.bind(v.Text) + ")", nil
	case schema.KindMap:
		return "", w.fail(v, "%s is a map: name one of its entries, as in %s.name=...", w.Key, PrefixOf(f.Column.Name))
	case schema.KindTime:
		return c.between(w, f, v, v)
	}
	texts, err := c.texts(w, f, v)
	if err != nil {
		return "", err
	}
	if len(texts) == 0 {
		c.test(f, isAny(nil))
		return "false", nil
	}
	places := make([]string, len(texts))
	for i, text := range texts {
		places[i] = c.bind(text)
	}
	is := x + " IN (" + strings.Join(places, ", ") + ")"
	if w.Key == KeySession {
		counted, err := c.lookups.Counted(texts[0])
		if err != nil || len(counted) > 0 {
			return joined([]string{is, c.read(schema.RunColumn("run_id")) + " IN (" + duck.Texts(counted) + ")"}, " OR "), err
		}
	}
	c.test(f, isAny(texts))
	return is, nil
}

// PrefixOf returns the prefix of the keys of a map column: param for params. A column that is not a map is returned unchanged.
func PrefixOf(column string) string {
	for prefix, name := range mapPrefixes {
		if name == column {
			return prefix
		}
	}
	return column
}

// Failed is the value of status that stands for each status of a failed run: neither ok, nor unsupported, nor skipped.
const Failed = "failed"

// texts returns the texts that a value matches: ids, a canonical form, or the value itself. A value that the column cannot have is an
// error.
func (c *compiler) texts(w *Word, f Field, v Value) ([]string, error) {
	possible := schema.ValuesOf(f.Column.Name)
	switch {
	case StandsForIDs(w.Key):
		ids, err := c.lookups.IDs(w.Key, v.Text)
		if errors.Is(err, answer.ErrInput) {
			return nil, w.fail(v, "%v", err)
		}
		return ids, err
	case f.Column.Name == "precision" && !v.quoted:
		canonical, err := schema.CanonicalPrecision(v.Text)
		if err != nil {
			return nil, w.fail(v, "want one of %s", strings.Join(possible, " "))
		}
		return []string{canonical}, nil
	case f.Column.Name == "status" && v.Text == Failed:
		return slices.DeleteFunc(slices.Clone(possible), func(s string) bool { return !schema.Status(s).Failed() }), nil
	case possible != nil && !slices.Contains(possible, v.Text):
		if f.Column.Name == "status" {
			possible = append(slices.Clone(possible), Failed)
		}
		return nil, w.fail(v, "want one of %s", strings.Join(possible, " "))
	case f.Entry != "" && !v.quoted:
		if canonical := schema.CanonicalText(v.Text); canonical != v.Text {
			return []string{v.Text, canonical}, nil
		}
	}
	return []string{v.Text}, nil
}

// match compiles ~ . Go's parser checks the expression first, because its errors have a position.
func (c *compiler) match(w *Word, f Field) (string, error) {
	v := w.Values[0]
	list := f.Kind() == schema.KindList && f.Column.Children[0].Kind == schema.KindString
	if f.Kind() != schema.KindString && !list {
		return "", w.fail(v, "a regular expression needs text, and %s is not text", w.Key)
	}
	switch {
	case w.Key == KeyBaseline:
		return "", w.fail(v, "%s takes = and != only", w.Key)
	case StandsForIDs(w.Key):
		return "", w.fail(v, "%s takes = and != only; %s takes a regular expression", w.Key, f.Column.Name)
	}
	if _, err := regexp.Compile(v.Text); err != nil {
		var bad *syntax.Error
		if errors.As(err, &bad) {
			v.offset += max(strings.Index(v.Text, bad.Expr), 0)
			return "", w.fail(v, "%s: %s", bad.Code, answer.Brief(bad.Expr))
		}
		return "", w.fail(v, "%v", err)
	}
	c.Regexes = append(c.Regexes, v.Text)
	x := c.expression(f)
	if list {
		return "len(list_filter(" + x + ", lambda t: regexp_matches(t, " + c.bind(v.Text) + "))) > 0", nil
	}
	return "regexp_matches(" + x + ", " + c.bind(v.Text) + ")", nil
}

// order compiles < <= > >= .
func (c *compiler) order(w *Word, f Field) (string, error) {
	v := w.Values[0]
	switch f.Kind() {
	case schema.KindInt, schema.KindReal:
		return c.compare(w, f, w.Op, v)
	case schema.KindTime:
		t, _, err := parseTime(v.Text)
		if err != nil {
			return "", w.fail(v, "%v", err)
		}
		return fmt.Sprintf("epoch_us(%s) %s %s", c.expression(f), w.Op, c.bind(t.UnixMicro())), nil
	case schema.KindString:
		return c.orderText(w, f, v)
	default:
		return "", w.fail(v, "%s cannot be compared with < or >", w.Key)
	}
}

func (c *compiler) orderText(w *Word, f Field, v Value) (string, error) {
	if StandsForIDs(w.Key) {
		return "", w.fail(v, "%s takes = and != only; use started_at with < and >", w.Key)
	}
	n, err := c.number(w, f, v)
	if err != nil {
		return "", err
	}
	x := c.expression(f)
	c.NotNumbers = append(c.NotNumbers, NotNumber{w.Key, fmt.Sprintf("(%s IS NOT NULL AND %s IS NULL)", x, duck.Number(x))})
	text := fmt.Sprintf("%s %s %s", duck.Number(x), w.Op, c.bind(n.Value))
	if math.Abs(n.Value) < exactIntegers || !wholeNumber.MatchString(v.Text) {
		return text, nil // doubles are exact here
	}
	whole := fmt.Sprintf("TRY_CAST(%s AS HUGEINT) %s %s::HUGEINT", x, w.Op, c.bind(v.Text))
	return fmt.Sprintf("CASE WHEN regexp_full_match(%s, '%s') THEN %s ELSE %s END", x, wholeNumber, whole, text), nil
}

// exactIntegers is the number from which on a double does not represent every integer. wholeNumber matches integers that fit into a
// HUGEINT.
const exactIntegers = 1 << 53

var wholeNumber = lazyregexp.MustCompile(`^-?[0-9]{1,38}$`)
