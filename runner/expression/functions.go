package expression

import (
	"math"
	"slices"
	"strings"
)

// Function is a function that expressions may call. Call gets one value for each kind in Takes, none of them nil; if it is Variadic, one
// or more of the last kind. It returns a value of the kind Gives, or nil for NULL.
type Function struct {
	Name     string
	Takes    []Kind
	Variadic bool
	Gives    Kind
	Meaning  string
	Call     func(args []any) any
}

// Functions lists the functions that every expression may call, in alphabetical order.
func Functions() []Function { return slices.Clone(functions) }

// functions are those of numbers and texts.
var functions = []Function{
	ofNumber("abs", "the absolute value of x", math.Abs),
	ofNumber("ceil", "x rounded up to an integer", math.Ceil),
	ofNumber("exp", "e to the power x", math.Exp),
	ofNumber("floor", "x rounded down to an integer", math.Floor),
	{Name: "len", Takes: []Kind{Text}, Gives: Number, Meaning: "the number of characters in a text", Call: func(args []any) any {
		return float64(len([]rune(args[0].(string))))
	}},
	ofNumber("log", "the natural logarithm of x", math.Log),
	ofNumber("log10", "the logarithm of x to the base 10", math.Log10),
	ofNumber("log2", "the logarithm of x to the base 2", math.Log2),
	ofText("lower", "the text in lower case", strings.ToLower),
	ofNumbers("max", "the largest of its arguments", math.Max),
	ofNumbers("min", "the smallest of its arguments", math.Min),
	{Name: "mod", Takes: []Kind{Number, Number}, Gives: Number, Meaning: "the remainder of x / y, with the sign of x", Call: func(args []any) any {
		return finite(math.Mod(args[0].(float64), args[1].(float64)))
	}},
	ofNumber("round", "x rounded to the nearest integer, halves away from 0", math.Round),
	ofNumber("sqrt", "the square root of x", math.Sqrt),
	ofText("trim", "the text without white space at its ends", strings.TrimSpace),
	ofText("upper", "the text in upper case", strings.ToUpper),
}

func ofNumber(name, meaning string, f func(float64) float64) Function {
	return Function{Name: name, Takes: []Kind{Number}, Gives: Number, Meaning: meaning, Call: func(args []any) any {
		return finite(f(args[0].(float64)))
	}}
}

func ofNumbers(name, meaning string, f func(x, y float64) float64) Function {
	return Function{Name: name, Takes: []Kind{Number}, Variadic: true, Gives: Number, Meaning: meaning, Call: func(args []any) any {
		value := args[0].(float64)
		for _, arg := range args[1:] {
			value = f(value, arg.(float64))
		}
		return value
	}}
}

func ofText(name, meaning string, f func(string) string) Function {
	return Function{Name: name, Takes: []Kind{Text}, Gives: Text, Meaning: meaning, Call: func(args []any) any {
		return f(args[0].(string))
	}}
}

// finite is a number, NULL where it is infinite or none.
func finite(x float64) any {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return x
}
