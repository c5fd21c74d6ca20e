package discover

import (
	"fmt"
	"slices"
	"strings"
)

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
		r.imports, r.modules = append(r.imports, top), append(r.modules, name)
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

// importedFrom reads the text after from: a.b import c as d, e.
func (r *reader) importedFrom(tokens []token, in scope) error {
	at := slices.IndexFunc(tokens, func(t token) bool { return t.is("import") })
	if at < 1 || at == len(tokens)-1 {
		return fmt.Errorf("want a module, import and names after from")
	}
	if top, _, _ := strings.Cut(dotted(tokens), "."); top != "" && top != "__future__" {
		r.imports = append(r.imports, top)
	}
	from := relative(tokens)
	r.modules = append(r.modules, from)
	for _, part := range split(tokens[at+1:]) {
		if err := adjacent(part); err != nil {
			return err
		}
		r.modules = append(r.modules, strings.TrimSuffix(from, ".")+"."+part[0].text) // it may be a module
		if last := part[len(part)-1]; last.kind == nameToken || last.is(everything) {
			r.bind(last.text, in)
		}
	}
	return nil
}

// relative is the dotted name that tokens begin with, after any number of dots.
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

// dotted is the dotted name that tokens begin with.
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
