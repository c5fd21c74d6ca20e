package discover

import (
	"fmt"
	"slices"
	"strings"
)

// everything is what from x import * has for a name.
const everything = "*"

// module is what a Python file says at its top level, by its text.
type module struct {
	names     map[string]bool // that it has once it is loaded: defined, assigned, imported; also in branches
	functions []function      // and methods of its classes
	classes   []class
	imports   []string // packages: torch of import torch.nn; in order, each once; without those of its own folder (from . import x)
}

type function struct {
	name       string
	parameters []string
	method     bool // of a class
}

type class struct {
	name    string
	bases   []string
	members map[string]bool
}

// readModule reads the source of a Python file. An error is what Python, too, would refuse it for, with the line.
func readModule(source string) (*module, error) {
	r := &reader{module: &module{names: map[string]bool{}}, blocks: []block{{scope: ofModule}}}
	if err := scan(source, r.line); err != nil {
		return nil, err
	}
	if r.opens != nil {
		return nil, fmt.Errorf("line %d: want an indented block after this line", r.opened)
	}
	slices.Sort(r.imports)
	r.imports = slices.Compact(r.imports)
	return r.module, nil
}

// scope is where a name belongs that is defined in a block.
type scope int

const (
	ofModule scope = iota // also in if, for, try, with
	ofClass               // of the module
	ofNobody              // of a function, or of a class in a class
)

// maxIndents is how deep blocks may stand in one another. Python takes a hundred.
const maxIndents = 1000

type block struct {
	indent int
	scope  scope
}

// reader makes a module of logical lines.
type reader struct {
	*module
	blocks []block
	opens  *scope // what the last line opens a block of; nil if it opens none
	opened int    // its number
}

// keywords are the words that no operand is called.
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

// indent opens and ends blocks by where a line begins.
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

// statement reads statements in a scope: a compound one with what stands behind its colon, or simple ones with ; between them.
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
		return fmt.Errorf("unexpected :")
	}
	return r.simple(tokens, in)
}

// cases reads match VALUE: and case PATTERN:, with what stands behind the colon.
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

// colonOf is where the head of a compound statement ends: the first colon in no bracket, and of no lambda.
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

// compound reads the head of a compound statement, and says what scope its block has.
func (r *reader) compound(head []token, in scope) (scope, error) {
	switch head[0].text {
	case "def":
		f, err := functionOf(head)
		f.method = in == ofClass
		if r.bind(f.name, in); in != ofNobody {
			r.functions = append(r.functions, f)
		}
		return ofNobody, err
	case "class":
		c, err := classOf(head)
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
		}
		begins = depth == 1 && list[i].is(",") || begins && list[i].is("*")
	}
	return f, adjacent(head[2:])
}

// closing is where the bracket is closed that tokens begin with.
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
			if base := dotted(head[i:]); i+1 == len(head) || !head[i+1].is("=") {
				c.bases = append(c.bases, base)
			}
		}
	}
	return c, adjacent(head[2:])
}

// dotted is the name with dots that tokens begin with.
func dotted(tokens []token) string {
	var name strings.Builder
	for i, t := range tokens {
		if t.kind == nameToken && keywords[t.text] || (t.kind == nameToken) != (i%2 == 0) || t.kind != nameToken && !t.is(".") {
			break
		}
		name.WriteString(t.text)
	}
	return strings.TrimSuffix(name.String(), ".")
}

// simple reads simple statements with ; between them.
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

// small reads one simple statement: an import, an assignment, or what defines no name.
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
	r.assigned(tokens, in)
	return adjacent(tokens)
}

// bind notes a name that a statement gives a value.
func (r *reader) bind(name string, in scope) {
	switch in {
	case ofModule:
		r.names[name] = true
	case ofClass:
		r.classes[len(r.classes)-1].members[name] = true
	}
}

// assigned notes the names in a = b = value, (a, b) = value and a: type = value.
func (r *reader) assigned(tokens []token, in scope) {
	if colon := colonOf(tokens); colon >= 0 {
		valued := slices.ContainsFunc(tokens[colon:], func(t token) bool { return t.is("=") })
		if colon == 1 && tokens[0].kind == nameToken && valued {
			r.bind(tokens[0].text, in)
		}
		return
	}
	start := 0
	for i, depth := 0, 0; i < len(tokens); i++ {
		if depth += depthOf(tokens[i]); depth == 0 && tokens[i].is("=") {
			r.targets(tokens[start:i], in)
			start = i + 1
		}
	}
}

// depthOf is how many brackets a token opens, less those that it closes.
func depthOf(t token) int {
	switch {
	case t.is("(") || t.is("[") || t.is("{"):
		return 1
	case t.is(")") || t.is("]") || t.is("}"):
		return -1
	}
	return 0
}

// targets notes the names among what is assigned to: not attributes, and nothing within x[...] and x(...).
func (r *reader) targets(tokens []token, in scope) {
	inside := 0 // brackets after an operand
	for i, t := range tokens {
		after := i > 0 && (tokens[i-1].operand() || tokens[i-1].is(")") || tokens[i-1].is("]"))
		attribute := i > 0 && tokens[i-1].is(".") || i+1 < len(tokens) && (tokens[i+1].is(".") || tokens[i+1].is("[") || tokens[i+1].is("("))
		switch change := depthOf(t); {
		case inside > 0, change > 0 && after:
			inside += change
		case t.kind == nameToken && !attribute:
			r.bind(t.text, in)
		}
	}
}

// imported reads what follows import: a.b as c, d.
func (r *reader) imported(tokens []token, in scope) error {
	parts := split(tokens)
	if len(parts) == 0 {
		return fmt.Errorf("want names of modules after import")
	}
	for _, part := range parts {
		name := dotted(part)
		if name == "" {
			return fmt.Errorf("want names of modules after import")
		}
		top, _, _ := strings.Cut(name, ".")
		r.imports = append(r.imports, top)
		if last := part[len(part)-1]; len(part) > 2 && part[len(part)-2].is("as") {
			r.bind(last.text, in)
		} else {
			r.bind(top, in)
		}
		if err := adjacent(part); err != nil {
			return err
		}
	}
	return nil
}

// importedFrom reads what follows from: a.b import c as d, e.
func (r *reader) importedFrom(tokens []token, in scope) error {
	at := slices.IndexFunc(tokens, func(t token) bool { return t.is("import") })
	if at < 1 || at == len(tokens)-1 {
		return fmt.Errorf("want a module, import and names after from")
	}
	if top, _, _ := strings.Cut(dotted(tokens), "."); top != "" && top != "__future__" {
		r.imports = append(r.imports, top)
	}
	for _, part := range split(tokens[at+1:]) {
		if err := adjacent(part); err != nil {
			return err
		}
		if last := part[len(part)-1]; last.kind == nameToken || last.is(everything) {
			r.bind(last.text, in)
		}
	}
	return nil
}

// split cuts tokens at commas, without brackets around them.
func split(tokens []token) [][]token {
	var parts [][]token
	start := 0
	for i, t := range append(slices.Clone(tokens), token{opToken, ","}) {
		if !t.is(",") && !t.is("(") && !t.is(")") {
			continue
		}
		if i > start {
			parts = append(parts, tokens[start:i])
		}
		start = i + 1
	}
	return parts
}

// adjacent refuses two operands with nothing between them, as print "text" has, but for texts, which Python joins.
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

// shown is a token for people.
func (t token) shown() string {
	switch t.kind {
	case numberToken:
		return "a number"
	case stringToken:
		return "a text"
	}
	return t.text
}
