package sweep

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/runner/output"
	"github.com/neurolens/neurolens/schema"
)

// Reference defines the correct output of a point: the output of another point, of a function, or the content of a file.
type Reference struct {
	Point     *Point // not among the points of the sweep; it runs for its output, unless it is skipped, and is not measured; nil: a file
	File      string // a file with the output
	Format    string // of File: see term.Formats
	Function  string // in the file of the benchmark; Point then runs it instead of the benchmark; empty: none
	Tolerance output.Tolerance

	axes map[string]string // axes in which Point differs
}

// defaultTolerance is the default of numpy.allclose.
var defaultTolerance = output.Tolerance{Relative: 1e-5, Absolute: 1e-8}

// referenceKeys are the keys of reference that are not axes.
var referenceKeys = []Key{
	{Name: "function", Value: textValue, Doc: "A function or class in the file of the benchmark that computes the correct output. {axis} is filled in."},
	{Name: "from", Value: textValue, Doc: "A file with the correct output. {axis} is filled in."},
	{Name: "read", Value: oneOf(output.Formats...), Default: "npy", Doc: "The format of the file."},
	{Name: "rtol", Value: amountValue, Default: "1e-5", Doc: "The relative tolerance: how far a value may differ, as a share of the reference."},
	{Name: "atol", Value: amountValue, Default: "1e-8", Doc: "The absolute tolerance: how far a value may differ in addition."},
}

// referenceSpec is the value of the key reference.
type referenceSpec struct {
	at        field
	axes      map[string]string // the values of axes at the reference, in the syntax of -P, by column
	from      *template
	function  *template
	format    string
	tolerance output.Tolerance
}

// readReference reads the key reference.
func (p *program) readReference(_ *document, f field) {
	members := f.members("reference.")
	r := referenceSpec{at: f, axes: map[string]string{}, format: "npy", tolerance: defaultTolerance}
	for _, m := range members {
		r.readMember(m, p.scope)
	}
	switch kinds := []bool{len(r.axes) > 0, r.from != nil, r.function != nil}; len(slices.DeleteFunc(kinds, func(is bool) bool { return !is })) {
	case 0:
		panic(f.errorf("names nothing to compare with: want values of axes, such as {variant: PyTorch}, from: FILE, or function: NAME"))
	case 1:
	default:
		panic(f.errorf("values of axes, from and function cannot be combined: use one of them"))
	}
	p.reference = &r
}

// readMember reads one key of reference, or the value of an axis.
func (r *referenceSpec) readMember(m member, s *scope) {
	switch m.key {
	case "from":
		r.from = new(m.value.template(s))
		return
	case "function":
		r.function = new(m.value.template(s))
		return
	case "read":
		r.format = m.value.oneOf(output.Formats)
		return
	case "rtol":
		m.value.readAmount(&r.tolerance.Relative)
		return
	case "atol":
		m.value.readAmount(&r.tolerance.Absolute)
		return
	}
	axis, near := findAxis(s.axes, m.key)
	if near == "" {
		near = schema.Nearest(m.key, keyNames(referenceKeys))
	}
	switch {
	case axis < 0 && near != "":
		panic(m.value.errorf("is not an axis of this sweep: did you mean %s?", near))
	case axis < 0:
		panic(m.value.errorf("is neither an axis of this sweep nor one of %s", strings.Join(keyNames(referenceKeys), " ")))
	}
	if m.value.Kind != yaml.ScalarNode {
		panic(m.value.want("one value of the axis"))
	}
	readValue(s.axes[axis].name, m.value)
	r.axes[s.axes[axis].name] = m.value.typed()
}

// readAmount is a number of at least 0.
func (f field) readAmount(to *float64) {
	const expected = "a number of at least 0"
	if f.Kind != yaml.ScalarNode {
		panic(f.want(expected))
	}
	number, ok := f.decode().(json.Number)
	if !ok {
		panic(f.want(expected))
	}
	amount, err := number.Float64()
	if err != nil || amount < 0 {
		panic(f.want(expected))
	}
	*to = amount
}

// references finds the points with which outputs are compared. They are the points of the same sweep with the axes of reference set to
// its values. The selection of the command line does not change them.
type references struct {
	groups map[string][]*referenceGroup // by benchmark as documents name it
	vary   map[string]map[string]bool   // by benchmark as documents name it, the axes of which some section has several values
}

// referenceGroup are the points of sections that have the same axes. A benchmark without a name in the documents is named after its
// file, function or program. Such a name follows from the axes, so points with different names are matched, as compare does.
type referenceGroup struct {
	axes   []string // axes that distinguish them: a reference must agree in the axes that the point has
	points []*Point
	index  map[string]map[string][]*Point // by the compared axes, then by their values
}

// newReferences reads the sweep once more, with the axes of reference set.
func (e *expansion) newReferences(spec *referenceSpec, o Overrides) *references {
	o.Params, o.reference = maps.Clone(o.Params), maps.Clone(spec.axes)
	maps.DeleteFunc(o.Params, func(name, _ string) bool { return slices.Contains(labels, name) && spec.axes[name] != "" })
	for _, name := range labels { // labels select benchmarks and variants
		if value, is := spec.axes[name]; is {
			delete(o.reference, name)
			note(&o.Params, name, value)
		}
	}
	again := expansion{origin: e.origin, selected: e.selected}
	err := schema.Catch(func() {
		_, again.sections = readAll(e.file, o)
		again.addAll()
	})
	if err != nil {
		panic(spec.at.errorf("%v", err))
	}
	r := &references{groups: map[string][]*referenceGroup{}, vary: varyingAxes(slices.Concat(e.sections, again.sections))}
	for i := range again.points {
		r.add(&again.points[i], again.of[i], spec)
	}
	for i := range again.skipped {
		if again.skipped[i].Skip.Unsupported { // a point without the axis exists
			continue
		}
		r.add(&again.skipped[i], again.ofSkipped[i], spec)
	}
	return r
}

// add adds a point of a section.
func (r *references) add(p *Point, of *section, spec *referenceSpec) {
	benchmark := of.nameOf("benchmark")
	axes := of.coordinatesBut(spec.axes, r.vary[benchmark])
	groups := r.groups[benchmark]
	at := slices.IndexFunc(groups, func(g *referenceGroup) bool { return slices.Equal(g.axes, axes) })
	if at < 0 {
		at = len(groups)
		groups = append(groups, &referenceGroup{axes: axes, index: map[string]map[string][]*Point{}})
		r.groups[benchmark] = groups
	}
	groups[at].points = append(groups[at].points, p)
}

// varyingAxes returns the axes that have several values in some section, by the benchmark of the section. An axis that is constant in
// each section describes the variant, such as its backend.
func varyingAxes(sections []*section) map[string]map[string]bool {
	vary := map[string]map[string]bool{}
	for _, of := range sections {
		benchmark := of.nameOf("benchmark")
		if vary[benchmark] == nil {
			vary[benchmark] = map[string]bool{}
		}
		for i, a := range of.grid.axes {
			named := slices.ContainsFunc(of.grid.include, func(e entry) bool { return len(e.values[i]) > 0 })
			if len(a.values) > 1 || named {
				vary[benchmark][a.name] = true
			}
		}
	}
	return vary
}

// coordinatesBut returns the axes that distinguish the points of a section, without the axes in less and those zipped with them, and
// without axes that do not vary. A label such as the backend of a variant is not among them.
func (of *section) coordinatesBut(less map[string]string, vary map[string]bool) (names []string) {
	for i, a := range of.grid.axes {
		at := slices.IndexFunc(of.grid.dims, func(dim []int) bool { return slices.Contains(dim, i) })
		set := slices.ContainsFunc(of.grid.dims[at], func(k int) bool { return less[of.grid.axes[k].name] != "" })
		constant := slices.Contains(labels, a.name) && len(a.values) == 1
		if vary[a.name] && !set && !constant {
			names = append(names, a.name)
		}
	}
	return names
}

// of returns the point with the correct output of p; nil, with the problem, if there is none or more than one.
func (r *references) of(p *Point, of *section) (*Point, string) {
	var found []*Point
	for _, g := range r.groups[of.nameOf("benchmark")] {
		found = append(found, g.find(p)...)
	}
	switch len(found) {
	case 0:
		return nil, "the point " + p.Describe() + " has no reference: no point with these values matches it"
	case 1:
		return found[0], ""
	}
	return nil, "the point " + p.Describe() + " has several references: they differ in axes that it does not have"
}

// find returns the points of the group that have the values of p, in the axes that p has.
func (g *referenceGroup) find(p *Point) []*Point {
	var looked []string
	for _, axis := range g.axes {
		if p.textOf(axis) != "" {
			looked = append(looked, axis)
		}
	}
	signature := strings.Join(looked, " ")
	if g.index[signature] == nil {
		g.index[signature] = map[string][]*Point{}
		for _, other := range g.points {
			key := other.texts(looked)
			g.index[signature][key] = append(g.index[signature][key], other)
		}
	}
	return g.index[signature][p.texts(looked)]
}

// texts returns the values of axes at the point, in one text.
func (p *Point) texts(axes []string) string {
	var all strings.Builder
	for _, axis := range axes {
		all.WriteString(p.textOf(axis))
		all.WriteByte(0) // no text holds one
	}
	return all.String()
}

// Describe names the point in messages.
func (p *Point) Describe() string {
	words := []string{"benchmark=" + shorten(p.Benchmark)}
	for _, axis := range []string{"variant", "precision", "batch_size", "seq_len"} {
		if text := p.textOf(axis); text != "" {
			words = append(words, axis+"="+shorten(text))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Params)) {
		words = append(words, name+"="+shorten(p.Params[name]))
	}
	return strings.Join(words, " ")
}

// setReferences sets the reference of every point. If a point with settings next to its file has none, it is the fault of the point.
func (e *expansion) setReferences(o Overrides) {
	referees, wrong := map[*yaml.Node]*references{}, map[*yaml.Node]error{}
	for i := range e.points {
		p := &e.points[i]
		if p.Fault != "" {
			continue
		}
		if p.Reference != nil && p.Reference.Function != "" {
			p.Reference.Point = p.computedBy(p.Reference.Function)
		}
		if p.Calibration || e.of[i].program.reference == nil || p.Reference != nil {
			continue
		}
		spec := e.of[i].program.reference
		node := spec.at.Node
		if referees[node] == nil && wrong[node] == nil {
			wrong[node] = schema.Catch(func() { referees[node] = e.newReferences(spec, o) })
		}
		point, err := (*Point)(nil), wrong[node]
		if err == nil {
			var problem string
			if point, problem = referees[node].of(p, e.of[i]); problem == "" {
				problem = p.otherThan(point)
			}
			if problem != "" && e.takers.points[p.PointID] { // it has fewer axes than the points that it would be compared with
				e.takers.uncompared(p)
				continue
			}
			if problem != "" {
				err = spec.at.errorf("%s", problem)
			}
		}
		switch {
		case err == nil:
			p.Reference = &Reference{Point: point, Tolerance: spec.tolerance, axes: spec.axes}
		case e.of[i].withoutConfig != nil:
			p.fail(err.Error())
		default:
			panic(err)
		}
	}
}

// otherThan explains why the output of the point cannot equal that of its reference; empty: it can.
func (p *Point) otherThan(reference *Point) string {
	backends := []schema.Executor{schema.ExecutorONNXRT, schema.ExecutorTorch}
	switch either := []schema.Executor{p.Executor, reference.Executor}; {
	case !slices.Contains(withOutput, p.Executor), !slices.Contains(withOutput, reference.Executor):
		other := either[slices.IndexFunc(either, func(x schema.Executor) bool { return !slices.Contains(withOutput, x) })]
		return fmt.Sprintf("%s has no output to compare: only %s have", listed([]schema.Executor{other}), listed(withOutput))
	case either[0] != either[1] && slices.ContainsFunc(either, func(x schema.Executor) bool { return slices.Contains(backends, x) }):
		return fmt.Sprintf("%s and %s use different inputs and weights: want a reference with the same backend", listed(either[:1]), listed(either[1:]))
	}
	return ""
}

// computedBy returns the point with another function of the benchmark's file. It has the same parameters, which the function need not
// all take, and the same seed.
func (p *Point) computedBy(function string) *Point {
	other := *p
	other.Object, other.Reference, other.Deterministic = function, nil, false
	other.Derived, other.Checks, other.Metrics, other.Profile = nil, nil, nil, nil
	other.Used = append(slices.Collect(maps.Keys(p.Params)), "precision", "batch_size", "seq_len")
	return &other
}

// References lists the points that run only for their outputs, with which others are compared, each once.
func (s *Sweep) References() (all []*Point) {
	known := map[*Point]bool{}
	for i := range s.Points {
		if r := s.Points[i].Reference; r != nil && r.Point != nil && r.Point.Skip == nil && !known[r.Point] {
			known[r.Point] = true
			all = append(all, r.Point)
		}
	}
	return all
}

// fillReference sets the location of the output of a point, and the file that it is compared with.
func (p *program) fillReference(point *Point, row []*value) {
	if p.output != nil && point.Executor == schema.ExecutorCommand {
		point.Output = &Output{From: p.output.from.fillPath(row), Format: p.output.format}
	}
	r := p.reference
	if r != nil && !keyOf("reference").takes(point.Executor) {
		r = nil
	}
	point.Compared = r != nil || point.Deterministic
	if point.Compared && point.Executor == schema.ExecutorCommand && point.Output == nil {
		panic(p.document.errorf("reference and deterministic need the output of the command: say where it is, such as output: {from: stdout, read: text}"))
	}
	if r != nil && r.function != nil {
		if point.Executor != schema.ExecutorPython {
			panic(r.at.errorf("function is not supported with %s: only with file", listed([]schema.Executor{point.Executor})))
		}
		point.Reference = &Reference{Function: r.function.fill(row), Tolerance: r.tolerance}
	}
	if r != nil && r.from != nil {
		point.Reference = &Reference{File: r.from.fillPath(row), Format: r.format, Tolerance: r.tolerance}
	}
}
