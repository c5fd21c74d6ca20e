package sweep

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// template is a text that may contain {axis}.
type template struct {
	parts []part
	at    field
}

// part is a literal text, or the number of the axis whose value is inserted.
type part struct {
	text string
	axis int // -1: text
}

// scope is what {name} may stand for.
type scope struct {
	axes     []axis
	seed     *int64 // {seed}, where no axis has that name
	seedUsed bool
	runs     bool       // {run_dir} is left to the run
	filled   []template // texts that are filled in at each point
}

// template reads the text of f. {{ and }} are braces, {name} is an axis by its name or an alias, or the seed.
func (f field) template(s *scope) (template, error) {
	text, err := f.argument()
	if err != nil {
		return template{}, err
	}
	return f.parse(text, s)
}

// parse reads a text that f has.
func (f field) parse(text string, s *scope) (template, error) {
	t, whole := template{at: f}, text
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
			return template{}, f.errorf("unmatched %c in %q: write %c%c for a literal brace", brace, shorten(whole), brace, brace)
		}
		text = rest
		axis, near := findAxis(s.axes, name)
		switch {
		case axis >= 0:
			flush()
			t.parts = append(t.parts, part{"", axis})
		case name == runDirName && s.runs:
			literal.WriteString(RunDir)
		case name == "seed" && s.seed != nil:
			s.seedUsed = true
			literal.WriteString(strconv.FormatInt(*s.seed, 10))
		default:
			return template{}, f.noAxis(name, near)
		}
	}
	flush()
	if !t.fixed() {
		s.filled = append(s.filled, t)
	}
	return t, nil
}

// tooLong reports whether texts would have more than maxText bytes together at a point. It does not fill them in: a short text may contain a
// long one very often.
func tooLong(texts []template, row []*value) bool {
	bytes := 0
	for _, t := range texts {
		for _, p := range t.parts {
			bytes += len(p.text)
			if p.axis >= 0 {
				bytes += len(row[p.axis].filled())
			}
			if bytes > maxText {
				return true
			}
		}
	}
	return false
}

// lasting is a template for a value that is needed before a run begins.
func (f field) lasting(s *scope) (template, error) {
	t, err := f.template(s)
	if err == nil && t.hasRunDir() {
		err = f.errorf("%s is the directory of one run: use it only in command, env, artifacts, and in from of metrics and output", RunDir)
	}
	return t, err
}

// hasRunDir reports whether the text contains {run_dir}.
func (t template) hasRunDir() bool {
	return slices.ContainsFunc(t.parts, func(p part) bool { return strings.Contains(p.text, RunDir) })
}

// argument is a text for a program, as it is written. It may be empty, and need not be UTF-8.
func (f field) argument() (string, error) {
	if f.given() && isBinary(f.Node) {
		var text string
		if err := f.Decode(&text); err != nil || strings.ContainsRune(text, 0) {
			return "", f.errorf("%s: want base64 of bytes other than 0, got %q", binaryTag, shorten(f.Value))
		}
		return text, nil
	}
	if f.Kind == yaml.MappingNode { // [prog, {dim}] is what people write
		return "", f.errorf(`want text, got a map: quote it ("{axis}")`)
	}
	if _, err := f.scalar(); err != nil {
		return "", err
	}
	return f.written(), nil
}

// noAxis explains that {name} has no meaning.
func (f field) noAxis(name, near string) error {
	switch {
	case name == "seed":
		return f.errorf("{seed} has no value: set seed")
	case near != "":
		return f.errorf("{%s} is not an axis: did you mean {%s}? (write {{ and }} for literal braces)", shorten(name), near)
	}
	return f.errorf("{%s} is not an axis (write {{ and }} for literal braces)", shorten(name))
}

// uses reports whether the text contains an axis.
func (t template) uses(axis int) bool {
	return slices.ContainsFunc(t.parts, func(p part) bool { return p.axis == axis })
}

// fixed reports whether the text is the same at every point.
func (t template) fixed() bool {
	return !slices.ContainsFunc(t.parts, func(p part) bool { return p.axis >= 0 })
}

// fill returns the text at a point.
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

// texts are a list of templates whose texts all points share where no axis stands in it.
type texts struct {
	templates []template
	shared    []string
}

// checkWords refuses a shell line where a program and its arguments are expected.
func (f field) checkWords() error {
	words := strings.Fields(f.Value)
	if f.Kind != yaml.ScalarNode || len(words) < 2 {
		return nil
	}
	for i, word := range words {
		words[i] = jsonText(word)
	}
	if f.what == "command" {
		return f.errorf("is one text with spaces: write its words as a list, [%s], or add shell: true if it needs a shell", strings.Join(words, ", "))
	}
	return f.errorf("want a list, [%s], or, if it needs a shell, [sh, -c, %s]", strings.Join(words, ", "), jsonText(f.Value))
}

// read reads a program and its arguments, where they are given.
func (w *texts) read(f field, s *scope) error {
	if !f.given() {
		return nil
	}
	if err := f.checkWords(); err != nil {
		return err
	}
	var err error
	*w, err = f.readTexts(s)
	return err
}

// readTexts reads a list of texts, or one.
func (f field) readTexts(s *scope) (texts, error) {
	var w texts
	for _, item := range f.items() {
		t, err := item.template(s)
		if err != nil {
			return texts{}, err
		}
		w.templates = append(w.templates, t)
	}
	if len(w.templates) == 0 {
		return texts{}, f.errorf("is empty")
	}
	return w, nil
}

func (w *texts) fixed() bool {
	return !slices.ContainsFunc(w.templates, func(t template) bool { return !t.fixed() })
}

// fill returns the texts at a point and adds their bytes to size.
func (w *texts) fill(row []*value, size *int) []string {
	if w.shared != nil || len(w.templates) == 0 {
		return w.shared
	}
	texts := make([]string, 0, len(w.templates))
	for _, t := range w.templates {
		texts = t.addTo(texts, row)
	}
	for _, text := range texts {
		*size += 16 + len(text)
	}
	if w.fixed() {
		w.shared = texts
	}
	return texts
}
