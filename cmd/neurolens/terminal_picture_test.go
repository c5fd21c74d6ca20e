//go:build linux

package main

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// pictureColumns is the width of the terminal in the README's picture.
const pictureColumns = 88

// pictureCommands are the commands of the README's picture.
var pictureCommands = []string{
	"bench 'sort numbers' 'sort -n numbers'",
	"ls --limit 3",
	"plot strip session=last",
}

// TestTerminalPicture records the commands of the README's picture on a terminal, in a directory of its own. -update draws the picture
// anew: what it shows was measured then. Without it the picture has to have the commands, the lines that do not depend on the machine, and
// the machine that is recorded, as no other name is for the public.
func TestTerminalPicture(t *testing.T) {
	programtest.NeedsLong(t)
	dir := t.TempDir()
	var numbers strings.Builder
	for n := range 50000 {
		fmt.Fprintln(&numbers, 50000-n)
	}
	writeText(t, filepath.Join(dir, "numbers"), numbers.String())
	var lines []string
	for _, command := range pictureCommands {
		out := recordedOn(t, dir, pictureColumns, command+" 2>/dev/null") // without the progress, which is drawn over itself
		lines = append(append(append(lines, "$ neurolens "+command), strings.Split(strings.TrimRight(out, "\n"), "\n")...), "")
	}
	lines = lines[:len(lines)-1]
	path := filepath.Join("..", "..", "docs", "pictures", "terminal.svg")
	if *update {
		writeText(t, path, terminalSVG(lines))
	}
	picture := valuetest.Must(os.ReadFile(path))
	kept := textOfSVG(string(picture))
	named := 0
	for _, line := range kept {
		if machine := headingMachine.FindStringSubmatch(line); machine != nil {
			named++
			valuetest.Equal(t, machine[1]+machine[2], recordedMachine, "the picture names the machine")
		}
	}
	valuetest.Equal(t, named, 2)
	for _, line := range lines {
		plain := strings.TrimRight(ansi.Strip(line), " ")
		if steady := strings.HasPrefix(plain, "$ ") || regexp.MustCompile(`^[A-Z]+ .*(MEDIAN|STATUS)`).MatchString(plain); steady && !slices.ContainsFunc(kept, func(k string) bool {
			return headers(k) == headers(plain)
		}) {
			t.Errorf("the picture does not have %q (-update draws it anew)", plain)
		}
	}
}

// headers returns the words of a line, without the columns that give way where numbers and warnings are long.
func headers(line string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(line), func(word string) bool { return word == "SPREAD" || word == "P99" }), " ")
}

// headingMachine finds the machine in the heading of ls, or in that of plot.
var headingMachine = regexp.MustCompile(`^commands · (\S+) · latency$|^latency of each run · .+ · (\S+)$`)

// The measures of the picture, in its units.
const (
	cellWidth, lineHeight = 8.4, 19
	margin                = 16
)

// hardSpace is the space that no program that draws an SVG leaves out: some know neither white-space nor xml:space.
const hardSpace = "\u00a0"

// terminalSVG draws lines of a terminal, with their colours.
func terminalSVG(lines []string) string {
	var b strings.Builder
	width, height := pictureColumns*cellWidth+2*margin, len(lines)*lineHeight+2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" xml:space="preserve" font-family="'DejaVu Sans Mono', ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14">
<title>A terminal: neurolens bench, ls and plot</title>
<style>text { white-space: pre; fill: #d6dde5; } .c1, .c9 { fill: #ff938a; } .c2, .c10 { fill: #7ee787; } .c3, .c11 { fill: #e8b86b; } .c4, .c12 { fill: #85c2ff; } .c5, .c13 { fill: #d8a9ff; } .c6, .c14 { fill: #76e3ea; } .b { font-weight: 700; } .d { fill: #8f9aa6; } .p { fill: #ffffff; font-weight: 700; }</style>
<rect width="%.0f" height="%d" rx="8" fill="#14191f"/>
`, width, height, width, height)
	for i, line := range lines {
		spans := spansOf(line)
		if strings.HasPrefix(line, "$ ") {
			spans = `<tspan class="p">` + hardened(line) + `</tspan>`
		}
		if cells := ansi.StringWidth(line); cells > 0 {
			fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\" textLength=\"%.0f\">%s</text>\n", margin, margin+(i+1)*lineHeight-5, float64(cells)*cellWidth, spans)
		}
	}
	return b.String() + "</svg>\n"
}

// hardened returns a text for an SVG, with spaces that stay.
func hardened(text string) string {
	return strings.ReplaceAll(html.EscapeString(text), " ", hardSpace)
}

var colouring = regexp.MustCompile("\x1b\\[([0-9;]*)m")

// spansOf returns a line whose sequences of colour are elements.
func spansOf(line string) string {
	var b strings.Builder
	var class []string
	add := func(text string) {
		text = hardened(ansi.Strip(text))
		if len(class) > 0 && text != "" {
			text = fmt.Sprintf(`<tspan class="%s">%s</tspan>`, strings.Join(class, " "), text)
		}
		b.WriteString(text)
	}
	from := 0
	for _, m := range colouring.FindAllStringSubmatchIndex(line, -1) {
		add(line[from:m[0]])
		from = m[1]
		for code := range strings.SplitSeq(line[m[2]:m[3]], ";") {
			n, _ := strconv.Atoi(code) // empty is 0
			switch {
			case n == 0:
				class = nil
			case n == 1:
				class = append(class, "b")
			case n == 2:
				class = append(class, "d")
			case 30 <= n && n <= 37:
				class = append(class, "c"+strconv.Itoa(n-30))
			case 90 <= n && n <= 97:
				class = append(class, "c"+strconv.Itoa(n-90+8))
			}
		}
	}
	add(line[from:])
	return b.String()
}

// textOfSVG returns the lines of text of a picture.
func textOfSVG(svg string) (lines []string) {
	for _, m := range regexp.MustCompile(`<text [^>]*>(.*)</text>`).FindAllStringSubmatch(svg, -1) {
		text := html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(m[1], ""))
		lines = append(lines, strings.ReplaceAll(text, hardSpace, " "))
	}
	return lines
}

// TestTerminalPictureKeepsItsColumns: programs that put spaces together, as most outside browsers do, leave none out of the README's
// picture.
func TestTerminalPictureKeepsItsColumns(t *testing.T) {
	picture := string(valuetest.Must(os.ReadFile(filepath.Join("..", "..", "docs", "pictures", "terminal.svg"))))
	for _, svg := range []string{picture, terminalSVG([]string{"$ neurolens ls", "RUN   MEDIAN", "\x1b[31mA\x1b[0m     1 ms"})} {
		texts := regexp.MustCompile(`>([^<]*)<`).FindAllStringSubmatch(svg[strings.Index(svg, "<text"):], -1)
		for _, m := range texts {
			if strings.Contains(m[1], " ") {
				t.Errorf("a space that may vanish in %q", m[1])
			}
		}
	}
}
