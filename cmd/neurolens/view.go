package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// unknown stands where a value is not known.
const unknown = "–"

// view is what people see of a result: lines above, a table, lines below, commands to copy.
type view struct {
	above    []string
	columns  []viewColumn
	rows     [][]cell
	below    []string
	commands []string    // lines that are never broken
	compact  func() view // the same in fewer columns, for where this is too wide; may be nil
}

// viewColumn is a column of a view. Where the table is too wide, the column with the largest drop goes first; 0 stays.
type viewColumn struct {
	header string
	right  bool
	drop   int
}

type cell struct {
	text   string
	failed bool // a failure: red where there is colour
}

const (
	gap        = "  "
	red, plain = "\x1b[31m", "\x1b[0m"
)

// render writes the view for a terminal of so many columns. Nothing wraps: columns go in their order, then the
// longest texts are cut.
func (v view) render(w io.Writer, width int, color bool) {
	if _, _, fits := v.fit(width); !fits && v.compact != nil {
		v = v.compact()
	}
	for _, line := range v.above {
		for _, part := range wrapped(line, width) {
			fmt.Fprintln(w, part)
		}
	}
	if len(v.rows) > 0 {
		if len(v.above) > 0 {
			fmt.Fprintln(w)
		}
		v.renderTable(w, width, color)
		if len(v.below) > 0 {
			fmt.Fprintln(w)
		}
	}
	for _, line := range v.below {
		for _, part := range wrapped(line, width) {
			fmt.Fprintln(w, part)
		}
	}
	for _, line := range v.commands {
		fmt.Fprintln(w, oneLine(line))
	}
}

func (v view) renderTable(w io.Writer, width int, color bool) {
	shown, widths, _ := v.fit(width)
	line := make([]string, len(shown))
	for i, c := range shown {
		line[i] = pad(cut(v.columns[c].header, widths[c]), widths[c], v.columns[c].right)
	}
	fmt.Fprintln(w, cut(strings.TrimRight(strings.Join(line, gap), " "), width))
	texts := make([][]string, len(shown)) // of columns
	for i, c := range shown {
		texts[i] = v.cutColumn(c, widths[c])
	}
	for n, row := range v.rows {
		for i, c := range shown {
			line[i] = pad(texts[i][n], widths[c], v.columns[c].right)
			if row[c].failed && color {
				line[i] = red + line[i] + plain
			}
		}
		fmt.Fprintln(w, strings.TrimRight(strings.Join(line, gap), " "))
	}
}

// cutColumn are the texts of a column in so many columns of the terminal. Where their beginnings do not tell them apart, what
// all have in common at the beginning goes, or the middle of each, or the words that most of them have.
func (v view) cutColumn(c, width int) []string {
	whole := make([]string, len(v.rows))
	for i, row := range v.rows {
		whole[i] = oneLine(row[c].text)
	}
	ends := withoutBeginning(whole)
	ways := [][]string{
		cutAll(whole, width, cut), cutAll(ends, width, cut), cutAll(whole, width, cutMiddle), cutAll(ends, width, cutMiddle),
		cutAll(withoutUsual(whole), width, cutMiddle),
	}
	return slices.MaxFunc(ways, func(a, b []string) int { return distinct(a) - distinct(b) })
}

func cutAll(texts []string, width int, cut func(string, int) string) []string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = cut(text, width)
	}
	return all
}

// distinct is how many texts differ from one another.
func distinct(texts []string) int {
	seen := map[string]bool{}
	for _, text := range texts {
		seen[text] = true
	}
	return len(seen)
}

// withoutBeginning are texts with … in place of what all that are not unknown begin with, up to the last word that they share.
func withoutBeginning(texts []string) []string {
	common, begun := "", false
	for _, text := range texts {
		switch {
		case text == unknown:
		case !begun:
			common, begun = text, true
		default:
			n := 0
			for n < min(len(common), len(text)) && common[n] == text[n] {
				n++
			}
			common = common[:n]
		}
	}
	common = common[:strings.LastIndexAny(common, " /:.,_=-")+1]
	if common == "" {
		return texts
	}
	short := make([]string, len(texts))
	for i, text := range texts {
		short[i] = text
		if text != unknown {
			short[i] = "…" + text[len(common):]
		}
	}
	return short
}

// withoutUsual are texts without the words that at least half of them have.
func withoutUsual(texts []string) []string {
	often := map[string]int{}
	for _, text := range texts {
		words := strings.Fields(text)
		slices.Sort(words)
		for _, word := range slices.Compact(words) {
			often[word]++
		}
	}
	rare := make([]string, len(texts))
	for i, text := range texts {
		words := strings.Fields(text)
		left := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return 2*often[word] >= len(texts) })
		if rare[i] = strings.Join(left, " "); len(left) < len(words) && text != unknown {
			rare[i] = strings.TrimSpace("… " + rare[i])
		}
	}
	return rare
}

// cutMiddle keeps the beginning and the end of a text.
func cutMiddle(s string, width int) string {
	s = oneLine(s)
	long := ansi.StringWidth(s)
	if long <= width || width < 3 {
		return cut(s, width)
	}
	head := (width - 1) / 2
	return ansi.Truncate(s, head, "") + "…" + ansi.TruncateLeft(s, long-(width-1-head), "")
}

// fit chooses the columns that are shown and how wide each is. Columns go in their order, then headers that are wider
// than what is below them are cut. Where that is not enough, texts are cut, the widest first, and fits is false.
func (v view) fit(width int) (shown, widths []int, fits bool) {
	shown, texts, widths := v.measure()
	total := -len(gap)
	for _, w := range widths {
		total += w + len(gap)
	}
	for total > width {
		first := slices.MaxFunc(shown, func(a, b int) int { return v.columns[a].drop - v.columns[b].drop })
		if v.columns[first].drop == 0 {
			break
		}
		shown = slices.DeleteFunc(shown, func(c int) bool { return c == first })
		total -= widths[first] + len(gap)
	}
	shrink := func(room func(c int) int) {
		for total > width {
			widest := slices.MaxFunc(shown, func(a, b int) int { return room(a) - room(b) })
			if room(widest) <= 0 {
				return
			}
			widths[widest]--
			total--
		}
	}
	const least = 4 // columns, to be read at all
	shrink(func(c int) int { return widths[c] - max(texts[c], least) })
	fits = total <= width
	shrink(func(c int) int { return widths[c] - least })
	return shown, widths, fits
}

// measure gives every column, how wide its texts are, and how wide they are with the header.
func (v view) measure() (columns, texts, widths []int) {
	for i, c := range v.columns {
		text := 0
		for _, row := range v.rows {
			text = max(text, ansi.StringWidth(oneLine(row[i].text)))
		}
		columns = append(columns, i)
		texts = append(texts, text)
		widths = append(widths, max(text, ansi.StringWidth(oneLine(c.header))))
	}
	return columns, texts, widths
}

// renderMarkdown writes the view as GitHub's Markdown, with every column.
func (v view) renderMarkdown(w io.Writer) {
	for _, line := range v.above {
		fmt.Fprintf(w, "%s\n\n", markdownText(line))
	}
	if len(v.rows) > 0 {
		header, rule := "|", "|"
		for _, c := range v.columns {
			header += " " + markdownText(c.header) + " |"
			if c.right {
				rule += "---:|"
			} else {
				rule += "---|"
			}
		}
		fmt.Fprintf(w, "%s\n%s\n", header, rule)
		for _, row := range v.rows {
			line := "|"
			for _, c := range row {
				line += " " + markdownText(c.text) + " |"
			}
			fmt.Fprintln(w, line)
		}
		fmt.Fprintln(w)
	}
	for _, line := range slices.Concat(v.below, v.commands) {
		if line != "" {
			fmt.Fprintf(w, "%s\n\n", markdownText(line))
		}
	}
}

func pad(s string, width int, right bool) string {
	space := strings.Repeat(" ", max(width-ansi.StringWidth(s), 0))
	if right {
		return space + s
	}
	return s + space
}

func cut(s string, width int) string {
	return ansi.Truncate(oneLine(s), width, "…")
}

// wrapped breaks a line at spaces, with the rest indented under its second column of text, where it has one.
func wrapped(line string, width int) []string {
	line = oneLine(line)
	if ansi.StringWidth(line) <= width {
		return []string{line}
	}
	text := strings.TrimLeft(line, " ")
	current := line[:len(line)-len(text)]
	indent := current
	if first, rest, found := strings.Cut(text, gap); found {
		under := ansi.StringWidth(first+gap) + len(rest) - len(strings.TrimLeft(rest, " "))
		if under <= width/2 { // else it is a text with two spaces in it
			indent += strings.Repeat(" ", under)
		}
	}
	var lines []string
	begun := false // the line has a word
	for word := range strings.SplitSeq(text, " ") {
		switch {
		case begun && word == "" && ansi.StringWidth(current) >= width: // more spaces than there is room for
		case begun && word != "" && ansi.StringWidth(current)+1+ansi.StringWidth(word) > width:
			lines = append(lines, strings.TrimRight(current, " "))
			current = indent + word
		case begun:
			current += " " + word
		default:
			current += word
			begun = true
		}
	}
	return append(lines, strings.TrimRight(current, " "))
}

// oneLine is a text without what would end the line, turn its direction or steer the terminal.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n':
			return ' '
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp):
			return '·'
		}
		return r
	}, s)
}
