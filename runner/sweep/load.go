package sweep

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// Limits for a file. A sweep that a person wrote is far below them.
const (
	maxFile  = 16 << 20 // bytes: the longest command line that Linux takes, as a name and as words with escapes
	maxNodes = 300_000  // values, aliases expanded
	maxDepth = 64
)

// Read reads a sweep file, expands its points and applies the settings of the command line. name is the name of the file in errors,
// and gives the default suite. An error reads `name:line: what is wrong`, or names the option of the command line.
func Read(name string, file io.Reader, o Overrides) (*Sweep, error) {
	src, err := io.ReadAll(io.LimitReader(file, maxFile+1)) // readText refuses longer files
	if err != nil {
		return nil, fmt.Errorf("reading the sweep: %w", err)
	}
	return readText(name, src, o)
}

// origin is the source of a text: a file, whose errors have lines, or an option of the command line.
type origin struct {
	name         string
	lines        bool
	others       *origins // of values inside this one that come from elsewhere
	describeLine func(line int) string

	optional bool // a key that nothing uses is ignored, because it was not set for this sweep
}

// origins records the sources of values.
type origins struct{ of map[*yaml.Node]origin }

// errorf makes an error of one line that is safe to show on a terminal, whatever its text contains.
func (o origin) errorf(line int, format string, args ...any) error {
	where := o.name
	switch {
	case o.lines && line > 0 && o.describeLine != nil:
		where = o.describeLine(line)
	case o.lines && line > 0:
		where = fmt.Sprintf("%s:%d", o.name, line)
	}
	return errors.New(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return utf8.RuneError
	}, where+": "+fmt.Sprintf(format, args...)))
}

// load returns the only value of a YAML text, with aliases expanded.
func (o origin) load(src []byte) field {
	if len(src) > maxFile {
		panic(o.errorf(0, "larger than %d KiB", maxFile>>10))
	}
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	o.checkText(src)
	loader, err := yaml.NewLoader(bytes.NewReader(src))
	if err != nil {
		panic(o.errorf(0, "%v", err))
	}
	var documents []*yaml.Node
	for {
		var document yaml.Node
		err := loader.Load(&document)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			panic(o.syntaxError(err, 1+bytes.Count(bytes.TrimSpace(src), []byte("\n"))))
		}
		documents = append(documents, &document)
		if len(documents) > 1 {
			panic(o.errorf(document.Line, "a second YAML document: a file may have only one"))
		}
	}
	if len(documents) == 0 || documents[0].Content[0].ShortTag() == "!!null" {
		panic(o.errorf(0, "empty"))
	}
	r := resolver{origin: o, left: maxNodes}
	root := r.resolve(documents[0].Content[0], 0)
	return field{root, o, "", root.Line}
}

// checkText refuses bytes that are not text. YAML would do so without a position.
func (o origin) checkText(src []byte) {
	for at := 0; at < len(src); {
		r, size := utf8.DecodeRune(src[at:])
		control := r < ' ' && !strings.ContainsRune("\t\n\r", r) || r == 0x7f
		if control || r == utf8.RuneError && size == 1 {
			line := 1 + bytes.Count(src[:at], []byte("\n"))
			panic(o.errorf(line, "byte 0x%02x is not text: want YAML in UTF-8", src[at]))
		}
		at += size
	}
}

// syntaxError returns the error of YAML, moved to a line of the file: an unclosed value is noticed after the last one.
func (o origin) syntaxError(err error, lines int) error {
	var detail *yaml.LoadError
	if errors.As(err, &detail) {
		hint := ""
		if strings.Contains(detail.Message, "tab character") {
			hint = ": indent with spaces"
		}
		return o.errorf(min(detail.Mark.Line, lines), "YAML: %s%s", detail.Message, hint)
	}
	return o.errorf(0, "YAML: %v", err)
}

// resolver copies a tree of nodes and replaces aliases by their targets.
type resolver struct {
	origin
	left int // nodes
}

func (r *resolver) resolve(n *yaml.Node, depth int) *yaml.Node {
	if r.left--; r.left < 0 {
		panic(r.errorf(n.Line, "more than %d values after aliases are expanded", maxNodes))
	}
	if depth > maxDepth {
		panic(r.errorf(n.Line, "nested deeper than %d levels, or an alias that contains itself", maxDepth))
	}
	if n.Kind == yaml.AliasNode {
		target := r.resolve(n.Alias, depth+1)
		target.Line = n.Line
		return target
	}
	r.check(n)
	c := *n
	c.Content = make([]*yaml.Node, len(n.Content))
	for i, child := range n.Content {
		c.Content[i] = r.resolve(child, depth+1)
	}
	return &c
}

// check refuses YAML features that a sweep file may not use.
func (r *resolver) check(n *yaml.Node) {
	if n.Style&yaml.TaggedStyle != 0 && !isBinary(n) {
		panic(r.errorf(n.Line, "YAML tag %s is not supported: write the value without a tag, or quote it", n.Tag))
	}
	if strings.ContainsRune(n.Value, 0) {
		panic(r.errorf(n.Line, "a text cannot contain a NUL byte"))
	}
	if n.Kind != yaml.MappingNode {
		return
	}
	seen := map[string]int{}
	for key := range slices.Chunk(n.Content, 2) {
		k := key[0]
		if k.Kind != yaml.ScalarNode {
			panic(r.errorf(k.Line, "a key must be a word"))
		}
		if isBinary(k) {
			panic(r.errorf(k.Line, "a key must be a word, got %s", binaryTag))
		}
		if k.ShortTag() == "!!merge" {
			panic(r.errorf(k.Line, "merge keys (<<) are not supported: write the keys out"))
		}
		if line, twice := seen[k.Value]; twice {
			panic(r.errorf(k.Line, "duplicate key %s: line %d sets it already", k.Value, line))
		}
		seen[k.Value] = k.Line
	}
}

// binaryTag is the tag of YAML for bytes that are not UTF-8, in base64.
const binaryTag = "!!binary"

func isBinary(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == binaryTag }

// refuseBinary refuses bytes in a text that is stored or is a part of names.
func (f field) refuseBinary() error {
	return f.errorf("%s is for texts that only a program reads: its words, hooks, files and environment", binaryTag)
}
