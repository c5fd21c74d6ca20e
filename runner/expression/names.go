package expression

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/neurolens/neurolens/schema"
)

// resolveName makes one identifier of gpu.memory and of param["kv-heads"].
func (c *compilation) resolveName(n ast.Node) (ast.Node, error) {
	first, words := c.words(n)
	if words == nil {
		return nil, c.errorf(n, "a value has no parts: want a name such as batch_size or param[\"kv-heads\"]")
	}
	name := strings.Join(words, ".")
	_, known := c.scope.Names[name]
	switch {
	case known:
	case name == "null" || name == "NULL":
		return at(first, &ast.NilNode{}), nil
	default:
		return nil, c.noName(first, name)
	}
	if !slices.Contains(c.names, name) {
		c.names = append(c.names, name)
	}
	return at(first, &ast.IdentifierNode{Value: name}), nil
}

// words are those of a name, and the node that it begins with; nil of what is no name.
func (c *compilation) words(n ast.Node) (first ast.Node, words []string) {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return n, []string{n.Value}
	case *ast.MemberNode:
		property, ok := n.Property.(*ast.StringNode)
		first, words = c.words(n.Node)
		if !ok || n.Optional || words == nil {
			return n, nil
		}
		return first, append(words, property.Value)
	}
	return n, nil
}

// noName is the error for an unknown name, with a suggestion.
func (c *compilation) noName(at ast.Node, name string) error {
	if instead, unclear := c.scope.Unclear[name]; unclear {
		return c.errorf(at, "%s", instead)
	}
	names := c.scope.nameList()
	if near := schema.Nearest(name, names); near != "" {
		return c.errorf(at, "unknown name %s: did you mean %s?", shorten(name), near)
	}
	var below []string
	for _, other := range names {
		if strings.HasPrefix(other, name+".") {
			below = append(below, other)
		}
	}
	if len(below) > 0 {
		return c.errorf(at, "%s is not a value: want one of %s", shorten(name), strings.Join(below, " "))
	}
	if _, is := c.functions[name]; is {
		return c.errorf(at, "%s is a function: want %s(...)", name, name)
	}
	return c.errorf(at, "unknown name %s", shorten(name))
}

// resolveFunction finds the function of a call.
func (c *compilation) resolveFunction(n *ast.CallNode) error {
	callee, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		return c.errorf(n, "a value cannot be called")
	}
	f, known := c.functions[callee.Value]
	if !known {
		return c.noFunction(n, callee.Value)
	}
	if few := len(n.Arguments) < len(f.Takes); few || len(n.Arguments) > len(f.Takes) && !f.Variadic {
		return c.errorf(callee, "%s, got %d", f.wants(), len(n.Arguments))
	}
	n.Callee = at(callee, &ast.IdentifierNode{Value: called(f.Name)})
	return nil
}

func (c *compilation) noFunction(at ast.Node, name string) error {
	var names []string
	for _, f := range c.functions {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	if near := schema.Nearest(name, names); near != "" {
		return c.errorf(at, "unknown function %s: did you mean %s?", shorten(name), near)
	}
	return c.errorf(at, "unknown function %s: want one of %s", shorten(name), strings.Join(names, " "))
}

func shorten(text string) string {
	const maxRunes = 40
	if runes := []rune(text); len(runes) > maxRunes {
		return string(runes[:maxRunes]) + "…"
	}
	return text
}
