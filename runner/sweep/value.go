package sweep

import (
	"math"
	"time"
)

// Kind is a kind of values, each with a reader of its own.
type Kind int

// The kinds of values.
const (
	Text     Kind = iota // text; what YAML takes for a number has to be quoted
	Scalar               // one value that is no list and no map, as it is written
	Any                  // every value but null
	Nothing              // null: a key without a value
	Word                 // one of Words
	Switch               // true or false
	Integer              // from Least to Most
	Number               // above 0, up to Most
	Amount               // of at least 0
	Share                // a part of a whole, between 0 and 1: 1% or 0.01
	Duration             // a time above 0 with its unit: 500ms
	List                 // of at least Least Items
	Map                  // of at least Least Items under names that people choose, or that Keys know
	Object               // of Keys alone
	Either               // of Among
)

// Value says what may stand for a key, as far as one value tells.
type Value struct {
	Kind        Kind
	Expression  bool // an expression of a number may stand there too
	Words       []string
	Least, Most int64
	Pattern     string // of a Text or Scalar that is text
	Items       *Value
	Keys        []Key
	Among       []Value
}

// Values that stand for several keys.
var (
	textValue     = Value{Kind: Text}
	scalarValue   = Value{Kind: Scalar}
	anyValue      = Value{Kind: Any}
	nothingValue  = Value{Kind: Nothing}
	switchValue   = Value{Kind: Switch}
	amountValue   = Value{Kind: Amount}
	durationValue = Value{Kind: Duration}
	sizeValue     = Value{Kind: Integer, Least: 1, Most: math.MaxInt64}
	shareValue    = Value{Kind: Share}
	// wordsValue is a program and its arguments. A line for a shell is refused.
	wordsValue = Value{Kind: Either, Among: []Value{{Kind: Scalar, Pattern: `^\s*\S*\s*$`}, listOf(1, scalarValue)}}
	// expressionValue is an expression. Numbers and switches are some too.
	expressionValue = scalarValue
	// assignmentValue names a value of an axis.
	assignmentValue = Value{Kind: Text, Pattern: "="}
)

func listOf(least int64, items Value) Value {
	return Value{Kind: List, Least: least, Items: &items}
}

func mapOf(least int64, items Value, known ...Key) Value {
	return Value{Kind: Map, Least: least, Items: &items, Keys: known}
}

func oneOf(words ...string) Value { return Value{Kind: Word, Words: words} }

func countOf(least int64) Value { return Value{Kind: Integer, Least: least, Most: maxCount} }

func eitherOf(among ...Value) Value { return Value{Kind: Either, Among: among} }

// oneOrMany is a value or a list of such.
func oneOrMany(least int64, v Value) Value { return eitherOf(v, listOf(least, v)) }

// read reads a value to where the key has it. Kinds that are not here have readers of their own.
func (v Value) read(f field, to any) (err error) {
	switch to := to.(type) {
	case *bool:
		*to, err = f.boolean()
	case *string:
		if v.Kind == Word {
			*to, err = f.oneOf(v.Words)
		} else {
			*to, err = f.text()
		}
	case *int:
		var n int64
		n, err = f.integer(v.Least, v.Most, "a number")
		*to = int(n)
	case **int64:
		var n int64
		n, err = f.integer(v.Least, v.Most, "a number")
		*to = &n
	case *float64:
		*to, err = f.share()
	case *time.Duration:
		*to, err = f.duration()
	}
	return err
}

// Choices are the words that a value, or each of several, has to be one of; nil where it is no such value.
func (v Value) Choices() []string {
	if v.Kind == Either {
		return v.Among[0].Choices()
	}
	return v.Words
}
