package expression

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/optimizer"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/types"
	"github.com/expr-lang/expr/vm"
)

// What one expression may be. What a person writes is far below.
const (
	maxText   = 4096 // bytes
	maxNodes  = 500
	maxMemory = 1000 // elements of lists
)

// Scope defines what an expression may name: values by name with their kinds, and functions in addition to Functions.
type Scope struct {
	Names     map[string]Kind
	Unclear   map[string]string // names that could be two things, and what to write instead
	Functions []Function
	// Canonical gives, for a name whose values have one spelling, that of a text; other texts are returned as they are. A comparison with
	// another spelling would never be true, so it is refused.
	Canonical map[string]func(text string) string
}

// Expression is a compiled expression. Several goroutines may make evaluators of it.
type Expression struct {
	text    string
	program *vm.Program
	names   []string
	gives   Kind
}

// positionError is an error in an expression, with its position.
type positionError struct {
	Line, Column int // from 1, the column in characters; 0: nowhere in particular
	Message      string
}

// Error is the place within the expression and what is wrong there.
func (e *positionError) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Message)
}

// Compile reads an expression that must give a value of a kind, which may be Any. Errors contain the position in the text.
func Compile(text string, scope Scope, gives Kind) (*Expression, error) {
	if err := checkText(text); err != nil {
		return nil, err
	}
	c := compilation{text: text, scope: scope, functions: map[string]Function{}, config: conf.CreateNew()}
	c.configure()
	tree, err := parser.ParseWithConfig(text, c.config)
	if err != nil {
		return nil, c.translate(err)
	}
	if tree.Node, err = c.resolve(tree.Node); err != nil {
		return nil, err
	}
	if _, err := checker.Check(tree, c.config); err != nil {
		return nil, c.translate(err)
	}
	if err := c.checkKinds(tree.Node); err != nil {
		return nil, err
	}
	if kind := kindOf(tree.Node); gives != Any && kind != Any && kind != gives {
		return nil, &positionError{1, 1, fmt.Sprintf("want %s, got %s", gives, kind)}
	}
	program, err := c.guarded(tree)
	if err != nil {
		return nil, c.translate(err)
	}
	return &Expression{text: text, program: program, names: c.names, gives: gives}, nil
}

// String returns the expression as it was written.
func (e *Expression) String() string { return e.text }

// Names lists the names in the expression, each once, in order of appearance.
func (e *Expression) Names() []string { return slices.Clone(e.names) }

// compilation is what becomes of one text.
type compilation struct {
	text      string
	scope     Scope
	config    *conf.Config
	functions map[string]Function // by the name that a program has for them
	names     []string
}

// called is the name that a program has for a function: no value has it, whatever people call their axes.
func called(function string) string { return function + "()" }

// configure sets the library up: our names, our functions, nothing else.
func (c *compilation) configure() {
	c.config.MaxNodes, c.config.DisableIfOperator = maxNodes, true
	for name := range c.config.Builtins {
		c.config.Disabled[name] = true
	}
	clear(c.config.Builtins)
	names := make(types.Map, len(c.scope.Names))
	for name, kind := range c.scope.Names {
		names[name] = kind.checked()
	}
	c.config.WithEnv(names)
	for _, f := range slices.Concat(functions, c.scope.Functions) {
		c.functions[f.Name] = f
		c.config.Functions[called(f.Name)] = f.compiled()
	}
	for _, f := range slices.AppendSeq([]*builtin.Function{need, try}, maps.Values(operators)) {
		c.config.Functions[f.Name] = f
	}
}

// guarded makes the program of a tree whose kinds are checked.
func (c *compilation) guarded(tree *parser.Tree) (*vm.Program, error) {
	node, err := c.must(tree.Node)
	if err != nil {
		return nil, err
	}
	return c.program(&parser.Tree{Node: node, Source: tree.Source})
}

func (c *compilation) program(tree *parser.Tree) (*vm.Program, error) {
	if err := optimizer.Optimize(&tree.Node, c.config); err != nil {
		return nil, err
	}
	return compiler.Compile(tree, c.config)
}

// errorf is an error at a node.
func (c *compilation) errorf(at ast.Node, format string, args ...any) error {
	e := &file.Error{Location: at.Location()}
	e.Bind(file.NewSource(c.text))
	return &positionError{e.Line, e.Column + 1, fmt.Sprintf(format, args...)}
}

// goKinds are words of the library's messages, and what they are called here.
var goKinds = strings.NewReplacer("float64", "number", "string", "text", "bool", "true or false", "interface {}", "any value",
	"mismatched types", "mismatched kinds", "mismatched type", "mismatched kind", "[]any", "list", "[]interface {}", "list")

// translate adds the position to an error of the library and uses our words.
func (c *compilation) translate(err error) error {
	if own, ok := errors.AsType[*positionError](err); ok {
		return own
	}
	if in, ok := errors.AsType[*file.Error](err); ok {
		message := inOurWords(strings.TrimSpace(in.Message))
		return &positionError{in.Line, in.Column + 1, message}
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return &positionError{Message: line}
}

// inOurWords is a message of the library as people need it.
func inOurWords(message string) string {
	switch {
	case strings.HasPrefix(message, `unexpected token Operator("=")`):
		return "= does not compare: write =="
	case strings.HasPrefix(message, "invalid float literal"):
		return "the number is too large"
	case strings.HasPrefix(message, "bad number syntax"):
		return message + ": write numbers without a unit (8GiB is 8 * 2 ** 30)"
	case strings.HasPrefix(message, "invalid operation: not (mismatched"):
		return "not needs true or false, and is applied before == and <: write not (a == b)"
	case strings.Contains(message, "mismatched"):
		return goKinds.Replace(message)
	}
	return message
}

// nameList are the names there are, sorted.
func (s Scope) nameList() []string { return slices.Sorted(maps.Keys(s.Names)) }
