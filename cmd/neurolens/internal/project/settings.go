package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// projectFile holds the settings that all commands of a project share.
const (
	projectFile     = "neurolens.yaml"
	maxProjectBytes = 64 << 10
)

// Project has the settings of the nearest project file; environment variables override them.
type Project struct {
	path    string // of the file; empty: there is none
	home    string // above which nobody looks
	environ func(string) string
	values  []value // in the order of the file

	thresholds judge.Thresholds
	below      map[string]judge.Thresholds // of commands, from their defaults
}

// Environment is where a project is looked for.
type Environment struct {
	Home    string // above which nobody looks
	Environ func(string) string
	Formats []string       // that a format may be
	Command *cobra.Command // the one that runs; the flags of all commands of its root get their defaults
}

// value is one setting in the file.
type value struct {
	key  string // with dots: defaults.bench.repeats
	text string
	node *yaml.Node
	line int // of its key
}

// Read reads the nearest project file, and gives flags their defaults. Paths of the file, of variables and of flags are those of
// sweep.ExpandPath. An error of the file begins with its path, and the line.
func Read(s Environment) (*Project, error) {
	if err := expandFlags(s.Command); err != nil {
		return nil, err
	}
	environ, err := expanded(s.Environ)
	if err != nil {
		return nil, err
	}
	p := &Project{path: nearestProject(s.Home), home: s.Home, environ: environ, thresholds: judge.Thresholds{}, below: map[string]judge.Thresholds{}}
	if p.path == "" {
		return p, nil
	}
	text, err := readSmall(p.path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.path, err)
	}
	if isEmpty(text) {
		return p, nil
	}
	root, err := sweep.Load(p.path, text)
	if err != nil {
		return nil, err
	}
	if err := p.read(root, s.Formats); err != nil {
		return nil, err
	}
	return p, p.apply(s.Command.Root())
}

// nearestProject returns the project file in the working directory or the nearest one above it, as nearestStore looks for a
// store; empty where there is none.
func nearestProject(home string) string {
	if _, err := os.Lstat(projectFile); !errors.Is(err, fs.ErrNotExist) { // whatever it is, it is what is meant
		return projectFile
	}
	return above(home, projectFile, func(string) bool { return true })
}

// readSmall reads a plain file of at most maxProjectBytes.
func readSmall(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	case info.Size() > maxProjectBytes:
		return nil, fmt.Errorf("it has %d bytes, at most %d are allowed", info.Size(), maxProjectBytes)
	}
	return os.ReadFile(path)
}

// isEmpty reports whether a text has only comments.
func isEmpty(text []byte) bool {
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return false
		}
	}
	return true
}

// at returns a place in the file.
func (p *Project) at(line int) string { return p.path + ":" + strconv.Itoa(line) }

func (p *Project) errorf(line int, format string, args ...any) error {
	return fmt.Errorf("%s: %w", p.at(line), fmt.Errorf(format, args...))
}

// member is a key of a map and its value.
type member struct{ key, value *yaml.Node }

// members returns the members of a map, which has at least one.
func (p *Project) members(name string, n *yaml.Node, of string) ([]member, error) {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		return nil, p.errorf(n.Line, "%swant %s, got %s", name, of, got(n))
	}
	var all []member
	for i := 0; i+1 < len(n.Content); i += 2 {
		all = append(all, member{n.Content[i], n.Content[i+1]})
	}
	return all, nil
}

// got returns a value as errors call it.
func got(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a map"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Value == "" || n.ShortTag() == "!!null":
		return "nothing"
	}
	return strconv.Quote(n.Value)
}

// isText reports whether a value is a text that is not empty.
func isText(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && got(n) != "nothing" }

// read reads the keys of the file.
func (p *Project) read(root *yaml.Node, formats []string) error {
	members, err := p.members("", root, "keys with values")
	if err != nil {
		return err
	}
	for _, m := range members {
		name := m.key.Value
		switch {
		case keyOf(name) == nil:
			hint := "it has " + strings.Join(keyNames(), " ") + " (a sweep needs another name)"
			if near := schema.Nearest(name, keyNames()); near != "" {
				hint = "did you mean " + near + "?"
			}
			return p.errorf(m.key.Line, "there is no key %q; %s", name, hint)
		case name == "thresholds":
			err = p.readThresholds(m.value)
		case name == "defaults":
			err = p.readDefaults(m.value)
		case !isText(m.value):
			err = p.errorf(m.value.Line, "%s: want a text, got %s", name, got(m.value))
		case name == "format" && !slices.Contains(formats, m.value.Value):
			err = p.errorf(m.value.Line, "format: want one of %s, got %q", strings.Join(formats, " "), m.value.Value)
		default:
			var text string
			if text, err = p.fromFile(name, m.value.Value); err != nil {
				err = p.errorf(m.value.Line, "%s: %w", name, err)
			}
			p.values = append(p.values, value{name, text, m.value, m.key.Line})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fromFile returns the value of a key that may be a path, which is one from the folder of the file. A name of an interpreter
// without a slash is looked for on PATH.
func (p *Project) fromFile(key, text string) (string, error) {
	if key != "store" && key != "python" {
		return text, nil
	}
	text, err := sweep.ExpandPath(text)
	if err != nil || filepath.IsAbs(text) || key == "python" && !strings.ContainsRune(text, filepath.Separator) {
		return text, err
	}
	path := filepath.Join(filepath.Dir(p.path), text)
	if absolute, err := filepath.Abs(path); err == nil && key == "python" { // it runs in many folders
		return absolute, nil
	}
	return path, nil
}

// readThresholds reads thresholds by metric.
func (p *Project) readThresholds(n *yaml.Node) error {
	texts, err := sweep.Thresholds(p.path, n)
	if err != nil {
		return err
	}
	members, err := p.members("thresholds: ", n, "a map")
	if err != nil {
		return err
	}
	for _, m := range members {
		metric := m.key.Value
		if p.thresholds[metric], err = judge.ParseThreshold(texts[metric]); err != nil {
			return p.errorf(m.key.Line, "thresholds.%s: %w", metric, err)
		}
		p.values = append(p.values, value{"thresholds." + metric, texts[metric], n, m.key.Line})
	}
	return nil
}

// value returns the value of a key in the file.
func (p *Project) value(key string) (value, bool) {
	for _, v := range p.values {
		if v.key == key {
			return v, true
		}
	}
	return value{}, false
}

// Getenv returns what a variable says, else what the file says of the key that it stands before.
func (p *Project) Getenv(name string) string {
	if text := p.environ(name); text != "" {
		return text
	}
	for _, k := range keys {
		if v, said := p.value(k.name); said && k.variable == name && name != variablePython {
			return v.text
		}
	}
	return ""
}

// Elsewhere tells whether a store that no flag names is not below the working directory, and no variable names it either.
func (p *Project) Elsewhere(store string) bool {
	return p.environ("NEUROLENS_STORE") == "" && !filepath.IsLocal(store)
}

// Usual returns the default thresholds of a command.
func (p *Project) Usual(command string) judge.Thresholds {
	return p.below[command].Over(p.thresholds)
}

// key is a key of a project file.
type key struct {
	name     string
	variable string // of the environment, which wins over it; empty: there is none
	flag     string // which wins over both; empty: there is none, or each command has its own
	without  string // what holds where nobody says anything; empty: it is computed
}

// variablePython names the interpreter of Python benchmarks.
const variablePython = "NEUROLENS_PYTHON"

// keys are all that a project file may have. What would start a program is none of them, but for the interpreter of
// benchmarks: the file may be anybody's, and to list runs is safe everywhere.
var keys = []key{
	{"store", "NEUROLENS_STORE", "store", ""},
	{"format", "NEUROLENS_FORMAT", "format", "table"},
	{"machine", "NEUROLENS_MACHINE", "", "a name made from its hardware"},
	{"python", variablePython, "python", "that of the active virtual environment, else python3"},
	{"thresholds", "", "threshold", "2% for metrics that are compared as ratios"},
	{"defaults", "", "", "those in the help of each command"},
}

// keyOf returns the key with a name, or nil.
func keyOf(name string) *key {
	for i := range keys {
		if keys[i].name == name {
			return &keys[i]
		}
	}
	return nil
}

func keyNames() []string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	return names
}

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

// Settings returns all settings with their origins, in a fixed order: keys that have keys below them are a setting for each. found are
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
	for _, v := range p.values {
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

// Path returns the path of the project file, or empty if there is none.
func (p *Project) Path() string { return p.path }

// placeholders are the words that stand for a path in the help of a flag.
var placeholders = []string{"DIR", "FILE", "FOLDER", "NEWDIR"}

// pathVariables are the variables whose values are paths.
var pathVariables = []string{"NEUROLENS_LOCKS", variablePython, "NEUROLENS_STORE"}

// expandFlags replaces the paths that the command line gives to flags: a shell does not expand --store=~/runs.
func expandFlags(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if name, _ := pflag.UnquoteUsage(f); err != nil || !slices.Contains(placeholders, name) {
			return
		}
		list, many := f.Value.(pflag.SliceValue)
		texts := []string{f.Value.String()}
		if many {
			texts = list.GetSlice()
		}
		for i, text := range texts {
			if texts[i], err = sweep.ExpandPath(text); err != nil {
				err = fmt.Errorf("--%s: %w", f.Name, err)
				return
			}
		}
		if many {
			err = list.Replace(texts)
		} else {
			err = f.Value.Set(texts[0])
		}
	})
	return err
}

// expanded returns an environment in which the variables that are paths are replaced.
func expanded(environ func(string) string) (func(string) string, error) {
	paths := map[string]string{}
	for _, name := range pathVariables {
		path, err := sweep.ExpandPath(environ(name))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		paths[name] = path
	}
	return func(name string) string {
		if path, is := paths[name]; is {
			return path
		}
		return environ(name)
	}, nil
}

// misnamed is what other tools would take for a project file too.
const misnamed = "neurolens.yml"

// Remarks returns what of the settings is probably not as it was meant, though it is no error.
func (p *Project) Remarks() []string {
	var all []string
	if path := p.unread(); path != "" {
		all = append(all, fmt.Sprintf("%s is not read: name it %s", path, projectFile))
	}
	var known []string
	for _, k := range schema.MetricKinds {
		known = append(known, k.Name)
	}
	for _, v := range p.values {
		metric, is := strings.CutPrefix(v.key, "thresholds.")
		if !is || slices.Contains(known, metric) {
			continue
		}
		if near := schema.Nearest(metric, known); near != "" {
			all = append(all, fmt.Sprintf("%s: thresholds.%s applies only to metrics of that name; did you mean %s?", p.at(v.line), metric, near))
		}
	}
	return all
}

// unread returns a misnamed file here or above that would count, were it a project file; empty where there is none.
func (p *Project) unread() string {
	nearer := func(path string) bool { return p.path == "" || len(filepath.Dir(path)) < len(filepath.Dir(p.path)) }
	if _, err := os.Lstat(misnamed); !errors.Is(err, fs.ErrNotExist) && p.path != projectFile {
		return misnamed
	}
	return above(p.home, misnamed, nearer)
}
