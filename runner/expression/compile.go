package expression

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

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

// Limits of one expression. Expressions in practice are far below them.
const (
	maxText   = 4096 // bytes
	maxNodes  = 500
	maxMemory = 1000 // elements of lists
)

// Scope defines the names in an expression: values by name with their kinds, and functions in addition to Functions.
type Scope struct {
	Names     map[string]Kind
	Unclear   map[string]string // ambiguous names, and the names to write instead
	Functions []Function
	// Canonical returns, for a name whose values have a canonical spelling, the canonical spelling of a text; other texts are returned
	// unchanged. A comparison with another spelling would never be true, so it is refused.
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

// Error returns the position within the expression and the problem there.
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

// compilation is the state of the compilation of one text.
type compilation struct {
	text      string
	scope     Scope
	config    *conf.Config
	functions map[string]Function // by the name that a program has for them
	names     []string
}

// called returns the internal name of a function. No value can have it, whatever the names of axes are.
func called(function string) string { return function + "()" }

// configure configures the library with only our names and functions.
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

// guarded compiles a tree whose kinds are checked.
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

// errorf returns an error at a node.
func (c *compilation) errorf(at ast.Node, format string, args ...any) error {
	e := &file.Error{Location: at.Location()}
	e.Bind(file.NewSource(c.text))
	return &positionError{e.Line, e.Column + 1, fmt.Sprintf(format, args...)}
}

// goKinds replaces Go types in the library's messages by the kinds of expressions.
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

// inOurWords rewrites a message of the library for users.
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

// checkText refuses syntax that the library would read with another meaning.
func checkText(text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return &positionError{Message: "is empty"}
	case len(text) > maxText:
		return &positionError{Message: "is longer than 4096 bytes"}
	case !utf8.ValidString(text):
		return &positionError{Message: "is not UTF-8"}
	}
	line, column := 1, 1
	var quote rune // quote of the string literal at the current position
	escaped := false
	for i, r := range text {
		switch rest := text[i:]; {
		case quote != 0:
			if r == quote && !escaped {
				quote = 0
			}
			escaped = r == '\\' && !escaped && quote != '`'
		case strings.ContainsRune("\"'`", r):
			quote, escaped = r, false
		case strings.HasPrefix(rest, "//"):
			return &positionError{line, column, "// begins a comment: for integer division, write floor(a / b)"}
		case strings.HasPrefix(rest, "/*"):
			return &positionError{line, column, "/* begins a comment: comments are not supported"}
		}
		if column++; r == '\n' {
			line, column = line+1, 1
		}
	}
	return nil
}

// resolve replaces each name by one identifier, each integer by a float64 and each function by ours. It refuses everything outside the
// language.
func (c *compilation) resolve(n ast.Node) (ast.Node, error) {
	switch n := n.(type) {
	case *ast.IdentifierNode, *ast.MemberNode, *ast.ChainNode:
		return c.resolveName(n)
	case *ast.IntegerNode:
		return at(n, &ast.FloatNode{Value: float64(n.Value)}), nil
	case *ast.FloatNode, *ast.StringNode, *ast.BoolNode, *ast.NilNode:
		return n, nil
	case *ast.BinaryNode:
		if err := c.checkOperator(n); err != nil {
			return nil, err
		}
		if list, is := n.Right.(*ast.ArrayNode); is && n.Operator == "in" {
			var err error
			if n.Left, err = c.resolve(n.Left); err != nil {
				return nil, err
			}
			return n, c.resolveParts(list)
		}
	case *ast.CallNode:
		if err := c.resolveFunction(n); err != nil {
			return nil, err
		}
	case *ast.UnaryNode, *ast.ConditionalNode:
	case *ast.ArrayNode:
		return nil, c.errorf(n, "a list is supported only on the right of in")
	case *ast.BuiltinNode:
		return nil, c.noFunction(n, n.Name)
	case *ast.SliceNode:
		return nil, c.errorf(n, "slices are not supported")
	default:
		return nil, c.errorf(n, "is not supported in expressions")
	}
	return n, c.resolveParts(n)
}

func (c *compilation) resolveParts(n ast.Node) error {
	for _, child := range children(n) {
		resolved, err := c.resolve(*child)
		if err != nil {
			return err
		}
		*child = resolved
	}
	return nil
}

// at gives a node the position of another one.
func at[N ast.Node](place ast.Node, n N) N {
	n.SetLocation(place.Location())
	return n
}

// children returns the child nodes of a node, without the name of a called function.
func children(n ast.Node) (all []*ast.Node) {
	switch n := n.(type) {
	case *ast.UnaryNode:
		return []*ast.Node{&n.Node}
	case *ast.BinaryNode:
		return []*ast.Node{&n.Left, &n.Right}
	case *ast.ConditionalNode:
		return []*ast.Node{&n.Cond, &n.Exp1, &n.Exp2}
	case *ast.ArrayNode:
		for i := range n.Nodes {
			all = append(all, &n.Nodes[i])
		}
	case *ast.CallNode:
		for i := range n.Arguments {
			all = append(all, &n.Arguments[i])
		}
	}
	return all
}

// checkOperator refuses operators that the language lacks, and suggests replacements.
func (c *compilation) checkOperator(n *ast.BinaryNode) error {
	switch n.Operator {
	case "%":
		return c.errorf(n, "%% is not supported: write mod(a, b)")
	case "..":
		return c.errorf(n, "a..b is not supported: write a <= x and x <= b")
	case "matches":
		if _, fixed := n.Right.(*ast.StringNode); !fixed {
			return c.errorf(n, "matches needs a regular expression in quotes on its right")
		}
	case "in":
		if _, list := n.Right.(*ast.ArrayNode); !list {
			return c.errorf(n, "in needs a list on its right: x in [4, 8]; for a text, write t contains \"s\"")
		}
		return c.checkSpelling(n.Left, n.Right)
	case "==", "!=":
		return cmp.Or(c.checkSpelling(n.Left, n.Right), c.checkSpelling(n.Right, n.Left))
	}
	return nil
}

// checkSpelling refuses a text, or one in a list, that is compared with a name whose values have another spelling.
func (c *compilation) checkSpelling(compared, with ast.Node) error {
	if or, is := compared.(*ast.BinaryNode); is && or.Operator == "??" {
		compared = or.Left
	}
	_, words := c.words(compared)
	name := strings.Join(words, ".")
	canonical := c.scope.Canonical[name]
	if canonical == nil {
		return nil
	}
	texts := []ast.Node{with}
	if list, is := with.(*ast.ArrayNode); is {
		texts = list.Nodes
	}
	for _, n := range texts {
		if text, is := n.(*ast.StringNode); is && canonical(text.Value) != text.Value {
			return c.errorf(n, "%s is stored as %q, not as %q", name, canonical(text.Value), shorten(text.Value))
		}
	}
	return nil
}

// compiled returns the function in the form that the library needs. A NULL result becomes a NullError.
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

// kindAt returns the kind of an argument.
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

// describe returns a call with its arguments, for people.
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

// operators are the functions that replace operators: the ones whose result may be NULL, because it is not finite, and the ones that
// order values.
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

// operator returns the function of two numbers or, where texts is not nil, of two texts.
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

// NullError means that an expression has no value, because a value that it needs is NULL.
type NullError struct {
	Name string // of the value that is not known; empty: it is the result of a function or an operator
	What string // the NULL value, by its name in the expression
}

// Error names the value that is NULL.
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

// must makes a tree whose value is never nil: each name that may be nil is wrapped in need. It proceeds from the root down, because the
// guard of a name depends on the nodes above it.
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

// may makes a tree whose value is nil if a value in it is NULL.
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

// wrapped replaces a node by a call of the same kind.
func wrapped(n ast.Node, function string, args ...ast.Node) ast.Node {
	call := &ast.CallNode{Callee: at(n, &ast.IdentifierNode{Value: function}), Arguments: args}
	call.SetLocation(n.Location())
	call.SetNature(*n.Nature())
	return call
}

// Kind is the kind of a value. Every value may also be NULL.
type Kind int

// The kinds.
const (
	Any     Kind = iota // one of the other kinds, determined at evaluation
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

// KindOf returns the kind of a value; Any for nil and for types that expressions do not have.
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

// checked returns the type of the kind for the library's type checker.
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

// kindOf returns the kind of a node whose type is checked.
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
