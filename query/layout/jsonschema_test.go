package layout

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// reference returns the schemas of this package as a library for all of JSON Schema compiles them, by file name.
func reference(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	entries, err := schemas.ReadDir("schemas")
	valuetest.OK(t, err)
	const address = "https://neurolens.invalid/layout/"
	for _, e := range entries {
		text := valuetest.Must(schemas.ReadFile("schemas/" + e.Name()))
		document := valuetest.Must(jsonschema.UnmarshalJSON(bytes.NewReader(text)))
		valuetest.OK(t, compiler.AddResource(address+e.Name(), document))
	}
	all := map[string]*jsonschema.Schema{}
	for _, e := range entries {
		if all[e.Name()], err = compiler.Compile(address + e.Name()); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// referenceProblems returns what the library finds, in the words of this package.
func referenceProblems(s *jsonschema.Schema, value any) (found []Problem) {
	invalid, ok := s.Validate(value).(*jsonschema.ValidationError)
	if !ok {
		return nil
	}
	printer := message.NewPrinter(language.English)
	var walk func(e *jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		for _, cause := range e.Causes {
			walk(cause)
		}
		if len(e.Causes) > 0 {
			return
		}
		why := e.ErrorKind.LocalizedString(printer)
		switch k := e.ErrorKind.(type) {
		case *kind.Required:
			why = "missing " + strings.Join(k.Missing, ", ")
		case *kind.Type:
			why = "got " + k.Got + ", want " + strings.Join(slices.Sorted(slices.Values(k.Want)), " or ")
		case *kind.FalseSchema:
			why = "must be absent: the run is not ok"
		}
		pointer := ""
		for _, step := range e.InstanceLocation {
			pointer += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(step)
		}
		found = append(found, Problem{Pointer: pointer, Why: why})
	}
	walk(invalid)
	return found
}

// differ tells what only one of two lists of problems has. Where a value has the wrong format, or a list of names is in another
// order, the words may differ.
func differ(ours, theirs []Problem) (lines []string) {
	set := func(all []Problem) map[string]bool {
		lines := map[string]bool{}
		for _, p := range all {
			why := p.Why
			if strings.Contains(why, "is not valid ") || strings.Contains(why, "is not a ") {
				why = "format"
			}
			if names, ok := strings.CutPrefix(why, "additional properties "); ok {
				fields := strings.FieldsFunc(strings.TrimSuffix(names, " not allowed"), func(r rune) bool { return strings.ContainsRune(", '", r) })
				slices.Sort(fields)
				why = "additional " + strings.Join(fields, " ")
			}
			lines[p.Pointer+": "+why] = true
		}
		return lines
	}
	our, their := set(ours), set(theirs)
	for _, line := range slices.Sorted(maps.Keys(our)) {
		if !their[line] {
			lines = append(lines, "only here "+line)
		}
	}
	for _, line := range slices.Sorted(maps.Keys(their)) {
		if !our[line] {
			lines = append(lines, "only there "+line)
		}
	}
	return lines
}

// eachChange calls a function with a document after changes of one value in it: three other values, or no member, or one more.
// Of a list the first two elements are changed.
func eachChange(document any, changed func()) {
	replacements := []any{nil, true, json.Number("-1"), json.Number("0.5"), json.Number("7"), json.Number("300"), "", "x", "ok", []any{}, map[string]any{}}
	next := 0
	var walk func(value any, set func(any))
	walk = func(value any, set func(any)) {
		for range 3 {
			set(replacements[next%len(replacements)])
			next++
			changed()
		}
		set(value)
		switch value := value.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(value)) {
				member := value[name]
				delete(value, name)
				changed()
				value[name] = member
				walk(member, func(v any) { value[name] = v })
			}
			value["a/b~c"] = "more"
			changed()
			delete(value, "a/b~c")
		case []any:
			for i, element := range value[:min(len(value), 2)] {
				walk(element, func(v any) { value[i] = v })
			}
		}
	}
	walk(document, func(v any) { document = v })
}

// TestAgainstLibrary: for each change of each value in the files of the layouts, the same problems are found as by a library for all
// of JSON Schema.
func TestAgainstLibrary(t *testing.T) {
	ours, err := compile()
	valuetest.OK(t, err)
	theirs, cases, wrong := reference(t), 0, 0
	check := func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		document, err := schemaValue(text)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(kinds, func(k kindOf) bool { return k.is(document) })
		if at < 0 {
			return nil
		}
		schema := kinds[at].schema
		eachChange(document, func() {
			found := problems(ours[schema], document)
			cases++
			wrong += min(len(found), 1)
			if lines := differ(found, referenceProblems(theirs[schema], document)); lines != nil {
				t.Errorf("%s: %q", path, lines)
			}
		})
		return nil
	}
	for _, dir := range []string{filepath.Join("testdata", "golden"), Golden("chapters"), Golden("kernels"), Golden("matrix"), Golden("grid")} {
		valuetest.OK(t, filepath.WalkDir(dir, check))
	}
	if cases < 1000 || wrong < cases/10 {
		t.Errorf("%d cases, %d of them with problems", cases, wrong)
	}
}

// TestUnknownKeyword: a schema with a keyword that is not understood accepts nothing.
func TestUnknownKeyword(t *testing.T) {
	object := map[string]any{"a": "x"}
	for _, rule := range []any{map[string]any{"oneOf": true}, map[string]any{"properties": map[string]any{"a": map[string]any{"maxLength": 3.0}}}} {
		valuetest.Equal(t, accepts(rule, object), false, rule)
	}
	none := map[string]any{"$ref": "#/$defs/none"}
	valuetest.Fails(t, (compiled{}).link(none, none), "", "a reference to nothing was followed")
}
