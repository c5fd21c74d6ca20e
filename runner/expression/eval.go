package expression

import (
	"errors"
	"fmt"

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

// explain takes an error of an evaluation out of the library's, which shows where in the text it was.
func explain(err error) error {
	if null, ok := errors.AsType[*NullError](err); ok {
		return null
	}
	if in, ok := errors.AsType[*file.Error](err); ok {
		return &positionError{in.Line, in.Column + 1, goKinds.Replace(in.Message)}
	}
	return &positionError{Message: err.Error()}
}
