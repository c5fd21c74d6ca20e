// Package completion says what a shell completes after flags. Commands note it where they define a flag, and the root tells
// cobra of all at once, whose errors then have one place to go.
package completion

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// prefix begins the annotations of a command with the words that a shell completes after a flag, one a line below the
// directive to the shell; the name of the flag follows. That of a flag that takes several words begins with listPrefix.
const (
	prefix     = "completion of "
	listPrefix = "completion of a list of "
)

// Words has a shell complete these words after a flag, and no names of files.
func Words(cmd *cobra.Command, flag string, words []cobra.Completion) {
	note(cmd, prefix+flag, cobra.ShellCompDirectiveNoFileComp, words)
}

// Beginnings has a shell complete these words, after which more is typed, and no names of files.
func Beginnings(cmd *cobra.Command, flag string, words []cobra.Completion) {
	note(cmd, prefix+flag, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace, words)
}

// List has a shell complete these words after a flag that takes several with commas between them, each once.
func List(cmd *cobra.Command, flag string, words []cobra.Completion) {
	note(cmd, listPrefix+flag, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace, words)
}

func note(cmd *cobra.Command, key string, directive cobra.ShellCompDirective, words []cobra.Completion) {
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[key] = strconv.Itoa(int(directive)) + "\n" + strings.Join(words, "\n")
}

// Register tells cobra of the words after all flags of a command and of those below it, which it refuses after one that is not there.
func Register(cmd *cobra.Command) error {
	var all error
	for name, noted := range cmd.Annotations {
		flag, isList := strings.CutPrefix(name, listPrefix)
		if !isList {
			var ok bool
			if flag, ok = strings.CutPrefix(name, prefix); !ok {
				continue
			}
		}
		directive, text, _ := strings.Cut(noted, "\n")
		d, err := strconv.Atoi(directive)
		words := strings.Split(text, "\n")
		complete := cobra.FixedCompletions(words, cobra.ShellCompDirective(d))
		if isList {
			complete = another(words, cobra.ShellCompDirective(d))
		}
		all = errors.Join(all, err, cmd.RegisterFlagCompletionFunc(flag, complete))
	}
	for _, below := range cmd.Commands() {
		all = errors.Join(all, Register(below))
	}
	return all
}

// another completes the last word of a list by the words that are not in it yet.
func another(words []cobra.Completion, d cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndex(typed, ",")+1]
		there := strings.Split(before, ",")
		var left []cobra.Completion
		for _, word := range words {
			if name, _, _ := strings.Cut(word, "\t"); !slices.Contains(there, name) {
				left = append(left, before+word)
			}
		}
		return left, d
	}
}
