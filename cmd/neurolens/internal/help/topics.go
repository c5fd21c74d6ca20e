// Package help explains the program: the command help, manual pages, completions of a shell, and suggestions for commands and flags that
// do not exist.
//
// Completions offer fixed words, keys and values of filters, axes of the sweep file on the line, runs and sessions. If something cannot be
// read (no store, a damaged one, a half-written sweep file), fewer are offered and no error is printed, because the user is in the middle
// of typing. The shell asks at each key press, so only the newest runs are read (see recent).
package help

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/schema"
)

// helpWidth is how many columns the list of topics takes, as all help does.
const helpWidth = 80

// helpTopic is the page about help itself, which is shown with the list of topics.
const helpTopic = "help"

// Host is what the command help knows of its program.
type Host struct {
	Version string
	Width   func() int                             // columns of the output
	Wrong   func(format string, args ...any) error // makes an error of a command line that makes no sense
}

// Command is help.
func Command(root *cobra.Command, h Host) *cobra.Command {
	var man string
	help := &cobra.Command{
		Use:   "help [COMMAND|TOPIC|WORD]",
		Short: "Explain a command, a topic, or a word in the output",
		ValidArgsFunction: func(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return offered(root, args, typed), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(help *cobra.Command, args []string) error {
			if !help.Flags().Changed("man") {
				return h.answer(root, args)
			}
			if man == "" || len(args) > 0 {
				return h.Wrong("help: --man %q with %s: want a folder and no argument", man, term.Count(len(args), "argument"))
			}
			pages, err := writeManual(root, h.Version, man)
			if err == nil {
				_, err = fmt.Fprintf(root.OutOrStdout(), "%d pages are in %s: man -M %s %s\n", pages, man, term.ShellWord(man), root.Name())
			}
			return err
		},
	}
	help.Flags().StringVar(&man, "man", "", "write manual pages for all commands and topics to `DIR`")
	_ = help.MarkFlagDirname("man") // it is there
	help.SetHelpFunc(func(help *cobra.Command, args []string) {
		describe(help)
		root.HelpFunc()(help, args)
	})
	return help
}

// describe gives the help command its long text. Other commands, which start as often, do without the list of topics.
func describe(help *cobra.Command) {
	all, err := topics()
	if err != nil {
		return // answer says why
	}
	help.Long = "Explain a command, a topic, or a word that you saw in the output: a warning\n(help drift), a verdict (help regressed), " +
		"a column (help p99) or a metric (help\nttft).\n" + topicList(all, helpWidth)
}

// answer shows the topic, command or word that was asked for.
func (h Host) answer(root *cobra.Command, args []string) error {
	text, err := shown(args, h.Width())
	if err != nil {
		return err
	}
	if text != "" {
		_, err := fmt.Fprint(root.OutOrStdout(), text)
		return err
	}
	cmd, rest, err := root.Find(args)
	if err == nil && len(rest) == 0 {
		return cmd.Help()
	}
	asked := strings.Join(args, " ")
	if text, err := explained(strings.ToLower(asked), h.Width()); err != nil || text != "" {
		_, failed := fmt.Fprint(root.OutOrStdout(), text)
		return cmp.Or(err, failed)
	}
	if asked == "man" {
		return h.Wrong("help: there is no command, topic or word %q; neurolens help --man DIR writes the manual", asked)
	}
	if err == nil && cmd != root {
		return h.Wrong("help: %s has nothing named %q; neurolens help %s explains the command", cmd.Name(), strings.Join(rest, " "), cmd.Name())
	}
	if near := schema.Nearest(asked, append(names(root), words()...)); near != "" {
		return h.Wrong("help: there is no command, topic or word %q; did you mean %s?", asked, near)
	}
	return h.Wrong("help: there is no command, topic or word %q; neurolens help --help lists the topics", asked)
}

// shown is the topic that was asked for, for a terminal of so many columns; empty where it is none.
func shown(args []string, width int) (string, error) {
	all, err := topics()
	if err != nil || len(args) != 1 {
		return "", err
	}
	asked, is := named(all, args[0])
	if !is {
		return "", nil
	}
	page, err := asked.text()
	if err != nil {
		return "", err
	}
	text := rendered(page, width)
	if asked.name == helpTopic {
		text += topicList(all, width) + "\n"
	}
	return text, nil
}

// names are the topics and commands.
func names(root *cobra.Command) []string {
	found := topicNames()
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			found = append(found, c.Name())
		}
	}
	return found
}

// offered is what a shell offers: the commands below those that are typed, or topics and commands. Words are hundreds, and are offered
// to whoever has begun one.
func offered(root *cobra.Command, args []string, typed string) (found []string) {
	if len(args) > 0 {
		below, rest, err := root.Find(args)
		if err != nil || len(rest) > 0 {
			return nil
		}
		for _, c := range below.Commands() {
			found = append(found, c.Name())
		}
	} else if found = names(root); typed != "" {
		found = append(found, words()...)
	}
	slices.Sort(found)
	return slices.DeleteFunc(slices.Compact(found), func(word string) bool { return !strings.HasPrefix(word, typed) })
}
