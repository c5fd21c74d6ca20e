package sweep

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/runner/builtin"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
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

// scope has the names that {name} may refer to.
type scope struct {
	axes     []axis
	seed     *int64 // {seed}, where no axis has that name
	seedUsed bool
	runs     bool         // {run_dir} is left to the run
	filled   []template   // texts that are filled in at each point
	used     map[int]bool // axes in texts that a benchmark runs with; nil: no text does
}

// template reads the text of f. {{ and }} are braces, {name} is an axis by its name or an alias, or the seed.
func (f field) template(s *scope) template {
	return f.parse(f.argument(), s)
}

// parse parses a text of f.
func (f field) parse(text string, s *scope) template {
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
			panic(f.errorf("unmatched %c in %q: write %c%c for a literal brace", brace, shorten(whole), brace, brace))
		}
		text = rest
		axis, near := findAxis(s.axes, name)
		switch {
		case axis >= 0:
			flush()
			if t.parts = append(t.parts, part{"", axis}); s.used != nil {
				s.used[axis] = true
			}
		case name == runDirName && s.runs:
			literal.WriteString(RunDir)
		case name == "seed" && s.seed != nil:
			s.seedUsed = true
			literal.WriteString(strconv.FormatInt(*s.seed, 10))
		default:
			panic(f.noAxis(name, near))
		}
	}
	flush()
	if !t.fixed() {
		s.filled = append(s.filled, t)
	}
	return t
}

// tooLong reports whether texts would have more than maxText bytes together at a point. It does not fill them in: a short text may
// contain a long one very often.
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

// staticTemplate reads a template for a value that is needed before a run begins: it cannot contain {run_dir}.
func (f field) staticTemplate(s *scope) template {
	t := f.template(s)
	if t.hasRunDir() {
		panic(f.errorf("%s is the directory of one run: use it only in command, env, artifacts, and in from of metrics and output", RunDir))
	}
	return t
}

// hasRunDir reports whether the text contains {run_dir}.
func (t template) hasRunDir() bool {
	return slices.ContainsFunc(t.parts, func(p part) bool { return strings.Contains(p.text, RunDir) })
}

// argument returns a text for a program, as written. It may be empty, and need not be UTF-8.
func (f field) argument() string {
	if f.given() && isBinary(f.Node) {
		var text string
		if err := f.Decode(&text); err != nil || strings.ContainsRune(text, 0) {
			panic(f.errorf("%s: want base64 of bytes other than 0, got %q", binaryTag, shorten(f.Value)))
		}
		return text
	}
	if f.Kind == yaml.MappingNode { // a common mistake: [prog, {dim}]
		panic(f.errorf(`want text, got a map: quote it ("{axis}")`))
	}
	f.scalar()
	return f.written()
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

// texts is a list of templates. Without an axis in it, all points share the filled-in texts.
type texts struct {
	templates []template
	shared    []string
}

// checkWords refuses a shell line where a program and its arguments are expected.
func (f field) checkWords() {
	words := strings.Fields(f.Value)
	if f.Kind != yaml.ScalarNode || len(words) < 2 {
		return
	}
	for i, word := range words {
		words[i] = jsonText(word)
	}
	if f.what == "command" {
		panic(f.errorf("is one text with spaces: write its words as a list, [%s], or add shell: true if it needs a shell", strings.Join(words, ", ")))
	}
	panic(f.errorf("want a list, [%s], or, if it needs a shell, [sh, -c, %s]", strings.Join(words, ", "), jsonText(f.Value)))
}

// read reads a program and its arguments, where they are given.
func (w *texts) read(f field, s *scope) {
	if !f.given() {
		return
	}
	f.checkWords()
	*w = f.readTexts(s)
}

// readTexts reads a list of texts, or one.
func (f field) readTexts(s *scope) texts {
	var w texts
	for _, item := range f.someItems() {
		w.templates = append(w.templates, item.template(s))
	}
	return w
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
		texts = t.appendTo(texts, row)
	}
	for _, text := range texts {
		*size += 16 + len(text)
	}
	if w.fixed() {
		w.shared = texts
	}
	return texts
}

// braced matches a name in braces, the syntax for a value.
var braced = regexp.MustCompile(`\{[A-Za-z_][A-Za-z0-9_-]*\}`)

// namesIn returns the names in single braces in a text: doubled braces are literal.
func namesIn(text string) (names []string) {
	for _, at := range braced.FindAllStringIndex(text, -1) {
		if (at[0] == 0 || text[at[0]-1] != '{') && !strings.HasPrefix(text[at[1]:], "}") {
			names = append(names, text[at[0]+1:at[1]-1])
		}
	}
	return names
}

// checkUnfilled refuses {name} in a text that is the same for all points.
func (f field) checkUnfilled(text string) {
	if names := namesIn(text); len(names) > 0 {
		panic(f.errorf("{%s} is not filled in here: use it in benchmark, model, backend, variant, command, file, env or cwd", shorten(names[0])))
	}
}

// filling is the template of a word at the top of the file that is filled in at each point: benchmark: "{chapter}/{example}".
type filling struct {
	text *template // of the value; nil: it is the base name of the file
	path *template // of a model's file
}

// templates lists the templates of the filling.
func (f *filling) templates() (all []template) {
	for _, t := range []*template{f.text, f.path} {
		if t != nil {
			all = append(all, *t)
		}
	}
	return all
}

// readFillings reads the braces in benchmark, model, backend and variant. Names of axes in braces are refused in the values of
// other axes, because these are data.
func (g *grid) readFillings(seed *int64) {
	s := &scope{axes: g.axes, seed: seed}
	open := g.openLabels()
	each := func(i int, values []value) {
		for n := range values {
			v := &values[n]
			v.readFilling(g.axes[i].name, s, open)
		}
	}
	for i := range g.axes {
		each(i, g.axes[i].values)
		for _, e := range g.include {
			each(i, e.values[i])
		}
		for _, e := range g.exclude {
			for _, v := range e.values[i] {
				v.at.checkUnfilled(v.text)
			}
		}
	}
}

// openLabels returns the labels that contain braces themselves.
func (g *grid) openLabels() map[int]bool {
	open := map[int]bool{}
	for i, a := range g.axes {
		values := slices.Clone(a.values)
		for _, e := range g.include {
			values = append(values, e.values[i]...)
		}
		open[i] = slices.Contains(labels, a.name) && slices.ContainsFunc(values, func(v value) bool {
			return len(namesIn(v.text+" "+v.path)) > 0
		})
	}
	return open
}

// readFilling reads the braces of one value.
func (v *value) readFilling(axis string, s *scope, open map[int]bool) {
	if !slices.Contains(labels, axis) {
		for _, name := range namesIn(v.text) {
			if at, _ := findAxis(s.axes, name); at >= 0 {
				panic(v.at.errorf("{%s} is not filled in inside a value: use it in benchmark, model, backend, variant, command, file, env or cwd", name))
			}
		}
		return
	}
	if !strings.ContainsAny(v.text+v.path, "{}") {
		return
	}
	var f filling
	if v.path != "" {
		f.path = new(v.at.parse(v.path, s))
	}
	if v.path == "" || v.text != filepath.Base(v.path) {
		f.text = new(v.at.parse(v.text, s))
	}
	for _, t := range f.templates() {
		for _, p := range t.parts {
			if p.axis >= 0 && open[p.axis] {
				panic(v.at.errorf("{%s} contains braces itself: write its text here instead", s.axes[p.axis].name))
			}
		}
	}
	v.filling = &f
}

// resolved fills in the labels of a row. It fails if they would be too long.
func (g *grid) resolved(row []*value) []*value {
	var texts []template
	for _, v := range row {
		if v.filling != nil {
			texts = append(texts, v.filling.templates()...)
		}
	}
	if len(texts) == 0 {
		return row
	}
	if tooLong(texts, row) {
		panic(texts[0].at.tooMuchText())
	}
	all := slices.Clone(row)
	for i, v := range row {
		if v.filling == nil {
			continue
		}
		made := value{at: v.at}
		if path := v.filling.path; path != nil {
			made.path = path.fill(row)
			made.text = filepath.Base(made.path)
			if strings.HasPrefix(made.path, builtin.ModelPrefix) {
				made.text, made.path = made.path, ""
			}
		}
		if text := v.filling.text; text != nil {
			made.text = text.fill(row)
		}
		all[i] = &made
	}
	return all
}

// checkModel refuses a model name that means different files at different points.
func (of *section) checkModel(row []*value) {
	i := slices.IndexFunc(of.grid.axes, func(a axis) bool { return a.name == "model" })
	if i < 0 {
		return
	}
	v := row[i]
	first, known := of.models[v.text]
	if known && first.path != v.path {
		panic(v.twice(first))
	}
	of.models[v.text] = v
}
