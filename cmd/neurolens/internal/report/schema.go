package report

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/neurolens/neurolens/query/summary"
)

// JSONSchema is a JSON Schema (2020-12) of documents, made of their types and of what these say of each member.
func JSONSchema() ([]byte, error) {
	document := schemaOf(reflect.TypeFor[Document]())
	document["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	document["title"] = "NeuroLens report"
	document["description"] = "A report by neurolens report --json. Unknown values are null; every member is present."
	text, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the JSON Schema of reports: %w", err)
	}
	return append(text, '\n'), nil
}

// plainTypes are the schemas of types that are no objects and no lists.
var plainTypes = map[reflect.Type]map[string]any{
	reflect.TypeFor[summary.Text]():       {"type": []string{"string", "null"}},
	reflect.TypeFor[*float64]():           {"type": []string{"number", "null"}},
	reflect.TypeFor[*int64]():             {"type": []string{"integer", "null"}},
	reflect.TypeFor[*int]():               {"type": []string{"integer", "null"}},
	reflect.TypeFor[*summary.Time]():      {"type": []string{"string", "null"}, "format": "date-time"},
	reflect.TypeFor[time.Time]():          {"type": "string", "format": "date-time"},
	reflect.TypeFor[map[string]int]():     {"type": "object", "additionalProperties": map[string]any{"type": "integer", "minimum": 0}},
	reflect.TypeFor[map[string]float64](): {"type": "object", "additionalProperties": map[string]any{"type": "number"}},
	reflect.TypeFor[map[string]string]():  {"type": []string{"object", "null"}, "additionalProperties": map[string]any{"type": "string"}},
}

// schemaOf is the schema of values of a type.
func schemaOf(t reflect.Type) map[string]any {
	if plain, ok := plainTypes[t]; ok {
		own := map[string]any{} // the description of a member is added to it
		for key, value := range plain {
			own[key] = value
		}
		return own
	}
	switch t.Kind() {
	case reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem())}
	case reflect.Struct:
		properties, required := map[string]any{}, []string{}
		for _, m := range membersOf(t) {
			property := schemaOf(m.of)
			property["description"] = m.doc
			properties[m.name], required = property, append(required, m.name)
		}
		return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
	case reflect.Int:
		return map[string]any{"type": "integer", "minimum": 0}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	}
	return map[string]any{"type": "string"}
}

// member is a member of an object.
type member struct {
	name, doc string
	of        reflect.Type
}

// membersOf are the members of an object in their order, those of embedded structs in place.
func membersOf(t reflect.Type) (all []member) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			all = append(all, membersOf(f.Type)...)
		} else if f.IsExported() {
			all = append(all, member{strings.Split(f.Tag.Get("json"), ",")[0], f.Tag.Get("doc"), f.Type})
		}
	}
	return all
}

// filled puts empty lists in place of those that are nil, within a value too: a list is never null.
func filled(v reflect.Value) {
	switch v.Kind() {
	case reflect.Slice:
		if v.IsNil() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		for i := range v.Len() {
			filled(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				filled(f)
			}
		}
	}
}
