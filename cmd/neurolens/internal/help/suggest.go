package help

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/schema"
)

// ArgumentsError says what is wrong with arguments of a command that takes none, or with the name of one below it.
func ArgumentsError(cmd *cobra.Command, args []string) error {
	path := pathOf(cmd)
	word := args[0]
	if !cmd.HasSubCommands() {
		hint := ""
		if _, err := os.Stat(filepath.Join(word, schema.HeaderFile)); err == nil {
			hint = "; --store " + word + " names the store"
		}
		return fmt.Errorf("%s takes no arguments, got %q%s", path, word, hint)
	}
	lead := ""
	if path != "" {
		lead = path + ": "
	}
	return fmt.Errorf("%sthere is no command %q%s", lead, word, commandHint(cmd, word))
}

// pathOf returns a command as errors call it: without the name of the program.
func pathOf(cmd *cobra.Command) string {
	return strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()), " ")
}

// commandHint returns what follows the complaint about a command that is not there.
func commandHint(cmd *cobra.Command, word string) string {
	table := commands
	if cmd.HasParent() {
		table = commandsBelow[cmd.Name()]
	}
	if hint, ok := table[strings.ToLower(word)]; ok {
		return "; " + hint
	}
	var names []string
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	if near := suggestName(word, names); near != "" {
		return "; did you mean " + near + "?"
	}
	if looksLikeBenchmark(word) {
		return fmt.Sprintf("; neurolens bench %s measures it", word)
	}
	if cmd.HasParent() {
		return "; want one of " + strings.Join(names, " ")
	}
	return "; neurolens --help lists them"
}

// looksLikeBenchmark tells whether a word is a file that bench takes.
func looksLikeBenchmark(word string) bool {
	switch filepath.Ext(word) {
	case ".yaml", ".yml", ".py", ".onnx":
		return true
	}
	return false
}

// FlagError returns an error about flags, with what was probably meant.
func FlagError(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if number := term.WantedNumber(err); number != "" && errors.As(err, &invalid) {
		return fmt.Errorf("--%s %q: want %s", invalid.GetFlag().Name, invalid.GetValue(), number)
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	name, short := unknown.GetSpecifiedName(), unknown.GetSpecifiedShortnames()
	spelt := "--" + name
	if short != "" {
		name, spelt = short, "-"+short
	}
	if words := cmd.Flags().Args(); cmd.HasSubCommands() && len(words) > 0 { // the command that would know the flag does not exist
		return ArgumentsError(cmd, words)
	}
	lead := ""
	if cmd.HasParent() {
		lead = pathOf(cmd) + ": "
	}
	hint := flagHint(cmd, name)
	if program := programHint(cmd, spelt); program != "" && hint == helpHint(cmd) {
		hint = ";" + program
	} else {
		hint += program
	}
	return fmt.Errorf("%sthere is no flag %s%s", lead, spelt, hint)
}

// FlagAsValue returns the error for a flag whose value is the name of another flag, as in report --baseline --store s; nil if there is none.
func FlagAsValue(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		name, is := strings.CutPrefix(f.Value.String(), "--")
		if f.Value.Type() != "string" || !is || cmd.Flags().Lookup(name) == nil {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		err = fmt.Errorf("%s: --%s: want %s, got the flag --%s; --%s: %s", pathOf(cmd), f.Name, value, name, f.Name, usage)
	})
	return err
}

// programHint says how bench takes a program with a flag of its own, where one stands before the flag: bench ls -l. It is empty for
// anything else.
func programHint(cmd *cobra.Command, flag string) string {
	words := cmd.Flags().Args()
	if cmd.Name() != "bench" || len(words) == 0 || looksLikeBenchmark(words[0]) || strings.Contains(strings.Join(words, ""), " ") {
		return ""
	}
	if _, err := exec.LookPath(words[0]); err != nil {
		return ""
	}
	return fmt.Sprintf(" if it is a flag of %s: neurolens bench -- %s %s", words[0], strings.Join(words, " "), flag)
}

// helpHint returns what follows a complaint where nothing better is known.
func helpHint(cmd *cobra.Command) string { return "; " + cmd.CommandPath() + " --help lists them" }

// flagHint returns what follows the complaint about a flag that is not there.
func flagHint(cmd *cobra.Command, name string) string {
	if out := cmd.Flags().Lookup("out"); out != nil && name == "output" {
		if out.Shorthand != "" {
			return "; did you mean -" + out.Shorthand + ", --out?"
		}
		return "; did you mean --out?"
	}
	for _, table := range []map[string]string{flagsOf[cmd.Name()], flags} {
		hint, ok := table[name]
		if !ok {
			continue
		}
		if flag, isFlag := strings.CutPrefix(hint, "--"); !isFlag || strings.Contains(flag, " ") {
			return "; " + hint
		} else if cmd.Flags().Lookup(flag) != nil {
			return "; did you mean " + hint + "?"
		}
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if len(name) > 1 {
		if near := suggestName(name, names); near != "" {
			return "; did you mean --" + near + "?"
		}
	}
	if owners := owners(cmd.Root(), name); cmd.Name() == "help" && len(owners) > 0 {
		return fmt.Sprintf("; it is a flag of %s: %s %s --help", strings.Join(owners, ", "), cmd.Root().Name(), owners[0])
	}
	return helpHint(cmd)
}

// owners returns the commands that have a flag.
func owners(root *cobra.Command, flag string) (names []string) {
	for _, cmd := range root.Commands() {
		if cmd.IsAvailableCommand() && cmd.Flags().Lookup(flag) != nil {
			names = append(names, cmd.Name())
		}
	}
	return names
}

// suggestName returns the name that a word is the beginning of, if it is of one alone, else the one that is spelt like it.
func suggestName(word string, names []string) string {
	const least = 3 // letters, to be taken for a beginning
	begun, found := "", 0
	for _, name := range names {
		if len(word) >= least && strings.HasPrefix(name, word) {
			begun, found = name, found+1
		}
	}
	if found == 1 {
		return begun
	}
	return schema.Nearest(word, names)
}
