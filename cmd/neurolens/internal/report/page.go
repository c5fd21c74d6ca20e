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
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// Page is a report: what is said first, and sections.
type Page struct {
	Title, Subtitle string
	Answer          []Item // sentences, the most important first
	Tallies         []Tally
	Basis           string // what the numbers are based on
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

// Write writes the page as HTML.
func (p *Page) Write(to io.Writer, pen Pen) error {
	t, err := template.New("page").Funcs(template.FuncMap{"line": line, "title": title, "sentence": sentenceLine, "lines": lines, "command": command}).Parse(frame)
	if err != nil {
		return fmt.Errorf("reading the frame of a page: %w", err)
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
	v.Style = template.CSS(style + pen.Style + "@media print,(min-width:40.01rem){" + w.columns.String() + "}@media screen and (max-width:40rem){" + w.labels.String() + "}")
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

// writing is the state while a page is written: the numbers of its charts and tables, and the styles of the tables.
type writing struct {
	pen            Pen
	charts, tables int
	id             int             // how many characters of ids tell points apart
	columns        strings.Builder // of wide screens and paper, where a cell stands below its header
	labels         strings.Builder // of narrow screens, where it stands behind it
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

// size returns how many bytes the tables of some parts take.
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

// line returns a text on one line, without what would turn or steer it, and not very long.
func line(text string) string { return term.Cut(strings.Join(strings.Fields(text), " "), maxText) }

// title returns a line as HTML in which no name of several words is broken at its hyphens: they are part of it.
func title(text string) template.HTML {
	const longest = 32
	words := strings.Fields(line(text))
	for i, word := range words {
		words[i] = template.HTMLEscapeString(word)
		if strings.Contains(word, "-") && len(word) <= longest {
			words[i] = "<span class=whole>" + words[i] + "</span>"
		}
	}
	return template.HTML(strings.Join(words, " "))
}

// beforeUnit finds the space between a number and its unit.
var beforeUnit = regexp.MustCompile(`(\d) (%|[nµm]?s|[KMGT]?i?B)([ ,;:.)]|$)`)

// sentenceLine returns sentences, whole unless a name in them is very long, in which numbers stay with their units.
func sentenceLine(text string) string {
	return beforeUnit.ReplaceAllString(term.Message(text), "$1\u00a0$2$3")
}

// lines returns the last of some lines, each as line has it.
func lines(text string) string {
	const most = 40
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	all = all[max(len(all)-most, 0):]
	for i := range all {
		all[i] = term.Cut(all[i], maxText)
	}
	return strings.Join(all, "\n")
}

// command returns a command to type as HTML in which no flag is broken at its hyphens. It is there as a whole or not at all.
func command(text string) template.HTML {
	const most = 1000
	if len(text) > most || term.OneLine(text) != text {
		return ""
	}
	return template.HTML(flags.ReplaceAllString(template.HTMLEscapeString(text), "$1<span class=whole>$2</span>"))
}

// flags finds the flags of a command line.
var flags = regexp.MustCompile(`( )(--[a-z][a-z-]*)`)

// Table is a table of a report, in HTML and in Markdown.
type Table struct {
	ID      string // unique in the page
	Title   string
	Text    []string // what stands above it
	Columns []Column
	Rows    []Row
	Below   []string
	Command string // shows a row, with KEY in place of its key; empty: none does
}

// add adds a row of texts.
func (t *Table) add(texts ...string) {
	var r Row
	for _, text := range texts {
		r.Cells = append(r.Cells, Cell{Text: text})
	}
	t.Rows = append(t.Rows, r)
}

// Column is what the cells of a column have in common.
type Column struct {
	Header string
	Unit   string // of the stored values, for the file that is copied
	Right  bool   // numbers
	Long   bool   // texts that take several lines
	Stored bool   // its cells have stored values beside their texts
}

// Row is a row of a table. Its key is the id of a run or of a point; marks of charts that have the same one belong to it.
type Row struct {
	Key   string
	Cells []Cell
}

// Cell is a text, the value that it stands for, and what it says.
type Cell struct {
	Text   string
	Stored string // as stored, for sorting and copying: a number; empty: what the text says
	Tone   chart.Tone
}

// filled returns the table without columns of which no cell says anything.
func (t *Table) filled() *Table {
	f := *t
	f.Columns, f.Rows = nil, make([]Row, len(t.Rows))
	for i, c := range t.Columns {
		if len(t.Rows) > 0 && !slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Cells[i].Text != "" && r.Cells[i].Text != term.Unknown }) {
			continue
		}
		f.Columns = append(f.Columns, c)
		for k, r := range t.Rows {
			f.Rows[k].Key, f.Rows[k].Cells = r.Key, append(f.Rows[k].Cells, r.Cells[i])
		}
	}
	return &f
}

// longTable is from how many rows on a table is laid out row by row, so that rows out of sight cost nothing.
const longTable = 200

// table writes a table. Its rows are as short as HTML allows: end tags are left out where the language says so, and stored values
// stand in one attribute of the row, behind its key, with semicolons between them.
func (w *writing) table(t *Table) template.HTML {
	w.tables++
	t = t.filled()
	name := fmt.Sprintf("t%d", w.tables)
	var b strings.Builder
	class, shared := "", make([]string, len(t.Columns))
	if len(t.Rows) >= longTable {
		class, shared = " class=long", t.shared()
		fmt.Fprintf(&w.columns, "#%s tr{grid-template-columns:%s}", name, t.widths(shared))
	}
	fmt.Fprintf(&b, "<div class=box tabindex=0 role=group aria-label=\"%s\"><table id=%s%s data-name=\"%s\" data-command=\"%s\"><caption>%s</caption><thead><tr>",
		escaped(t.Title), name, class, escaped(t.ID), escaped(t.Command), escaped(t.Title))
	for i, c := range t.Columns {
		stored := ""
		if c.Stored {
			stored = " data-stored"
		}
		fmt.Fprintf(&b, "<th scope=col%s%s>%s", htmlAttribute("data-unit", c.Unit), stored, breakable.Replace(escaped(c.Header)))
		if i > 0 || c.Right { // a name needs none
			fmt.Fprintf(&w.labels, "#%s td:nth-child(%d)::before{content:\"%s \"}", name, i+1, cssText(c.Header))
		}
		if c.Right { // a class in each cell would be longer than most values
			fmt.Fprintf(&w.columns, "#%s :is(th,td):nth-child(%d){text-align:right}", name, i+1)
		}
		if shared[i] != "" {
			fmt.Fprintf(&w.columns, "@media screen{#%[1]s td:nth-child(%[2]d) i{display:none}#%[1]s td:nth-child(%[2]d)::before{content:\"…\"}}", name, i+1)
		}
		widest := t.widest(i, shared[i])
		if c.Long || !c.Right && widest > cellWidth || class == "" && (i == 0 || i == len(t.Columns)-1) {
			fmt.Fprintf(&w.columns, "#%s td:nth-child(%d){white-space:normal;overflow-wrap:anywhere;min-width:%dch}", name, i+1, min(widest+2, 16))
		}
	}
	b.WriteString("<tbody>")
	for i := range t.Rows {
		t.row(&b, w.short(t.Rows[i].Key), &t.Rows[i], shared)
	}
	b.WriteString("</table></div>")
	for i, text := range shared {
		if text != "" {
			fmt.Fprintf(&b, "<p class=\"note tools\">In the column %s, … stands for %s", escaped(t.Columns[i].Header), escaped(text))
		}
	}
	return template.HTML(b.String())
}

// breakable breaks the header of a column, often wider than the numbers below, into lines.
var breakable = strings.NewReplacer("_", "_<wbr>", "/", "/<wbr>")

// row writes a row. The text that all cells of a column share is in an element of its own, which a screen hides.
func (t *Table) row(b *strings.Builder, key string, r *Row, shared []string) {
	data := oneWord(key)
	for i, c := range t.Columns {
		if c.Stored {
			data += ";" + oneWord(r.Cells[i].Stored)
		}
	}
	b.WriteString("\n<tr")
	if strings.Trim(data, ";") != "" {
		b.WriteString(htmlAttribute("data-v", strings.TrimRight(data, ";")))
	}
	b.WriteString(">")
	for i, c := range r.Cells {
		text := escaped(c.Text)
		if shared[i] != "" {
			text = "<i>" + escaped(shared[i]) + "</i>" + escaped(strings.TrimPrefix(line(c.Text), shared[i]))
		}
		if c.Text == term.Unknown { // the style says so, and leaves an empty cell out on a narrow screen
			text = ""
		}
		if text == "" && i == len(r.Cells)-1 {
			text = "</td>" // the end of the line is no part of it
		}
		fmt.Fprintf(b, "<td%s>%s", htmlAttribute("class", string(c.Tone)), text)
	}
}

// cellWidth is how many characters a cell is wide at most.
const cellWidth = 36

// widest returns the width of the widest cell of a column without what all of them share.
func (t *Table) widest(column int, shared string) (n int) {
	for i := range t.Rows {
		n = max(n, term.Width(strings.TrimPrefix(line(t.Rows[i].Cells[column].Text), shared)))
	}
	return n
}

// shared returns for each column with a name that is too wide what all of its names begin with, up to the end of a word.
func (t *Table) shared() []string {
	all := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		if c.Right || c.Long || len(t.Rows) == 0 || t.widest(i, "") <= cellWidth {
			continue
		}
		prefix := line(t.Rows[0].Cells[i].Text)
		for k := range t.Rows {
			for text := line(t.Rows[k].Cells[i].Text); !strings.HasPrefix(text, prefix); {
				_, size := utf8.DecodeLastRuneInString(prefix)
				prefix = prefix[:len(prefix)-size]
			}
		}
		all[i] = prefix[:strings.LastIndexAny(prefix, "./:=")+1]
	}
	return all
}

// widths returns the widths of the columns of a long table without what names share. The last column takes the rest.
func (t *Table) widths(shared []string) string {
	parts := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		n := max(headerWidth(c.Header)+2, t.widest(i, shared[i])+min(len(shared[i]), 1)) // the header with its arrow, the widest cell, and the … for a hidden text
		parts[i] = fmt.Sprintf("%dch", min(n, cellWidth)+2)
	}
	parts[len(parts)-1] = "minmax(" + parts[len(parts)-1] + ",1fr)"
	return strings.Join(parts, " ")
}

// headerWidth returns the width of a header that is broken wherever it may be.
func headerWidth(header string) (n int) {
	for _, part := range strings.FieldsFunc(strings.NewReplacer("_", "_ ", "/", "/ ").Replace(header), unicode.IsSpace) {
		n = max(n, term.Width(part))
	}
	return n
}

// oneWord returns a text without what separates values of an attribute.
func oneWord(text string) string { return strings.ReplaceAll(line(text), ";", ",") }

// cssText returns a text within a string of CSS, where nothing of it ends the string or the style.
func cssText(text string) string {
	return strings.NewReplacer(`\`, `\5c `, `"`, `\22 `, "<", `\3c `).Replace(line(text))
}

// escaped returns a text within HTML.
func escaped(text string) string { return template.HTMLEscapeString(line(text)) }

// htmlAttribute writes an attribute, without quotes where its value needs none; nothing of an empty value.
func htmlAttribute(name, value string) string {
	switch {
	case value == "":
		return ""
	case strings.ContainsFunc(value, func(r rune) bool { return !plain(r) }):
		return " " + name + "=\"" + template.HTMLEscapeString(value) + "\""
	}
	return " " + name + "=" + value
}

// plain tells whether a character may stand in an attribute without quotes, with room to spare.
func plain(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune(".;-+_", r)
}

// pointID is how long the id of a point is: in a table of many rows, as much of it as tells points apart is enough.
const pointID = 32

// isPointID tells the ids of points from those of runs, and from others.
func isPointID(key string) bool {
	return len(key) == pointID && strings.Trim(key, "0123456789abcdef") == ""
}

// idLength returns how many characters of ids of points tell those of a page apart.
func (p *Page) idLength() int {
	var ids []string
	var add func(s *Section)
	add = func(s *Section) {
		for _, t := range s.Tables {
			for i := range t.Rows {
				if key := t.Rows[i].Key; isPointID(key) {
					ids = append(ids, key)
				}
			}
		}
		for i := range s.Details {
			add(&s.Details[i].Part)
		}
	}
	for i := range p.Sections {
		add(&p.Sections[i])
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	n := 8
	for i := 1; i < len(ids); i++ {
		for n < pointID && ids[i-1][:n] == ids[i][:n] {
			n++
		}
	}
	return n
}

// short returns the beginning of the id of a point; other keys stay as they are.
func (w *writing) short(key string) string {
	if isPointID(key) {
		return key[:w.id]
	}
	return key
}

// withShortIDs returns a figure whose marks name points as tables do.
func (w *writing) withShortIDs(f *chart.Figure) *chart.Figure {
	shortened := func(all []chart.Series) []chart.Series {
		all = slices.Clone(all)
		for i := range all {
			all[i].Marks = slices.Clone(all[i].Marks)
			for k := range all[i].Marks {
				all[i].Marks[k].Point = w.short(all[i].Marks[k].Point)
			}
		}
		return all
	}
	other := *f
	other.Series, other.Panels = shortened(f.Series), slices.Clone(f.Panels)
	for i := range other.Panels {
		other.Panels[i].Series = shortened(other.Panels[i].Series)
	}
	return &other
}
