package sweep

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// Key is a key of a sweep file with all that is known of it: how a value is read and described, who is told of it, what
// is stored. A new key that a reader of its kind can read is one entry of the table, and a field of Point, Worker or
// Sweep that the entry names.
type Key struct {
	Name    string
	Doc     string // what it says, in a sentence
	Value   Value
	Default string // as a file has it; empty: there is none, or it depends on other keys, as Doc says

	// Executors are those to which the key means something; nil: all. With others it is refused, or of no effect.
	Executors []schema.Executor
	// Whole has one value for the whole sweep: it cannot stand under a benchmark or a variant.
	Whole bool
	// Option is the help of the option of bench that goes before the key; empty: there is none.
	Option string
	// Verbatim has the text of the option be the value, though a file may have a list or a map there. Alone is what the option
	// says without a text.
	Verbatim bool
	Alone    string
	// Again has the option typed again when a run is repeated.
	Again bool
	// Stored has the setting kept with every run, as the fact runner.NAME, and runs count as equal where they agree in it.
	Stored bool

	point func(*Point) any // where the value of a point is: a pointer; nil where a reader of its own makes more of it
	sweep func(*Sweep) any // likewise, of what all points have in common
	text  func(*Point) string
}

// Keys are the keys of a sweep file, in the order in which they are documented.
func Keys() []Key { return slices.Concat(keys, layerKeys()) }

// layerKeys are the keys under which others stand once more.
func layerKeys() []Key {
	overriding := eitherOf(Value{Kind: Object, Keys: slices.DeleteFunc(slices.Clone(keys), func(k Key) bool { return k.Whole })}, nothingValue)
	spreads := []Key{
		{
			Name: "benchmarks", Whole: true, Value: mapOf(1, overriding),
			Doc: "Benchmarks by name, each with the keys that it sets differently.",
		},
		{
			Name: "variants", Whole: true, Value: mapOf(1, overriding),
			Doc: "Different ways to do the same work, by name, each with the keys that it sets differently.",
		},
	}
	return append(spreads, Key{
		Name: "discover", Whole: true, Value: discoverValue,
		Doc: "Find benchmarks and their variants in folders, by a rule.",
	}, Key{
		Name: "presets", Whole: true, Value: mapOf(0, Value{Kind: Object, Keys: slices.Concat(keys, spreads)}),
		Doc: "Named sets of keys. --preset NAME applies one on top of the rest of the file; --quick is --preset quick.",
	})
}

// keyOf is the key of a name that is known to be in the table.
func keyOf(name string) Key {
	return keys[slices.IndexFunc(keys, func(k Key) bool { return k.Name == name })]
}

// keyNames are the names of keys in alphabetical order.
func keyNames(keys []Key) []string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.Name
	}
	slices.Sort(names)
	return names
}

// OptionName is the option of bench that goes before the key.
func (k Key) OptionName() string { return strings.ReplaceAll(k.Name, "_", "-") }

// takes tells whether the key means something to an executor.
func (k Key) takes(e schema.Executor) bool {
	return k.Executors == nil || slices.Contains(k.Executors, e)
}

// Settings are the settings of the point that are stored with its runs, by key. A key that is not there is not given.
func (p *Point) Settings() map[string]string {
	settings := map[string]string{}
	for _, k := range keys {
		if k.Stored {
			note(&settings, k.Name, k.textAt(p))
		}
	}
	return settings
}

// textAt is the value of the key at a point as text; empty where it is not given.
func (k Key) textAt(p *Point) string {
	if k.text != nil {
		return k.text(p)
	}
	switch v := k.point(p).(type) {
	case *string:
		return *v
	case *bool:
		if *v {
			return "true"
		}
	case *int:
		if *v > 0 {
			return strconv.Itoa(*v)
		}
	case **int64:
		if *v != nil {
			return strconv.FormatInt(**v, 10)
		}
	case *float64:
		if *v > 0 {
			return strconv.FormatFloat(*v, 'g', -1, 64)
		}
	case *time.Duration:
		if *v > 0 {
			return v.String()
		}
	}
	return ""
}

// clear takes the value of the key from a point.
func (k Key) clear(p *Point) {
	switch v := k.point(p).(type) {
	case *string:
		*v = ""
	case *bool:
		*v = false
	case *int:
		*v = 0
	case **int64:
		*v = nil
	case *float64:
		*v = 0
	case *time.Duration:
		*v = 0
	}
}

// IsStored tells whether a key of a sweep file is kept with every run.
func IsStored(name string) bool {
	return slices.ContainsFunc(keys, func(k Key) bool { return k.Stored && k.Name == name })
}
