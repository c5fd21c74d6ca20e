// Package cmdline turns a command line into a sweep: bench 'sort a' 'sort -r a', bench -- make all, bench kernels.py:softmax, bench
// model.onnx. The result is an ordinary sweep file, so it can be saved and run again with the same meaning.
//
// Programs run without a shell. So a text is split into words as in a shell, without further expansions. A text that needs a shell (for
// a pipe, a variable, a redirection) is refused, unless the key shell is set.
package cmdline

import (
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/runner/discover"
	"github.com/neurolens/neurolens/runner/shellwords"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// line has the measured programs or files, given on the command line instead of a sweep file.
type line struct {
	// texts are the things to measure: programs with their arguments, Python files (bench.py, bench.py:softmax) or models.
	texts []string
	// axes are the axes of -P: names and their values. {n} in a text is replaced by the value of n. Other braces are literal.
	axes  map[string]string
	shell bool // each text is run by a shell
	// shared are axes in the parts that all programs share.
	shared []string
}

// suite is the label and the benchmark of programs. They are variants of one benchmark, so that any two of them can be compared.
const suite = schema.BenchmarkOfCommands

// document is the file that represents a line, with its keys in their usual order.
type document struct {
	Suite      string    `yaml:"suite"`
	Benchmark  string    `yaml:"benchmark,omitempty"`
	Variant    string    `yaml:"variant,omitempty"`
	What       what      `yaml:",inline"`
	Benchmarks yaml.Node `yaml:"benchmarks,omitempty"`
	Variants   yaml.Node `yaml:"variants,omitempty"`
	Baseline   string    `yaml:"baseline,omitempty"`
}

// what has the keys of one text.
type what struct {
	Backend string    `yaml:"backend,omitempty"`
	Model   string    `yaml:"model,omitempty"`
	File    string    `yaml:"file,omitempty"`
	Command yaml.Node `yaml:"command,omitempty"`
	Grid    yaml.Node `yaml:"grid,omitempty"`

	used []string // axes in the text
}

func (w *what) isCommand() bool { return w.Command.Kind != 0 }

// models are the extensions of model files, with the backends that run them.
var models = map[string]string{".onnx": "onnxrt", ".pt": "torch", ".pt2": "torch", ".engine": "tensorrt", ".plan": "tensorrt"}

// nameTexts rewrites texts that are not UTF-8 as equivalent UTF-8 texts: they become names of benchmarks.
func (l line) nameTexts() error {
	for i, text := range l.texts {
		if utf8.ValidString(text) {
			continue
		}
		if l.shell {
			l.texts[i] = evalWord + " " + shellwords.Quote(text)
			continue
		}
		parts, err := shellwords.Split(text)
		if err != nil {
			return err
		}
		l.texts[i] = shellwords.Join(parts)
	}
	return nil
}

// evalWord makes a shell evaluate a text. Texts in UTF-8 do not need it.
const evalWord = "eval"

// shellText returns the text for a shell from the name of a text. It is the text itself, so that the shell starts nothing to decode the
// bytes of a name.
func shellText(name string) string {
	if parts, err := shellwords.Split(name); err == nil && len(parts) == 2 && parts[0] == evalWord && !utf8.ValidString(parts[1]) {
		return parts[1]
	}
	return name
}

// isFile reports whether an argument of bench is a sweep file, or - for standard input, instead of a program.
func isFile(argument string) bool {
	if argument == "-" {
		return true
	}
	ending := path.Ext(argument)
	if ending != ".yaml" && ending != ".yml" {
		return false
	}
	_, err := os.Stat(argument)
	return err == nil || !strings.ContainsAny(argument, " \t") // 'cat a.yaml' is a program
}

// isPlainFile reports whether an argument without the extension of a sweep file is one nevertheless: it cannot be executed, and is neither
// Python nor a model.
func isPlainFile(argument string) bool {
	info, err := os.Stat(argument)
	_, isModel := models[path.Ext(argument)]
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 == 0 && !isModel && path.Ext(argument) != ".py"
}

// sweep writes the sweep file. The first of several texts is the baseline.
func (l line) sweep() ([]byte, error) {
	s := document{Suite: suite}
	texts, found, err := l.spelled()
	if err != nil {
		return nil, err
	}
	all := make([]what, len(texts))
	for i, text := range texts {
		if all[i], err = l.read(text); err != nil {
			return nil, err
		}
		if err := l.refuseDuplicate(text, texts[:i]); err != nil {
			return nil, err
		}
	}
	if err := l.placeAxes(all); err != nil {
		return nil, err
	}
	switch {
	case found: // each is a benchmark of its own, and not a variant
		s.Suite = path.Base(l.texts[0])
		s.Benchmarks, err = named(texts, all)
	case len(all) == 1 && !all[0].isCommand(): // a file and a model have a name by themselves
		s.What, s.Suite = all[0], nameOf(all[0])
	case len(all) == 1:
		s.What, s.Benchmark, s.Variant = all[0], suite, sweep.Literal(texts[0])
	default:
		s.Benchmark = suite
		s.Baseline = "variant=" + word(sweep.Literal(texts[0]))
		s.Variants, err = named(texts, all)
	}
	if err != nil {
		return nil, err
	}
	return yaml.Marshal(&s)
}

// refuseDuplicate refuses a text that is the same program as an earlier one: their rows would look the same.
func (l line) refuseDuplicate(text string, before []string) error {
	for _, earlier := range before {
		switch {
		case text == earlier:
			return fmt.Errorf("%s appears twice", shellwords.Shown(text))
		case l.shell && strings.TrimSpace(text) == strings.TrimSpace(earlier), !l.shell && shellwords.Same(text, earlier):
			return fmt.Errorf("%s and %s are the same program, so their rows would look the same: add a comment (# one) to one of them", shellwords.Shown(earlier), shellwords.Shown(text))
		}
	}
	return nil
}

// refuseSet refuses a KEY=VALUE of --set that the command line already sets. A sweep file would have both, and one of them would have no
// effect.
func (l line) refuseSet(text string) error {
	key, values, _ := strings.Cut(text, "=")
	if slices.Contains([]string{"command", "file", "model", "variants", "benchmarks"}, key) {
		return fmt.Errorf("--set %s: the command line already says what is measured: %s", text, strings.Join(l.texts, ", "))
	}
	name, isAxis := strings.CutPrefix(key, "grid.")
	if isAxis && slices.ContainsFunc(l.texts, func(t string) bool { return strings.Contains(t, "{"+name+"}") }) {
		return fmt.Errorf("--set %s: {%s} in a program takes its values from -P: want -P %s=%s", text, name, name, strings.Trim(values, "[]"))
	}
	return nil
}

// word returns a text where a sweep file has a value of an axis in a text: in quotes where YAML would read something else.
func word(text string) string {
	var n yaml.Node
	if err := yaml.Unmarshal([]byte(text), &n); err == nil && len(n.Content) == 1 {
		isText := n.Content[0].Kind == yaml.ScalarNode && n.Content[0].ShortTag() != "!!null"
		if isText && n.Content[0].Value == text && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return text
		}
	}
	return strconv.Quote(text)
}

// named makes the map of variants, or of benchmarks, in the order of the line.
func named(texts []string, all []what) (yaml.Node, error) {
	names := yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for i, text := range texts {
		var key, value yaml.Node
		if err := key.Encode(sweep.Literal(text)); err != nil {
			return names, fmt.Errorf("writing %q: %w", text, err)
		}
		if err := value.Encode(&all[i]); err != nil {
			return names, fmt.Errorf("writing %q: %w", text, err)
		}
		names.Content = append(names.Content, &key, &value)
	}
	return names, nil
}

// placeAxes gives each program only the axes that it contains, if several programs differ in that: one without {n} is measured once,
// whatever the values of n. An axis that no program contains is left to the reader of the sweep.
func (l line) placeAxes(all []what) error {
	for _, name := range slices.Sorted(maps.Keys(l.axes)) {
		uses := func(w what) bool { return slices.Contains(w.used, name) || slices.Contains(l.shared, name) }
		if !slices.ContainsFunc(all, uses) || !slices.ContainsFunc(all, func(w what) bool { return w.isCommand() && !uses(w) }) {
			continue
		}
		for i := range all {
			if all[i].isCommand() && !uses(all[i]) {
				continue
			}
			if err := all[i].addAxis(name, l.axes[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

// addAxis adds an axis to a text, with its values, which are separated by commas.
func (w *what) addAxis(name, values string) error {
	var list yaml.Node
	if err := yaml.Unmarshal([]byte("["+values+"]"), &list); err != nil || len(list.Content) != 1 {
		return fmt.Errorf("-P %s=%s: want values, separated by commas", name, values)
	}
	if w.Grid.Kind == 0 {
		w.Grid = yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	}
	w.Grid.Content = append(w.Grid.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name}, list.Content[0])
	return nil
}

// read determines the kind of a text.
func (l line) read(text string) (w what, err error) {
	if l.shell {
		w.Command, err = encoded(l.template(shellText(text), &w.used))
		return w, err
	}
	parts, err := shellwords.Split(text)
	if err != nil {
		return what{}, err
	}
	if len(parts) == 1 {
		file, _, _ := strings.Cut(text, ".py:")
		switch backend, isModel := models[path.Ext(text)]; {
		case isModel:
			return what{Backend: backend, Model: text}, nil
		case file != text, strings.HasSuffix(text, ".py"):
			return what{File: text}, nil
		}
	}
	command := make([]string, len(parts))
	for i, word := range parts {
		command[i] = l.template(word, &w.used)
	}
	if w.Command, err = encoded(command); err == nil {
		w.Command.Style = yaml.FlowStyle
	}
	return w, err
}

// encoded returns a value of the file.
func encoded(v any) (n yaml.Node, err error) {
	if err = n.Encode(v); err != nil {
		err = fmt.Errorf("writing %q: %w", v, err)
	}
	return n, err
}

// axis matches a placeholder for an axis in a text.
var axis = regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_-]*)\}`)

// template converts a text to the syntax of a sweep file: braces that name no axis are doubled. It adds the axes in it to used.
func (l line) template(text string, used *[]string) string {
	var out strings.Builder
	at := 0
	for _, m := range axis.FindAllStringSubmatchIndex(text, -1) {
		name := text[m[2]:m[3]]
		if _, is := l.axes[name]; is {
			out.WriteString(sweep.Literal(text[at:m[0]]) + text[m[0]:m[1]])
			at = m[1]
			*used = append(*used, name)
		}
	}
	return out.String() + sweep.Literal(text[at:])
}

// bracing are programs whose own language has names in braces.
var bracing = []string{"awk", "gawk", "mawk", "nawk", "busybox", "jq", "perl", "docker", "podman"}

// unfilled returns a note about a {name} that no axis gives values but that looks like an axis; empty: there is none.
func (l line) unfilled() string {
	for _, text := range l.texts {
		if program, _, _ := strings.Cut(text, " "); slices.Contains(bracing, path.Base(program)) {
			continue
		}
		for _, m := range axis.FindAllStringSubmatchIndex(text, -1) {
			name := text[m[2]:m[3]]
			_, isAxis := l.axes[name]
			within := m[0] > 0 && strings.ContainsRune("{$", rune(text[m[0]-1])) || strings.HasPrefix(text[m[1]:], "}")
			if !isAxis && !within {
				return fmt.Sprintf("{%s} in %s is taken literally; -P %s=1,2 would give it values", name, shellwords.Shown(text), name)
			}
		}
	}
	return ""
}

// nameOf returns the label of the runs of a file or a model.
func nameOf(w what) string {
	if w.Model != "" {
		return path.Base(w.Model)
	}
	return path.Base(w.File)
}

// spelled expands the benchmarks in a Python file to separate texts: the ones after the file (bench.py:a,b), or the ones found in it.
// found is true if the only text is a file in which several were found.
func (l line) spelled() (all []string, found bool, err error) {
	if l.shell {
		return l.texts, false, nil
	}
	for _, text := range l.texts {
		file, names, named := strings.Cut(text, ".py:")
		if named && !strings.ContainsAny(text, " {") {
			if strings.ContainsAny(names, "*?[") {
				return nil, false, patternError(text, file+".py")
			}
			for name := range strings.SplitSeq(names, ",") {
				all = append(all, file+".py:"+name)
			}
			continue
		}
		objects, err := objectsOf(text)
		if err != nil {
			return nil, false, err
		}
		if objects == nil {
			all = append(all, text)
		}
		for _, name := range objects {
			all = append(all, text+":"+name)
		}
		found = len(l.texts) == 1 && len(objects) > 1
	}
	return all, found, nil
}

// patternError is the error of a pattern in place of the names of functions in a Python file: it says how to name them.
func patternError(text, file string) error {
	objects, err := objectsOf(file)
	switch {
	case err != nil:
		return fmt.Errorf("%s: a pattern names no function: %w", shellwords.Shown(text), err)
	case len(objects) > 1:
		return fmt.Errorf("%s: a pattern names no function: %s measures %s, and %s:%s,%s some of them",
			shellwords.Shown(text), file, strings.Join(objects, ", "), file, objects[0], objects[1])
	}
	return fmt.Errorf("%s: a pattern names no function: want names, as in %s:NAME,NAME", shellwords.Shown(text), file)
}

// objectsOf lists the benchmarks of a text that is a Python file, without executing it; nil if Python selects the benchmark, or reports
// an error in the file.
func objectsOf(text string) ([]string, error) {
	if path.Ext(text) != ".py" || strings.Contains(text, " ") {
		return nil, nil
	}
	source, err := os.ReadFile(text)
	if err != nil {
		return nil, nil
	}
	return discover.Objects(string(source), strings.TrimSuffix(path.Base(text), ".py"))
}
