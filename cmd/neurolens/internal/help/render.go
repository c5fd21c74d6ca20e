package help

import (
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// rendered is a page for a terminal of so many columns: plain text, with code as it is.
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

// cells are those of a row of a table.
func cells(row string) []string {
	var all []string
	for _, cell := range strings.Split(strings.ReplaceAll(strings.Trim(row, "|"), `\|`, "\x00"), "|") {
		all = append(all, strings.ReplaceAll(strings.TrimSpace(inline(cell)), "\x00", "|"))
	}
	return all
}

// wrapped are the lines of a text that begin with an indent.
func wrapped(text, indent string, width int) []string {
	lines := term.Wrapped(text, width-len(indent))
	for i := range lines {
		lines[i] = indent + lines[i]
	}
	return lines
}

// tableLines are a table with columns where it fits, else a paragraph for each row.
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
