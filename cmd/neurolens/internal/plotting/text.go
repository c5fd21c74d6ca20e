package plotting

import (
	"cmp"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/figure"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/figure/cells"
)

// text draws a figure for people, in lines: in Markdown as a block of code, without colours.
func (d *drawing) text(f *figure.Figure, markdown bool) error {
	page := d.Page()
	page.Color = page.Color && !markdown
	lines := cells.Text(f, page, cells.Options{ASCII: d.ascii()})
	if markdown {
		fence := "```"
		for strings.Contains(strings.Join(lines, "\n"), fence) { // a name may have one
			fence += "`"
		}
		lines = slices.Concat([]string{fence + "text"}, lines, []string{fence})
	}
	_, err := d.Stdout.Write([]byte(strings.Join(lines, "\n") + "\n"))
	return err
}

// ascii tells that the terminal shows nothing but ASCII: the variables of its locale say which characters it has, the first that is set. Where
// none is, it is taken for one of today.
func (d *drawing) ascii() bool {
	locale := strings.ToLower(cmp.Or(d.Getenv("LC_ALL"), d.Getenv("LC_CTYPE"), d.Getenv("LANG")))
	return locale != "" && !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8")
}
