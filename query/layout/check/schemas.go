package check

import (
	"bytes"
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// address is the base URL of the schemas; nothing is ever fetched.
const address = "https://neurolens.invalid/layout/"

//go:embed schemas/*.json
var schemas embed.FS

// compiled are the schemas by file name.
type compiled map[string]*jsonschema.Schema

func compile() (compiled, error) {
	entries, err := schemas.ReadDir("schemas")
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	for _, e := range entries {
		text, err := schemas.ReadFile("schemas/" + e.Name())
		if err != nil {
			return nil, err
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err == nil {
			err = compiler.AddResource(address+e.Name(), document)
		}
		if err != nil {
			return nil, fmt.Errorf("reading the schema %s: %w", e.Name(), err)
		}
	}
	all := compiled{}
	for _, e := range entries {
		if all[e.Name()], err = compiler.Compile(address + e.Name()); err != nil {
			return nil, fmt.Errorf("reading the schema %s: %w", e.Name(), err)
		}
	}
	return all, nil
}

// problems returns the errors of a value according to a schema, in document order.
func problems(s *jsonschema.Schema, value any) []Problem {
	err := s.Validate(value)
	if err == nil {
		return nil
	}
	invalid, ok := err.(*jsonschema.ValidationError)
	if !ok {
		return []Problem{{Why: err.Error()}}
	}
	printer := message.NewPrinter(language.English)
	var found []Problem
	var walk func(e *jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		for _, cause := range e.Causes {
			walk(cause)
		}
		if len(e.Causes) > 0 {
			return
		}
		found = append(found, Problem{Pointer: pointer(e.InstanceLocation), Why: reason(e.ErrorKind, printer)})
	}
	walk(invalid)
	slices.SortFunc(found, func(a, b Problem) int {
		return strings.Compare(a.Pointer+"\x00"+a.Why, b.Pointer+"\x00"+b.Why)
	})
	return slices.Compact(found)
}

// reason describes a violation in plain words.
func reason(k jsonschema.ErrorKind, printer *message.Printer) string {
	switch k := k.(type) {
	case *kind.Required:
		return "missing " + strings.Join(k.Missing, ", ")
	case *kind.Type:
		return fmt.Sprintf("got %s, want %s", k.Got, strings.Join(k.Want, " or "))
	case *kind.FalseSchema:
		return "must be absent: the run is not ok"
	}
	return k.LocalizedString(printer)
}

// pointer formats a JSON pointer.
func pointer(steps []string) string {
	text := ""
	for _, step := range steps {
		text += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(step)
	}
	return text
}
