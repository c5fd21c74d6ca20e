package sweep

import (
	"path/filepath"
	"slices"
	"strings"

	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// braced is a name in braces, as people write it where they want a value.
var braced = regexp.MustCompile(`\{[A-Za-z_][A-Za-z0-9_-]*\}`)

// namesIn are the names in single braces in a text: doubled ones stand for themselves.
func namesIn(text string) (names []string) {
	for _, at := range braced.FindAllStringIndex(text, -1) {
		if (at[0] == 0 || text[at[0]-1] != '{') && !strings.HasPrefix(text[at[1]:], "}") {
			names = append(names, text[at[0]+1:at[1]-1])
		}
	}
	return names
}

// checkUnfilled refuses {name} in a text that is the same for all points.
func (f field) checkUnfilled(text string) error {
	if names := namesIn(text); len(names) > 0 {
		return f.errorf("{%s} is not filled in here: use it in benchmark, model, backend, variant, command, file, env or cwd", shorten(names[0]))
	}
	return nil
}

// filling says how a word at the top of the file is made at each point: benchmark: "{chapter}/{example}".
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
func (g *grid) readFillings(seed *int64) error {
	s := &scope{axes: g.axes, seed: seed}
	open := g.openLabels()
	each := func(i int, values []value) error {
		for n := range values {
			v := &values[n]
			if err := v.readFilling(g.axes[i].name, s, open); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range g.axes {
		if err := each(i, g.axes[i].values); err != nil {
			return err
		}
		for _, e := range g.include {
			if err := each(i, e.values[i]); err != nil {
				return err
			}
		}
		for _, e := range g.exclude {
			for _, v := range e.values[i] {
				if err := v.at.checkUnfilled(v.text); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// openLabels are the labels that contain braces themselves.
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
func (v *value) readFilling(axis string, s *scope, open map[int]bool) error {
	if !slices.Contains(labels, axis) {
		for _, name := range namesIn(v.text) {
			if at, _ := findAxis(s.axes, name); at >= 0 {
				return v.at.errorf("{%s} is not filled in inside a value: use it in benchmark, model, backend, variant, command, file, env or cwd", name)
			}
		}
		return nil
	}
	if !strings.ContainsAny(v.text+v.path, "{}") {
		return nil
	}
	var f filling
	if v.path != "" {
		path, err := v.at.parse(v.path, s)
		if err != nil {
			return err
		}
		f.path = &path
	}
	if v.path == "" || v.text != filepath.Base(v.path) {
		text, err := v.at.parse(v.text, s)
		if err != nil {
			return err
		}
		f.text = &text
	}
	for _, t := range f.templates() {
		for _, p := range t.parts {
			if p.axis >= 0 && open[p.axis] {
				return v.at.errorf("{%s} contains braces itself: write its text here instead", s.axes[p.axis].name)
			}
		}
	}
	v.filling = &f
	return nil
}

// resolved fills in the labels of a row. It fails if they would be too long.
func (g *grid) resolved(row []*value) ([]*value, error) {
	var texts []template
	for _, v := range row {
		if v.filling != nil {
			texts = append(texts, v.filling.templates()...)
		}
	}
	if len(texts) == 0 {
		return row, nil
	}
	if tooLong(texts, row) {
		return nil, texts[0].at.tooMuchText()
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
			if strings.HasPrefix(made.path, builtinPrefix) {
				made.text, made.path = made.path, ""
			}
		}
		if text := v.filling.text; text != nil {
			made.text = text.fill(row)
		}
		all[i] = &made
	}
	return all, nil
}

// checkModel refuses a model name that means different files at different points.
func (of *section) checkModel(row []*value) error {
	i := slices.IndexFunc(of.grid.axes, func(a axis) bool { return a.name == "model" })
	if i < 0 {
		return nil
	}
	v := row[i]
	first, known := of.models[v.text]
	if known && first.path != v.path {
		return v.twice(first)
	}
	of.models[v.text] = v
	return nil
}
