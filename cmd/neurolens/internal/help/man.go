package help

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cpuguy83/go-md2man/v2/md2man"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// The sections of a manual: commands, and what is no command.
const (
	commandSection = "1"
	topicSection   = "7"
)

// manPage is a page of the manual, as Markdown.
type manPage struct{ name, section, text string }

// writeManual writes a page for each command and topic below a folder, as man looks for them, and gives their number. The same version
// gives the same text: it has no date.
func writeManual(root *cobra.Command, version, dir string) (int, error) {
	pages, err := manual(root)
	for _, p := range pages {
		head := fmt.Sprintf("%% %q %q \"\" %q %q\n", strings.ToUpper(p.name), p.section, "neurolens "+version, "NeuroLens")
		path := filepath.Join(dir, "man"+p.section, p.name+"."+p.section)
		if err := term.WriteNew(path, []byte(copyable(string(md2man.Render([]byte(head+p.text))))), true); err != nil {
			return 0, fmt.Errorf("writing %s: %w", path, err)
		}
	}
	return len(pages), err
}

// typed are characters that a manual shows in print, as hyphens and quotes, which a shell does not take.
var typed = strings.NewReplacer(`\-`, `\-`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`)

// copyable returns a page whose commands can be copied into a shell.
func copyable(page string) string {
	var b strings.Builder
	for line := range strings.Lines(page) {
		if !strings.HasPrefix(line, ".") {
			line = typed.Replace(line)
		}
		b.WriteString(line)
	}
	return b.String()
}

// manual returns the pages, commands first.
func manual(root *cobra.Command) ([]manPage, error) {
	var pages []manPage
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		if cmd.Name() == "help" {
			describe(cmd)
		}
		pages = append(pages, manPage{manName(cmd), commandSection, commandPage(cmd)})
		for _, below := range cmd.Commands() {
			if listed(below) {
				visit(below)
			}
		}
	}
	visit(root)
	all, err := topics()
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		text, err := t.text()
		if err != nil {
			return nil, err
		}
		pages = append(pages, manPage{root.Name() + "-" + t.name, topicSection, topicPage(root, t, text)})
	}
	return pages, nil
}

// listed tells whether a command has a page. Help is none of those that help lists.
func listed(cmd *cobra.Command) bool { return cmd.IsAvailableCommand() || cmd.Name() == "help" }

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// commandPage returns the help of a command as a page.
func commandPage(cmd *cobra.Command) string {
	var b strings.Builder
	own := cmd.NonInheritedFlags() // before the line of usage, which says whether there are some once they were asked for
	fmt.Fprintf(&b, "# NAME\n%s \\- %s\n\n# SYNOPSIS\n%s\n\n# DESCRIPTION\n%s\n", manName(cmd), plainly(cmd.Short), plainly(cmd.UseLine()), plainBlocks(cmd.Long))
	options(&b, "OPTIONS", own)
	options(&b, "GLOBAL OPTIONS", cmd.InheritedFlags())
	if cmd.Example != "" {
		fmt.Fprintf(&b, "# EXAMPLES\n```\n%s\n```\n\n", cmd.Example)
	}
	var others []string
	if cmd.HasParent() {
		others = append(others, manName(cmd.Parent()))
	}
	for _, below := range cmd.Commands() {
		if listed(below) {
			others = append(others, manName(below))
		}
	}
	also := seeAlso(others, commandSection)
	if !cmd.HasParent() {
		names := topicNames()
		for i := range names {
			names[i] = cmd.Name() + "-" + names[i]
		}
		also += ", " + seeAlso(names, topicSection)
	}
	return b.String() + "# SEE ALSO\n" + also + "\n"
}

// seeAlso returns the names of pages of a section.
func seeAlso(names []string, section string) string {
	return strings.Join(term.Texts(names, func(name string) string { return "**" + plainly(name) + "**(" + section + ")" }), ", ")
}

// options is a section of flags.
func options(b *strings.Builder, heading string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	b.WriteString("# " + heading + "\n")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "**--" + f.Name + "**"
		if f.Shorthand != "" {
			name = "**-" + f.Shorthand + "**, " + name
		}
		if value != "" {
			name += " *" + plainly(value) + "*"
		}
		if f.DefValue != f.Value.Type() && !slices.Contains([]string{"", "0", "0s", "[]", "false"}, f.DefValue) {
			usage += " (default " + f.DefValue + ")"
		}
		fmt.Fprintf(b, "%s\n: %s\n\n", name, plainly(usage))
	})
}

// topicPage returns a page of docs as one of the manual: without links, and with lists in place of tables, which no terminal is wide
// enough for.
func topicPage(root *cobra.Command, t topic, page string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# NAME\n%s-%s \\- %s\n\n# DESCRIPTION\n", root.Name(), t.name, plainly(t.about))
	code, head := false, false
	for line := range strings.Lines(page) {
		line = strings.TrimRight(line, "\n")
		text := strings.TrimSpace(line)
		table := strings.HasPrefix(text, "|") && !code
		switch {
		case strings.HasPrefix(text, "```"):
			code = !code
			b.WriteString("```\n")
		case code:
			b.WriteString(line + "\n")
		case ruler.MatchString(text):
		case table && !head: // the heads of its columns
		case table:
			b.WriteString("\n" + item(cells(text)))
		case strings.HasPrefix(text, "# "): // the name says it
		case strings.HasPrefix(text, "#"):
			b.WriteString("# " + strings.ToUpper(plainly(inline(strings.TrimLeft(text, "# ")))) + "\n")
		default:
			b.WriteString(links.ReplaceAllString(line, "$1") + "\n")
		}
		head = table
	}
	return b.String() + "\n# SEE ALSO\n" + seeAlso([]string{root.Name(), root.Name() + "-help"}, commandSection) + "\n"
}

// item returns a row of a table as an item of a list: its first cell, and below it the others.
func item(row []string) string {
	text := "**" + plainly(row[0]) + "**\n"
	for _, cell := range row[1:] {
		if cell != "" {
			text += ": " + plainly(cell) + "\n\n"
		}
	}
	return text
}

// marks are what Markdown takes for its own.
var marks = regexp.MustCompile("[\\\\`*_{}\\[\\]()#+!:|&<>~-]")

// plainly returns a text in which Markdown finds nothing.
func plainly(text string) string { return marks.ReplaceAllString(text, `\$0`) }

// plainBlocks returns the text of a help, whose indented lines stay as they are.
func plainBlocks(text string) string {
	var b strings.Builder
	code := false
	for line := range strings.Lines(text + "\n") {
		line = strings.TrimRight(line, "\n")
		if indented := strings.HasPrefix(line, " "); indented != code {
			code = indented
			b.WriteString("\n```\n")
		}
		if !code {
			line = plainly(line)
		}
		b.WriteString(line + "\n")
	}
	if code {
		b.WriteString("```\n")
	}
	return b.String()
}
