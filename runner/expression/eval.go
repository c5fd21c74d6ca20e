package expression

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"
)

// Evaluator evaluates an expression repeatedly. Only one goroutine at a time may use it.
type Evaluator struct {
	of *Expression
	vm vm.VM
}

// Evaluator returns a new evaluator.
func (e *Expression) Evaluator() *Evaluator {
	return &Evaluator{of: e, vm: vm.VM{MemoryBudget: maxMemory}}
}

// Eval returns the value of the expression: a float64, a string or a bool. values are the values of its names, float64, string or bool
// according to their kinds; a missing one is NULL. The map is not kept and may be reused. If the value is NULL, the error is a
// *NullError.
func (v *Evaluator) Eval(values map[string]any) (any, error) {
	value, err := v.vm.Run(v.of.program, values)
	if err != nil {
		return nil, explain(err)
	}
	if number, ok := value.(float64); ok && finite(number) == nil {
		return nil, &NullError{What: v.of.text}
	}
	if kind := KindOf(value); v.of.gives != Any && kind != v.of.gives {
		return nil, &positionError{Message: fmt.Sprintf("want %s, got %s", v.of.gives, kind)}
	}
	return value, nil
}

// explain extracts the error of an evaluation from the library's error, which also shows its position.
func explain(err error) error {
	if null, ok := errors.AsType[*NullError](err); ok {
		return null
	}
	if in, ok := errors.AsType[*file.Error](err); ok {
		return &positionError{in.Line, in.Column + 1, goKinds.Replace(in.Message)}
	}
	return &positionError{Message: err.Error()}
}

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

// functions are the functions of numbers and texts.
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

// finite returns a number; NULL if it is infinite or NaN.
func finite(x float64) any {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return x
}

// compareVersions orders two texts as versions: numbers in them count as numbers, so that 2.9 is before 2.10, and missing parts count as
// 0, so that 2 and 2.0 are equal. A release comes after its previews (2.0rc1) and before its post-releases (2.0.post1); a build of it
// equals the release (2.0+cu128). Texts without numbers are in alphabetical order, ignoring case.
func compareVersions(a, b string) int {
	a, b = strings.ToLower(a), strings.ToLower(b)
	a, builtA, _ := strings.Cut(a, "+")
	b, builtB, _ := strings.Cut(b, "+")
	first := true
	for a != "" || b != "" {
		x, restA := nextPart(a)
		y, restB := nextPart(b)
		if order := compareParts(x, y, first); order != 0 {
			return order
		}
		a, b, first = restA, restB, false
	}
	if builtA == "" || builtB == "" {
		return 0
	}
	return strings.Compare(builtA, builtB)
}

// between are the characters between the parts of a version.
const between = "._- "

// nextPart takes the next number, or the next letters, from a version.
func nextPart(text string) (part, rest string) {
	text = strings.TrimLeft(text, between)
	n := 0
	for n < len(text) && isDigit(text[n]) == isDigit(text[0]) && !strings.ContainsRune(between, rune(text[n])) {
		n++
	}
	return text[:n], text[n:]
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// previews are the words of versions that come before the release, in their order.
var previews = []string{"dev", "a", "alpha", "b", "beta", "c", "pre", "preview", "rc"}

// compareParts orders two parts. With first, they are no previews; an empty one is the end of its version.
func compareParts(x, y string, first bool) int {
	if byRank := cmp.Compare(rank(x, first), rank(y, first)); byRank != 0 {
		return byRank
	}
	if i, k := slices.Index(previews, x), slices.Index(previews, y); i >= 0 && k >= 0 {
		return cmp.Compare(i, k)
	}
	x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
	if x != "" && isDigit(x[0]) {
		return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y))
	}
	return strings.Compare(x, y)
}

// rank orders parts of different kinds: previews, the end of a version or 0, other words, numbers, words at the beginning.
func rank(part string, first bool) int {
	zero := strings.Trim(part, "0") == ""
	switch {
	case zero && !(first && part == ""):
		return 1
	case part == "":
		return 0
	case isDigit(part[0]):
		return 3
	case first:
		return 4
	case slices.Contains(previews, part):
		return 0
	}
	return 2
}
