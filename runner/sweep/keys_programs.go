package sweep

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/schema"
)

var commandAlone = []schema.Executor{schema.ExecutorCommand}

// hookValue is a program with its arguments: a list, or a text that is taken apart as that of a command line.
var hookValue = eitherOf(scalarValue, listOf(1, scalarValue))

// fileOrNull is a file, or null for none.
var fileOrNull = eitherOf(nothingValue, scalarValue)

// exitValue is an exit status other than 0.
var exitValue = Value{Kind: Integer, Min: 1, Max: 255}

// keysOfPrograms say what is around the processes of a command. Nothing of it is timed.
var keysOfPrograms = []Key{
	{
		Name: "shell", Value: eitherOf(switchValue, textValue), Executors: commandAlone, Stored: true, Verbatim: true, Reproduce: true,
		Option: "run programs with sh, or the shell `NAME`, and subtract its start time", Alone: "true",
		Doc:   "Run the command, which is then one text, with a shell: true for sh, or a name. The start time of the shell is measured and subtracted. The shell becomes the parameter shell of the point.",
		point: func(p *Point) any { return &p.Shell },
	},
	{
		Name: "setup", Value: hookValue, Executors: commandAlone, Stored: true, Verbatim: true, Reproduce: true,
		Option: "run `PROGRAM` once before each run, untimed",
		Doc:    "A program to run once before each run, untimed: a list of words, or a text.",
		text:   func(p *Point) string { return wordsText(p.Hooks.Setup) },
	},
	{
		Name: "prepare", Value: hookValue, Executors: []schema.Executor{schema.ExecutorCommand, schema.ExecutorPython}, Stored: true, Verbatim: true, Reproduce: true,
		Option: "run `PROGRAM` before each process, or the function of a Python benchmark before each iteration, untimed",
		Doc:    "What prepares each process or iteration, also during warm-up, untimed: a program or, with file, the name of a function of the file or of a method of the class. A dict that it returns has arguments for the iteration.",
		point:  func(p *Point) any { return &p.Prepare },
		text:   func(p *Point) string { return cmp.Or(p.Prepare, wordsText(p.Hooks.Prepare)) },
	},
	{
		Name: "cleanup", Value: hookValue, Executors: commandAlone, Stored: true, Verbatim: true, Reproduce: true,
		Option: "run `PROGRAM` once after each run, even if it failed",
		Doc:    "A program to run once after each run, even if the run failed.",
		text:   func(p *Point) string { return wordsText(p.Hooks.Cleanup) },
	},
	{
		Name: "stdin", Value: fileOrNull, Executors: commandAlone, Stored: true, Verbatim: true, Reproduce: true,
		Option: "`FILE` as standard input of each process (default: empty)",
		Doc:    "The file that each process gets as standard input. Default, and with null: an empty input. The file becomes the parameter stdin of the point.",
		point:  func(p *Point) any { return &p.Stdin },
	},
	{
		Name: "ignore_exit", Value: eitherOf(switchValue, oneOrMany(1, exitValue)), Executors: commandAlone, Stored: true, Verbatim: true, Reproduce: true,
		Option: "accept exit statuses other than 0: all, or `CODES` (1,3)", Alone: "true",
		Doc:  "Exit statuses other than 0 that do not count as failures: true for all, or a list. A process that is killed by a signal always fails.",
		text: ignoredText,
	},
}

// FilledOptions are the keys whose options have texts in which {axis} is filled in, of what is around programs.
func FilledOptions() (names []string) {
	for _, k := range keysOfPrograms {
		if k.Verbatim && k.Alone == "" {
			names = append(names, k.Name)
		}
	}
	return append(names, "output")
}

// ignoredText are the exit statuses that are no failure, as text.
func ignoredText(p *Point) string {
	if p.AnyExit {
		return "true"
	}
	words := make([]string, len(p.Exits))
	for i, code := range p.Exits {
		words[i] = strconv.Itoa(code)
	}
	return strings.Join(words, ",")
}

// verbatim is the value of a key whose option has one text, as a file has it.
func (k Key) verbatim(text string) *yaml.Node {
	switch {
	case k.Name == "output":
		return mapNode(0, "to", Key{}.verbatim(text))
	case text == "null":
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
	case k.Alone != "" && (text == "true" || text == "false"):
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: text}
	case !utf8.ValidString(text):
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: binaryTag, Style: yaml.TaggedStyle, Value: base64.StdEncoding.EncodeToString([]byte(text))}
	case k.Name != "ignore_exit":
		return textNode(0, text)
	}
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle}
	for word := range strings.SplitSeq(text, ",") {
		list.Content = append(list.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: word})
	}
	return list
}

// readIgnoredExits reads which exit statuses are no failure.
func (s *settings) readIgnoredExits(d *document) error {
	f := d.choose("ignore_exit")
	if !f.given() {
		return nil
	}
	d.request("ignore_exit", f)
	if f.Kind == yaml.ScalarNode && f.ShortTag() == "!!bool" {
		var err error
		s.point.AnyExit, err = f.boolean()
		return err
	}
	for _, item := range f.items() {
		if n := item.Node; n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" {
			return item.errorf("want true, or a list of exit statuses, got %s", item.got())
		}
		if _, err := strconv.Atoi(item.Value); err != nil {
			return item.errorf("want true, or exit statuses such as 1,3, got %s", item.got())
		}
		code, err := item.integer(exitValue.Min, exitValue.Max, fmt.Sprintf("an exit status from %d to %d", exitValue.Min, exitValue.Max))
		if err != nil {
			return err
		}
		s.point.Exits = append(s.point.Exits, int(code))
	}
	if len(s.point.Exits) == 0 {
		return f.errorf("is empty")
	}
	return nil
}
