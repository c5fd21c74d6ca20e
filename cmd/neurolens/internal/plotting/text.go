package plotting

import (
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/figure"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/figure/cells"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/streams"
)

// text draws a figure for people, in lines: in Markdown as a block of code, without colours.
func (d *drawing) text(f *figure.Figure, markdown bool) error {
	page := d.Page()
	page.Color = page.Color && !markdown
	lines := cells.Text(f, page, cells.Options{ASCII: streams.ASCII(d.Getenv)})
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
