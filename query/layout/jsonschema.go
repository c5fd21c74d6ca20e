package layout

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/neurolens/neurolens/schema/lazyregexp"
)

//go:embed schemas/*.json
var schemas embed.FS

// compiled are the JSON Schemas (draft 2020-12) of this package by file name, as JSON: objects and booleans. In them, link has resolved
// references and compiled patterns.
//
// A library for all keywords would be the natural choice. The one that names every error and its place compiles the schemas of JSON
// Schema itself whenever the program starts, which takes a third of the time of `neurolens version`. A test compares both.
type compiled map[string]any

// pattern is a member of patternProperties.
type pattern struct {
	*regexp.Regexp
	rule any
}

func compile() (compiled, error) {
	entries, err := schemas.ReadDir("schemas")
	if err != nil {
		return nil, err
	}
	all := compiled{}
	for _, e := range entries {
		var rule any
		text, err := schemas.ReadFile("schemas/" + e.Name())
		if err == nil {
			err = json.Unmarshal(text, &rule)
		}
		if err != nil {
			return nil, fmt.Errorf("reading the schema %s: %w", e.Name(), err)
		}
		all[e.Name()] = rule
	}
	for name, rule := range all {
		if err := all.link(rule, rule); err != nil {
			return nil, fmt.Errorf("reading the schema %s: %w", name, err)
		}
	}
	return all, nil
}

// link finds the targets of references in a part of a schema, and compiles its patterns.
func (all compiled) link(part, whole any) (err error) {
	if list, ok := part.([]any); ok {
		for _, below := range list {
			err = cmp.Or(err, all.link(below, whole))
		}
		return err
	}
	rule, _ := part.(map[string]any)
	for word, below := range rule {
		if err := all.link(below, whole); err != nil {
			return err
		}
		switch name, named := below.(string); {
		case word == "$ref" && named:
			if rule[word] = all.target(name, whole); rule[word] == nil {
				return fmt.Errorf("$ref: there is no %s", name)
			}
		case word == "pattern" && named:
			if rule[word], err = regexp.Compile(name); err != nil {
				return err
			}
		case word == "patternProperties":
			var patterns []pattern
			for text, rule := range below.(map[string]any) {
				compiled, err := regexp.Compile(text)
				if err != nil {
					return err
				}
				patterns = append(patterns, pattern{compiled, rule})
			}
			rule[word] = patterns
		}
	}
	return nil
}

// target returns the schema that a reference names: another file, or a definition of the same one.
func (all compiled) target(ref string, whole any) any {
	for _, of := range []string{"$defs", "definitions"} {
		if name, ok := strings.CutPrefix(ref, "#/"+of+"/"); ok {
			definitions, _ := whole.(map[string]any)[of].(map[string]any)
			return definitions[name]
		}
	}
	return all[ref]
}

// schemaValue reads a file of JSON, which has to be one value. Numbers are a json.Number.
func schemaValue(text []byte) (v any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, fmt.Errorf("text after the value, at byte %d", decoder.InputOffset())
	}
	return v, nil
}

// result collects the problems of a value.
type result struct{ found []Problem }

func (r *result) add(at, format string, args ...any) {
	r.found = append(r.found, Problem{Pointer: at, Why: fmt.Sprintf(format, args...)})
}

// problems returns the errors of a value according to a schema, by their place. Numbers in the value are a json.Number.
func problems(rule, value any) []Problem {
	var r result
	r.validate(rule, "", value)
	slices.SortFunc(r.found, func(a, b Problem) int {
		return strings.Compare(a.Pointer+"\x00"+a.Why, b.Pointer+"\x00"+b.Why)
	})
	return slices.Compact(r.found)
}

func accepts(rule, value any) bool { return problems(rule, value) == nil }

// validate adds the errors of a value at a JSON pointer.
func (r *result) validate(rule any, at string, value any) {
	if rule == false {
		r.add(at, "must be absent: the run is not ok")
	}
	words, _ := rule.(map[string]any)
	if types := words["type"]; types != nil {
		want := texts(types)
		got := jsonTypeOf(value)
		integer := got == "integer"
		if integer && !slices.Contains(want, got) {
			got = "number"
		}
		if !slices.Contains(want, got) {
			r.add(at, "got %s, want %s", got, strings.Join(slices.Sorted(slices.Values(want)), " or "))
			return // the wrong type is reported already
		}
	}
	for word, want := range words {
		r.keyword(words, word, want, at, value)
	}
	if object, ok := value.(map[string]any); ok {
		r.members(words, at, object)
	}
}

// texts returns the texts of a list, or a single one.
func texts(v any) (all []string) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, v := range list {
		all = append(all, v.(string))
	}
	return all
}

// keyword adds the errors of a value according to one of the keywords of a schema.
func (r *result) keyword(rule map[string]any, word string, want any, at string, value any) {
	text, isText := value.(string)
	switch word {
	case "$schema", "$id", "$comment", "title", "$defs", "definitions": // annotations: they do not restrict the value
	case "type", "then", "else", "properties", "patternProperties", "additionalProperties": // see validate, "if" and members
	case "$ref":
		r.validate(want, at, value)
	case "allOf":
		for _, part := range want.([]any) {
			r.validate(part, at, value)
		}
	case "not":
		if accepts(want, value) {
			r.add(at, "'not' failed")
		}
	case "if":
		branch := rule["else"]
		if accepts(want, value) {
			branch = rule["then"]
		}
		r.validate(branch, at, value)
	case "enum": // null, booleans and texts
		if values := want.([]any); !slices.Contains(values, value) {
			all := make([]string, len(values))
			for i, v := range values {
				all[i] = shown(v)
			}
			r.add(at, "value must be one of %s", strings.Join(all, ", "))
		}
	case "const": // as for enum
		if want != value {
			r.add(at, "value must be %s", shown(want))
		}
	case "items":
		list, _ := value.([]any)
		for i, v := range list {
			r.validate(want, at+"/"+strconv.Itoa(i), v)
		}
	case "required":
		object, isObject := value.(map[string]any)
		missing := slices.DeleteFunc(texts(want), func(name string) bool { _, ok := object[name]; return ok })
		if isObject && len(missing) > 0 {
			r.add(at, "missing %s", strings.Join(missing, ", "))
		}
	case "minItems", "maxItems", "minLength", "minimum", "maximum", "exclusiveMinimum":
		r.limit(word, want.(float64), at, value)
	case "pattern":
		if pattern := want.(*regexp.Regexp); isText && !pattern.MatchString(text) {
			r.add(at, "'%s' does not match pattern '%s'", text, pattern)
		}
	case "format":
		if isText {
			r.format(want, at, text)
		}
	default:
		r.add(at, "the schema of this value has the unknown keyword %s", word)
	}
}

func shown(v any) string {
	if text, ok := v.(string); ok {
		return "'" + text + "'"
	}
	return fmt.Sprint(v)
}

// escaped makes a name a step of a JSON pointer.
var escaped = strings.NewReplacer("~", "~0", "/", "~1")

// members adds the errors of the members of an object.
func (r *result) members(rule map[string]any, at string, object map[string]any) {
	properties, _ := rule["properties"].(map[string]any)
	patterns, _ := rule["patternProperties"].([]pattern)
	others := rule["additionalProperties"]
	var unknown []string
	for _, name := range slices.Sorted(maps.Keys(object)) {
		below := at + "/" + escaped.Replace(name)
		property, named := properties[name]
		r.validate(property, below, object[name])
		for _, p := range patterns {
			if p.MatchString(name) {
				r.validate(p.rule, below, object[name])
				named = true
			}
		}
		switch {
		case named:
		case others == false:
			unknown = append(unknown, "'"+name+"'")
		default:
			r.validate(others, below, object[name])
		}
	}
	if unknown != nil {
		r.add(at, "additional properties %s not allowed", strings.Join(unknown, ", "))
	}
}

// limit adds an error if a list or a text is too short or too long, or a number too small or too large.
func (r *result) limit(word string, limit float64, at string, value any) {
	size := math.NaN() // of a value that the keyword does not limit
	switch typed := value.(type) {
	case []any:
		if strings.HasSuffix(word, "Items") {
			size, value = float64(len(typed)), len(typed)
		}
	case string:
		if length := utf8.RuneCountInString(typed); strings.HasSuffix(word, "Length") {
			size, value = float64(length), length
		}
	case json.Number:
		if strings.HasSuffix(word, "imum") {
			size, _ = typed.Float64() // beyond the range of reals it is infinite
		}
	}
	least, most := strings.HasPrefix(word, "min"), strings.HasPrefix(word, "max")
	if least && size < limit || most && size > limit || word == "exclusiveMinimum" && size <= limit {
		r.add(at, "%s: got %v, want %v", word, value, limit)
	}
}

// uuid matches an id as RFC 9562 writes it.
var uuid = lazyregexp.MustCompile(`^(?i)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

func (r *result) format(want any, at, text string) {
	switch want {
	case "uuid":
		if !uuid.MatchString(text) {
			r.add(at, "'%s' is not a UUID", text)
		}
	case "date-time":
		if _, err := time.Parse(time.RFC3339, text); err != nil {
			r.add(at, "'%s' is not a time as in 2026-03-02T14:30:31Z", text)
		}
	}
}

// jsonTypeOf returns the type of a value in the words of JSON Schema. A number without a fraction, as 1.0, is an integer.
func jsonTypeOf(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	case json.Number:
		if number, _ := value.Float64(); math.Trunc(number) == number { // infinite if it is beyond the range of reals
			return "integer"
		}
	}
	return "number"
}
