package sweep

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// compiled is the schema of sweep files.
var compiled = sync.OnceValue(func() *jsonschema.Schema {
	text, err := JSONSchema()
	if err != nil {
		panic(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		panic(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("sweep.json", document); err != nil {
		panic(err)
	}
	return compiler.MustCompile("sweep.json")
})

// jsonOf returns a YAML value as an editor hands it to a JSON Schema.
func jsonOf(n *yaml.Node) any {
	switch n.Kind {
	case yaml.SequenceNode:
		list := []any{}
		for _, item := range n.Content {
			list = append(list, jsonOf(item))
		}
		return list
	case yaml.MappingNode:
		object := map[string]any{}
		for pair := range slices.Chunk(n.Content, 2) {
			object[pair[0].Value] = jsonOf(pair[1])
		}
		return object
	}
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		return strings.EqualFold(n.Value, "true")
	case "!!int", "!!float":
		if x, err := strconv.ParseFloat(n.Value, 64); err == nil {
			return x
		}
	}
	return n.Value
}

// validate says what the schema finds wrong with a sweep file.
func validate(src string) error {
	file, err := Load("sweep.yaml", []byte(src))
	if err != nil {
		return err
	}
	return compiled().Validate(jsonOf(file))
}

// TestSchemaOfFixtures: every sweep of the repository is one by the schema, and no longer with a key that is mistyped.
func TestSchemaOfFixtures(t *testing.T) {
	files, err := filepath.Glob("../../fixtures/sweeps/*.yaml")
	if err != nil || len(files) < 6 {
		t.Fatal(files, err)
	}
	scripts := valuetest.Must(filepath.Glob("../../cmd/neurolens/testdata/script/*.txtar"))
	checked := 0
	for _, file := range slices.Concat(files, scripts) {
		text := valuetest.Must(os.ReadFile(file))
		for _, src := range strings.Split("\n"+string(text), "\n-- ") {
			if _, rest, found := strings.Cut(src, ".yaml --\n"); found {
				src = rest
			}
			if _, err := readText("sweep.yaml", []byte(src), Overrides{}); err != nil {
				continue // no sweep, or one that is refused
			}
			checked++
			if err := validate(src); err != nil {
				t.Errorf("%s: %v\n%s", file, err, src)
			}
			if err := validate(src + "\nrepeet: 3\n"); err == nil {
				t.Errorf("%s: an unknown key is accepted", file)
			}
		}
	}
	if checked < 20 {
		t.Errorf("%d sweeps", checked)
	}
}

// typeError is what the reader says of a value whose type or word is wrong, or of a key that it does not know.
var typeError = regexp.MustCompile(`^[^ ]+ (?:(?:axis )?[a-z][^ ]*: )*(unknown key|want (text|a map|one value|true or false|a number|one of [^ ]+ .|a time|a whole number|a list))`)

// TestSchemaOfValues: what the schema refuses of a key the reader refuses too; and where the reader wants another type or
// word, the schema does.
func TestSchemaOfValues(t *testing.T) {
	values := []string{
		"null", "true", "3", "0", "-1", "0.5", "1e12", "x", `""`, "a b", "k=1", "5s", "-5s", "1%", "[]", "[1]", "[x]",
		"[k, j]", "[[]]", "[[x]]", "[[k, j]]", "[[x], y]", "[null]", "[5s]", "{}", "{x: 1}", "{k: 1}", "{x: null}", "{x: [1]}", "{x: {}}", "{x: {abs: 1}}",
		"{abs: 1}", "{name: n}", "{setup: 5s}", "{setup: 5}", "{sutup: 5s}", "[{k: 1}]", "[{k: [1, 2]}]", "[{}]", "[{batch_size: 0}]", "{batch_size: [1]}", "auto", "torch", "[ort]", "random",
		`"{k}"`, "{repeats: 2}", "{repeats: 0}", "{model: {name: m}}", "{batch_size: 0}", "b.py:F", "4.5.6",
	}
	refused := 0
	for _, k := range Keys() {
		for _, value := range values {
			invalid := validate(k.Name+": "+value) != nil
			if invalid {
				refused++
			}
			taken, said := tryValue(k.Name, value)
			if invalid && taken {
				t.Errorf("%s: %s: the reader takes it, the schema does not", k.Name, value)
			}
			if !invalid && said != "" {
				t.Errorf("%s: %s: the schema takes it, the reader says %s", k.Name, value, said)
			}
		}
	}
	if all := len(Keys()) * len(values); refused < all/4 || refused > 9*all/10 {
		t.Errorf("the schema refuses %d values of %d", refused, all)
	}
}

// tryValue reads sweeps of several kinds with a value of a key. taken tells that one of them is read, said is what is wrong
// with the type in all of them.
func tryValue(key, value string) (taken bool, said string) {
	bases := []string{"file: b.py\n", "command: [a, '{k}', '{j}']\n", "backend: torch\nmodel: builtin:x\n", "backend: onnxrt\nmodel: builtin:x\n"}
	for _, base := range bases {
		base += "grid: {k: [1, 2], j: [3, 4]}\n" + map[string]string{"max_repeats": "rel_error: 1%\n", "min_run_time": "timing: torch_timer\n"}[key]
		lines := slices.DeleteFunc(strings.SplitAfter(base, "\n"), func(l string) bool { return strings.HasPrefix(l, key+":") })
		_, err := readText("sweep.yaml", []byte(strings.Join(lines, "")+key+": "+value), Overrides{})
		switch {
		case err == nil:
			taken = true
		case typeError.MatchString(err.Error()) && strings.Contains(err.Error(), key):
			said = err.Error()
		}
	}
	if taken {
		return true, ""
	}
	return false, said
}

// TestSchemaOfKeys: every key is described, and no other.
func TestSchemaOfKeys(t *testing.T) {
	root := compiled()
	for _, k := range Keys() {
		property := root.Properties[k.Name]
		if property == nil || property.Title != k.Name || property.Description != k.about() || (property.Default != nil) != (k.Default != "") {
			t.Errorf("the schema has of %s: %+v", k.Name, property)
		}
	}
	valuetest.DeepEqual(t, len(root.Properties), len(Keys()), "the schema")
	equal(t, fmt.Sprint(root.AdditionalProperties), "false")
}

// TestSweepsPageKeys: the table of the page about sweep files has every key, and no other.
func TestSweepsPageKeys(t *testing.T) {
	text := valuetest.Must(os.ReadFile("../../docs/sweeps.md"))
	const header = "| key | default | says |\n|---|---|---|\n"
	_, table, found := strings.Cut(string(text), header)
	table, _, _ = strings.Cut(strings.TrimSuffix(table, "\n"), "\n\n")
	var want []string
	for _, k := range Keys() {
		standard := ""
		if k.Default != "" {
			standard = "`" + k.Default + "`"
		}
		want = append(want, fmt.Sprintf("| `%s` | %s | %s |", k.Name, standard, k.about()))
	}
	if got := strings.Split(table, "\n"); !found || !slices.Equal(got, want) {
		t.Errorf("the table of keys in docs/sweeps.md has to be\n%s%s", header, strings.Join(want, "\n"))
	}
}
