package expression

import (
	"fmt"
	"reflect"

	"github.com/expr-lang/expr/builtin"
)

// compiled is the function in the form that the library needs. A NULL result becomes a NullError.
func (f Function) compiled() *builtin.Function {
	return &builtin.Function{
		Name: called(f.Name),
		Validate: func(args []reflect.Type) (reflect.Type, error) {
			for i, arg := range args {
				wanted := f.kindAt(i).checked().Nature().Type
				if arg != nil && arg.Kind() != reflect.Interface && wanted != nil && arg != wanted {
					return nil, fmt.Errorf("%s, got %s", f.wants(), goKinds.Replace(arg.String()))
				}
			}
			if gives := f.Gives.checked().Nature().Type; gives != nil {
				return gives, nil
			}
			return reflect.TypeFor[any](), nil
		},
		Func: func(args ...any) (any, error) {
			for i, arg := range args {
				if wanted := f.kindAt(i); wanted != Any && KindOf(arg) != wanted {
					return nil, fmt.Errorf("%s, got %s", f.wants(), KindOf(arg))
				}
			}
			value := f.Call(args)
			if value == nil {
				return nil, &NullError{What: f.describe(args)}
			}
			return value, nil
		},
	}
}

// kindAt is the kind of an argument.
func (f Function) kindAt(i int) Kind { return f.Takes[min(i, len(f.Takes)-1)] }

// wants describes the arguments of the function.
func (f Function) wants() string {
	text := f.Name + " wants "
	for i, kind := range f.Takes {
		if i > 0 {
			text += ", "
		}
		text += kind.String()
	}
	if f.Variadic {
		text += ", or several"
	}
	return text
}

// describe is a call with its arguments, for people.
func (f Function) describe(args []any) string {
	word := func(arg any) string {
		if text, ok := arg.(string); ok {
			return fmt.Sprintf("%q", shorten(text))
		}
		return fmt.Sprint(arg)
	}
	text := f.Name + "("
	for i, arg := range args {
		if i > 0 {
			text += ", "
		}
		text += word(arg)
	}
	return text + ")"
}
