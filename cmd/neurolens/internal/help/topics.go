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
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/docs"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/runner"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// helpWidth is how many columns the list of topics takes, as all help does.
const helpWidth = 80

// helpTopic is the page about help itself, which is shown with the list of topics.
const helpTopic = "help"

// NotFound is an error about a command, topic or word that does not exist, or about wrong arguments.
type NotFound struct{ error }

func notFoundf(format string, args ...any) error { return NotFound{fmt.Errorf(format, args...)} }

// Command makes the command help. width is the number of columns of the output.
func Command(root *cobra.Command, version string, width int) *cobra.Command {
	var man string
	help := &cobra.Command{
		Use:   "help [COMMAND|TOPIC|WORD]",
		Short: "Explain a command, a topic, or a word in the output",
		ValidArgsFunction: func(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return offered(root, args, typed), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(help *cobra.Command, args []string) error {
			if !help.Flags().Changed("man") {
				return answer(root, args, width)
			}
			if man == "" || len(args) > 0 {
				return notFoundf("help: --man %q with %s: want a folder and no argument", man, term.Count(len(args), "argument"))
			}
			pages, err := writeManual(root, version, man)
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

// describe gives the help command its long text. It is made when it is shown, because other commands start faster without the list of
// topics.
func describe(help *cobra.Command) {
	all, err := topics()
	if err != nil {
		return // answer says why
	}
	help.Long = "Explain a command, a topic, or a word that you saw in the output: a warning\n(help drift), a verdict (help regressed), " +
		"a column (help p99) or a metric (help\nttft).\n" + topicList(all, helpWidth)
}

// answer explains a topic, a command or a word.
func answer(root *cobra.Command, args []string, width int) error {
	text, err := shown(args, width)
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
	if text, err := explained(strings.ToLower(asked), width); err != nil || text != "" {
		_, failed := fmt.Fprint(root.OutOrStdout(), text)
		return cmp.Or(err, failed)
	}
	if asked == "man" {
		return notFoundf("help: there is no command, topic or word %q; neurolens help --man DIR writes the manual", asked)
	}
	if err == nil && cmd != root {
		return notFoundf("help: %s has nothing named %q; neurolens help %s explains the command", cmd.Name(), strings.Join(rest, " "), cmd.Name())
	}
	hint := cmp.Or(term.DidYouMean(asked, append(names(root), words()...)), "; neurolens help --help lists the topics")
	return notFoundf("help: there is no command, topic or word %q%s", asked, hint)
}

// shown returns the text of a topic for a terminal of so many columns, or "" if there is no such topic.
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

// names returns the topics and commands.
func names(root *cobra.Command) []string {
	found := topicNames()
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			found = append(found, c.Name())
		}
	}
	return found
}

// offered returns what a shell offers: the commands below those that are typed, or topics and commands. Words are hundreds, and are offered
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

// topic is a page that help shows: its name, its file, the group it is listed in, and a sentence about it.
type topic struct{ name, file, group, about string }

// A row of the index of docs, and the heading of a table of rows.
var (
	indexRow   = regexp.MustCompile(`^\| \[([^\]]+)\]\(([^)]+)\) \| (.*) \|$`)
	indexGroup = regexp.MustCompile(`^\| ([^\[|]+) \| \|$`)
)

// besides returns the pages that are beside the code of what they explain, in upper case: COLUMNS.md is the topic columns.
func besides() map[string]string {
	return map[string]string{"columns": query.ColumnsPage, "stored": runner.StoredPage}
}

// topics returns the pages that the index of docs lists and the program has, in its order.
func topics() ([]topic, error) {
	index, err := docs.Pages.ReadFile("README.md")
	if err != nil {
		return nil, err
	}
	var all []topic
	group := ""
	for line := range strings.Lines(string(index)) {
		line = strings.TrimSuffix(line, "\n")
		if m := indexGroup.FindStringSubmatch(line); m != nil {
			group = m[1]
		}
		m := indexRow.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		name := strings.ToLower(strings.TrimSuffix(path.Base(m[2]), ".md"))
		if _, beside := besides()[name]; beside || !strings.Contains(m[2], "/") {
			all = append(all, topic{name, m[2], group, inline(m[3])})
		}
	}
	return all, nil
}

// text returns the page of a topic.
func (t topic) text() (string, error) {
	if page, beside := besides()[t.name]; beside {
		return page, nil
	}
	page, err := docs.Pages.ReadFile(t.file)
	return string(page), err
}

// alsoCalled are the topics by other words that one looks for.
var alsoCalled = map[string]string{
	"sweep": "sweeps", "filter": "filters", "privacy": "stored", "redact": "stored", "sharing": "stores", "backup": "stores", "sealing": "stores", "views": "sql",
}

// named finds a topic by its name, in any case, or by another word for it.
func named(all []topic, name string) (topic, bool) {
	name = strings.ToLower(name)
	name = cmp.Or(alsoCalled[name], name)
	at := slices.IndexFunc(all, func(t topic) bool { return t.name == name })
	if at < 0 {
		return topic{}, false
	}
	return all[at], true
}

// topicNames returns the names of the topics.
func topicNames() []string {
	all, err := topics()
	if err != nil {
		return nil
	}
	return term.Texts(all, func(t topic) string { return t.name })
}

// topicList lists the topics by group, for help on a terminal of so many columns.
func topicList(all []topic, width int) string {
	var b strings.Builder
	group, nameWidth := "", 0
	for _, t := range all {
		nameWidth = max(nameWidth, len(t.name))
	}
	for _, t := range all {
		if t.group != group {
			fmt.Fprintf(&b, "\nTopics, %s:\n", t.group)
			group = t.group
		}
		for i, line := range term.Wrapped(t.about, width-nameWidth-4) {
			name := ""
			if i == 0 {
				name = t.name
			}
			fmt.Fprintf(&b, "  %-*s  %s\n", nameWidth, name, line)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// rendered returns a page for a terminal of so many columns: plain text, with code as it is.
func rendered(page string, width int) string {
	var out, paragraph []string
	flush := func() {
		if len(paragraph) > 0 {
			out = append(out, wrapped(inline(strings.Join(paragraph, " ")), "", width)...)
			paragraph = nil
		}
	}
	code := false
	var table [][]string
	endTable := func() {
		if len(table) > 0 {
			out = append(out, tableLines(table, width)...)
			table = nil
		}
	}
	for line := range strings.Lines(page) {
		line = strings.TrimRight(line, "\n")
		text := strings.TrimSpace(line)
		if strings.HasPrefix(text, "|") && !code {
			flush()
			if !ruler.MatchString(text) {
				table = append(table, cells(text))
			}
			continue
		}
		endTable()
		switch {
		case strings.HasPrefix(text, "```"):
			flush()
			code = !code
		case code:
			out = append(out, strings.TrimRight("    "+line, " "))
		case strings.HasPrefix(line, "    ") && len(paragraph) == 0:
			out = append(out, line)
		case strings.HasPrefix(text, "<!--"): // a word to the tests of the page
		case text == "":
			flush()
			out = append(out, "")
		case strings.HasPrefix(text, "#"):
			flush()
			out = append(out, strings.ToUpper(inline(strings.TrimSpace(strings.TrimLeft(text, "#")))))
		case strings.HasPrefix(text, "* "), strings.HasPrefix(text, "- "):
			flush()
			paragraph = []string{"* " + text[2:]}
		case numbered.MatchString(text):
			flush()
			paragraph = []string{text}
		default:
			paragraph = append(paragraph, text)
		}
	}
	flush()
	endTable()
	return strings.TrimSpace(strings.Join(out, "\n")) + "\n"
}

var (
	ruler    = regexp.MustCompile(`^\|[-:| ]+\|$`)
	links    = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	numbered = regexp.MustCompile(`^\d+\. `)
)

// inline is text without the marks of Markdown.
func inline(text string) string {
	text = links.ReplaceAllString(text, "$1")
	return strings.NewReplacer("`", "", "**", "", `\|`, "|").Replace(text)
}

// cells returns the cells of a row of a table.
func cells(row string) []string {
	parts := strings.Split(strings.ReplaceAll(strings.Trim(row, "|"), `\|`, "\x00"), "|")
	return term.Texts(parts, func(cell string) string { return strings.ReplaceAll(strings.TrimSpace(inline(cell)), "\x00", "|") })
}

// wrapped returns the lines of a text that begin with an indent.
func wrapped(text, indent string, width int) []string {
	lines := term.Wrapped(text, width-len(indent))
	for i := range lines {
		lines[i] = indent + lines[i]
	}
	return lines
}

// tableLines returns a table with columns where it fits, else a paragraph for each row.
func tableLines(table [][]string, width int) []string {
	widths := make([]int, len(table[0]))
	for _, row := range table {
		for i := range min(len(row), len(widths)) {
			widths[i] = max(widths[i], term.Width(row[i]))
		}
	}
	total := 2 * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	var lines []string
	for _, row := range table {
		if total > width {
			lines = append(lines, wrapped(row[0], "", width)...)
			for _, cell := range row[1:] {
				if cell != "" {
					lines = append(lines, wrapped(cell, "    ", width)...)
				}
			}
			continue
		}
		var line strings.Builder
		for i := range min(len(row), len(widths)) {
			line.WriteString(term.Pad(row[i], widths[i]+2, false))
		}
		lines = append(lines, strings.TrimRight(line.String(), " "))
	}
	return lines
}
