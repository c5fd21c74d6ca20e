package term

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// cutColumn are the texts of a column in so many columns of the terminal. Where their beginnings do not tell them apart, the middle
// of what all have in common at the beginning goes, or the middle of each, or the words that most of them have.
func (v View) cutColumn(c, width int) []string {
	whole := v.texts(c)
	short, ends := CutApart(whole, width), withoutBeginning(whole)
	if slices.Equal(ends, whole) || !slices.Equal(short, ends) {
		return short
	}
	room := width - widest(ends)
	for i, text := range ends {
		if text != Unknown {
			short[i] = ansi.Truncate(whole[i], room, "") + text
		}
	}
	return short
}

// CutApart cuts texts to a width so that as many as possible differ, with no more of what all begin with than needed.
func CutApart(whole []string, width int) []string {
	ends := withoutBeginning(whole)
	ways := [][]string{
		cutAll(whole, width, Cut), cutAll(ends, width, Cut), cutAll(whole, width, cutMiddle), cutAll(ends, width, cutMiddle),
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
		case text == Unknown:
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
		if text != Unknown {
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
		if rare[i] = strings.Join(left, " "); len(left) < len(words) && text != Unknown {
			rare[i] = strings.TrimSpace("… " + rare[i])
		}
	}
	return rare
}

// cutMiddle keeps the beginning and the end of a text.
func cutMiddle(s string, width int) string {
	s = OneLine(s)
	long := ansi.StringWidth(s)
	if long <= width || width < 3 {
		return Cut(s, width)
	}
	head := (width - 1) / 2
	return ansi.Truncate(s, head, "") + "…" + ansi.TruncateLeft(s, long-(width-1-head), "")
}

// Cut keeps the beginning of a text, in one line of so many columns, with … where its end is missing.
func Cut(s string, width int) string {
	return ansi.Truncate(OneLine(s), width, "…")
}
