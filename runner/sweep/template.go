package sweep

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/schema"
)

// template is a text with {axis} in it.
type template struct {
	parts []part
	at    field
}

// part is a text as it is, or the number of the axis whose value stands there.
type part struct {
	text string
	axis int // -1: text
}

// template reads the text of f. {{ and }} are braces, {name} is an axis of axes by its name or an alias.
func (f field) template(axes []axis) (template, error) {
	text, err := f.argument()
	if err != nil {
		return template{}, err
	}
	t := template{at: f}
	var literal strings.Builder
	flush := func() {
		if literal.Len() > 0 {
			t.parts = append(t.parts, part{literal.String(), -1})
			literal.Reset()
		}
	}
	for text != "" {
		at := strings.IndexAny(text, "{}")
		if at < 0 {
			literal.WriteString(text)
			break
		}
		literal.WriteString(text[:at])
		brace, rest := text[at], text[at+1:]
		if rest != "" && rest[0] == brace {
			literal.WriteByte(brace)
			text = rest[1:]
			continue
		}
		name, rest, closed := strings.Cut(rest, "}")
		if brace == '}' || !closed {
			return template{}, f.errorf("a lone %c in %q: write %c%c for a brace", brace, shorten(f.Value), brace, brace)
		}
		axis, err := placeholder(name, axes)
		if err != nil {
			return template{}, f.errorf("%v", err)
		}
		flush()
		t.parts = append(t.parts, part{"", axis})
		text = rest
	}
	flush()
	return t, nil
}

// argument is a text that a program is given; one without characters is one too.
func (f field) argument() (string, error) {
	if f.Kind == yaml.MappingNode { // [prog, {dim}] is what people write
		return "", f.errorf(`want text, got a map: quote it ("{axis}")`)
	}
	return f.scalar()
}

func placeholder(name string, axes []axis) (int, error) {
	column := schema.CanonicalAlias(name)
	names := make([]string, len(axes))
	for i, a := range axes {
		if a.name == column {
			return i, nil
		}
		names[i] = a.name
	}
	slices.Sort(names)
	if near := schema.Nearest(name, names); near != "" {
		return 0, fmt.Errorf("{%s} is no axis: did you mean {%s}? (write {{ and }} for braces)", shorten(name), near)
	}
	return 0, fmt.Errorf("{%s} is no axis (write {{ and }} for braces)", shorten(name))
}

// fixed tells that the text is the same at every point.
func (t template) fixed() bool {
	return !slices.ContainsFunc(t.parts, func(p part) bool { return p.axis >= 0 })
}

// fill gives the text at a point.
func (t template) fill(row []*value) string {
	if len(t.parts) == 1 && t.parts[0].axis < 0 {
		return t.parts[0].text // every point shares it
	}
	var text strings.Builder
	for _, p := range t.parts {
		if p.axis < 0 {
			text.WriteString(p.text)
		} else {
			text.WriteString(row[p.axis].filled())
		}
	}
	return text.String()
}
