package layout

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
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
