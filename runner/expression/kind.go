package expression

import (
	"reflect"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/types"
)

// Kind is the kind of a value. Every value may also be NULL.
type Kind int

// The kinds.
const (
	Any     Kind = iota // one of the others, which is known when it is evaluated
	Number              // float64
	Text                // string
	Boolean             // bool
)

// String returns the kind as it appears in errors.
func (k Kind) String() string {
	switch k {
	case Number:
		return "a number"
	case Text:
		return "text"
	case Boolean:
		return "true or false"
	}
	return "a value"
}

// KindOf is the kind of a value; Any for nil and for types that expressions do not have.
func KindOf(value any) Kind {
	switch value.(type) {
	case float64:
		return Number
	case string:
		return Text
	case bool:
		return Boolean
	}
	return Any
}

// checked is the kind as the library's type checker knows it.
func (k Kind) checked() types.Type {
	switch k {
	case Number:
		return types.Float64
	case Text:
		return types.String
	case Boolean:
		return types.Bool
	}
	return types.Any
}

// kindOf is the kind of a node whose type is checked.
func kindOf(n ast.Node) Kind {
	switch n.Type().Kind() {
	case reflect.Float64:
		return Number
	case reflect.String:
		return Text
	case reflect.Bool:
		return Boolean
	}
	return Any
}

// checkKinds refuses values of several kinds where only one makes sense: on both sides of ??, after ? and :, in a list.
func (c *compilation) checkKinds(n ast.Node) error {
	var alike []ast.Node
	switch n := n.(type) {
	case *ast.BinaryNode:
		if n.Operator == "??" {
			alike = []ast.Node{n.Left, n.Right}
		}
	case *ast.ConditionalNode:
		alike = []ast.Node{n.Exp1, n.Exp2}
	case *ast.ArrayNode:
		alike = n.Nodes
	}
	first := Any
	for _, part := range alike {
		kind := kindOf(part)
		if first != Any && kind != Any && kind != first {
			return c.errorf(part, "want %s, as before, got %s", first, kind)
		}
		if first == Any {
			first = kind
		}
	}
	for _, child := range children(n) {
		if err := c.checkKinds(*child); err != nil {
			return err
		}
	}
	return nil
}
