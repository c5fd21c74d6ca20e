package sweep

import (
	"math"
	"time"
)

// Kind is the type of a value. Each kind has its own reader.
type Kind int

// The kinds of values.
const (
	Text     Kind = iota // text; a number must be quoted
	Scalar               // a single value, as it is written; no list and no map
	Any                  // any value except null
	Nothing              // null: a key without a value
	Word                 // one of Words
	Switch               // true or false
	Integer              // from Min to Max
	Number               // above 0, up to Max
	Amount               // 0 or more
	Share                // a share between 0 and 1: 1% or 0.01
	Duration             // a time above 0 with a unit: 500ms
	List                 // at least Min of Items
	Map                  // at least Min of Items, under any name or those of Keys
	Object               // only the names of Keys
	Either               // one of Among
)

// Value describes the values that a key may have, as far as they do not depend on other keys.
type Value struct {
	Kind       Kind
	Expression bool // an expression that gives a number is allowed too
	Words      []string
	Min, Max   int64
	Pattern    string // for a Text, or a Scalar that is text
	Items      *Value
	Keys       []Key
	Among      []Value
}

// Values that several keys have.
var (
	textValue     = Value{Kind: Text}
	scalarValue   = Value{Kind: Scalar}
	anyValue      = Value{Kind: Any}
	nothingValue  = Value{Kind: Nothing}
	switchValue   = Value{Kind: Switch}
	amountValue   = Value{Kind: Amount}
	durationValue = Value{Kind: Duration}
	sizeValue     = Value{Kind: Integer, Min: 1, Max: math.MaxInt64}
	shareValue    = Value{Kind: Share}
	// wordsValue is a program and its arguments. A shell line is refused.
	wordsValue = Value{Kind: Either, Among: []Value{{Kind: Scalar, Pattern: `^\s*\S*\s*$`}, listOf(1, scalarValue)}}
	// expressionValue is an expression. Numbers, true and false are expressions too.
	expressionValue = scalarValue
	// assignmentValue is axis=value.
	assignmentValue = Value{Kind: Text, Pattern: "="}
)

func listOf(minimum int64, items Value) Value {
	return Value{Kind: List, Min: minimum, Items: &items}
}

func mapOf(minimum int64, items Value, known ...Key) Value {
	return Value{Kind: Map, Min: minimum, Items: &items, Keys: known}
}

func oneOf(words ...string) Value { return Value{Kind: Word, Words: words} }

func countOf(minimum int64) Value { return Value{Kind: Integer, Min: minimum, Max: maxCount} }

func eitherOf(among ...Value) Value { return Value{Kind: Either, Among: among} }

// oneOrMany is a value, or a list of such values.
func oneOrMany(minimum int64, v Value) Value { return eitherOf(v, listOf(minimum, v)) }

// read reads a value into the variable that to points to. Other kinds have their own readers.
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
		n, err = f.integer(v.Min, v.Max, "a number")
		*to = int(n)
	case **int64:
		var n int64
		n, err = f.integer(v.Min, v.Max, "a number")
		*to = &n
	case *float64:
		*to, err = f.share()
	case *time.Duration:
		*to, err = f.duration()
	}
	return err
}

// Choices lists the words that a value, or each item of a list, may be; nil: it is not restricted to words.
func (v Value) Choices() []string {
	if v.Kind == Either {
		return v.Among[0].Choices()
	}
	return v.Words
}
