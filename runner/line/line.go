package line

import (
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// line is what is measured, in place of a sweep file.
type line struct {
	// Texts are what is measured: programs with their arguments, Python files (bench.py, bench.py:softmax) or models.
	Texts []string
	// Axes are the names that -P gives values: {n} in a text stands for the value of n. Other braces stand for themselves.
	Axes []string
}

// suite is the label and the benchmark of programs. They are variants of one benchmark, so that any two of them compare.
const suite = "commands"

// document is the file that a line stands for, with its keys in their usual order.
type document struct {
	Suite     string    `yaml:"suite"`
	Benchmark string    `yaml:"benchmark,omitempty"`
	Variant   string    `yaml:"variant,omitempty"`
	What      what      `yaml:",inline"`
	Variants  yaml.Node `yaml:"variants,omitempty"`
	Baseline  string    `yaml:"baseline,omitempty"`
}

// what are the keys of one text.
type what struct {
	Backend string   `yaml:"backend,omitempty"`
	Model   string   `yaml:"model,omitempty"`
	File    string   `yaml:"file,omitempty"`
	Command []string `yaml:"command,omitempty,flow"`
}

// models are the endings of model files, and what runs them.
var models = map[string]string{".onnx": "onnxrt", ".pt": "torch", ".pt2": "torch", ".engine": "tensorrt", ".plan": "tensorrt"}

// isFile tells whether arguments of bench are a sweep file, or - for standard input, and not what to measure. A sweep file
// has its ending, or is a file that is alone, cannot be executed, and is neither Python nor a model.
func isFile(arguments []string) bool {
	if slices.ContainsFunc(arguments, func(a string) bool { return a == "-" || slices.Contains([]string{".yaml", ".yml"}, path.Ext(a)) }) {
		return true
	}
	info, err := os.Stat(arguments[0])
	_, isModel := models[path.Ext(arguments[0])]
	return len(arguments) == 1 && err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 == 0 && !isModel && path.Ext(arguments[0]) != ".py"
}

// sweep writes the sweep file. The first of several texts is the baseline.
func (l line) sweep() ([]byte, error) {
	s := document{Suite: suite}
	all := make([]what, len(l.Texts))
	for i, text := range l.Texts {
		var err error
		if all[i], err = l.read(text); err != nil {
			return nil, err
		}
		for _, earlier := range l.Texts[:i] {
			if text == earlier {
				return nil, fmt.Errorf("%q is there twice", text)
			}
		}
	}
	switch {
	case len(all) == 1 && all[0].Command == nil: // a file and a model have a name by themselves
		s.What, s.Suite = all[0], nameOf(all[0])
	case len(all) == 1:
		s.What, s.Benchmark, s.Variant = all[0], suite, literal(l.Texts[0])
	default:
		s.Benchmark = suite
		s.Baseline = "variant=" + literal(l.Texts[0])
		if err := s.add(l.Texts, all); err != nil {
			return nil, err
		}
	}
	return yaml.Marshal(&s)
}

// add makes the map of variants, in the order of the line.
func (s *document) add(texts []string, all []what) error {
	s.Variants = yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for i, text := range texts {
		var key, value yaml.Node
		if err := key.Encode(literal(text)); err != nil {
			return fmt.Errorf("writing %q: %w", text, err)
		}
		if err := value.Encode(all[i]); err != nil {
			return fmt.Errorf("writing %q: %w", text, err)
		}
		s.Variants.Content = append(s.Variants.Content, &key, &value)
	}
	return nil
}

// read finds out what a text is.
func (l line) read(text string) (what, error) {
	words, err := split(text)
	if err != nil {
		return what{}, err
	}
	command := make([]string, len(words))
	for i, word := range words {
		command[i] = l.template(word)
	}
	if len(words) != 1 {
		return what{Command: command}, nil
	}
	file, _, _ := strings.Cut(text, ".py:")
	switch backend, isModel := models[path.Ext(text)]; {
	case isModel:
		return what{Backend: backend, Model: text}, nil
	case file != text, strings.HasSuffix(text, ".py"):
		return what{File: text}, nil
	}
	return what{Command: command}, nil
}

// axis is what may stand for the value of an axis in a text.
var axis = regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_-]*)\}`)

// template writes a text as one of a sweep file: braces that name no axis are doubled there.
func (l line) template(text string) string {
	var out strings.Builder
	at := 0
	for _, m := range axis.FindAllStringSubmatchIndex(text, -1) {
		if slices.Contains(l.Axes, text[m[2]:m[3]]) {
			out.WriteString(literal(text[at:m[0]]) + text[m[0]:m[1]])
			at = m[1]
		}
	}
	return out.String() + literal(text[at:])
}

// literal writes a text so that none of its braces names an axis.
func literal(text string) string {
	return strings.NewReplacer("{", "{{", "}", "}}").Replace(text)
}

// nameOf is what the runs of a file or a model are labelled with.
func nameOf(w what) string {
	if w.Model != "" {
		return path.Base(w.Model)
	}
	return path.Base(w.File)
}
