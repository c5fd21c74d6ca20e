package query

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// condition is a compiled filter: SQL over columns of runs with parameters, never text of a user.
type condition struct {
	text       string // empty: every run
	reach      string // what would match if any order held of values that are no numbers; the text where none is asked for
	args       []any
	columns    []*schema.Column // that the text reads
	notNumbers []notNumber
	regexes    []string // that DuckDB has to accept too
	unsure     []unsure
	words      []compiledWord
	wordArgs   int // so many of the first args belong to words
}

// compiledWord is a word of a filter and its SQL.
type compiledWord struct {
	*word
	field field
	text  string
	wants bool // it says what runs have, not what they have not
}

// notNumber counts the values of a key that an ordering cannot use.
type notNumber struct {
	key  string
	text string // SQL: this row has such a value
}

// unsure is what may be a slip of the pen. It is looked at only when nothing matches, for that needs a look at all runs.
type unsure struct {
	word   *word
	offset int
	field  field
	unit   string // in place of the field: a unit that is not known
}

// compiler makes a condition of a filter.
type compiler struct {
	condition
	lookup lookup
	seen   map[string]bool // columns
	places map[any]string  // parameters by value
	within int             // of how many nots a node stands in
}

// lookup finds the ids that the value of run= or session= stands for; none is not an error.
type lookup func(key, value string) ([]string, error)

// compileFilter makes a condition of a filter's text. Errors wrap ErrInput, or are the lookup's.
func compileFilter(text string, ids lookup) (condition, error) {
	n, err := parseFilter(text)
	if err != nil || n == nil {
		return condition{}, err
	}
	c := &compiler{lookup: ids, seen: map[string]bool{}, places: map[any]string{}}
	if c.text, c.reach, err = c.node(n); err != nil {
		return condition{}, err
	}
	c.notNumbers, c.wordArgs = eachOnce(c.notNumbers), len(c.args)
	return c.condition, nil
}

// eachOnce leaves out what is there twice, as of a key with two bounds: its values are counted once.
func eachOnce(all []notNumber) []notNumber {
	var some []notNumber
	for _, n := range all {
		if !slices.Contains(some, n) {
			some = append(some, n)
		}
	}
	return some
}

// node compiles a node: its text and its reach. What an order cannot tell of, not matches, and that is its reach, too.
func (c *compiler) node(n *node) (text, reach string, err error) {
	if n.kind == tokenWord {
		return c.word(n.word)
	}
	if n.kind == tokenNot {
		c.within++
		defer func() { c.within-- }()
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

// not is the exact complement, NULL included.
func not(condition string) string { return "NOT coalesce(" + condition + ", false)" }

func (c *compiler) word(w *word) (text, reach string, err error) {
	f := fieldOf(w.key)
	op, negated := strings.CutPrefix(w.op, "!")
	known := len(c.notNumbers)
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
	if f.bare {
		c.unsure = append(c.unsure, unsure{word: w, offset: w.offset, field: f})
	}
	if negated {
		text = not(text)
	}
	c.words = append(c.words, compiledWord{w, f, text, c.within == 0 && !negated})
	reach = text
	for _, n := range c.notNumbers[known:] {
		reach = joined([]string{reach, n.text}, " OR ")
	}
	return text, reach, nil
}

func (w *word) fail(v value, format string, args ...any) error {
	return inputError(w.text, v.offset, format, args...)
}

// bind makes a value a parameter and gives its place in the SQL text.
func (c *compiler) bind(v any) string {
	place, ok := c.places[v]
	if !ok {
		c.args = append(c.args, v)
		place = "$" + strconv.Itoa(len(c.args))
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
		c.columns = append(c.columns, column)
	}
	return identifier(column.Name)
}

// expression is the SQL of a field.
func (c *compiler) expression(f field) string {
	if f.entry == "" {
		return c.read(f.column)
	}
	return c.read(f.column) + "[" + c.bind(f.entry) + "]"
}

// equal compiles = with its values, one of which has to be equal.
func (c *compiler) equal(w *word, f field) (string, error) {
	x := c.expression(f)
	var alternatives []string
	for _, v := range w.values {
		if v.text == "null" && !v.quoted && w.key != keyBaseline {
			alternatives = append(alternatives, x+" IS NULL")
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

func (c *compiler) equalTo(w *word, f field, v value) (string, error) {
	x := c.expression(f)
	switch f.kind() {
	case schema.KindInt, schema.KindReal:
		return c.compare(w, f, "=", v)
	case schema.KindBool:
		if v.quoted || v.text != "true" && v.text != "false" {
			return "", w.fail(v, "want true, false or null")
		}
		return x + " = " + v.text, nil
	case schema.KindList:
		if f.column.Children[0].Kind != schema.KindString {
			return "", w.fail(v, "%s holds more than text: only null can be asked for", f.column.Name)
		}
		return "list_contains(" + x + ", " + c.bind(v.text) + ")", nil
	case schema.KindMap:
		return "", w.fail(v, "%s holds several values: say which, as in %s.name=...", w.key, prefixOf(f.column.Name))
	case schema.KindTime:
		return "", w.fail(v, "compare a time with < <= > or >=")
	}
	texts, err := c.texts(w, f, v)
	if err != nil {
		return "", err
	}
	if len(texts) == 0 {
		return "false", nil
	}
	places := make([]string, len(texts))
	for i, text := range texts {
		places[i] = c.bind(text)
	}
	return x + " IN (" + strings.Join(places, ", ") + ")", nil
}

func prefixOf(column string) string {
	for prefix, name := range mapPrefixes {
		if name == column {
			return prefix
		}
	}
	return column
}

// texts are the texts that a value stands for.
func (c *compiler) texts(w *word, f field, v value) ([]string, error) {
	switch {
	case standsForIDs(w.key):
		ids, err := c.lookup(w.key, v.text)
		if errors.Is(err, ErrInput) {
			return nil, w.fail(v, "%v", err)
		}
		return ids, err
	case v.quoted:
		return []string{v.text}, nil
	case f.entry != "":
		if canonical := canonicalText(v.text); canonical != v.text {
			return []string{v.text, canonical}, nil
		}
	case f.column.Name == "precision":
		if canonical, err := schema.CanonicalPrecision(v.text); err == nil {
			return []string{canonical}, nil
		}
	}
	return []string{v.text}, nil
}

// match compiles ~ . Go's parser sees the expression first, since it knows where a mistake is.
func (c *compiler) match(w *word, f field) (string, error) {
	v := w.values[0]
	list := f.kind() == schema.KindList && f.column.Children[0].Kind == schema.KindString
	if f.kind() != schema.KindString && !list {
		return "", w.fail(v, "a regular expression is for text, %s is none", w.key)
	}
	switch {
	case w.key == keyBaseline:
		return "", w.fail(v, "%s takes = and != only", w.key)
	case standsForIDs(w.key):
		return "", w.fail(v, "%s takes = and != only; %s takes a regular expression", w.key, f.column.Name)
	}
	if _, err := regexp.Compile(v.text); err != nil {
		var bad *syntax.Error
		if errors.As(err, &bad) {
			v.offset += max(strings.Index(v.text, bad.Expr), 0)
			return "", w.fail(v, "%s: %s", bad.Code, brief(bad.Expr))
		}
		return "", w.fail(v, "%v", err)
	}
	c.regexes = append(c.regexes, v.text)
	x := c.expression(f)
	if list {
		return "len(list_filter(" + x + ", lambda t: regexp_matches(t, " + c.bind(v.text) + "))) > 0", nil
	}
	return "regexp_matches(" + x + ", " + c.bind(v.text) + ")", nil
}

// order compiles < <= > >= .
func (c *compiler) order(w *word, f field) (string, error) {
	v := w.values[0]
	switch f.kind() {
	case schema.KindInt, schema.KindReal:
		return c.compare(w, f, w.op, v)
	case schema.KindTime:
		t, err := parseTime(v.text)
		if err != nil {
			return "", w.fail(v, "%v", err)
		}
		return fmt.Sprintf("epoch_us(%s) %s %s", c.expression(f), w.op, c.bind(t.UnixMicro())), nil
	case schema.KindString:
		return c.orderText(w, f, v)
	default:
		return "", w.fail(v, "%s has no order", w.key)
	}
}

func (c *compiler) orderText(w *word, f field, v value) (string, error) {
	if standsForIDs(w.key) {
		return "", w.fail(v, "%s takes = and != only; started_at has an order", w.key)
	}
	n, err := c.number(w, f, v)
	if err != nil {
		return "", err
	}
	x := c.expression(f)
	c.notNumbers = append(c.notNumbers, notNumber{w.key, fmt.Sprintf("(%s IS NOT NULL AND %s IS NULL)", x, num(x))})
	text := fmt.Sprintf("%s %s %s", num(x), w.op, c.bind(n.Value))
	if math.Abs(n.Value) < exactIntegers || !wholeNumber.MatchString(v.text) {
		return text, nil // no integer on the other side of the value rounds to this one
	}
	whole := fmt.Sprintf("TRY_CAST(%s AS HUGEINT) %s %s::HUGEINT", x, w.op, c.bind(v.text))
	return fmt.Sprintf("CASE WHEN regexp_full_match(%s, '%s') THEN %s ELSE %s END", x, wholeNumber, whole, text), nil
}

// exactIntegers is from where on a real number does not hold every integer; wholeNumber are those that a HUGEINT holds.
const exactIntegers = 1 << 53

var wholeNumber = regexp.MustCompile(`^-?[0-9]{1,38}$`)
