package help

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// prefix begins the annotations of a command with the words that a shell completes after a flag, one a line below the
// directive to the shell; the name of the flag follows.
const prefix = "completion of "

// Words has a shell complete these words after a flag, and no names of files.
func Words(cmd *cobra.Command, flag string, words []cobra.Completion) {
	note(cmd, prefix+flag, cobra.ShellCompDirectiveNoFileComp, words)
}

// RegisterBeginnings has a shell complete these words, after which more is typed, and no names of files.
func RegisterBeginnings(cmd *cobra.Command, flag string, words []cobra.Completion) {
	note(cmd, prefix+flag, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace, words)
}

func note(cmd *cobra.Command, key string, directive cobra.ShellCompDirective, words []cobra.Completion) {
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[key] = strconv.Itoa(int(directive)) + "\n" + strings.Join(words, "\n")
}

// RegisterWords tells cobra of the words after all flags of a command and of those below it, which it refuses after one that is not there.
func RegisterWords(cmd *cobra.Command) error {
	var all error
	for name, noted := range cmd.Annotations {
		flag, ok := strings.CutPrefix(name, prefix)
		if !ok {
			continue
		}
		directive, text, _ := strings.Cut(noted, "\n")
		d, err := strconv.Atoi(directive)
		words := strings.Split(text, "\n")
		all = errors.Join(all, err, cmd.RegisterFlagCompletionFunc(flag, wordBeginning(words, cobra.ShellCompDirective(d))))
	}
	for _, below := range cmd.Commands() {
		all = errors.Join(all, RegisterWords(below))
	}
	return all
}

// wordBeginning offers those words that begin as what was typed.
func wordBeginning(words []cobra.Completion, then cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var left []cobra.Completion
		for _, word := range words {
			if strings.HasPrefix(word, typed) {
				left = append(left, word)
			}
		}
		return left, then
	}
}
