package sweep

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/runner/builtin"
	"github.com/neurolens/neurolens/schema"
)

// maxEntries bounds include and exclude.
const maxEntries = 1000

// grid defines the points, and which of them run next to each other.
type grid struct {
	axes     []axis
	dims     [][]int // zipped axes, outermost first; most are single
	compared int     // the dimension whose values form a block; -1: none
	baseline baseline
	line     int // where the grid is in the file
	include  []entry
	exclude  []entry
	dropped  bool // the command line replaces an axis that an entry of include names
}

// baseline is the value of the key baseline.
type baseline struct {
	given   bool   // and its axis exists
	missing error  // set if the axis does not have the value
	text    string // axis=value, in canonical text; empty: not known
}

// entry is one entry of include or exclude.
type entry struct {
	at      field
	foreign bool            // it applies to another benchmark or variant
	values  map[int][]value // by axis
	filters []filter        // the same, to match a point with
}

// filter matches points whose value of an axis is one of several texts.
type filter struct {
	axis  int
	texts map[string]bool
}

// readGrid reads the axes, and the keys that select among their combinations.
func readGrid(d *document, members []member, seed *int64) *grid {
	axes := readAxes(d, members)
	g := &grid{axes: axes, line: 1}
	if f := d.keys["grid"]; f.given() {
		g.line = f.line
	}
	g.readZip(d.keys["zip"])
	for _, dim := range g.dims {
		g.checkDim(dim, func(i int) []value { return g.axes[i].values })
	}
	g.readBaseline(d, d.keys["baseline"])
	g.include = g.readEntries(d, d.keys["include"])
	g.exclude = g.readEntries(d, d.keys["exclude"])
	for _, e := range g.exclude {
		for i := range g.axes {
			checkTwice(e.values[i])
		}
	}
	for _, e := range g.include {
		for i := range e.values {
			g.axes[i].unknown = g.axes[i].unknown && !g.axes[i].respell(e.values[i])
		}
	}
	// An axis on the command line replaces all entries of the file about it.
	written := len(g.include)
	g.include = slices.DeleteFunc(g.include, g.namesReplaced)
	g.dropped = len(g.include) < written
	g.include = slices.DeleteFunc(g.include, func(e entry) bool { return e.foreign })
	for _, e := range g.include {
		g.checkInclude(e)
	}
	g.readFillings(seed)
	g.checkModels()
	return g
}

// index finds an axis that is named in f.
func (g *grid) index(f field, name string) int {
	i, near := findAxis(g.axes, name)
	switch {
	case i >= 0:
		return i
	case near != "":
		panic(f.errorf("%s is not an axis of this sweep: did you mean %s?", shorten(name), near))
	}
	panic(f.errorf("%s is not an axis of this sweep", shorten(name)))
}

// readZip reads the zipped axes, one list or a list of lists, and arranges the dimensions.
func (g *grid) readZip(f field) {
	var groups [][]int
	if f.given() {
		lists := []field{f}
		if len(f.Content) > 0 && f.Content[0].Kind == yaml.SequenceNode {
			lists = f.items()
		}
		for _, list := range lists {
			groups = append(groups, g.zipped(list, slices.Concat(groups...)))
		}
	}
	placed := map[int]bool{}
	for i := range g.axes {
		if placed[i] {
			continue
		}
		dim := []int{i}
		for _, group := range groups {
			if slices.Contains(group, i) {
				dim = group
			}
		}
		for _, axis := range dim {
			placed[axis] = true
		}
		g.dims = append(g.dims, dim)
	}
}

// zipped reads one list of zipped axes.
func (g *grid) zipped(f field, taken []int) []int {
	if f.Kind != yaml.SequenceNode || len(f.Content) < 2 {
		panic(f.errorf("want a list of two or more axes to pair"))
	}
	var group []int
	for _, item := range f.items() {
		name := item.text()
		i := g.index(item, name)
		if slices.Contains(taken, i) || slices.Contains(group, i) {
			panic(item.errorf("axis %s appears twice", name))
		}
		group = append(group, i)
	}
	g.choose(group)
	if err := g.sameLength(f, group, func(i int) []value { return g.axes[i].values }); err != nil {
		panic(err)
	}
	return group
}

// choose keeps the combinations of zipped axes that have the values of the command line, in the spelling of the command line. It keeps
// all combinations if the command line has the same number of values for each axis, or a value that none has.
func (g *grid) choose(group []int) {
	if g.sameLength(field{}, group, func(i int) []value { return g.axes[i].values }) == nil ||
		g.sameLength(field{}, group, g.inFile) != nil {
		return
	}
	chosen := make([][]value, len(group))
	for at := range g.inFile(group[0]) {
		for k, v := range g.combination(group, at) {
			chosen[k] = append(chosen[k], v)
		}
	}
	for k, i := range group {
		missing := func(v value) bool { return find(g.inFile(i), v) < 0 }
		if len(chosen[k]) == 0 || g.axes[i].replaced && slices.ContainsFunc(g.axes[i].values, missing) {
			return
		}
	}
	for k, i := range group {
		g.axes[i].values = chosen[k]
	}
}

// combination returns one of the file's combinations; nil if it does not have the values of the command line.
func (g *grid) combination(group []int, at int) (values []value) {
	for _, i := range group {
		v := g.inFile(i)[at]
		if g.axes[i].replaced {
			given := find(g.axes[i].values, v)
			if given < 0 {
				return nil
			}
			v = g.axes[i].values[given]
		}
		values = append(values, v)
	}
	return values
}

// inFile returns the values of an axis in the file.
func (g *grid) inFile(axis int) []value {
	if g.axes[axis].replaced {
		return g.axes[axis].before
	}
	return g.axes[axis].values
}

// find returns the index of a value; -1: not found.
func find(values []value, v value) int {
	return slices.IndexFunc(values, func(other value) bool { return other.text == v.text && other.path == v.path })
}

// checkDim refuses duplicates: values of a single axis, or combinations of zipped axes.
func (g *grid) checkDim(dim []int, values func(axis int) []value) {
	if len(dim) == 1 {
		checkTwice(values(dim[0]))
		return
	}
	seen := map[string]bool{}
	for at := range values(dim[0]) {
		var words, texts []string
		for _, i := range dim {
			v := &values(i)[at]
			words, texts = append(words, g.axes[i].name+"="+shorten(v.text)), append(texts, v.text)
		}
		key := strings.Join(texts, "\x00") // no text holds a NUL
		if seen[key] {
			panic(values(dim[0])[at].at.errorf("%s appears twice", strings.Join(words, " ")))
		}
		seen[key] = true
	}
}

// sameLength checks that zipped axes have the same number of values.
func (g *grid) sameLength(f field, group []int, values func(axis int) []value) error {
	first := group[0]
	for _, i := range group[1:] {
		if a, b := len(values(first)), len(values(i)); a != b {
			return f.errorf("zipped axes need the same number of values: %s has %d, %s has %d",
				g.axes[first].name, a, g.axes[i].name, b)
		}
	}
	return nil
}

// singleBraces converts a text of a sweep file to its stored form.
var singleBraces = strings.NewReplacer("{{", "{", "}}", "}")

// readBaseline finds the compared axis: the axis of baseline, else variant.
func (g *grid) readBaseline(d *document, f field) {
	g.compared = slices.IndexFunc(g.dims, func(dim []int) bool {
		return slices.ContainsFunc(dim, func(i int) bool { return g.axes[i].name == "variant" })
	})
	if !f.given() {
		return
	}
	name, word := f.assignment()
	if !d.hasAxis(name) {
		g.compared = -1
		return
	}
	i := g.index(f, name)
	g.baseline.given = true
	g.compared = slices.IndexFunc(g.dims, func(dim []int) bool { return slices.Contains(dim, i) })
	a, text := &g.axes[i], ""
	err := schema.Catch(func() { text = a.read(f, name, word) })
	if err == nil {
		g.baseline.text = a.name + "=" + text
		if slices.Contains(labels, a.name) { // in labels, {{ and }} are escaped braces
			g.baseline.text = a.name + "=" + singleBraces.Replace(text)
		}
	}
	switch {
	case a.replaced:
	case err != nil:
		panic(err)
	case !slices.Contains(a.texts(), text) && !slices.Contains(d.expanded[a.name], text):
		g.baseline.missing = f.errorf("axis %s has no value %s", name, shorten(text))
	}
}

// compares reports whether an axis is the compared one, or is zipped with it.
func (g *grid) compares(name string) bool {
	return g.compared >= 0 && slices.ContainsFunc(g.dims[g.compared], func(i int) bool { return g.axes[i].name == name })
}

// assignment returns a text of the form axis=value.
func (f field) assignment() (name, word string) {
	name, word, found := strings.Cut(f.text(), "=")
	if !found {
		panic(f.errorf("want axis=value, got %s", f.got()))
	}
	return name, word
}

// read returns the canonical text of a word in f that names a value of the axis.
func (a *axis) read(f field, name, word string) string {
	var literal field
	if err := schema.Catch(func() { literal = f.load([]byte(word)) }); err != nil {
		panic(f.errorf("%q is not a value of axis %s", word, name))
	}
	literal.line, literal.what = f.line, f.what
	a.quote([]*yaml.Node{literal.Node})
	return readValue(a.name, literal).text
}

// readEntries reads include or exclude: a list of maps from axes to a value or several.
func (g *grid) readEntries(d *document, f field) []entry {
	if f.given() && f.Kind != yaml.SequenceNode {
		panic(f.want("a list of maps"))
	}
	var entries []entry
	for _, item := range f.entries() {
		members := item.members(f.what + ": axis ")
		if len(members) == 0 {
			panic(item.errorf("an entry names no axis"))
		}
		e := entry{at: item, values: map[int][]value{}}
		for _, m := range members {
			if !d.hasAxis(m.key) {
				e.foreign = true
				continue
			}
			i := g.index(item, m.key)
			if _, twice := e.values[i]; twice {
				panic(item.errorf("axis %s appears twice", g.axes[i].name))
			}
			a := readAxis(g.axes[i].name, m.value)
			g.axes[i].giveArguments(a.values)
			e.values[i] = a.values
			texts := map[string]bool{}
			for _, v := range a.values {
				texts[v.text] = true
			}
			e.filters = append(e.filters, filter{i, texts})
			_, spread := d.expanded[g.axes[i].name]
			e.foreign = e.foreign || spread && !texts[g.axes[i].values[0].text]
		}
		entries = append(entries, e)
	}
	return entries
}

// checkInclude makes checks that apply to include but not to exclude.
func (g *grid) checkInclude(e entry) {
	for _, dim := range g.dims {
		var named []int
		for _, i := range dim {
			if _, ok := e.values[i]; ok {
				named = append(named, i)
			}
		}
		if len(named) == 0 {
			continue
		}
		if len(named) < len(dim) {
			missing := slices.IndexFunc(dim, func(i int) bool { return !slices.Contains(named, i) })
			panic(e.at.errorf("%s is zipped with %s: name both", g.axes[named[0]].name, g.axes[dim[missing]].name))
		}
		values := func(i int) []value { return e.values[i] }
		if err := g.sameLength(e.at, dim, values); err != nil {
			panic(err)
		}
		g.checkDim(dim, values)
	}
}

// checkModels refuses two files with one name, which would be the same model in the store.
func (g *grid) checkModels() {
	i := slices.IndexFunc(g.axes, func(a axis) bool { return a.name == "model" })
	if i < 0 {
		return
	}
	first := map[string]*value{}
	for _, a := range g.axes[i].values {
		first[a.text] = &a
	}
	for _, e := range g.include {
		for _, v := range e.values[i] {
			other, known := first[v.text]
			if known && other.path != v.path {
				panic(v.twice(other))
			}
			first[v.text] = &v
		}
	}
}

func (g *grid) namesReplaced(e entry) bool {
	for i := range e.values {
		if g.axes[i].replaced {
			return true
		}
	}
	return false
}

// backendReplaced reports whether the command line sets the backends.
func (g *grid) backendReplaced() bool {
	return slices.ContainsFunc(g.axes, func(a axis) bool { return a.name == "backend" && a.replaced })
}

// maxLaunches bounds the points of a sweep times its repeats.
const maxLaunches = 100_000

// valuesOf returns the values of an axis in the grid, or in an entry of include that sets it.
func (g *grid) valuesOf(e *entry, axis int) []value {
	if e != nil {
		if values, ok := e.values[axis]; ok {
			return values
		}
	}
	return g.axes[axis].values
}

// count multiplies, before anything is expanded. It returns a float64, because an int may overflow.
func (g *grid) count(e *entry) float64 {
	points := 1.0
	for _, dim := range g.dims {
		points *= float64(len(g.valuesOf(e, dim[0])))
	}
	return points
}

// rows returns the number of rows of the grids together: points, without the removed ones. runs is the number of runs of these points.
func (e *expansion) rows() (rows, runs float64) {
	for _, p := range e.sections {
		rows, runs = rows+p.rows(), runs+p.runs()
	}
	return rows, runs
}

func (p *section) rows() float64 {
	n := p.grid.count(nil)
	for i := range p.grid.include {
		n += p.grid.count(&p.grid.include[i])
	}
	return n
}

func (p *section) runs() float64 { return p.rows() * float64(p.settings.point.Repeats) }

// checkSize refuses more launches than anyone waits for.
func (e *expansion) checkSize(against bool) {
	_, launches := e.rows()
	if e.calibrate.given() {
		launches += float64(len(builtin.Calibrations()) * e.maxRepeats())
	}
	factors := "points x repeats"
	if against {
		launches *= 2
		factors += " x sides"
	}
	if launches > maxLaunches {
		amount := fmt.Sprintf("%.0f", launches)
		if launches > 1e15 {
			amount = fmt.Sprintf("%.1g", launches)
		}
		panic(e.errorf(e.sections[0].grid.line, "%s runs (%s): want at most %d", amount, factors, maxLaunches))
	}
}

// rows calls yield with every combination of the grid, or of an entry of include, the last dimension moving fastest.
// A row holds a value for each axis.
func (g *grid) rows(e *entry, yield func(row []*value)) {
	at := make([]int, len(g.dims))
	for {
		row := make([]*value, len(g.axes))
		for d, dim := range g.dims {
			for _, axis := range dim {
				row[axis] = &g.valuesOf(e, axis)[at[d]]
			}
		}
		yield(row)
		d := len(at) - 1
		for ; d >= 0; d-- {
			if at[d]++; at[d] < len(g.valuesOf(e, g.dims[d][0])) {
				break
			}
			at[d] = 0
		}
		if d < 0 {
			return
		}
	}
}

// matches reports whether an entry of exclude removes a row.
func (e *entry) matches(row []*value) bool {
	if e.foreign {
		return false
	}
	for _, f := range e.filters {
		if !f.texts[row[f.axis].text] {
			return false
		}
	}
	return true
}

// block names the coordinates of a row apart from the compared dimension: rows of one block have the same name.
func (p *section) block(row []*value) string {
	var name strings.Builder
	for d, dim := range p.grid.dims {
		if d == p.grid.compared {
			continue
		}
		for _, axis := range dim {
			column := p.grid.axes[axis].name
			if p.coordinates != nil && !p.coordinates[column] {
				continue
			}
			name.WriteString(column)
			name.WriteByte('=')
			name.WriteString(row[axis].text)
			name.WriteByte(0) // no text holds one
		}
	}
	return name.String()
}

// describe names a point in the form of a command line.
func (g *grid) describe(row []*value) string {
	var words []string
	for i, a := range g.axes {
		if len(a.values) > 1 {
			words = append(words, a.name+"="+shorten(row[i].text))
		}
	}
	return strings.Join(words, " ")
}
