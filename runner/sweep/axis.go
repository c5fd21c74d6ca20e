package sweep

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// maxAxes bounds the parameters of one point.
const maxAxes = 64

var axisName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// builtinPrefix marks a model that is not a file.
const builtinPrefix = "builtin:"

// labels are the axes at the top level of a file, outermost first.
var labels = []string{"benchmark", "model", "backend", "variant"}

// axis is a name with its values. A constant is an axis with one value.
type axis struct {
	name   string // of a column, or of a parameter
	typed  string // the name as it was written; empty: it is name
	at     field
	values []value
	// label: a single value at the top level of the file. A command need not use it.
	label bool
	// replaced by the command line, which then also overrides include, exclude and baseline.
	replaced bool
	before   []value // its values in the file, if replaced
	unknown  bool    // it has a value of reference that is none of its values
	base     string  // the base of its scaled value; empty: not scaled
}

// value is one value of an axis.
type value struct {
	text string // canonical
	path string // of the model's file, as written
	at   field

	// What the canonical text does not show; empty: nothing.
	written string
	typed   string // JSON
	option  string // as -P takes it

	filling *filling // of a label with braces

	mapped    bool     // the value stands for arguments
	arguments []string // that replace it where it is a word of a command
}

// filled is the text that replaces {axis}: the value as it is written or, for a model with a file, its file.
func (v *value) filled() string {
	switch {
	case v.path != "":
		return v.path
	case v.written != "":
		return v.written
	}
	return v.text
}

// readAxes reads all axes of the file and the command line, outermost first: benchmark, model, backend and variant, then params
// and grid in the order of the file, then those that -P adds.
func readAxes(d *document, grid []member) ([]axis, error) {
	var axes []axis
	for _, name := range labels {
		if f := d.keys[name]; f.given() {
			if f.Kind == yaml.MappingNode && name != "model" {
				return nil, f.want("a value or a list")
			}
			a, err := readAxis(name, f)
			if err != nil {
				return nil, err
			}
			a.label, a.replaced = f.Kind != yaml.SequenceNode, d.chosen[name]
			axes = append(axes, a)
		}
	}
	var params []member
	if f := d.keys["params"]; f.given() {
		var err error
		if params, err = f.members("params."); err != nil {
			return nil, err
		}
	}
	for _, m := range slices.Concat(params, grid) {
		read := readAxis
		if len(params) > 0 {
			read, params = readConstant, params[1:]
		}
		a, err := newAxis(m.key, m.value, axes, read)
		if err != nil {
			return nil, err
		}
		axes = append(axes, a)
	}
	axes, err := d.readScales(axes)
	if err != nil {
		return nil, err
	}
	if axes, err = overrideAxes(axes, d.concerning(d.over.Params)); err != nil {
		return nil, err
	}
	return referenceAxes(axes, d.concerning(d.over.reference))
}

// newAxis reads an axis with a name that the user has chosen.
func newAxis(name string, f field, others []axis, read func(string, field) (axis, error)) (axis, error) {
	if !axisName.MatchString(name) {
		return axis{}, f.errorf("want a name made of letters, digits, _ and -")
	}
	column, err := schema.AxisName(name)
	if err != nil {
		return axis{}, f.errorf("%v", err)
	}
	if other := slices.IndexFunc(others, func(a axis) bool { return a.name == column }); other >= 0 {
		return axis{}, f.errorf("%s is already defined on line %d", column, others[other].at.line)
	}
	if len(others) == maxAxes {
		return axis{}, f.errorf("more than %d axes and parameters", maxAxes)
	}
	a, err := read(column, f)
	a.call(name)
	return a, err
}

// call notes the name under which the axis was written.
func (a *axis) call(name string) {
	if a.typed = ""; name != a.name {
		a.typed = name
	}
}

// readConstant reads the value of a parameter, which may be a list or a map.
func readConstant(name string, f field) (axis, error) {
	switch {
	case f.Kind == yaml.SequenceNode && schema.IsAxisColumn(name):
		return axis{}, f.errorf("want one value, got a list: put axes under grid")
	case f.Kind == yaml.MappingNode && schema.IsAxisColumn(name) && name != "model":
		return axis{}, f.errorf("want one value, got a map: put axes under grid")
	}
	v, err := readValue(name, f)
	return axis{name: name, at: f, values: []value{v}}, err
}

// readAxis reads the values of an axis: a list, one value, or a map from values to the arguments that they stand for.
func readAxis(name string, f field) (axis, error) {
	if name == runDirName {
		return axis{}, f.errorf("the name run_dir is reserved for the directory of a run: choose another one")
	}
	if f.Kind == yaml.MappingNode && name != "model" {
		return readMapped(name, f)
	}
	a := axis{name: name, at: f}
	for _, item := range f.items() {
		numbers := []field{item}
		if !slices.Contains(labels, name) {
			var err error
			if numbers, err = item.span(); err != nil {
				return axis{}, err
			}
		}
		for _, number := range numbers {
			v, err := readValue(name, number)
			if err != nil {
				return axis{}, err
			}
			a.values = append(a.values, v)
		}
	}
	if len(a.values) == 0 {
		return axis{}, f.errorf("has no values")
	}
	return a, nil
}

// checkTwice refuses a value that appears twice.
func checkTwice(values []value) error {
	seen := map[string]int{}
	for i := range values {
		v := &values[i]
		if first, twice := seen[v.text]; twice {
			return v.twice(&values[first])
		}
		seen[v.text] = i
	}
	return nil
}

// twice explains that a value equals an earlier one.
func (v *value) twice(first *value) error {
	switch {
	case v.path != first.path:
		return v.at.errorf("%s and %s are both called %s: set model.name", shorten(first.filled()),
			shorten(v.filled()), shorten(v.text))
	case v.at.got() == first.at.got():
		return v.at.errorf("%s appears twice", v.at.got())
	}
	return v.at.errorf("%s and %s are the same value", first.at.got(), v.at.got())
}

// readValue reads one value of an axis. The type depends on the column.
func readValue(name string, f field) (value, error) {
	var text string
	var err error
	switch name {
	case "batch_size", "seq_len":
		var n int64
		n, err = f.integer(1, math.MaxInt64, "a number or a list")
		text = strconv.FormatInt(n, 10)
	case "precision":
		if text, err = schema.CanonicalPrecision(f.Value); err != nil {
			err = f.want("one of " + strings.Join(schema.Precisions, " "))
		}
	case "model":
		return readModel(f)
	case "benchmark", "backend", "variant":
		text, err = f.text()
	default:
		if text, err = f.canonical(); err == nil {
			return describedValue(text, f), nil
		}
	}
	v := value{text: text, at: f}
	if err == nil && f.Value != text {
		v.written, v.option = f.Value, f.Value
	}
	return v, err
}

// readModel reads a path, builtin:NAME, or a map of name and path.
func readModel(f field) (value, error) {
	if f.Kind != yaml.MappingNode {
		text, err := f.text()
		if err != nil {
			return value{}, err
		}
		if strings.HasPrefix(text, builtinPrefix) {
			return value{text: text, at: f}, nil
		}
		path, err := ExpandPath(text)
		if err != nil {
			return value{}, f.errorf("%v", err)
		}
		return value{text: filepath.Base(path), path: path, at: f}, nil
	}
	keys, err := f.known("model.", []string{"name", "path"})
	if err != nil {
		return value{}, err
	}
	v := value{at: f}
	if path := keys["path"]; path.given() {
		if v.path, err = path.text(); err != nil {
			return value{}, err
		}
		if strings.HasPrefix(v.path, builtinPrefix) {
			return value{}, path.errorf("want a file, got %s: write model: %s", v.path, v.path)
		}
		if v.path, err = ExpandPath(v.path); err != nil {
			return value{}, path.errorf("%v", err)
		}
		v.text = filepath.Base(v.path)
	}
	if name := keys["name"]; name.given() {
		if v.text, err = name.text(); err != nil {
			return value{}, err
		}
		if strings.HasPrefix(v.text, builtinPrefix) {
			return value{}, name.errorf("want a name, got %s: write model: %s", v.text, v.text)
		}
	}
	if v.text == "" {
		return value{}, f.errorf("want a name, a path, or both")
	}
	return v, nil
}

// overrideAxes replaces and adds axes by -P.
func overrideAxes(axes []axis, params map[string]string) ([]axis, error) {
	by := map[string]string{} // column to the name it was given
	for _, name := range slices.Sorted(maps.Keys(params)) {
		option := origin{name: "-P " + name}
		if flag, is := settingFlags[name]; is {
			return nil, option.errorf(0, "is not an axis: use %s", flag)
		}
		f, err := option.load([]byte("[" + params[name] + "]"))
		if err != nil {
			return nil, option.noValue(params[name], err)
		}
		column := schema.CanonicalAlias(name)
		if other, twice := by[column]; twice {
			return nil, f.errorf("is the same axis as -P %s", other)
		}
		by[column] = name
		at := slices.IndexFunc(axes, func(a axis) bool { return a.name == column })
		if at >= 0 {
			axes[at].quote(f.Content)
		}
		for _, item := range f.items() {
			alike := func(v value) bool { return v.at.Kind == item.Kind }
			if item.Kind != yaml.ScalarNode && (at < 0 || !slices.ContainsFunc(axes[at].values, alike)) {
				return nil, item.want("values separated by commas")
			}
		}
		var a axis
		if at < 0 && !slices.Contains(labels, name) {
			a, err = newAxis(name, f, axes, readAxis)
		} else {
			a, err = readAxis(column, f)
			a.call(name)
		}
		if err == nil && at >= 0 {
			err = axes[at].giveArguments(a.values)
		}
		if err != nil {
			return nil, quotedForShell(name, params[name], err)
		}
		a.replaced = true
		if at < 0 {
			axes = append(axes, a)
		} else {
			a.before = axes[at].values
			axes[at] = a
		}
	}
	return axes, nil
}

// referenceAxes sets axes to the values that they have at a reference, by column. A reference takes the names and the values as the measured points
// do: an axis keeps the name that was written, and each value the spelling that the axis has for it.
func referenceAxes(axes []axis, values map[string]string) ([]axis, error) {
	set, err := overrideAxes(slices.Clone(axes), values)
	if err != nil {
		return nil, err
	}
	for i, old := range axes {
		if _, is := values[old.name]; !is {
			continue
		}
		a := &set[i]
		a.typed, a.unknown = old.typed, !a.spell(slices.Concat(old.values, old.before))
		if old.replaced {
			a.before = old.before
		}
	}
	return set, nil
}

// spell writes the only value of the axis as one of others that is the same value. It reports whether there is one.
func (a *axis) spell(others []value) bool {
	at := find(others, a.values[0])
	if at >= 0 {
		a.values = []value{others[at]}
	}
	return at >= 0
}

// noValue says that a value is missing between the commas of -P, if that is why the values could not be read.
func (o origin) noValue(values string, err error) error {
	if strings.HasPrefix(values, ",") || strings.Contains(values, ",,") {
		return o.errorf(0, "a value is missing between commas: %s", shorten(values))
	}
	return err
}

// quotedForShell is an error about values of -P with advice that can be pasted into a shell, which removes one pair of quotes.
func quotedForShell(name, values string, err error) error {
	before, after, found := strings.Cut(err.Error(), "quote it to keep it as text")
	if !found {
		return err
	}
	if strings.ContainsAny(values, ",[{\"'") {
		values = "TEXT"
	}
	return fmt.Errorf("%s-P '%s=\"%s\"' keeps it as text%s", before, name, values, after)
}

// findAxis finds an axis by its name or an alias. If there is none, the number is -1, and near is a similar name.
func findAxis(axes []axis, name string) (at int, near string) {
	column := schema.CanonicalAlias(name)
	names := make([]string, len(axes))
	for i, a := range axes {
		if a.name == column {
			return i, ""
		}
		names[i] = a.name
	}
	return -1, schema.Nearest(name, names)
}
