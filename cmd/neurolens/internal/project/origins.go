package project

import (
	"slices"
	"strings"
)

// Setting is the value of a key of project files, and where it comes from.
type Setting struct {
	Key     string
	Value   string // empty: nobody says one
	Source  string // one of those below
	Where   string // the flag, the variable, or the file and its line; empty for a default
	Without string // in words, what holds where there is no value
}

// The sources of a setting, the strongest first.
const (
	SourceFlag     = "flag"
	SourceVariable = "variable"
	SourceFile     = "file"
	SourceDefault  = "default"
)

// Given is what a command line says of the setting that a flag stands for, and the flag as it was typed; that is empty where
// it says nothing.
type Given func(flag string) (value, typed string)

// Settings are all settings with their origins, in a fixed order: keys that have keys below them are a setting for each. found are
// values that hold by themselves, by key.
func (p *Project) Settings(given Given, found map[string]string) []Setting {
	var all []Setting
	for _, k := range keys {
		all = append(all, p.settings(k, given, found[k.name])...)
	}
	return all
}

func (p *Project) settings(k key, given Given, found string) []Setting {
	if value, typed := given(k.flag); typed != "" {
		return []Setting{{Key: k.name, Value: value, Source: SourceFlag, Where: typed}}
	}
	if k.variable != "" && p.environ(k.variable) != "" {
		return []Setting{{Key: k.name, Value: p.environ(k.variable), Source: SourceVariable, Where: k.variable}}
	}
	var all []Setting
	for _, v := range p.said {
		if v.key == k.name || strings.HasPrefix(v.key, k.name+".") {
			all = append(all, Setting{Key: v.key, Value: v.text, Source: SourceFile, Where: p.at(v.line)})
		}
	}
	slices.SortFunc(all, func(a, b Setting) int { return strings.Compare(a.Key, b.Key) })
	if all == nil {
		all = []Setting{{Key: k.name, Value: found, Source: SourceDefault, Without: k.without}}
	}
	return all
}

// Path is the file; empty: there is none.
func (p *Project) Path() string { return p.path }
