// Package topics is the command help: of commands, and of topics, whose texts are the pages in docs.
package topics

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/wording"
	"github.com/neurolens/neurolens/docs"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/schema"
)

// topic is a page of docs.
type topic struct{ name, page, about string }

// all are the topics, in the order in which help lists them.
var all = []topic{
	{"sweep", "sweeps.md", "the sweep file: what runs, with which parameters"},
	{"programs", "programs.md", "programs on the command line"},
	{"expressions", "expressions.md", "expressions in a sweep file"},
	{"metrics", "metrics.md", "metrics that a benchmark reports"},
	{"filter", "filters.md", "filters: which runs a command is about"},
	{"columns", columnsPage, "the columns of each answer"},
	{"formats", "formats.md", "formats of output"},
	{"warnings", "warnings.md", "warnings about a measurement, and what to do"},
	{"exit-codes", "exit-codes.md", "what the exit status says"},
	{"completion", "completion.md", "completion in bash, zsh and fish"},
}

// columnsPage stands in the folder of the package whose answers it explains.
const columnsPage = "COLUMNS.md"

// text is the page of a topic.
func (t topic) text() (string, error) {
	if t.page == columnsPage {
		return query.ColumnsPage, nil
	}
	page, err := docs.Pages.ReadFile(t.page)
	return string(page), err
}

// topicNames are the names of the topics.
func topicNames() []string {
	names := make([]string, len(all))
	for i, t := range all {
		names[i] = t.name
	}
	return names
}

// Command is help. width is how many columns the output has; wrong makes an error of a command line that makes no sense.
func Command(root *cobra.Command, width func() int, wrong func(format string, args ...any) error) *cobra.Command {
	var list strings.Builder
	for _, t := range all {
		fmt.Fprintf(&list, "  %-12s %s\n", t.name, t.about)
	}
	return &cobra.Command{
		Use:   "help [COMMAND|TOPIC]",
		Short: "Help about any command, and topics",
		Long: "Show the help of a command, a topic, or a warning by its name (help drift).\n\nTopics:\n" +
			strings.TrimSuffix(list.String(), "\n"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return names(root), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(help *cobra.Command, args []string) error {
			out := root.OutOrStdout()
			if len(args) == 1 {
				if at := slices.IndexFunc(all, func(t topic) bool { return t.name == args[0] }); at >= 0 {
					page, err := all[at].text()
					if err == nil {
						_, err = fmt.Fprint(out, rendered(page, width()))
					}
					return err
				}
				if meaning := wording.WarningMeaning(args[0]); meaning != "" {
					_, err := fmt.Fprintln(out, strings.Join(term.Wrapped(wording.WarningText(args[0]), width()), "\n"))
					return err
				}
			}
			cmd, rest, err := root.Find(args)
			if err == nil && len(rest) == 0 {
				return cmd.Help()
			}
			if near := schema.Nearest(strings.Join(args, " "), names(root)); near != "" {
				return wrong("help: there is no command or topic %q; did you mean %s", strings.Join(args, " "), near)
			}
			return wrong("help: there is no command or topic %q; topics are %s", strings.Join(args, " "), strings.Join(topicNames(), " "))
		},
	}
}

// names are all that help takes.
func names(root *cobra.Command) []string {
	found := topicNames()
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			found = append(found, c.Name())
		}
	}
	return append(found, wording.WarningWords()...)
}
