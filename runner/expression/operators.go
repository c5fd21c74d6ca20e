package expression

import (
	"fmt"
	"math"

	"github.com/expr-lang/expr/builtin"
)

// operators are the functions that stand for operators: those whose result may be NULL, because it is no number, and those
// that order values.
var operators = map[string]*builtin.Function{
	"+":  operator("+", func(x, y float64) any { return finite(x + y) }, func(a, b string) any { return a + b }),
	"-":  operator("-", func(x, y float64) any { return finite(x - y) }, nil),
	"*":  operator("*", func(x, y float64) any { return finite(x * y) }, nil),
	"/":  operator("/", func(x, y float64) any { return finite(x / y) }, nil),
	"**": operator("**", func(x, y float64) any { return finite(math.Pow(x, y)) }, nil),
	"<":  ordering("<", func(order int) bool { return order < 0 }),
	"<=": ordering("<=", func(order int) bool { return order <= 0 }),
	">":  ordering(">", func(order int) bool { return order > 0 }),
	">=": ordering(">=", func(order int) bool { return order >= 0 }),
}

// operator is the function of two numbers or, where texts is not nil, of two texts.
func operator(word string, numbers func(x, y float64) any, texts func(a, b string) any) *builtin.Function {
	return &builtin.Function{
		Name: called(word),
		Func: func(args ...any) (any, error) {
			x, isNumber := args[0].(float64)
			y, areNumbers := args[1].(float64)
			a, isText := args[0].(string)
			b, areTexts := args[1].(string)
			var value any
			switch {
			case isNumber && areNumbers:
				value = numbers(x, y)
			case isText && areTexts && texts != nil:
				value = texts(a, b)
			default:
				return nil, fmt.Errorf("%s is not supported between %s and %s", word, KindOf(args[0]), KindOf(args[1]))
			}
			if value == nil {
				return nil, &NullError{What: fmt.Sprint(args[0], " ", word, " ", args[1])}
			}
			return value, nil
		},
	}
}

// ordering compares two numbers, or two texts as CompareVersions does.
func ordering(word string, holds func(order int) bool) *builtin.Function {
	numbers := func(x, y float64) any {
		switch {
		case x < y:
			return holds(-1)
		case x > y:
			return holds(1)
		}
		return holds(0)
	}
	return operator(word, numbers, func(a, b string) any { return holds(compareVersions(a, b)) })
}
