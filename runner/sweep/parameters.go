package sweep

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/runner/discover"
	"github.com/neurolens/neurolens/schema"
)

// parameters are what is known of the functions of Python points, by the texts of their files, and which axes none of them takes.
type parameters struct {
	files  fs.FS // the working directory; nil: nothing is known
	known  map[functionName]*discover.Parameters
	axes   map[axesOf][]int
	uses   map[string]*axisUse
	points map[string]bool // by point_id, those without an axis that their function does not take
	ids    []string        // its keys, in the order of the points
	alone  []string        // benchmarks with points among these that have no reference
}

// functionName says which function a point measures.
type functionName struct{ dir, file, object, prepare string }

// axesOf are the axes of a section that a function does not take.
type axesOf struct {
	of       *section
	function functionName
}

// axisUse is who takes an axis.
type axisUse struct {
	at      field
	typed   string   // its name as it was written
	added   bool     // by the command line
	taken   bool     // by some point, as far as is known
	untaken []string // the benchmarks and variants that do not take it
	names   []string // that these take
	by      *discover.Parameters
}

func newParameters(files fs.FS) *parameters {
	return &parameters{
		files: files, known: map[functionName]*discover.Parameters{}, axes: map[axesOf][]int{}, uses: map[string]*axisUse{}, points: map[string]bool{},
	}
}

// of are the parameters of the function that a point measures, with those of the function that prepares it; nil: they are not known.
func (k *parameters) of(name functionName) *discover.Parameters {
	if known, read := k.known[name]; read || k.files == nil {
		return known
	}
	k.known[name] = nil
	file := name.file
	if !filepath.IsAbs(file) {
		file = filepath.Join(name.dir, file)
	}
	tree, err := k.files, error(nil)
	if !fs.ValidPath(file) {
		if tree, err = discover.Tree(filepath.Dir(file)); err != nil {
			return nil
		}
		file = filepath.Base(file)
	}
	found := discover.ParametersOf(tree, file, name.object)
	if found != nil && name.prepare != "" {
		hook := discover.ParametersOf(tree, file, name.prepare)
		if hook == nil {
			return nil
		}
		found.Names = append(found.Names, hook.Names...)
	}
	k.known[name] = found
	return found
}

// untaken are the axes of a point that its function does not take. Labels, and axes that stand in texts, need not be taken.
func (k *parameters) untaken(of *section, p *Point) []int {
	name := functionName{p.Dir, p.File, p.Object, p.Prepare}
	key := axesOf{of, name}
	if axes, known := k.axes[key]; known {
		return axes
	}
	var takes *discover.Parameters
	if p.Executor == schema.ExecutorPython {
		takes = k.of(name)
	}
	k.axes[key] = nil
	for i, a := range of.grid.axes {
		if slices.Contains(labels, a.name) || slices.Contains(p.Used, a.name) {
			continue
		}
		use := k.uses[a.name]
		if use == nil {
			use = &axisUse{at: a.at, typed: cmp.Or(a.typed, a.name), added: a.replaced && a.before == nil}
			k.uses[a.name] = use
		}
		if takes == nil || slices.ContainsFunc(schema.AxisSpellings(a.name), func(name string) bool { return slices.Contains(takes.Names, name) }) {
			use.taken = true
			continue
		}
		use.by, use.names = takes, append(use.names, takes.Names...)
		if name := p.measured(); !slices.Contains(use.untaken, name) {
			use.untaken = append(use.untaken, name)
		}
		k.axes[key] = append(k.axes[key], i)
	}
	return k.axes[key]
}

// leaveOut removes the axes from a point that its function does not take: it is measured once without them, because the values of such
// an axis are not several configurations. A point that differs from one before it only in them is unsupported.
func (k *parameters) leaveOut(of *section, p *Point) {
	untaken := k.untaken(of, p)
	if len(untaken) == 0 {
		return
	}
	less := *p
	less.Params, less.Values = maps.Clone(p.Params), maps.Clone(p.Values)
	less.Written, less.Scaled = maps.Clone(p.Written), maps.Clone(p.Scaled)
	var names []string
	for _, i := range untaken {
		a := &of.grid.axes[i]
		switch a.name {
		case "precision":
			less.Precision = ""
		case "batch_size":
			less.BatchSize = nil
		case "seq_len":
			less.SeqLen = nil
		}
		for _, texts := range []map[string]string{less.Params, less.Values, less.Written, less.Scaled} {
			delete(texts, a.name)
		}
		names = append(names, cmp.Or(a.typed, a.name))
	}
	if len(less.Params) == 0 {
		less.Params = nil
	}
	less.identify()
	if k.points[less.PointID] {
		takes := k.of(functionName{p.Dir, p.File, p.Object, p.Prepare})
		p.Skip = &Skip{
			Reason: fmt.Sprintf("%s takes no parameter %s: it takes %s", takes.Object, enumerated(names), cmp.Or(strings.Join(takes.Names, ", "), "none")),
			Line:   of.grid.axes[untaken[0]].at.fileLine(), Unsupported: true,
		}
		return
	}
	k.points[less.PointID], k.ids = true, append(k.ids, less.PointID)
	*p = less
}

// check refuses an axis that no benchmark takes, if it is meant for one of them alone: the command line adds it, or the sweep has a
// single function.
func (k *parameters) check(single bool) error {
	for _, axis := range slices.Sorted(maps.Keys(k.uses)) {
		use := k.uses[axis]
		if use.taken || len(use.untaken) == 0 || !single && !use.added {
			continue
		}
		hint := ""
		if near := schema.Nearest(use.typed, use.names); near != "" {
			hint = ": did you mean " + near + "?"
		}
		if len(use.untaken) > 1 {
			return use.at.errorf("none of the benchmarks takes a parameter %s%s", use.typed, hint)
		}
		return use.at.errorf("%s takes no parameter %s: it takes %s%s", use.by.Object, use.typed, cmp.Or(strings.Join(use.by.Names, ", "), "none"), hint)
	}
	return nil
}

// uncompared makes the output of a point one that is compared with nothing.
func (k *parameters) uncompared(p *Point) {
	p.Compared = p.Deterministic
	if name := p.measured(); !slices.Contains(k.alone, name) {
		k.alone = append(k.alone, name)
	}
}

// measured names what the point measures in a note: its benchmark, and its variant.
func (p *Point) measured() string { return strings.TrimSpace(p.Benchmark + " " + p.Variant) }

// notes say which axes are left out, one line for each axis, and what has no reference without them.
func (k *parameters) notes() (lines []string) {
	for _, axis := range slices.Sorted(maps.Keys(k.uses)) {
		if use := k.uses[axis]; len(use.untaken) > 0 {
			lines = append(lines, fmt.Sprintf("%s no parameter %s: measured once without it", subjects(use.untaken, "takes", "take"), use.typed))
		}
	}
	if len(k.alone) > 0 {
		lines = append(lines, subjects(k.alone, "has", "have")+" no reference, because the points of the reference have parameters that it does not take")
	}
	return lines
}

// subjects names the first benchmarks of a list, with the verb.
func subjects(benchmarks []string, one, several string) string {
	const enough = 3
	names := make([]string, 0, enough+1)
	for _, name := range benchmarks[:min(len(benchmarks), enough)] {
		names = append(names, shorten(name))
	}
	if more := len(benchmarks) - enough; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	if len(benchmarks) == 1 {
		return names[0] + " " + one
	}
	return enumerated(names) + " " + several
}

// single reports whether all points of a sweep without discover are of one function.
func (k *parameters) single(sections []*section) bool {
	functions := map[functionName]bool{}
	for key := range k.axes {
		functions[key.function] = true
	}
	return len(sections) == 1 && !sections[0].found && len(functions) == 1
}
