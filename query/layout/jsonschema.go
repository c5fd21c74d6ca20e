package layout

import (
	"bytes"
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

// rule is a JSON Schema (draft 2020-12) with the keywords that the schemas of this package use; a schema with another one is refused.
// A library for all keywords would be the natural choice. The one that names every error and its place compiles the schemas of JSON
// Schema itself whenever the program starts, which takes a third of the time of `neurolens version`. A test compares both.
type rule struct {
	boolean *bool // a schema that is just true or false

	Schema  string `json:"$schema"`
	ID      string `json:"$id"`
	Title   string `json:"title"`
	Comment string `json:"$comment"`

	Ref         string           `json:"$ref"`
	Defs        map[string]*rule `json:"$defs"`
	Definitions map[string]*rule `json:"definitions"`
	AllOf       []*rule          `json:"allOf"`
	If          *rule            `json:"if"`
	Then        *rule            `json:"then"`
	Else        *rule            `json:"else"`
	Not         *rule            `json:"not"`

	Type  typeNames `json:"type"`
	Enum  []any     `json:"enum"`  // null, booleans and texts
	Const any       `json:"const"` // likewise

	Properties           map[string]*rule `json:"properties"`
	PatternProperties    map[string]*rule `json:"patternProperties"`
	AdditionalProperties *rule            `json:"additionalProperties"`
	Required             []string         `json:"required"`
	Items                *rule            `json:"items"`
	MinItems             *int             `json:"minItems"`
	MaxItems             *int             `json:"maxItems"`
	MinLength            *int             `json:"minLength"`
	Pattern              string           `json:"pattern"`
	Format               string           `json:"format"`
	Minimum              *float64         `json:"minimum"`
	Maximum              *float64         `json:"maximum"`
	ExclusiveMinimum     *float64         `json:"exclusiveMinimum"`

	target   *rule                     // of Ref
	patterns map[string]*regexp.Regexp // of Pattern and PatternProperties
}

// typeNames are one name or a list.
type typeNames []string

// UnmarshalJSON implements [json.Unmarshaler].
func (n *typeNames) UnmarshalJSON(text []byte) error {
	if text[0] == '"' {
		*n = make(typeNames, 1)
		return json.Unmarshal(text, &(*n)[0])
	}
	return json.Unmarshal(text, (*[]string)(n))
}

// UnmarshalJSON implements [json.Unmarshaler].
func (s *rule) UnmarshalJSON(text []byte) error {
	if text[0] != '{' {
		return json.Unmarshal(text, &s.boolean)
	}
	type plain rule // has no UnmarshalJSON
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode((*plain)(s))
}

// compiled are the schemas by file name.
type compiled map[string]*rule

func compile() (compiled, error) {
	entries, err := schemas.ReadDir("schemas")
	if err != nil {
		return nil, err
	}
	all := compiled{}
	for _, e := range entries {
		text, err := schemas.ReadFile("schemas/" + e.Name())
		if err == nil {
			all[e.Name()] = &rule{}
			err = json.Unmarshal(text, all[e.Name()])
		}
		if err != nil {
			return nil, fmt.Errorf("reading the schema %s: %w", e.Name(), err)
		}
	}
	for name, s := range all {
		if err := all.link(s, s); err != nil {
			return nil, fmt.Errorf("reading the schema %s: %w", name, err)
		}
	}
	return all, nil
}

// link finds the targets of references in a part of a schema, and compiles its patterns.
func (all compiled) link(part, whole *rule) (err error) {
	if part == nil {
		return nil
	}
	if part.Ref != "" {
		if part.target = all.target(part.Ref, whole); part.target == nil {
			return fmt.Errorf("$ref: there is no %s", part.Ref)
		}
	}
	part.patterns = map[string]*regexp.Regexp{}
	for _, pattern := range append(slices.Collect(maps.Keys(part.PatternProperties)), part.Pattern) {
		if part.patterns[pattern], err = regexp.Compile(pattern); err != nil {
			return err
		}
	}
	for _, below := range part.below() {
		if err := all.link(below, whole); err != nil {
			return err
		}
	}
	return nil
}

// target is what a reference names: another file, or a definition of the same one.
func (all compiled) target(ref string, whole *rule) *rule {
	if name, ok := strings.CutPrefix(ref, "#/$defs/"); ok {
		return whole.Defs[name]
	}
	if name, ok := strings.CutPrefix(ref, "#/definitions/"); ok {
		return whole.Definitions[name]
	}
	return all[ref]
}

// below are the schemas directly inside one; absent ones are nil.
func (s *rule) below() []*rule {
	all := append([]*rule{s.If, s.Then, s.Else, s.Not, s.AdditionalProperties, s.Items}, s.AllOf...)
	for _, named := range []map[string]*rule{s.Properties, s.PatternProperties, s.Defs, s.Definitions} {
		for _, part := range named {
			all = append(all, part)
		}
	}
	return all
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
func problems(s *rule, value any) []Problem {
	var r result
	s.validate(&r, "", value)
	slices.SortFunc(r.found, func(a, b Problem) int {
		return strings.Compare(a.Pointer+"\x00"+a.Why, b.Pointer+"\x00"+b.Why)
	})
	return slices.Compact(r.found)
}

// validate adds the errors of a value at a JSON pointer.
func (s *rule) validate(r *result, at string, value any) {
	if s.boolean != nil {
		if !*s.boolean {
			r.add(at, "must be absent: the run is not ok")
		}
		return
	}
	if got := jsonTypeOf(value); len(s.Type) > 0 && !slices.Contains(s.Type, got) && !(got == "integer" && slices.Contains(s.Type, "number")) {
		if got == "integer" {
			got = "number"
		}
		r.add(at, "got %s, want %s", got, strings.Join(slices.Sorted(slices.Values(s.Type)), " or "))
		return // what a value of another type lacks is no news
	}
	s.validateWords(r, at, value)
	switch value := value.(type) {
	case map[string]any:
		s.validateObject(r, at, value)
	case []any:
		s.validateList(r, at, value)
	case string:
		s.validateText(r, at, value)
	case json.Number:
		s.validateNumber(r, at, value)
	}
	s.validateParts(r, at, value)
}

// validateWords checks what a value of any type may be.
func (s *rule) validateWords(r *result, at string, value any) {
	shown := func(v any) string {
		if text, ok := v.(string); ok {
			return "'" + text + "'"
		}
		return fmt.Sprint(v)
	}
	if s.Enum != nil && !slices.Contains(s.Enum, value) {
		var all []string
		for _, v := range s.Enum {
			all = append(all, shown(v))
		}
		r.add(at, "value must be one of %s", strings.Join(all, ", "))
	}
	if s.Const != nil && s.Const != value {
		r.add(at, "value must be %s", shown(s.Const))
	}
}

// escaped makes a name a step of a JSON pointer.
var escaped = strings.NewReplacer("~", "~0", "/", "~1")

func (s *rule) validateObject(r *result, at string, value map[string]any) {
	var missing, unknown []string
	for _, name := range s.Required {
		if _, ok := value[name]; !ok {
			missing = append(missing, name)
		}
	}
	if missing != nil {
		r.add(at, "missing %s", strings.Join(missing, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(value)) {
		below, named := at+"/"+escaped.Replace(name), false
		if property := s.Properties[name]; property != nil {
			property.validate(r, below, value[name])
			named = true
		}
		for pattern, property := range s.PatternProperties {
			if s.patterns[pattern].MatchString(name) {
				property.validate(r, below, value[name])
				named = true
			}
		}
		switch others := s.AdditionalProperties; {
		case named || others == nil:
		case others.boolean != nil && !*others.boolean:
			unknown = append(unknown, "'"+name+"'")
		default:
			others.validate(r, below, value[name])
		}
	}
	if unknown != nil {
		r.add(at, "additional properties %s not allowed", strings.Join(unknown, ", "))
	}
}

func (s *rule) validateList(r *result, at string, value []any) {
	if s.MinItems != nil && len(value) < *s.MinItems {
		r.add(at, "minItems: got %d, want %d", len(value), *s.MinItems)
	}
	if s.MaxItems != nil && len(value) > *s.MaxItems {
		r.add(at, "maxItems: got %d, want %d", len(value), *s.MaxItems)
	}
	if s.Items != nil {
		for i, v := range value {
			s.Items.validate(r, at+"/"+strconv.Itoa(i), v)
		}
	}
}

// uuid matches an id as RFC 9562 writes it.
var uuid = lazyregexp.MustCompile(`^(?i)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

func (s *rule) validateText(r *result, at, value string) {
	if length := utf8.RuneCountInString(value); s.MinLength != nil && length < *s.MinLength {
		r.add(at, "minLength: got %d, want %d", length, *s.MinLength)
	}
	if s.Pattern != "" && !s.patterns[s.Pattern].MatchString(value) {
		r.add(at, "'%s' does not match pattern '%s'", value, s.Pattern)
	}
	switch s.Format {
	case "uuid":
		if !uuid.MatchString(value) {
			r.add(at, "'%s' is not a UUID", value)
		}
	case "date-time":
		if _, err := time.Parse(time.RFC3339, value); err != nil {
			r.add(at, "'%s' is not a time as in 2026-03-02T14:30:31Z", value)
		}
	}
}

func (s *rule) validateNumber(r *result, at string, value json.Number) {
	number, _ := value.Float64() // beyond the range of reals it is infinite
	if s.Minimum != nil && number < *s.Minimum {
		r.add(at, "minimum: got %s, want %v", value, *s.Minimum)
	}
	if s.Maximum != nil && number > *s.Maximum {
		r.add(at, "maximum: got %s, want %v", value, *s.Maximum)
	}
	if s.ExclusiveMinimum != nil && number <= *s.ExclusiveMinimum {
		r.add(at, "exclusiveMinimum: got %s, want %v", value, *s.ExclusiveMinimum)
	}
}

// validateParts checks a value with the schemas that this one is made of.
func (s *rule) validateParts(r *result, at string, value any) {
	if s.target != nil {
		s.target.validate(r, at, value)
	}
	for _, part := range s.AllOf {
		part.validate(r, at, value)
	}
	if s.Not != nil && s.Not.accepts(value) {
		r.add(at, "'not' failed")
	}
	if s.If == nil {
		return
	}
	branch := s.Else
	if s.If.accepts(value) {
		branch = s.Then
	}
	if branch != nil {
		branch.validate(r, at, value)
	}
}

func (s *rule) accepts(value any) bool {
	var r result
	s.validate(&r, "", value)
	return len(r.found) == 0
}

// jsonTypeOf is the type of a value in the words of JSON Schema. A number without a fraction, as 1.0, is an integer.
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
