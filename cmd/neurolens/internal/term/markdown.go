package term

import (
	"fmt"
	"io"
	"slices"
	"strings"

	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// Markdown writes the view as GitHub's Markdown, with every column and without the commands to type next.
func (v View) Markdown(w io.Writer) {
	paragraphs(w, v.Above)
	if len(v.Rows) > 0 {
		header, rule := "|", "|"
		for _, c := range v.Columns {
			header += " " + MarkdownText(c.Header) + " |"
			if c.Right {
				rule += "---:|"
			} else {
				rule += "---|"
			}
		}
		fmt.Fprintf(w, "%s\n%s\n", header, rule)
		for _, row := range v.Rows {
			line := "|"
			for _, c := range row {
				line += " " + MarkdownText(c.Text) + " |"
			}
			fmt.Fprintln(w, line)
		}
		fmt.Fprintln(w)
	}
	paragraphs(w, slices.Concat(v.Below, v.Commands))
}

// markdownMarks are characters that mean something in GitHub's Markdown, and how to write them so that they do not.
var markdownMarks = strings.NewReplacer(
	`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "[", `\[`, "]", `\]`, "~", `\~`, "$", `\$`,
	"&", "&amp;", "<", "&lt;", ">", "&gt;",
	"://", ":&#8203;//", "www.", "www&#8203;.", "WWW.", "WWW&#8203;.",
)

// markdownNames matches the first two characters of what GitHub takes for a name, or for the number of an issue.
var markdownNames = regexp.MustCompile(`@[\pL\pN_-]|#[0-9]`)

// MarkdownText returns a text as GitHub's Markdown shows it: it makes no element, no link and mentions nobody. Where GitHub
// looks at what is shown (names, addresses, numbers of issues), a space without width stands between.
func MarkdownText(text string) string {
	return markdownNames.ReplaceAllStringFunc(markdownMarks.Replace(OneLine(text)), func(name string) string { return name[:1] + "&#8203;" + name[1:] })
}

// paragraphs writes each line as a paragraph of its own, but for empty ones.
func paragraphs(w io.Writer, lines []string) {
	for _, line := range lines {
		if line != "" {
			fmt.Fprintf(w, "%s\n\n", MarkdownText(line))
		}
	}
}
