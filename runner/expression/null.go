package expression

import (
	"errors"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
)

// NullError says that an expression has no value, because something that it needs is NULL.
type NullError struct {
	Name string // of the value that is not known; empty: it is the result of a function or an operator
	What string // what is NULL, as people read it
}

// Error names what is NULL.
func (e *NullError) Error() string { return e.What + " is NULL" }

// need returns its second argument, and refuses nil: the first is its name.
var need = &builtin.Function{
	Name: "need()",
	Func: func(args ...any) (any, error) {
		if args[1] == nil {
			name := args[0].(string)
			return nil, &NullError{Name: name, What: name}
		}
		return args[1], nil
	},
}

// try evaluates a program that is part of another, in the same environment: nil where something in it is NULL.
var try = &builtin.Function{
	Name: "try()",
	Func: func(args ...any) (any, error) {
		value, err := (&vm.VM{MemoryBudget: maxMemory}).Run(args[0].(*vm.Program), args[1])
		if _, null := errors.AsType[*NullError](err); null {
			return nil, nil
		}
		return value, err
	},
}

// must makes a tree whose value is never nil: each name that may be nil is wrapped in need. The walk is from the root down,
// because what a name needs depends on what stands above it.
func (c *compilation) must(n ast.Node) (ast.Node, error) {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return wrapped(n, need.Name, at(n, &ast.StringNode{Value: n.Value}), n), nil
	case *ast.NilNode:
		return wrapped(n, need.Name, at(n, &ast.StringNode{Value: "nil"}), n), nil
	case *ast.BinaryNode:
		return c.mustBinary(n)
	}
	for _, child := range children(n) {
		guarded, err := c.must(*child)
		if err != nil {
			return nil, err
		}
		*child = guarded
	}
	return n, nil
}

func (c *compilation) mustBinary(n *ast.BinaryNode) (ast.Node, error) {
	left, right := c.must, c.must
	_, nilLeft := n.Left.(*ast.NilNode)
	_, nilRight := n.Right.(*ast.NilNode)
	switch equality := n.Operator == "==" || n.Operator == "!="; {
	case n.Operator == "??":
		left = c.may
	case equality && (nilLeft || nilRight):
		left, right = c.may, c.may
	}
	var err error
	if n.Left, err = left(n.Left); err != nil {
		return nil, err
	}
	if n.Right, err = right(n.Right); err != nil {
		return nil, err
	}
	word := n.Operator
	if word == "^" {
		word = "**"
	}
	if f, known := operators[word]; known && !ordersNumbers(n) {
		return wrapped(n, f.Name, n.Left, n.Right), nil
	}
	return n, nil
}

// ordersNumbers reports whether a node orders numbers, which the library does correctly and faster.
func ordersNumbers(n *ast.BinaryNode) bool {
	return strings.ContainsAny(n.Operator, "<>") && kindOf(n.Left) == Number && kindOf(n.Right) == Number
}

// may makes a tree whose value is nil where something in it is NULL.
func (c *compilation) may(n ast.Node) (ast.Node, error) {
	switch n.(type) {
	case *ast.IdentifierNode, *ast.NilNode, *ast.FloatNode, *ast.StringNode, *ast.BoolNode:
		return n, nil
	}
	part, err := c.must(n)
	if err != nil {
		return nil, err
	}
	program, err := c.program(&parser.Tree{Node: part, Source: file.NewSource(c.text)})
	if err != nil {
		return nil, err
	}
	return wrapped(n, try.Name, &ast.ConstantNode{Value: program}, &ast.IdentifierNode{Value: "$env"}), nil
}

// wrapped is a call that stands in place of a node, and has its kind.
func wrapped(n ast.Node, function string, args ...ast.Node) ast.Node {
	call := &ast.CallNode{Callee: at(n, &ast.IdentifierNode{Value: function}), Arguments: args}
	call.SetLocation(n.Location())
	call.SetNature(*n.Nature())
	return call
}
