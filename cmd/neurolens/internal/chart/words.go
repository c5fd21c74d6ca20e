package chart

import (
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// longestTitle is how many characters of a mark's text are read out.
const longestTitle = 400

// longestID is how much of an id is kept: those of runs and points are far shorter.
const longestID = 200

// middle keeps both ends of a text of more than so many characters, with … between: the ends of names tell points apart.
func middle(s string, characters int) string {
	if utf8.RuneCountInString(s) <= characters {
		return s
	}
	r := []rune(s)
	head := characters / 2
	return string(r[:head]) + "…" + string(r[len(r)-(characters-1-head):])
}

// whole returns a text for readers of titles: in one line, without what turns its direction, up to a limit.
func whole(s string) string {
	return middle(unstacked(term.OneLine(strings.ToValidUTF8(beginning(s), "\uFFFD"))), longestTitle)
}

// unstacked leaves out accents that would pile up over the lines around.
func unstacked(s string) string {
	const most = 3
	stacked := 0
	return strings.Map(func(r rune) rune {
		if stacked++; !unicode.In(r, unicode.Mn, unicode.Me) {
			stacked = 0
		}
		if stacked > most {
			return -1
		}
		return r
	}, s)
}

// beginning spares the work on what would be cut anyway: the middle of a text that is far too long.
func beginning(s string) string {
	const enough = 16 * longestTitle
	if len(s) <= enough {
		return s
	}
	return s[:enough/2] + "…" + s[len(s)-enough/2:]
}

// fit shortens a text in its middle until it is not wider than there is room for.
func (p *pen) fit(s string, size, room float64, bold bool) string {
	s = whole(s)
	if p.width(s, size, bold) <= room {
		return s
	}
	fitting := sort.Search(utf8.RuneCountInString(s)-1, func(i int) bool { return p.width(middle(s, i+2), size, bold) > room })
	return middle(s, fitting+1)
}

// cutList shortens a list of words by its last words until the list fits. If no word fits, only the heading before the colon is left.
func cutList(text string, fits func(text string) bool) string {
	for !fits(text) {
		at := strings.LastIndex(strings.TrimSuffix(text, ", …"), ", ")
		if at < 0 {
			called, _, _ := strings.Cut(text, ":")
			return called
		}
		text = text[:at] + ", …"
	}
	return text
}

// names shortens names until each has room, so that no two that differ look the same. Of names that only numbers tell apart, the keys say
// which they are.
func (p *pen) names(names []string, size, room float64, bold bool) []string {
	wholes := term.Texts(names, whole)
	short := wholes
	if slices.ContainsFunc(wholes, func(name string) bool { return p.width(name, size, bold) > room }) {
		short = slices.Clone(p.cutApart(wholes, size, room, bold))
	}
	for i, name := range short {
		short[i] = p.letters.shown(p.fit(name, size, room, bold))
	}
	numbered := term.Numbered(names, short, func(text, number string) string {
		return p.fit(text, size, room-p.width(number, size, bold), bold) + number
	})
	for i, text := range numbered {
		if key := text[max(strings.LastIndexByte(text, '#'), 0):] + ": " + wholes[i]; text != short[i] && !slices.Contains(p.keys, key) {
			p.keys = append(p.keys, key)
		}
	}
	return numbered
}

// cutApart cuts names where they differ, to as many characters as have room.
func (p *pen) cutApart(names []string, size, room float64, bold bool) []string {
	low, high := 1, longestTitle
	for low < high {
		n := (low + high + 1) / 2
		if slices.ContainsFunc(term.CutApart(names, n), func(text string) bool { return p.width(text, size, bold) > room }) {
			high = n - 1
		} else {
			low = n
		}
	}
	return term.CutApart(names, low)
}

// lines breaks a text at spaces into lines that fit.
func (p *pen) lines(s string, size, room float64, bold bool) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(whole(s)) {
		word = p.fit(word, size, room, bold)
		switch joined := line + " " + word; {
		case line == "":
			line = word
		case p.width(joined, size, bold) <= room:
			line = joined
		default:
			lines = append(lines, line)
			line = word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
