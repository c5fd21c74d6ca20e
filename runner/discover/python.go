package discover

import (
	"fmt"
	"slices"
	"strings"
)

// module is the content of a Python file at its top level, found by reading its text.
type module struct {
	names     map[string]bool // that it has once it is loaded: defined, assigned, imported; also in branches
	again     map[string]bool // names that several statements define
	functions []function      // and methods of its classes
	classes   []class
	imports   []string // packages: torch of import torch.nn; in order, each once; without those of its own folder (from . import x)
	modules   []string // all that it may import, in full: torch.nn; .x and ..x where they are relative to its folder
}

type function struct {
	name       string
	parameters []string
	unnamed    []string // those of parameters that no caller can name: *args, **more, and those before a /
	open       bool     // it has **more, and takes any name
	decorated  bool
	method     bool   // of a class
	owner      string // the class
}

type class struct {
	name    string
	bases   []string
	members map[string]bool
	special bool // it is decorated, or has keywords such as metaclass=
}

// readModule reads the source of a Python file. An error is one that Python would report too, with the line. The module is then what is
// before it.
func readModule(source string) (*module, error) {
	r := &reader{module: &module{names: map[string]bool{}, again: map[string]bool{}}, blocks: []block{{scope: ofModule}}}
	err := scan(source, r.line)
	if err == nil && r.opens != nil {
		err = fmt.Errorf("line %d: want an indented block after this line", r.opened)
	}
	slices.Sort(r.imports)
	r.imports = slices.Compact(r.imports)
	return r.module, err
}

// scope is where a name belongs that is defined in a block.
type scope int

const (
	ofModule scope = iota // also in if, for, try, with
	ofClass               // of the module
	ofNobody              // of a function, or of a class in a class
)

// maxIndents is the maximum depth of nested blocks. Python allows a hundred.
const maxIndents = 1000

type block struct {
	indent int
	scope  scope
}

// reader builds a module from logical lines.
type reader struct {
	*module
	blocks []block
	opens  *scope // what the last line opens a block of; nil if it opens none
	opened int    // its number

	decorated bool // the line before was a decorator
}

// keywords are words that cannot be operands.
var keywords = map[string]bool{}

func init() {
	for word := range strings.FieldsSeq(`and as assert async await break class continue def del elif else except finally for from global if
		import in is lambda nonlocal not or pass raise return try while with yield`) {
		keywords[word] = true
	}
}

// compound are the keywords that begin a statement with a block.
var compound = []string{"if", "elif", "else", "for", "while", "try", "except", "finally", "with", "def", "class"}

// line reads a logical line.
func (r *reader) line(l logical) error {
	if err := r.indent(l); err != nil {
		return err
	}
	err := r.statement(l.tokens, r.blocks[len(r.blocks)-1].scope)
	if err != nil {
		return fmt.Errorf("line %d: %w", l.line, err)
	}
	if r.opens != nil {
		r.opened = l.line
	}
	return nil
}

// indent opens and ends blocks by the indentation of a line.
func (r *reader) indent(l logical) error {
	now := r.blocks[len(r.blocks)-1].indent
	switch {
	case r.opens != nil && l.indent <= now:
		return fmt.Errorf("line %d: want an indented block after this line", r.opened)
	case r.opens == nil && l.indent > now:
		return fmt.Errorf("line %d: unexpected indentation", l.line)
	case r.opens != nil:
		if len(r.blocks) > maxIndents {
			return fmt.Errorf("line %d: blocks are nested more than %d deep", l.line, maxIndents)
		}
		r.blocks = append(r.blocks, block{l.indent, *r.opens})
		r.opens = nil
		return nil
	}
	for l.indent < now {
		r.blocks = r.blocks[:len(r.blocks)-1]
		now = r.blocks[len(r.blocks)-1].indent
	}
	if l.indent != now {
		return fmt.Errorf("line %d: the indentation does not match any outer block", l.line)
	}
	return nil
}

// statement reads statements in a scope: a compound one with the text after its colon, or simple ones separated by ;.
func (r *reader) statement(tokens []token, in scope) error {
	head := tokens
	if head[0].is("async") && len(head) > 1 {
		head = head[1:]
	}
	if head[0].kind == nameToken && slices.Contains(compound, head[0].text) {
		colon := colonOf(head)
		if colon < 0 {
			return fmt.Errorf("want a : after %s", head[0].text)
		}
		inside, err := r.compound(head[:colon], in)
		if err != nil {
			return err
		}
		if colon == len(head)-1 {
			r.opens = &inside
			return nil
		}
		return r.simple(head[colon+1:], inside)
	}
	if tokens[0].is("match") || tokens[0].is("case") {
		if colon := colonOf(tokens); colon > 1 && (!tokens[1].is(".") || tokens[2].is(".")) { // match.x: int = 1 is none
			return r.cases(tokens, colon, in)
		}
	}
	if tokens[len(tokens)-1].is(":") {
		return fmt.Errorf("unexpected colon")
	}
	return r.simple(tokens, in)
}

// cases reads match VALUE: and case PATTERN:, with the text after the colon.
func (r *reader) cases(tokens []token, colon int, in scope) error {
	if err := adjacent(tokens[1:colon]); err != nil {
		return err
	}
	if colon == len(tokens)-1 {
		r.opens = &in
		return nil
	}
	return r.simple(tokens[colon+1:], in)
}

func (t token) is(text string) bool { return t.kind != stringToken && t.text == text }

// colonOf is the end of the head of a compound statement: the first colon outside of brackets and lambdas.
func colonOf(tokens []token) int {
	depth, lambdas := 0, 0
	for i, t := range tokens {
		depth += depthOf(t)
		switch {
		case t.is("lambda") && depth == 0:
			lambdas++
		case t.is(":") && depth == 0 && lambdas > 0:
			lambdas--
		case t.is(":") && depth == 0:
			return i
		}
	}
	return -1
}

// compound reads the head of a compound statement and returns the scope of its block.
func (r *reader) compound(head []token, in scope) (scope, error) {
	switch head[0].text {
	case "def":
		f, err := functionOf(head)
		f.method, f.decorated, r.decorated = in == ofClass, r.decorated, false
		if f.method {
			f.owner = r.classes[len(r.classes)-1].name
		}
		if r.bind(f.name, in); in != ofNobody {
			r.functions = append(r.functions, f)
		}
		return ofNobody, err
	case "class":
		c, err := classOf(head)
		c.special = c.special || r.decorated
		r.decorated = false
		if r.bind(c.name, in); err != nil || in != ofModule {
			return ofNobody, err
		}
		r.classes = append(r.classes, c)
		return ofClass, nil
	}
	return in, adjacent(head[1:])
}

// functionOf reads def NAME[...](parameters) -> type.
func functionOf(head []token) (function, error) {
	if len(head) < 4 || head[1].kind != nameToken || keywords[head[1].text] || !head[2].is("(") && !head[2].is("[") {
		return function{}, fmt.Errorf("want a name and ( after def")
	}
	f := function{name: head[1].text}
	list := head[2:]
	if head[2].is("[") { // parameters of types
		list = list[closing(list)+1:]
	}
	if len(list) == 0 || !list[0].is("(") {
		return f, fmt.Errorf("want parameters in ( and ) after def")
	}
	begins := true // whether a parameter may begin here
	end := closing(list)
	for i, depth := 1, 1; i < end; i++ {
		t := list[i]
		depth += depthOf(t)
		switch {
		case t.is("lambda") && depth == 1: // a default: its parameters are not those of f
			i += max(0, colonOf(list[i+1:]))
		case begins && depth == 1 && t.kind == nameToken:
			f.parameters = append(f.parameters, t.text)
			if stars := list[i-1].text; list[i-1].kind == opToken && strings.HasPrefix(stars, "*") {
				f.unnamed, f.open = append(f.unnamed, t.text), f.open || stars == "**" || list[i-2].is("*")
			}
		case begins && depth == 1 && t.is("/"):
			f.unnamed = append(f.unnamed, f.parameters...)
		}
		begins = depth == 1 && list[i].is(",") || begins && list[i].is("*")
	}
	return f, adjacent(head[2:])
}

// closing is the position at which the bracket closes that tokens begin with.
func closing(tokens []token) int {
	depth := 0
	return slices.IndexFunc(tokens, func(t token) bool {
		depth += depthOf(t)
		return depth == 0
	})
}

// classOf reads class NAME[...](bases, keyword=value).
func classOf(head []token) (class, error) {
	if len(head) < 2 || head[1].kind != nameToken || keywords[head[1].text] {
		return class{}, fmt.Errorf("want a name after class")
	}
	c := class{name: head[1].text, members: map[string]bool{}}
	depth := 0
	for i := 2; i < len(head); i++ {
		depth += depthOf(head[i])
		if depth == 1 && head[i].kind == nameToken && (head[i-1].is("(") || head[i-1].is(",")) {
			if i+1 < len(head) && head[i+1].is("=") {
				c.special = true
			} else {
				c.bases = append(c.bases, dotted(head[i:]))
			}
		}
	}
	return c, adjacent(head[2:])
}

// simple reads simple statements, separated by ;.
func (r *reader) simple(tokens []token, in scope) error {
	for len(tokens) > 0 {
		end := slices.IndexFunc(tokens, func(t token) bool { return t.is(";") })
		if end < 0 {
			end = len(tokens)
		}
		if end == 0 {
			return fmt.Errorf("unexpected ;")
		}
		if err := r.small(tokens[:end], in); err != nil {
			return err
		}
		tokens = tokens[min(end+1, len(tokens)):]
	}
	return nil
}

// small reads one simple statement: an import, an assignment, or one that defines no name.
func (r *reader) small(tokens []token, in scope) error {
	rest := tokens
	if tokens[0].is("lazy") && len(tokens) > 1 && (tokens[1].is("import") || tokens[1].is("from")) {
		rest = tokens[1:]
	}
	switch {
	case rest[0].is("import"):
		return r.imported(rest[1:], in)
	case rest[0].is("from"):
		return r.importedFrom(rest[1:], in)
	}
	if tokens[0].kind == opToken && !strings.Contains("([{-+~*@.", tokens[0].text) {
		return fmt.Errorf("no statement begins with %s", tokens[0].text)
	}
	if tokens[0].is("type") && len(tokens) > 1 && tokens[1].operand() { // of a name of a type
		return adjacent(tokens[1:])
	}
	r.decorated = tokens[0].is("@")
	r.assigned(tokens, in)
	return adjacent(tokens)
}

// depthOf is the number of brackets that a token opens, minus those that it closes.
func depthOf(t token) int {
	switch {
	case t.is("(") || t.is("[") || t.is("{"):
		return 1
	case t.is(")") || t.is("]") || t.is("}"):
		return -1
	}
	return 0
}

// adjacent refuses two operands without an operator between them, as in print "text". Two texts are allowed: Python joins them.
func adjacent(tokens []token) error {
	for i := 1; i < len(tokens); i++ {
		a, b := tokens[i-1], tokens[i]
		if a.operand() && b.operand() && (a.kind != stringToken || b.kind != stringToken) {
			return fmt.Errorf("two values without an operator between them: %s", strings.TrimSpace(a.shown()+" "+b.shown()))
		}
	}
	return nil
}

func (t token) operand() bool {
	return t.kind == numberToken || t.kind == stringToken || t.kind == nameToken && !keywords[t.text]
}

// shown is a token in a message.
func (t token) shown() string {
	switch t.kind {
	case numberToken:
		return "a number"
	case stringToken:
		return "a text"
	}
	return t.text
}
