package sweep

import (
	"encoding/json"
	"fmt"
	"math"
)

// Patterns of values that are text with a meaning. RE2 and ECMAScript read them alike.
const (
	durationPattern = `^\+?(([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`
	sharePattern    = `^([0-9.]|[^-].*[0-9.])%$`
)

// JSONSchema returns a JSON Schema (2020-12) of sweep files, made of Keys, for editors. It accepts every file that Read accepts.
// Conditions that depend on other keys, on the axes or on the command line are left to Read.
func JSONSchema() ([]byte, error) {
	document := objectSchema(Keys())
	document["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	document["title"] = "NeuroLens sweep"
	document["description"] = "What neurolens bench measures, and the values of its parameters."
	text, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the JSON Schema of sweep files: %w", err)
	}
	return append(text, '\n'), nil
}

// objectSchema returns the schema of a map with only known keys.
func objectSchema(keys []Key) map[string]any {
	return map[string]any{"type": "object", "additionalProperties": false, "properties": properties(keys)}
}

// properties returns the schemas of keys by name.
func properties(keys []Key) map[string]any {
	all := map[string]any{}
	for _, k := range keys {
		property := k.Value.schema()
		property["title"], property["description"] = k.Name, k.about()
		if k.Default != "" {
			property["default"] = defaultJSON(k.Default)
		}
		all[k.Name] = property
	}
	return all
}

// defaultJSON returns a default as JSON: a number, true, false or a text, as without quotes in a file.
func defaultJSON(text string) any {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return text
}

// about returns the description of the key, with the executors that it is limited to.
func (k Key) about() string {
	if k.Executors == nil {
		return k.Doc
	}
	return fmt.Sprintf("%s Only with %s.", k.Doc, takers(k.Name))
}

// schema returns the schema of the values of a key.
func (v Value) schema() map[string]any {
	if v.Expression {
		v.Expression = false
		return anyOf(v.schema(), map[string]any{"type": "string", "minLength": 1})
	}
	switch v.Kind {
	case Text:
		return v.textSchema(1)
	case Scalar:
		if v.Pattern != "" {
			return anyOf(v.textSchema(0), map[string]any{"type": []string{"number", "boolean"}})
		}
		return map[string]any{"type": []string{"string", "number", "boolean"}}
	case Nothing:
		return map[string]any{"type": "null"}
	case Word:
		return map[string]any{"enum": v.Words}
	case Switch:
		return map[string]any{"type": "boolean"}
	case Integer:
		return v.integerSchema()
	case Number:
		return map[string]any{"type": "number", "exclusiveMinimum": 0, "maximum": v.Max}
	case Amount:
		return map[string]any{"type": "number", "minimum": 0}
	case Share:
		return anyOf(
			map[string]any{"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
			map[string]any{"type": "string", "pattern": sharePattern},
		)
	case Duration:
		return map[string]any{"type": "string", "pattern": durationPattern}
	case List:
		return map[string]any{"type": "array", "items": v.Items.schema(), "minItems": v.Min}
	case Map:
		return v.mapSchema()
	case Object:
		return objectSchema(v.Keys)
	case Either:
		var all []map[string]any
		for _, other := range v.Among {
			all = append(all, other.schema())
		}
		return anyOf(all...)
	}
	return map[string]any{"not": map[string]any{"type": "null"}}
}

func anyOf(schemas ...map[string]any) map[string]any { return map[string]any{"anyOf": schemas} }

func (v Value) textSchema(minLength int) map[string]any {
	s := map[string]any{"type": "string"}
	if minLength > 0 {
		s["minLength"] = minLength
	}
	if v.Pattern != "" {
		s["pattern"] = v.Pattern
	}
	return s
}

func (v Value) integerSchema() map[string]any {
	s := map[string]any{"type": "integer", "minimum": v.Min}
	if v.Max < math.MaxInt64 {
		s["maximum"] = v.Max
	}
	return s
}

// mapSchema returns the schema of a map with any names; the names of Keys have their own values.
func (v Value) mapSchema() map[string]any {
	s := map[string]any{"type": "object", "additionalProperties": v.Items.schema(), "propertyNames": map[string]any{"minLength": 1}}
	if v.Min > 0 {
		s["minProperties"] = v.Min
	}
	if len(v.Keys) > 0 {
		s["properties"] = properties(v.Keys)
	}
	return s
}
