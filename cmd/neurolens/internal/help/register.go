package help

import (
	"errors"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// CompletionSources are what the offers are made of, beside the words of the program itself.
type CompletionSources struct {
	Stores func() []string // that a reading command with the flags of the line answers from
}

// request is a place of a command line for which a shell asks.
type request struct {
	CompletionSources
	cmd   *cobra.Command
	args  []string // before the word that is being typed, without flags
	typed string
}

// What the shell does with the words.
const (
	done = cobra.ShellCompDirectiveNoFileComp                                   // a word is followed by a space; no names of files
	open = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace // more of the word follows
)

// offer is what stands at a place.
type offer func(r request) ([]cobra.Completion, cobra.ShellCompDirective)

// IsCompletion tells whether a command line is a question of a shell.
func IsCompletion(args []string) bool { return len(args) > 0 && isQuestion(args[0]) }

// IsCompleting tells whether a command answers one.
func IsCompleting(cmd *cobra.Command) bool { return isQuestion(cmd.Name()) }

func isQuestion(name string) bool {
	return name == cobra.ShellCompRequestCmd || name == cobra.ShellCompNoDescRequestCmd
}

// PrepareCompletion has a root command answer a shell: it tells cobra what is offered after all flags and as arguments. Other command
// lines do without it, because it takes a twentieth of the time of the shortest of them.
func PrepareCompletion(root *cobra.Command, s CompletionSources) error {
	plain(root)
	return errors.Join(RegisterWords(root), s.register(root))
}

func (s CompletionSources) register(cmd *cobra.Command) error {
	var all error
	cmd.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		if _, known := cmd.GetFlagCompletionFunc(f.Name); known {
			return
		}
		if o := offerAfter(cmd, f); o != nil {
			all = errors.Join(all, cmd.RegisterFlagCompletionFunc(f.Name, s.function(o)))
		}
	})
	if o, known := arguments[nameOf(cmd)]; known && cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = s.function(o)
	}
	for _, below := range cmd.Commands() {
		all = errors.Join(all, s.register(below))
	}
	return all
}

// function is an offer as cobra calls it.
func (s CompletionSources) function(o offer) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		debug.SetGCPercent(800) // the process ends with its answer
		words, then := o(request{s, cmd, args, typed})
		if then&(cobra.ShellCompDirectiveFilterFileExt|cobra.ShellCompDirectiveFilterDirs) != 0 {
			return words, then
		}
		if words = beginning(words, typed); len(words) == 0 { // files may follow, and end with a space
			then &^= cobra.ShellCompDirectiveNoSpace
		}
		return words, then
	}
}

// nameOf is a command without the program.
func nameOf(cmd *cobra.Command) string {
	_, name, _ := strings.Cut(cmd.CommandPath(), " ")
	return name
}

// offerAfter is what stands after a flag; nil where nobody has said it.
func offerAfter(cmd *cobra.Command, f *pflag.Flag) offer {
	if o, known := values[nameOf(cmd)+" --"+f.Name]; known {
		return o
	}
	if o, known := values["--"+f.Name]; known {
		return o
	}
	switch f.Value.Type() {
	case "int", "int64", "float64", "duration":
		return nothing
	}
	return nil
}

// plain takes the marks out of the help of flags that name their values: a shell shows it as it is.
func plain(cmd *cobra.Command) {
	unmark := func(f *pflag.Flag) { f.Usage = strings.ReplaceAll(f.Usage, "`", "") }
	cmd.PersistentFlags().VisitAll(unmark)
	cmd.Flags().VisitAll(unmark)
	for _, below := range cmd.Commands() {
		plain(below)
	}
}
