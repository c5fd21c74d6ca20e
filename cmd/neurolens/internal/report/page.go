package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the style, the script and the frame
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// Page is a report: what is said first, and sections.
type Page struct {
	Title, Subtitle string
	Tallies         []Tally
	Headline        []string // sentences, the most important first
	Sections        []Section
	Made            string // when and by which program
	Room            int    // how many bytes the page should have at most: charts for which there is no room are left out; 0: any number
}

// Tally is a number of things, said large.
type Tally struct {
	Count, Of string // 3, regressed
	Tone      chart.Tone
}

// Section is a part of the page. One that has nothing to say should not be there.
type Section struct {
	ID, Title string
	Text      []string
	Items     []Item
	Figures   []*Chart
	Tables    []*Table
	Details   []Detail
}

// Item is an entry of a list: a sentence, with a command or a few last lines below it.
type Item struct {
	Text, Command, Lines string
	Tone                 chart.Tone
}

// Detail is what is folded until somebody opens it, and unfolded in print.
type Detail struct {
	Title string
	Part  Section
}

// Chart is a figure, and the command that draws it again.
type Chart struct {
	Figure  *chart.Figure
	Command string
}

// Pen draws the charts of a page.
type Pen struct {
	Style string                                                // that all charts share
	Draw  func(w io.Writer, f *chart.Figure, name string) error // writes an element svg, whose ids begin with the name
}

//go:embed page.html
var frame string

//go:embed page.css
var style string

//go:embed page.js
var script string

// frameOf reads the frame of a page.
func frameOf() (*template.Template, error) {
	t, err := template.New("page").Funcs(template.FuncMap{"line": line, "lines": lines, "command": command}).Parse(frame)
	if err != nil {
		return nil, fmt.Errorf("reading the frame of a page: %w", err)
	}
	return t, nil
}

// Write writes the page as HTML.
func (p *Page) Write(to io.Writer, pen Pen) error {
	t, err := frameOf()
	if err != nil {
		return err
	}
	w := &writing{pen: pen, id: p.idLength()}
	v := view{Page: p}
	for i := range p.Sections {
		v.Parts = append(v.Parts, w.section(&p.Sections[i]))
	}
	room := p.Room - size(v.Parts) - len(style) - len(script) - len(pen.Style) - aroundCharts
	if p.Room == 0 {
		room = math.MaxInt
	}
	for i := range v.Parts {
		if err := w.chartsOf(&v.Parts[i], &room); err != nil {
			return err
		}
	}
	v.Style = template.CSS(style + pen.Style + w.styles.String())
	v.Script = template.JS(script)
	v.Policy = "default-src 'none'; style-src " + source(string(v.Style)) + "; script-src " + source(script) + "; img-src data:; base-uri 'none'; form-action 'none'"
	if err := t.Execute(to, v); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}

// aroundCharts is how many bytes there are for all texts that are in no table and in no chart.
const aroundCharts = 60_000

// source names a style or a script by its content.
func source(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// view is what the frame shows.
type view struct {
	*Page
	Policy string
	Style  template.CSS
	Script template.JS
	Parts  []part
}

// part is a section, with its charts and tables as HTML.
type part struct {
	*Section
	Charts  []drawn
	Rows    []template.HTML
	Folded  []folded
	Numbers int
}

type folded struct {
	Title string
	Part  part
}

// drawn is a chart as HTML; without SVG there was no room for it.
type drawn struct {
	Name, Title, Command string
	Notes                []string
	SVG                  template.HTML
}

// writing is what is known while a page is written: how many charts and tables there are, their styles, and the room that is left.
type writing struct {
	pen            Pen
	charts, tables int
	id             int // how many characters of ids tell points apart
	styles         strings.Builder
}

func (w *writing) section(s *Section) part {
	p := part{Section: s}
	for _, t := range s.Tables {
		p.Rows = append(p.Rows, w.table(t))
	}
	for i := range s.Details {
		p.Folded = append(p.Folded, folded{s.Details[i].Title, w.section(&s.Details[i].Part)})
	}
	return p
}

// size is how many bytes the tables of some parts take.
func size(parts []part) (n int) {
	for i := range parts {
		for _, rows := range parts[i].Rows {
			n += len(rows)
		}
		for k := range parts[i].Folded {
			n += size([]part{parts[i].Folded[k].Part})
		}
	}
	return n
}

// chartsOf draws the charts of a part, as long as there is room for them.
func (w *writing) chartsOf(p *part, room *int) error {
	for _, c := range p.Figures {
		d, err := w.chart(c)
		if err != nil {
			return err
		}
		if len(d.SVG) > *room {
			d.SVG = ""
		}
		*room -= len(d.SVG)
		p.Charts = append(p.Charts, d)
	}
	for i := range p.Folded {
		if err := w.chartsOf(&p.Folded[i].Part, room); err != nil {
			return err
		}
	}
	return nil
}

// chart draws a figure.
func (w *writing) chart(c *Chart) (drawn, error) {
	w.charts++
	d := drawn{Name: fmt.Sprintf("c%d", w.charts), Title: c.Figure.Title, Command: c.Command, Notes: c.Figure.Notes}
	var b bytes.Buffer
	if err := w.pen.Draw(&b, w.withShortIDs(c.Figure), d.Name); err != nil {
		return d, fmt.Errorf("drawing %q: %w", term.Cut(c.Figure.Title, 80), err)
	}
	d.SVG = template.HTML(b.String())
	return d, nil
}

// maxText is how many columns a text is cut at: names of others may have any length.
const maxText = 300

// line is a text on one line, without what would turn or steer it, and not very long.
func line(text string) string { return term.Cut(strings.Join(strings.Fields(text), " "), maxText) }

// lines are the last of some lines, each as line has it.
func lines(text string) string {
	const most = 40
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	all = all[max(len(all)-most, 0):]
	for i := range all {
		all[i] = term.Cut(all[i], maxText)
	}
	return strings.Join(all, "\n")
}

// command is a command to type, which is there as a whole or not at all.
func command(text string) string {
	const most = 1000
	if len(text) > most || term.OneLine(text) != text {
		return ""
	}
	return text
}
