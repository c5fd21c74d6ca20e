package sweep

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/runner/builtin"
	"github.com/neurolens/neurolens/runner/discover"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
)

// expansion creates the points of a sweep.
type expansion struct {
	origin
	sections []*section
	partial  bool // see isPartial
	targets  []target
	selected []target // sections that may have points, according to targets
	// calibrate is the key that requests calibration points; controls select the other controls.
	calibrate field
	controls  []control

	file    field // the whole sweep
	points  []Point
	skipped []Point
	of      []*section // by point: its section, except for the points of calibrate
	// ofSkipped are the sections of skipped points.
	ofSkipped []*section
	blocks    [][]int
	blockOf   map[string]int
	lines     map[string]int     // by point_id
	ids       []string           // its keys, in the order of the points
	removed   map[*yaml.Node]int // by entry of exclude
	takers    *parameters        // the parameters of functions
	named     []string           // benchmarks of all points, as many as checkTargets names and one more
}

// expand creates the points.
func (e *expansion) expand(o Overrides) *Sweep {
	e.addAll()
	e.checkTaken()
	e.takers.check(e.takers.single(e.sections))
	e.setReferences(o)
	e.checkRemoved()
	e.evenRepeats()
	calibration := e.addCalibration()
	e.checkControls()
	e.checkTargets()
	s := e.whole()
	s.Points, s.Skipped, s.blocks, s.calibration = e.points, e.skipped, e.blocks, calibration
	s.Notes = e.takers.notes()
	return &s
}

// addAll creates the points of all sections.
func (e *expansion) addAll() {
	e.blockOf, e.lines, e.removed = map[string]int{}, map[string]int{}, map[*yaml.Node]int{}
	over := e.sections[0].over
	e.takers = &parameters{
		files: over.Files, known: map[functionName]*discover.Parameters{}, axes: map[axesOf][]int{}, uses: map[string]*axisUse{}, points: map[string]bool{},
	}
	if over.Base != nil {
		e.takers.files = over.Base
	}
	rows, _ := e.rows()
	room := int(min(rows, maxLaunches)) // a point is large: growing a slice of them would copy each several times
	e.points, e.of = make([]Point, 0, room), make([]*section, 0, room)
	for i, p := range e.sections {
		if err := schema.Catch(func() { e.addSection(i) }); err != nil {
			panic(p.own(err))
		}
	}
}

// addSection creates the points of a section. If the settings next to its file are wrong at one of them, it uses the section without
// these settings; if targets do not select it, it has no points.
func (e *expansion) addSection(i int) {
	p := e.sections[i]
	before := e.mark(*p.program.size)
	err := schema.Catch(func() { e.addPoints(p) })
	switch {
	case err == nil:
		return
	case !p.mayBeTargeted(e.selected):
		e.restore(before)
		*p.program.size = before.size
		e.partial = true
		return
	case p.withoutConfig == nil:
		panic(err)
	}
	*p.program.size = before.size
	plain, other := readSection(p.withoutConfig, p.program.size)
	if other != nil || plain.unused != nil {
		panic(err)
	}
	plain.fault, plain.coordinates = err.Error(), p.coordinates
	e.restore(before)
	e.sections[i], e.partial = plain, true
	e.addPoints(plain)
}

func (e *expansion) addPoints(p *section) {
	e.add(p, nil, p.grid.line)
	for i := range p.grid.include {
		entry := &p.grid.include[i]
		e.add(p, entry, entry.at.line)
	}
}

// extent is the state of an expansion that restore goes back to.
type extent struct{ points, skipped, blocks, ids, less, size int }

func (e *expansion) mark(size int) extent {
	return extent{len(e.points), len(e.skipped), len(e.blocks), len(e.ids), len(e.takers.ids), size}
}

// restore removes the points since a mark.
func (e *expansion) restore(to extent) {
	e.points, e.of = e.points[:to.points], e.of[:to.points]
	e.skipped, e.ofSkipped = e.skipped[:to.skipped], e.ofSkipped[:to.skipped]
	for _, id := range e.ids[to.ids:] {
		delete(e.lines, id)
	}
	for _, id := range e.takers.ids[to.less:] {
		delete(e.takers.points, id)
	}
	e.blocks, e.ids, e.takers.ids = e.blocks[:to.blocks], e.ids[:to.ids], e.takers.ids[:to.less]
	for i, block := range e.blocks {
		e.blocks[i] = slices.DeleteFunc(block, func(point int) bool { return point >= to.points })
	}
	maps.DeleteFunc(e.blockOf, func(_ string, block int) bool { return block >= to.blocks })
}

// whole returns the settings of the whole sweep.
func (e *expansion) whole() Sweep {
	s := e.sections[0].settings.sweep
	for _, p := range e.sections {
		s.MaxRepeats = max(s.MaxRepeats, p.settings.sweep.MaxRepeats)
	}
	s.Suite, s.Repeats = e.suite(), e.repeatsOfPoints()
	if s.RelError == 0 && s.Looks == nil {
		s.MaxRepeats = s.Repeats
	}
	return s
}

// repeatsOfPoints returns the largest number of repeats that a point has, at least 1.
func (e *expansion) repeatsOfPoints() int {
	most := 1
	for i := range e.points {
		most = max(most, e.points[i].Repeats)
	}
	return most
}

// maxRepeats returns the largest number of repeats of a section.
func (e *expansion) maxRepeats() int {
	most := 1
	for _, p := range e.sections {
		most = max(most, p.settings.point.Repeats)
	}
	return most
}

// evenRepeats gives all points of a block the same number of repeats: the largest that is set for one of them, else the largest of their
// defaults.
func (e *expansion) evenRepeats() {
	for _, block := range e.blocks {
		set, most := 0, 0
		for _, i := range block {
			n := e.points[i].Repeats
			most = max(most, n)
			if d := e.of[i].document; d.keys["repeats"].given() || d.option("repeats").given() {
				set = max(set, n)
			}
		}
		for _, i := range block {
			e.points[i].Repeats = cmp.Or(set, most)
		}
	}
}

// suite returns the label of all sections, or the label of the file if the sections differ.
func (e *expansion) suite() string {
	first := e.sections[0].settings.point.Suite
	for _, p := range e.sections {
		if p.settings.point.Suite != first {
			return suiteOf(e.file.name)
		}
	}
	return first
}

// checkRemoved refuses an exclude that matches no point, or all of them.
func (e *expansion) checkRemoved() {
	for _, p := range e.sections {
		for _, x := range p.grid.exclude {
			if e.removed[x.at.Node] > 0 || p.grid.namesReplaced(x) {
				continue
			}
			err := x.at.errorf("no point matches it")
			switch {
			case p.withoutConfig != nil && x.at.name != e.name: // from the settings next to the file
				e.failPoints(p, err)
			case !e.partial:
				panic(err)
			}
		}
		if len(e.points)+len(e.skipped) == 0 && len(e.targets) == 0 {
			panic(p.grid.exclude[0].at.errorf("no point is left"))
		}
	}
}

// add creates the points of a section's grid, or of an entry of include. exclude applies to both.
func (e *expansion) add(of *section, from *entry, line int) {
	of.grid.rows(from, func(written []*value) {
		row := of.grid.resolved(written)
		of.checkModel(row)
		for i, v := range row {
			if v != written[i] { // every point has a different text
				*of.program.size += len(v.text) + len(v.path)
			}
		}
		p := of.point(row)
		if first, twice := e.lines[p.PointID]; twice {
			at := field{origin: e.origin, line: line}
			if from != nil {
				at = from.at
			}
			panic(at.errorf("the point %s already exists, from line %d", of.grid.describe(row), first))
		}
		e.lines[p.PointID] = line
		e.ids = append(e.ids, p.PointID)
		excluded := false
		for i := range of.grid.exclude {
			if x := &of.grid.exclude[i]; x.matches(row) {
				excluded = true
				e.removed[x.at.Node]++
			}
		}
		if excluded {
			return
		}
		p.Control = e.controlled(&p)
		if !e.targeted(&p, of.aliases) {
			return
		}
		p.Skip, p.Fault = of.skip(&p)
		if p.Skip == nil {
			of.count(&p)
			e.takers.dropUntaken(of, &p)
			e.takers.dropWritten(&p)
		}
		if p.Skip != nil {
			e.skipped, e.ofSkipped = append(e.skipped, p), append(e.ofSkipped, of)
			return
		}
		if of.work != nil {
			p.Work = of.work.at(&p)
		}
		if fault := cmp.Or(of.fault, p.Fault); fault != "" {
			p.fail(fault)
		}
		block := of.block(written)
		if _, known := e.blockOf[block]; !known {
			e.blockOf[block] = len(e.blocks)
			e.blocks = append(e.blocks, nil)
		}
		b := e.blockOf[block]
		e.blocks[b] = append(e.blocks[b], len(e.points))
		e.points, e.of = append(e.points, p), append(e.of, of)
	})
}

// fail makes all runs of a point errors. Nothing of it is built, profiled or compared.
func (p *Point) fail(why string) {
	p.Fault, p.Build, p.Profile, p.Reference, p.Compared = why, nil, nil, nil, false
}

// point creates the point of a row.
func (of *section) point(row []*value) Point {
	p := of.settings.point
	p.Found = of.found
	p.Called = of.called
	var backend *value
	for i, v := range row {
		switch of.grid.axes[i].name {
		case "benchmark":
			p.Benchmark = v.text
		case "variant":
			p.Variant = v.text
		case "backend":
			p.Backend, backend = v.text, v
		case "model":
			p.Model, p.ModelPath, p.ModelLine = v.text, v.path, v.at.fileLine()
		case "precision":
			p.Precision = v.text
		case "batch_size":
			p.BatchSize = v.integer()
		case "seq_len":
			p.SeqLen = v.integer()
		default:
			if p.Params == nil {
				p.Params = map[string]string{}
			}
			p.Params[of.grid.axes[i].name] = v.text
			note(&p.Values, of.grid.axes[i].name, v.typed)
		}
		note(&p.Written, of.grid.axes[i].name, v.option)
		note(&p.Scaled, of.grid.axes[i].name, of.grid.axes[i].base)
	}
	for label := range of.expanded {
		note(&p.Written, label, optionText(p.textOf(label)))
	}
	of.program.launch(&p, row, backend)
	if !slices.Contains(of.executors, p.Executor) {
		of.executors = append(of.executors, p.Executor)
	}
	p.identify()
	return p
}

// identify sets the point_id, after all other fields are set.
func (p *Point) identify() {
	var run schema.Run
	p.Fill(&run)
	p.PointID = schema.PointID(&run)
}

// note sets a text in a map, unless the text is empty. It creates the map if necessary.
func note(m *map[string]string, key, text string) {
	if text == "" {
		return
	}
	if *m == nil {
		*m = map[string]string{}
	}
	(*m)[key] = text
}

// integer returns the value of an axis that readValue has checked.
func (v *value) integer() *int64 {
	n, _ := strconv.ParseInt(v.text, 10, 64)
	return &n
}

// maxNamed bounds the benchmarks that an error lists.
const maxNamed = 10

// target is a pattern of the command line.
type target struct {
	pattern string
	matched bool
}

func readTargets(patterns []string) []target {
	var targets []target
	for _, pattern := range patterns {
		switch {
		case pattern != "all":
		case len(patterns) > 1:
			panic(targetError(pattern, "it chooses every point: give it alone"))
		default:
			return nil
		}
		if _, err := path.Match(pattern, ""); err != nil {
			panic(targetError(pattern, "want a pattern with *, ? and [a-z]"))
		}
		targets = append(targets, target{pattern: pattern})
	}
	return targets
}

// targeted reports whether targets select a point. also are further names of its benchmark.
func (e *expansion) targeted(p *Point, also []string) bool {
	if len(e.targets) == 0 {
		return true
	}
	if len(e.named) <= maxNamed && !slices.Contains(e.named, p.Benchmark) {
		e.named = append(e.named, p.Benchmark)
	}
	names := p.targetNames(also)
	found := false
	for i := range e.targets {
		t := &e.targets[i]
		for _, name := range names {
			if matched, err := path.Match(t.pattern, name); err == nil && matched {
				t.matched, found = true, true
			}
		}
	}
	return found
}

// targetNames lists the names by which a target may select a point.
func (p *Point) targetNames(also []string) []string {
	names := []string{p.Suite, p.Benchmark}
	benchmarks := append([]string{p.Benchmark}, also...)
	if short, within := strings.CutPrefix(p.Benchmark, p.Suite+"/"); within {
		benchmarks = append(benchmarks, short)
	}
	for _, benchmark := range benchmarks {
		name := p.Suite + ":" + benchmark
		if names = append(names, name); p.Variant != "" {
			names = append(names, name+":"+p.Variant)
		}
	}
	return names
}

// mayBeTargeted reports whether a target may select points of the document, as far as that is known before these are created.
func (d *document) mayBeTargeted(targets []target) bool {
	p := Point{Suite: suiteOf(d.file.name), Benchmark: d.nameOf("benchmark"), Variant: d.nameOf("variant")}
	if f := d.choose("suite"); f.given() {
		p.Suite = f.Value
	}
	if p.Benchmark == "" || !d.found && strings.ContainsAny(p.Benchmark+p.Variant, "{}") {
		return true
	}
	variants := p.Variant == "" && slices.ContainsFunc(axesIn(d.file.Node), func(a axisAt) bool { return a.column == "variant" })
	_, given := d.over.Params["variant"]
	names := p.targetNames(d.aliases)
	for _, t := range targets {
		if (variants || given) && strings.Count(t.pattern, ":") > 1 {
			return true
		}
		if slices.ContainsFunc(names, func(name string) bool { matched, err := path.Match(t.pattern, name); return matched || err != nil }) {
			return true
		}
	}
	return len(targets) == 0
}

// checkTargets refuses a pattern that matches nothing.
func (e *expansion) checkTargets() {
	for _, t := range e.targets {
		if t.matched {
			continue
		}
		var names []string
		for _, name := range e.named[:min(len(e.named), maxNamed)] {
			names = append(names, shorten(name))
		}
		if len(e.named) > maxNamed {
			names = append(names, "…")
		}
		panic(targetError(t.pattern, "no point matches (suite %s, benchmarks: %s)",
			shorten(e.suite()), strings.Join(names, ", ")))
	}
}

func targetError(pattern, format string, args ...any) error {
	return origin{name: fmt.Sprintf("--targets %q", shorten(pattern))}.errorf(0, format, args...)
}

// executorsOf returns the executors that use a key, or a profiler of the key profile; nil: all.
func executorsOf(key string) []schema.Executor {
	if _, tool, is := strings.Cut(key, " "); is {
		return profilers[tool]
	}
	return keyOf(key).Executors
}

// request is a key in the file or on the command line that not every executor uses.
type request struct {
	key string // or "profile" and a tool
	at  field
}

// requestID is the key and its position: a request of several sections is one.
type requestID struct {
	key, from string
	line      int
}

func (r request) id() requestID { return requestID{r.key, r.at.name, r.at.line} }

// request records a key, to be checked once the executors are known.
func (d *document) request(key string, at field) {
	d.requests = append(d.requests, request{key, at})
}

// checkTaken refuses a key that none of the executors of the points uses. A key of a whole sweep may be unused by the files that
// discover has found. A key in the settings next to such a file is the fault of its points.
func (e *expansion) checkTaken() {
	taken := map[requestID]bool{}
	for _, p := range e.sections {
		for _, r := range p.requests {
			taken[r.id()] = taken[r.id()] || p.takes(r)
		}
	}
	for _, p := range e.sections {
		for _, r := range p.requests {
			if taken[r.id()] || len(e.targets) > 0 && !e.has(p) {
				continue
			}
			err := r.at.errorf("%snot supported with %s: only with %s", r.tool(), listed(p.executors), takers(r.key))
			switch {
			case p.withoutConfig != nil && r.at.lines && r.at.name != e.name: // from the settings next to the file
				e.failPoints(p, err)
			case !p.found || !r.at.lines || p.from[r.at.Node] == layerBenchmark:
				panic(err)
			}
		}
	}
}

// has reports whether a section has points, including skipped ones.
func (e *expansion) has(p *section) bool {
	return slices.Contains(e.of, p) || slices.Contains(e.ofSkipped, p)
}

// failPoints makes an error the fault of all points of a section.
func (e *expansion) failPoints(p *section, err error) {
	for i := range e.points {
		if e.of[i] == p {
			e.points[i].fail(err.Error())
		}
	}
}

// takes reports whether a point uses a key. A key of the file may be unused if the command line has changed the backend.
func (of *section) takes(r request) bool {
	takers := executorsOf(r.key)
	return takers == nil || r.at.optional || r.at.lines && of.grid.backendReplaced() ||
		of.program.scope.seedUsed && (r.key == "seed" || r.key == "reproducible") || // a command contains it
		slices.ContainsFunc(of.executors, func(x schema.Executor) bool { return slices.Contains(takers, x) })
}

// tool returns the profiler of a request for profile, with a space; empty for other keys.
func (r request) tool() string {
	if _, tool, found := strings.Cut(r.key, " "); found {
		return tool + " "
	}
	return ""
}

// takers names the executors that use a key, or a profiler of the key profile.
func takers(key string) string {
	words := executorNames(executorsOf(key))
	if key == "seed" || key == "reproducible" {
		words = append(words, "a command with {seed}")
	}
	return enumerated(words)
}

// listed lists executors: file, onnxrt and torch.
func listed(executors []schema.Executor) string { return enumerated(executorNames(executors)) }

// executorNames returns the words of a sweep file for executors: file is the key for Python.
func executorNames(executors []schema.Executor) (words []string) {
	for _, e := range executors {
		if e == schema.ExecutorPython {
			e = "file"
		}
		words = append(words, string(e))
	}
	return words
}

// enumerated lists words, with an and before the last.
func enumerated(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// parameters has the known parameters of the functions of Python points, by the texts of their files, and the axes that no function
// takes.
type parameters struct {
	files  fs.FS // the working directory; nil: unknown
	known  map[functionName]*discover.Parameters
	axes   map[axesOf][]int
	uses   map[string]*axisUse
	points map[string]bool // by point_id, without the axes that their function does not take
	ids    []string        // its keys, in the order of the points
	alone  []string        // benchmarks with points among these that have no reference
}

// functionName identifies the function that a point measures.
type functionName struct{ dir, file, object, prepare string }

// axesOf are the axes of a section that a function does not take.
type axesOf struct {
	of       *section
	function functionName
}

// axisUse records which functions take an axis.
type axisUse struct {
	at      field
	typed   string   // its name as it was written
	added   bool     // by the command line
	taken   bool     // by some point, as far as is known
	untaken []string // the benchmarks and variants that do not take it
	names   []string // that these take
	by      *discover.Parameters
}

// of returns the parameters of the function that a point measures, with the parameters of the function that prepares it; nil: unknown.
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

// untaken returns the axes of a point that its function does not take. Labels, and axes that texts contain, need not be taken.
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

// dropUntaken removes the axes from a point that its function does not take: it is measured once without them, because the values of
// such an axis are not several configurations. A point that differs from an earlier one only in these axes is unsupported.
func (k *parameters) dropUntaken(of *section, p *Point) {
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
			Unsupported: true,
			Reason:      fmt.Sprintf("%s takes no parameter %s: it takes %s", takes.Object, enumerated(names), cmp.Or(strings.Join(takes.Names, ", "), "none")),
		}
		return
	}
	k.points[less.PointID], k.ids = true, append(k.ids, less.PointID)
	*p = less
}

// dropWritten removes names of axes, as they were written, that make no difference to the function of a point: it takes the same parameter
// without them. So seq and seq_len are one setting, and a session that was begun with one continues with the other.
func (k *parameters) dropWritten(p *Point) {
	if p.Executor != schema.ExecutorPython || len(p.Called) == 0 {
		return
	}
	takes := k.of(functionName{p.Dir, p.File, p.Object, p.Prepare})
	if takes == nil {
		return
	}
	taken := func(axis, written string) string {
		all := spellings(axis, written)
		i := slices.IndexFunc(all, func(name string) bool { return slices.Contains(takes.Names, name) })
		return all[max(i, 0)]
	}
	p.Called = maps.Clone(p.Called) // other points have it too
	maps.DeleteFunc(p.Called, func(axis, written string) bool { return taken(axis, written) == taken(axis, "") })
}

// check refuses an axis that no benchmark takes, if it can only be meant for a benchmark: the command line adds it, or the sweep has a
// single function.
func (k *parameters) check(single bool) {
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
			panic(use.at.errorf("none of the benchmarks takes a parameter %s%s", use.typed, hint))
		}
		panic(use.at.errorf("%s takes no parameter %s: it takes %s%s", use.by.Object, use.typed, cmp.Or(strings.Join(use.by.Names, ", "), "none"), hint))
	}
}

// uncompared marks the output of a point as compared with nothing.
func (k *parameters) uncompared(p *Point) {
	p.Compared = p.Deterministic
	if name := p.measured(); !slices.Contains(k.alone, name) {
		k.alone = append(k.alone, name)
	}
}

// measured names the point in a note: its benchmark, and its variant.
func (p *Point) measured() string { return strings.TrimSpace(p.Benchmark + " " + p.Variant) }

// notes returns one line for each axis that is left out, and one for the points that have no reference without them.
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

// single reports whether all points of a sweep without discover measure one function.
func (k *parameters) single(sections []*section) bool {
	functions := map[functionName]bool{}
	for key := range k.axes {
		functions[key.function] = true
	}
	return len(sections) == 1 && !sections[0].found && len(functions) == 1
}

// calibrationBenchmark is the benchmark of the points that calibrate adds; the variant names the kernel.
const calibrationBenchmark = "calibration"

// maxKnown is the maximum number of values that are kept for suggestions.
const maxKnown = 1000

// control selects points by the value of an axis: the change under test cannot affect them.
type control struct {
	at      field
	axis    string // of the column, or of the parameter
	text    string // canonical
	lenient bool   // the command line has taken points away
	matched bool
	known   map[string]bool // other values that points have
}

// readCalibrate returns the key calibrate if it is true, else the zero field.
func (d *document) readCalibrate() field {
	f := d.keys["calibrate"]
	if f.given() && f.boolean() {
		return f
	}
	return field{}
}

// readControls reads the selection of controls: axis=value, or a list of such.
func readControls(sections []*section, f field) []control {
	var all []control
	for _, item := range f.entries() {
		c := readControl(sections, item)
		if slices.ContainsFunc(all, func(o control) bool { return o.axis == c.axis && o.text == c.text }) {
			panic(item.errorf("%s appears twice", item.got()))
		}
		all = append(all, c)
	}
	if f.given() && len(all) == 0 {
		panic(f.errorf("is empty"))
	}
	return all
}

// readControl reads one axis=value. Every point has a benchmark, also where it is no axis.
func readControl(sections []*section, f field) control {
	name, word := f.assignment()
	g := sections[0].grid
	for _, s := range sections { // the axis of the first section that has it
		if s.hasAxis(name) {
			g = s.grid
			break
		}
	}
	c := control{at: f, known: map[string]bool{}, lenient: slices.ContainsFunc(sections, func(s *section) bool { return s.grid.dropped })}
	i, _ := findAxis(g.axes, name)
	if i < 0 && name == "benchmark" {
		if c.axis, c.text = name, word; word == "" {
			panic(f.errorf("%q is not a value of axis %s", word, name))
		}
		return c
	}
	i = g.index(f, name)
	c.axis, c.lenient = g.axes[i].name, c.lenient || g.axes[i].replaced
	c.text = g.axes[i].read(f, name, word)
	return c
}

// controlled reports whether a point is a control, and records which entries match.
func (e *expansion) controlled(p *Point) bool {
	is := false
	for i := range e.controls {
		c := &e.controls[i]
		text := p.textOf(c.axis)
		switch {
		case text == c.text:
			c.matched, is = true, true
		case len(c.known) < maxKnown:
			c.known[text] = true
		}
	}
	return is
}

// textOf returns the canonical text of an axis at the point.
func (p *Point) textOf(axis string) string {
	number := func(n *int64) string {
		if n == nil {
			return ""
		}
		return strconv.FormatInt(*n, 10)
	}
	switch axis {
	case "benchmark":
		return p.Benchmark
	case "variant":
		return p.Variant
	case "backend":
		return p.Backend
	case "model":
		return p.Model
	case "precision":
		return p.Precision
	case "batch_size":
		return number(p.BatchSize)
	case "seq_len":
		return number(p.SeqLen)
	}
	return p.Params[axis]
}

// checkControls refuses an entry of control that matches no point.
func (e *expansion) checkControls() {
	for _, c := range e.controls {
		if c.matched || c.lenient || e.partial {
			continue
		}
		remedy, known := "", slices.Sorted(maps.Keys(c.known))
		switch near := schema.Nearest(c.text, known); {
		case near != "":
			remedy = ": did you mean " + near + "?"
		case c.axis == "benchmark" && c.text == calibrationBenchmark:
			remedy = ": calibrate: true adds such points"
		case len(known) <= maxNamed:
			remedy = ": want one of " + shorten(strings.Join(known, " "))
		}
		panic(c.at.errorf("no point has %s=%s%s", c.axis, shorten(c.text), remedy))
	}
}

// addCalibration adds the points of calibrate, and returns their indices. They are controls. The launch settings of the file and
// --targets do not apply to them: their work is the same in every sweep.
func (e *expansion) addCalibration() []int {
	if !e.calibrate.given() {
		return nil
	}
	var places []int
	for _, kernel := range builtin.Calibrations() {
		p := Point{
			Suite: e.suite(), Benchmark: calibrationBenchmark, Variant: kernel, Backend: string(schema.ExecutorBuiltin),
			Control: true, Calibration: true, Launch: task.Launch{Executor: schema.ExecutorBuiltin, Warmup: builtin.CalibrationWarmup, Iterations: builtin.CalibrationIterations}, Primary: schema.PrimaryMetric,
			Repeats: e.repeatsOfPoints(), Timeouts: e.sections[0].settings.calibration,
			Thresholds: commonThresholds(e.sections),
		}
		p.identify()
		if first, twice := e.lines[p.PointID]; twice {
			panic(e.calibrate.errorf("the point benchmark=%s variant=%s already exists, from line %d",
				p.Benchmark, p.Variant, first))
		}
		e.noteCalibration(&p)
		places = append(places, len(e.points))
		e.points = append(e.points, p)
	}
	return places
}

// noteCalibration marks the targets and controls that match a point of calibrate as used.
func (e *expansion) noteCalibration(p *Point) {
	e.targeted(p, nil)
	for i := range e.controls {
		c := &e.controls[i]
		c.matched = c.matched || c.text != "" && p.textOf(c.axis) == c.text
	}
}
