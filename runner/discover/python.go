package discover

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
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
	unnamed    []string // parameters that no caller can name: *args, **more, and positional-only ones before a /
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

// readModule reads the source of a Python file. An error is one that Python would report too, with the line. The module then has the
// part before it.
func readModule(source string) (*module, error) {
	r := &reader{module: &module{names: map[string]bool{}, again: map[string]bool{}}, blocks: []block{{scope: ofModule}}}
	err := schema.Catch(func() {
		scan(source, r.line)
		if r.opens != nil {
			panic(fmt.Errorf("line %d: want an indented block after this line", r.opened))
		}
	})
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
	opens  *scope // scope of the block that the last line opens; nil: none
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
func (r *reader) line(l logical) {
	r.indent(l)
	if err := schema.Catch(func() { r.statement(l.tokens, r.blocks[len(r.blocks)-1].scope) }); err != nil {
		panic(fmt.Errorf("line %d: %w", l.line, err))
	}
	if r.opens != nil {
		r.opened = l.line
	}
}

// indent opens and ends blocks by the indentation of a line.
func (r *reader) indent(l logical) {
	now := r.blocks[len(r.blocks)-1].indent
	switch {
	case r.opens != nil && l.indent <= now:
		panic(fmt.Errorf("line %d: want an indented block after this line", r.opened))
	case r.opens == nil && l.indent > now:
		panic(fmt.Errorf("line %d: unexpected indentation", l.line))
	case r.opens != nil:
		if len(r.blocks) > maxIndents {
			panic(fmt.Errorf("line %d: blocks are nested more than %d deep", l.line, maxIndents))
		}
		r.blocks = append(r.blocks, block{l.indent, *r.opens})
		r.opens = nil
		return
	}
	for l.indent < now {
		r.blocks = r.blocks[:len(r.blocks)-1]
		now = r.blocks[len(r.blocks)-1].indent
	}
	if l.indent != now {
		panic(fmt.Errorf("line %d: the indentation does not match any outer block", l.line))
	}
}

// statement reads statements in a scope: a compound one with the text after its colon, or simple ones separated by ;.
func (r *reader) statement(tokens []token, in scope) {
	head := tokens
	if head[0].is("async") && len(head) > 1 {
		head = head[1:]
	}
	if head[0].kind == nameToken && slices.Contains(compound, head[0].text) {
		colon := colonOf(head)
		if colon < 0 {
			panic(fmt.Errorf("want a : after %s", head[0].text))
		}
		inside := r.compound(head[:colon], in)
		if colon == len(head)-1 {
			r.opens = &inside
			return
		}
		r.simple(head[colon+1:], inside)
		return
	}
	if tokens[0].is("match") || tokens[0].is("case") {
		if colon := colonOf(tokens); colon > 1 && (!tokens[1].is(".") || tokens[2].is(".")) { // match.x: int = 1 is no match statement
			r.cases(tokens, colon, in)
			return
		}
	}
	if tokens[len(tokens)-1].is(":") {
		panic(fmt.Errorf("unexpected colon"))
	}
	r.simple(tokens, in)
}

// cases reads match VALUE: and case PATTERN:, with the text after the colon.
func (r *reader) cases(tokens []token, colon int, in scope) {
	adjacent(tokens[1:colon])
	if colon == len(tokens)-1 {
		r.opens = &in
		return
	}
	r.simple(tokens[colon+1:], in)
}

func (t token) is(text string) bool { return t.kind != stringToken && t.text == text }

// colonOf returns the end of the head of a compound statement: the first colon outside of brackets and lambdas.
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
func (r *reader) compound(head []token, in scope) scope {
	switch head[0].text {
	case "def":
		f := functionOf(head)
		f.method, f.decorated, r.decorated = in == ofClass, r.decorated, false
		if f.method {
			f.owner = r.classes[len(r.classes)-1].name
		}
		if r.bind(f.name, in); in != ofNobody {
			r.functions = append(r.functions, f)
		}
		return ofNobody
	case "class":
		c := classOf(head)
		c.special = c.special || r.decorated
		r.decorated = false
		if r.bind(c.name, in); in != ofModule {
			return ofNobody
		}
		r.classes = append(r.classes, c)
		return ofClass
	}
	adjacent(head[1:])
	return in
}

// functionOf reads def NAME[...](parameters) -> type.
func functionOf(head []token) function {
	if len(head) < 4 || head[1].kind != nameToken || keywords[head[1].text] || !head[2].is("(") && !head[2].is("[") {
		panic(fmt.Errorf("want a name and ( after def"))
	}
	f := function{name: head[1].text}
	list := head[2:]
	if head[2].is("[") { // parameters of types
		list = list[closing(list)+1:]
	}
	if len(list) == 0 || !list[0].is("(") {
		panic(fmt.Errorf("want parameters in ( and ) after def"))
	}
	begins := true // whether a parameter may begin here
	end := closing(list)
	for i, depth := 1, 1; i < end; i++ {
		t := list[i]
		depth += depthOf(t)
		switch {
		case t.is("lambda") && depth == 1: // a default value: its parameters belong to the lambda
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
	adjacent(head[2:])
	return f
}

// closing returns the index of the bracket that closes the first token.
func closing(tokens []token) int {
	depth := 0
	return slices.IndexFunc(tokens, func(t token) bool {
		depth += depthOf(t)
		return depth == 0
	})
}

// classOf reads class NAME[...](bases, keyword=value).
func classOf(head []token) class {
	if len(head) < 2 || head[1].kind != nameToken || keywords[head[1].text] {
		panic(fmt.Errorf("want a name after class"))
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
	adjacent(head[2:])
	return c
}

// simple reads simple statements, separated by ;.
func (r *reader) simple(tokens []token, in scope) {
	for len(tokens) > 0 {
		end := slices.IndexFunc(tokens, func(t token) bool { return t.is(";") })
		if end < 0 {
			end = len(tokens)
		}
		if end == 0 {
			panic(fmt.Errorf("unexpected ;"))
		}
		r.small(tokens[:end], in)
		tokens = tokens[min(end+1, len(tokens)):]
	}
}

// small reads one simple statement: an import, an assignment, or one that defines no name.
func (r *reader) small(tokens []token, in scope) {
	rest := tokens
	if tokens[0].is("lazy") && len(tokens) > 1 && (tokens[1].is("import") || tokens[1].is("from")) {
		rest = tokens[1:]
	}
	switch {
	case rest[0].is("import"):
		r.imported(rest[1:], in)
		return
	case rest[0].is("from"):
		r.importedFrom(rest[1:], in)
		return
	}
	if tokens[0].kind == opToken && !strings.Contains("([{-+~*@.", tokens[0].text) {
		panic(fmt.Errorf("no statement begins with %s", tokens[0].text))
	}
	if tokens[0].is("type") && len(tokens) > 1 && tokens[1].operand() { // of a name of a type
		adjacent(tokens[1:])
		return
	}
	r.decorated = tokens[0].is("@")
	r.assigned(tokens, in)
	adjacent(tokens)
}

// depthOf returns the change of the bracket depth by a token: 1, -1 or 0.
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
func adjacent(tokens []token) {
	for i := 1; i < len(tokens); i++ {
		a, b := tokens[i-1], tokens[i]
		if a.operand() && b.operand() && (a.kind != stringToken || b.kind != stringToken) {
			panic(fmt.Errorf("two values without an operator between them: %s", strings.TrimSpace(a.shown()+" "+b.shown())))
		}
	}
}

func (t token) operand() bool {
	return t.kind == numberToken || t.kind == stringToken || t.kind == nameToken && !keywords[t.text]
}

// shown returns a token in a message.
func (t token) shown() string {
	switch t.kind {
	case numberToken:
		return "a number"
	case stringToken:
		return "a text"
	}
	return t.text
}

// everything is the name that from x import * has.
const everything = "*"

// bind records a name that a statement assigns.
func (r *reader) bind(name string, in scope) {
	switch in {
	case ofModule:
		r.again[name] = r.again[name] || r.names[name]
		r.names[name] = true
	case ofClass:
		r.classes[len(r.classes)-1].members[name] = true
	}
}

// assigned records the names in a = b = value, (a, b) = value and a: type = value.
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

// targets records the names that are assigned to, without attributes, and without names inside x[...] and x(...).
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

// imported reads the text after import: a.b as c, d.
func (r *reader) imported(tokens []token, in scope) {
	parts := split(tokens)
	if len(parts) == 0 {
		panic(fmt.Errorf("want names of modules after import"))
	}
	for _, part := range parts {
		name := dotted(part)
		if name == "" {
			panic(fmt.Errorf("want names of modules after import"))
		}
		top, _, _ := strings.Cut(name, ".")
		r.imports, r.modules = append(r.imports, top), append(r.modules, name)
		if last := part[len(part)-1]; len(part) > 2 && part[len(part)-2].is("as") {
			r.bind(last.text, in)
		} else {
			r.bind(top, in)
		}
		adjacent(part)
	}
}

// importedFrom reads the text after from: a.b import c as d, e.
func (r *reader) importedFrom(tokens []token, in scope) {
	at := slices.IndexFunc(tokens, func(t token) bool { return t.is("import") })
	if at < 1 || at == len(tokens)-1 {
		panic(fmt.Errorf("want a module, import and names after from"))
	}
	if top, _, _ := strings.Cut(dotted(tokens), "."); top != "" && top != "__future__" {
		r.imports = append(r.imports, top)
	}
	from := relative(tokens)
	r.modules = append(r.modules, from)
	for _, part := range split(tokens[at+1:]) {
		adjacent(part)
		r.modules = append(r.modules, strings.TrimSuffix(from, ".")+"."+part[0].text) // it may be a module
		if last := part[len(part)-1]; last.kind == nameToken || last.is(everything) {
			r.bind(last.text, in)
		}
	}
}

// relative returns the dotted name that tokens begin with, after any number of dots.
func relative(tokens []token) string {
	dots := slices.IndexFunc(tokens, func(t token) bool { return !t.is(".") })
	return strings.Repeat(".", max(0, dots)) + dotted(tokens[max(0, dots):])
}

// split splits tokens at commas and drops the brackets around them.
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

// dotted returns the dotted name that tokens begin with.
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

// No maintained Go parser of current Python works without cgo or the grammars of a hundred languages, and little is needed here: names
// at the top level of a file, and imports. So this scanner implements the lexical structure of Python (strings with fields, comments,
// brackets, continued lines, indentation), and the rest of this file the statements that matter. They are tolerant: unknown syntax
// passes, and the interpreter decides when the file is run.

// kind is what a token is.
type kind byte

const (
	nameToken kind = iota
	numberToken
	stringToken
	opToken
)

// token is a word of a statement.
type token struct {
	kind kind
	text string // of a name or an operator
}

// logical is a logical line in the sense of Python: with the lines that brackets and \ join to it, without comments.
type logical struct {
	line, indent int
	tokens       []token
}

// scanner cuts a source into logical lines.
type scanner struct {
	source string
	at     int
	line   int
	tokens []token
	open   []bracket
}

type bracket struct {
	closes byte
	line   int
}

// codingLine declares another encoding than UTF-8 in one of the first two lines.
var codingLine = regexp.MustCompile(`^(?:[^\r\n]*\r?\n)?[ \t\f]*#[^\r\n]*coding[:=][ \t]*[-\w.]+`)

// scan passes the logical lines of a source to do. An error has the number of its line.
func scan(source string, do func(logical)) {
	source = strings.TrimPrefix(source, "\ufeff")
	if at := strings.IndexByte(source, 0); at >= 0 {
		panic(fmt.Errorf("line %d: a NUL byte: it is not a text file", 1+strings.Count(source[:at], "\n")))
	}
	if !utf8.ValidString(source) && !codingLine.MatchString(source) {
		panic(errors.New("it is not UTF-8, and declares no other encoding"))
	}
	s := &scanner{source: source, line: 1}
	for s.at < len(s.source) {
		l := s.logical()
		if len(l.tokens) > 0 {
			do(l)
		}
	}
}

// fail ends the scan.
func (s *scanner) fail(line int, format string, args ...any) {
	panic(fmt.Errorf("line %d: %s", line, fmt.Sprintf(format, args...)))
}

// peek returns the byte that many places ahead; 0 after the end.
func (s *scanner) peek(ahead int) byte {
	if s.at+ahead >= len(s.source) {
		return 0
	}
	return s.source[s.at+ahead]
}

// newline skips the end of a line, if it is here.
func (s *scanner) newline() bool {
	switch {
	case s.peek(0) == '\r' && s.peek(1) == '\n':
		s.at += 2
	case s.peek(0) == '\n', s.peek(0) == '\r':
		s.at++
	default:
		return false
	}
	s.line++
	return true
}

// indentation skips and counts the blanks at the beginning of a line.
func (s *scanner) indentation() int {
	const tab = 8
	for columns := 0; ; s.at++ {
		switch s.peek(0) {
		case ' ':
			columns++
		case '\t':
			columns += tab - columns%tab
		case '\f':
			columns = 0
		default:
			return columns
		}
	}
}

// logical reads to the end of a logical line. An empty line has no tokens.
func (s *scanner) logical() logical {
	l := logical{indent: s.indentation(), line: s.line}
	s.tokens = s.tokens[:0]
	for s.at < len(s.source) {
		if s.newline() {
			if len(s.open) == 0 {
				break
			}
			continue
		}
		s.token()
	}
	if len(s.open) > 0 {
		s.fail(s.open[len(s.open)-1].line, "a bracket is not closed: want a %c", s.open[len(s.open)-1].closes)
	}
	l.tokens = s.tokens
	return l
}

// token reads one token, or skips white space or a comment.
func (s *scanner) token() {
	c := s.peek(0)
	switch {
	case c == ' ' || c == '\t' || c == '\f':
		s.at++
	case c == '#':
		s.comment()
	case c == '\\':
		if s.at++; !s.newline() {
			s.fail(s.line, `a \ must be at the end of the line`)
		} else if s.at == len(s.source) {
			s.fail(s.line, `the file ends after a \`)
		}
	case c == '"' || c == '\'':
		s.text("")
	case isDigit(c) || c == '.' && isDigit(s.peek(1)):
		s.number()
	case isLetter(c):
		s.name()
	default:
		s.operator()
	}
}

func (s *scanner) comment() {
	for s.at < len(s.source) && s.peek(0) != '\n' && s.peek(0) != '\r' {
		s.at++
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isLetter reports whether a name may begin with a byte. Bytes beyond ASCII count as letters, which makes no difference here.
func isLetter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c >= utf8.RuneSelf
}

func (s *scanner) name() {
	start := s.at
	for isLetter(s.peek(0)) || isDigit(s.peek(0)) {
		s.at++
	}
	name := s.source[start:s.at]
	if c := s.peek(0); (c == '"' || c == '\'') && isPrefix(name) {
		s.text(name)
		return
	}
	s.tokens = append(s.tokens, token{nameToken, name})
}

// isPrefix reports whether letters before a quote define the type of the string.
func isPrefix(name string) bool {
	switch strings.ToLower(name) {
	case "r", "u", "b", "f", "t", "br", "rb", "fr", "rf", "tr", "rt":
		return true
	}
	return false
}

// The digits of numbers, and the characters allowed between them.
const (
	decimalDigits     = "0123456789_"
	hexadecimalDigits = decimalDigits + "abcdefABCDEF"
)

// number skips a number. 1if is a number and a keyword.
func (s *scanner) number() {
	s.tokens = append(s.tokens, token{kind: numberToken})
	if s.peek(0) == '0' && strings.IndexByte("xXoObB", s.peek(1)) >= 0 {
		s.at += 2
		s.over(hexadecimalDigits)
		return
	}
	if s.over(decimalDigits); s.peek(0) == '.' {
		if s.at++; isDigit(s.peek(0)) {
			s.over(decimalDigits)
		}
	}
	sign := 0
	if s.peek(1) == '-' || s.peek(1) == '+' {
		sign = 1
	}
	if s.peek(0)|0x20 == 'e' && isDigit(s.peek(1+sign)) {
		s.at += 1 + sign
		s.over(decimalDigits)
	}
	if s.peek(0)|0x20 == 'j' {
		s.at++
	}
}

// over goes over characters of a set.
func (s *scanner) over(set string) {
	for s.at < len(s.source) && strings.IndexByte(set, s.source[s.at]) >= 0 {
		s.at++
	}
}

// operator reads an operator of one character, or of two if the second is = or it is ->. Brackets have to match.
func (s *scanner) operator() {
	c := s.peek(0)
	size := 1
	switch {
	case strings.IndexByte("([{", c) >= 0:
		s.open = append(s.open, bracket{")]}"[strings.IndexByte("([{", c)], s.line})
	case strings.IndexByte(")]}", c) >= 0:
		if len(s.open) == 0 || s.open[len(s.open)-1].closes != c {
			s.fail(s.line, "unmatched %c", c)
		}
		s.open = s.open[:len(s.open)-1]
	case strings.IndexByte("=!<>:+-*/%&|^@", c) >= 0 && s.peek(1) == '=', c == '-' && s.peek(1) == '>':
		size = 2
	case strings.IndexByte("=<>:+-*/%&|^@.,;~", c) < 0:
		s.fail(s.line, "%q is not valid Python", c)
	}
	s.tokens = append(s.tokens, token{opToken, s.source[s.at : s.at+size]})
	s.at += size
}

// maxNested is the maximum depth of nested strings with fields. Python allows fewer.
const maxNested = 200

// text skips a string from its first quote to its last, with all its fields.
func (s *scanner) text(prefix string) {
	s.quoted(prefix, 0)
	s.tokens = append(s.tokens, token{kind: stringToken})
}

// quoted skips a string. depth is the number of strings around it.
func (s *scanner) quoted(prefix string, depth int) {
	if depth > maxNested {
		s.fail(s.line, "strings are nested more than %d deep", maxNested)
	}
	quote := s.source[s.at : s.at+1]
	if strings.HasPrefix(s.source[s.at:], strings.Repeat(quote, 3)) {
		quote = strings.Repeat(quote, 3)
	}
	first := s.line
	s.at += len(quote)
	fields := strings.ContainsAny(prefix, "fFtT")
	raw := strings.ContainsAny(prefix, "rR")
	for s.at < len(s.source) {
		switch c := s.peek(0); {
		case strings.HasPrefix(s.source[s.at:], quote):
			s.at += len(quote)
			return
		case c == '\\':
			s.escape(fields, raw)
		case c == '\n' || c == '\r':
			if len(quote) == 1 {
				s.fail(first, "a string is not closed: want a %s before the end of the line", quote)
			}
			s.newline()
		case fields && c == '{' && s.peek(1) == '{', fields && c == '}' && s.peek(1) == '}':
			s.at += 2
		case fields && c == '{':
			s.field(quote, depth)
		default:
			s.at++
		}
	}
	s.fail(first, "a string is not closed: want a %s", quote)
}

// escape skips a \ and the escaped characters. Even in a raw string it keeps a quote from ending the string.
func (s *scanner) escape(fields, raw bool) {
	if s.at++; s.newline() {
		return
	}
	if end := strings.IndexByte(s.source[s.at:], '}'); fields && !raw && end > 0 && strings.HasPrefix(s.source[s.at:], "N{") {
		s.at += end + 1 // a character by its name
		return
	}
	if !fields || s.peek(0) != '{' && s.peek(0) != '}' {
		s.at = min(s.at+1, len(s.source))
	}
}

// field skips {expression!r:format} in a string with that quote. Brackets in the expression do not count for the statement.
func (s *scanner) field(quote string, depth int) {
	first := s.line
	var open []byte
	for s.at++; s.at < len(s.source); {
		switch c := s.peek(0); {
		case c == '}' && len(open) == 0:
			s.at++
			return
		case c == ':' && len(open) == 0:
			s.format(quote, depth)
			return
		case c == '\n' || c == '\r':
			s.newline()
		case c == '#':
			s.comment()
		case c == '"' || c == '\'':
			s.quoted(s.prefixBefore(), depth+1)
		case strings.IndexByte("([{", c) >= 0:
			open = append(open, ")]}"[strings.IndexByte("([{", c)])
			s.at++
		case strings.IndexByte(")]}", c) >= 0:
			if len(open) == 0 || open[len(open)-1] != c {
				s.fail(s.line, "unmatched %c", c)
			}
			open = open[:len(open)-1]
			s.at++
		default:
			s.at++
		}
	}
	s.fail(first, "a field of a string is not closed: want a }")
}

// prefixBefore returns the letters before a quote in a field that define the type of the string.
func (s *scanner) prefixBefore() string {
	start := s.at
	for start > 0 && (isLetter(s.source[start-1]) || isDigit(s.source[start-1])) {
		start--
	}
	if prefix := s.source[start:s.at]; isPrefix(prefix) {
		return prefix
	}
	return ""
}

// format skips :format} of a field, which may contain fields.
func (s *scanner) format(quote string, depth int) {
	first := s.line
	for s.at++; s.at < len(s.source); {
		switch c := s.peek(0); {
		case c == '}':
			s.at++
			return
		case c == '{':
			if depth++; depth > maxNested {
				s.fail(s.line, "fields are nested more than %d deep", maxNested)
			}
			s.field(quote, depth)
			depth--
		case c == '\\':
			s.escape(true, false)
		case c == '\n' || c == '\r':
			if len(quote) == 1 {
				s.fail(first, "a string is not closed: want a %s before the end of the line", quote)
			}
			s.newline()
		case strings.HasPrefix(s.source[s.at:], quote):
			s.fail(first, "a field of a string is not closed: want a }")
		default:
			s.at++
		}
	}
	s.fail(first, "a field of a string is not closed: want a }")
}
