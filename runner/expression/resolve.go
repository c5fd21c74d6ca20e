package expression

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
)

// checkText refuses what the library would read otherwise than it is meant.
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
	var quote rune // that of the text that the place is in
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

// resolve replaces each name by one identifier, each integer by a float64 and each function by ours. It refuses whatever
// is no part of the language.
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

// children are the parts of a node of the language; a function called is none.
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

// checkOperator refuses operators that the language lacks, and says what to write instead.
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
