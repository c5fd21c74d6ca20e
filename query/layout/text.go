package layout

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/neurolens/neurolens/schema"
)

// page is a Markdown document under construction.
type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// header starts a table. Cells have no padding, as in the original systems.
func (p *page) header(columns ...string) {
	p.row(columns...)
	p.line("|%s", strings.Repeat(" --- |", len(columns)))
}

func (p *page) row(cells ...string) {
	for i, cell := range cells {
		cells[i] = cellText(cell)
	}
	p.line("| %s |", strings.Join(cells, " | "))
}

// cellText makes a text usable as one cell of a table: it stays in one line and one column.
func cellText(text string) string {
	return strings.ReplaceAll(oneLine(text), "|", `\|`)
}

// oneLine removes what would end the line, act as Markdown or control a terminal.
func oneLine(text string) string {
	text = strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) && !unicode.IsSpace(c) {
			return unicode.ReplacementChar
		}
		return c
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	return strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(text)
}

// notOK lists the runs that are not ok with their reasons, under a heading.
func (p *page) notOK(runs []*schema.Run, label func(*schema.Run) string) {
	first := true
	for _, r := range runs {
		if r.Status == schema.StatusOK {
			continue
		}
		if first {
			p.line("\n## Runs That Are Not OK\n")
			p.header("Run", "What", "Status", "Reason")
		}
		first = false
		p.row(shortRun(r), label(r), string(r.Status), why(r))
	}
}
