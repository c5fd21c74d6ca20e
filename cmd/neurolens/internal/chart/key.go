package chart

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// key says how series and tones are drawn.
type key struct {
	textPen
	f        *Figure
	series   []Series // the first ones of their names, in the order of their shapes and colours
	curves   int      // how many of them are lines
	tones    map[Tone]bool
	alike    bool        // all marks are points of one name and one tone
	thinned  *kind       // the kind of those of which only some have shapes
	faint    []string    // names of series without a shape
	guides   [][2]string // how they look, and their texts
	numbered []string    // texts of guides
	unseen   []string    // lines that say which guides are not seen
}

// newKey gives a shape to each of the first names, the same one in all panels.
func (p textPen) newKey(f *Figure) *key {
	k := &key{textPen: p, f: f, tones: map[Tone]bool{}, alike: ofOneKind(f)}
	seen := map[string]bool{}
	for _, part := range f.Parts() {
		for _, s := range part.Series {
			for _, m := range s.Marks {
				k.tones[says(s, m)] = true
			}
			if s.Name == "" || seen[s.Name] {
				continue
			}
			seen[s.Name] = true
			k.take(s)
		}
	}
	return k
}

// kind are the marks that have one shape.
type kind struct {
	name string
	tone Tone
}

// ofOneKind tells whether all marks of a figure that have a place are points of one name and one tone.
func ofOneKind(f *Figure) bool {
	kinds := map[kind]bool{}
	for _, part := range f.Parts() {
		for _, s := range part.Series {
			for _, m := range s.Marks {
				if s.Style != Band && known(f, m) {
					kinds[kind{s.Name, says(s, m)}] = true
				}
			}
			if isCurve(s) {
				return false
			}
		}
	}
	return len(kinds) == 1
}

// take gives a series the next shape.
func (k *key) take(s Series) {
	if len(k.series) >= maxSeries {
		k.faint = append(k.faint, s.Name)
		return
	}
	k.series = append(k.series, s)
	if isCurve(s) {
		k.curves++
	}
}

// place is that of a series among shapes and colours.
func (k *key) place(s Series) int {
	return slices.IndexFunc(k.series, func(other Series) bool { return other.Name == s.Name && s.Name != "" })
}

// ink is what a series is drawn with.
func (k *key) ink(s Series) cellInk {
	with := k.seriesInk(k.place(s))
	switch {
	case s.Name == "" && !isCurve(s):
		with = k.seriesInk(0)
		with.color = ""
	case k.f.Kind == History && s.Style == Line && k.curves < 2: // a level: it goes through no value
		with.shape, with.ascii = 0, '='
	}
	if s.Tone != Plain {
		with.color = tones[s.Tone].color
	}
	return with
}

// add puts a guide into the legend, once.
func (k *key) add(look, text string) {
	if entry := [2]string{look, text}; text != "" && !slices.Contains(k.guides, entry) {
		k.guides = append(k.guides, entry)
	}
}

// hide says below the legend, once, what cannot be seen.
func (k *key) hide(text string) {
	if lines := k.wrapped(text, maxNote); len(lines) > 0 && !slices.Contains(k.unseen, lines[0]) {
		k.unseen = append(k.unseen, lines...)
	}
}

// number is that of a guide, which the legend explains.
func (k *key) number(text string) string {
	at := slices.Index(k.numbered, text)
	if at < 0 {
		at = len(k.numbered)
		k.numbered = append(k.numbered, text)
	}
	return strconv.Itoa(at + 1)
}

// legend are the lines that say all of it.
func (k *key) legend() []string {
	var entries, names []string
	for _, s := range k.series {
		names = append(names, s.Name)
	}
	room := k.width - 2
	if k.whole {
		room = anyWidth
	}
	const dots = " (dots too)"
	if k.thinned != nil {
		room -= len(dots)
	}
	names = k.labels(names, room)
	for i, s := range k.series {
		color := k.ink(s).color
		if s.Style == Band {
			color = faint
		}
		if k.thinned != nil && *k.thinned == (kind{s.Name, s.Tone}) {
			names[i] += dots
		}
		entries = append(entries, k.entry(k.sample(s), color, names[i]))
	}
	for _, t := range toneOrder {
		if k.tones[t] && !k.named(t) {
			with, text := k.toneInk(t), k.f.Explained(t, tones[t].word)
			if k.thinned != nil && k.thinned.tone == t {
				text = k.cut(text, room) + dots
			}
			entries = append(entries, k.entry(string(with.shape), with.color, text))
		}
	}
	for _, g := range k.guides {
		entries = append(entries, k.entry(g[0], "", g[1]))
	}
	for i, text := range k.numbered {
		entries = append(entries, k.entry(strconv.Itoa(i+1), "", text))
	}
	lines := k.flow(entries)
	if n := len(k.faint); n > 0 {
		lines = append(lines, k.sentence(fmt.Sprintf("%s more, without a symbol: %s", term.Thousands(n), strings.Join(k.faint, ", ")))...)
	}
	return lines
}

// named tells whether a series with a name has all that a tone says: its name says it.
func (k *key) named(t Tone) bool {
	return slices.ContainsFunc(k.series, func(s Series) bool { return s.Tone == t && s.Style == Points })
}

// sample is what a series looks like.
func (k *key) sample(s Series) string {
	with := k.ink(s)
	switch {
	case s.Style == Band:
		return k.either("░", ":")
	case s.Tone != Plain && s.Style == Points: // its marks have the shape of what they say
		return string(k.toneInk(s.Tone).shape)
	case with.shape != 0:
		return string(with.shape)
	case k.ASCII:
		return string(with.ascii)
	}
	return "─"
}

// entry is a mark with what it stands for.
func (k *key) entry(mark, color, name string) string {
	if !k.whole {
		name = k.cut(name, k.width-term.Width(mark)-1)
	}
	return k.paint(mark, color) + " " + k.text(name)
}

// flow puts texts beside one another, as many as there is room for.
func (k *key) flow(entries []string) []string {
	const gap = "   "
	var lines []string
	for _, entry := range entries {
		last := len(lines) - 1
		if last >= 0 && term.Width(lines[last]+gap+entry) <= k.width {
			lines[last] += gap + entry
		} else {
			lines = append(lines, entry)
		}
	}
	return lines
}
