package plotting

import (
	"cmp"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/figure"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/figure/cells"
)

// text draws a figure for people, in lines.
func (d *drawing) text(f *figure.Figure) error {
	lines := cells.Text(f, d.Page(), cells.Options{ASCII: d.ascii()})
	_, err := d.Stdout.Write([]byte(strings.Join(lines, "\n") + "\n"))
	return err
}

// ascii tells that the terminal shows nothing but ASCII: the variables of its locale say which characters it has, the first that is set. Where
// none is, it is taken for one of today.
func (d *drawing) ascii() bool {
	locale := strings.ToLower(cmp.Or(d.Getenv("LC_ALL"), d.Getenv("LC_CTYPE"), d.Getenv("LANG")))
	return locale != "" && !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8")
}
