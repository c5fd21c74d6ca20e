package term

import (
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// cutColumn returns the texts of a column in so many columns of the terminal, cut where they can still be told apart. Where the ends
// differ, the common beginning is printed before them as far as there is room, unless only a few letters of it fit.
func (v View) cutColumn(c, width int) []string {
	whole := v.texts(c)
	short, ends := CutApart(whole, width), withoutBeginning(withoutConstant(whole))
	if slices.Equal(ends, whole) || !slices.Equal(short, ends) {
		return short
	}
	const fragment = 6 // columns below which the beginning of a name says nothing
	room := width - widest(ends)
	if room < fragment {
		return short
	}
	for i, text := range ends {
		if strings.HasPrefix(text, "…") {
			short[i] = ansi.Truncate(whole[i], room, "") + text
		}
	}
	return short
}

// CutApart cuts texts to a width, in the first of several ways by which as many differ as before, or else in that by which
// the most do: without settings that do not vary, without what all begin with, without what their words begin and end with, without their middles, without the middles of long
// words, without usual words.
func CutApart(whole []string, width int) []string {
	if widest(whole) <= width {
		return whole
	}
	if whole = withoutConstant(whole); widest(whole) <= width {
		return whole
	}
	ends := withoutBeginning(whole)
	ways := []func() []string{
		func() []string { return cutAll(whole, width) },
		func() []string { return cutAll(ends, width) },
		func() []string { return cutWords(whole, width) },
		func() []string { return cutAll(withoutUsual(whole), width) },
	}
	all := CountDistinct(whole)
	for _, some := range [][]string{withoutShared(whole), ends} {
		if all > 1 && widest(some) <= width {
			ways = slices.Insert(ways, 0, func() []string { return some })
		}
	}
	var best []string
	for _, way := range ways {
		if short := way(); best == nil || CountDistinct(short) > CountDistinct(best) {
			best = short
		}
		if CountDistinct(best) == all {
			break
		}
	}
	return best
}

// CutDistinct returns texts in one line each, cut to a width so that no two that differ look the same: where CutApart leaves such, they
// get numbers.
func CutDistinct(whole []string, width int) []string {
	return Numbered(whole, CutApart(Texts(whole, OneLine), width), func(text, number string) string { return cutMiddle(text, width-Width(number)) + number })
}

// Numbered gives numbers to texts that look the same although the whole ones differ. with puts a number behind a text, which may be cut
// for it.
func Numbered(whole, short []string, with func(text, number string) string) []string {
	same := map[string]map[string]bool{} // the whole texts of a short one
	for i, text := range short {
		if same[text] == nil {
			same[text] = map[string]bool{}
		}
		same[text][whole[i]] = true
	}
	numbers := map[string]int{}
	numbered := make([]string, len(short))
	for i, text := range short {
		if numbered[i] = text; len(same[text]) < 2 {
			continue
		}
		if numbers[whole[i]] == 0 {
			numbers[whole[i]] = len(numbers) + 1
		}
		numbered[i] = with(text, " #"+strconv.Itoa(numbers[whole[i]]))
	}
	return numbered
}

// cutWords cuts the middles of long words, so that the texts fit and the words differ where they can.
func cutWords(whole []string, width int) []string {
	const least = 8 // columns of a word that is cut
	var long []string
	for _, text := range whole {
		for word := range strings.FieldsSeq(text) {
			if ansi.StringWidth(word) > least {
				long = append(long, word)
			}
		}
	}
	slices.Sort(long)
	long = slices.Compact(long)
	short := whole
	for room := width; widest(short) > width && room >= least; room -= 2 {
		cut := cutAll(withoutBeginning(long), room)
		if middles := cutAll(long, room); CountDistinct(middles) >= CountDistinct(cut) {
			cut = middles
		}
		short = Texts(whole, func(text string) string {
			words := strings.Fields(text)
			for i, word := range words {
				if at, is := slices.BinarySearch(long, word); is {
					words[i] = cut[at]
				}
			}
			return strings.Join(words, " ")
		})
	}
	return cutAll(short, width)
}

func cutAll(texts []string, width int) []string {
	return Texts(texts, func(text string) string { return cutMiddle(text, width) })
}

// withoutConstant returns texts without the settings, name=value, that have one value in all of several texts that have them; whole where
// texts that differ would look the same. A setting before a word that has no name stays: its value may go on there.
func withoutConstant(texts []string) []string {
	values := map[string][]string{} // by the name of a setting
	for _, text := range texts {
		for word := range strings.FieldsSeq(text) {
			if name, value, is := strings.Cut(word, "="); is {
				values[name] = append(values[name], value)
			}
		}
	}
	short := Texts(texts, func(text string) string {
		words := strings.Fields(text)
		var kept []string
		for i, word := range words {
			name, _, is := strings.Cut(word, "=")
			ends := i == len(words)-1 || strings.Contains(words[i+1], "=")
			if !is || !ends || len(values[name]) < 2 || CountDistinct(values[name]) > 1 {
				kept = append(kept, word)
			}
		}
		if len(kept) == len(words) {
			return text
		}
		return strings.Join(kept, " ")
	})
	if slices.Contains(short, "") || CountDistinct(short) < CountDistinct(texts) {
		return texts
	}
	return short
}

// withoutBeginning returns texts with … in place of what all that are not unknown begin with, up to the last word that they share. Where
// only some are names in a package, file or class, these lose what they are in.
func withoutBeginning(texts []string) []string {
	within := func(text string) bool { return text != Unknown }
	common := beginning(texts, within, separators)
	if common == "" {
		within = func(text string) bool { return strings.ContainsAny(text, scopes) }
		common = beginning(texts, within, scopes)
	}
	if common == "" {
		return texts
	}
	return Texts(texts, func(text string) string {
		if !within(text) {
			return text
		}
		return "…" + text[len(common):]
	})
}

// beginning returns what those of some texts begin with that are within, up to one of some characters, but not a part of a setting.
func beginning(texts []string, within func(string) bool, ends string) string {
	texts = slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return !within(text) })
	if len(texts) == 0 {
		return ""
	}
	common := texts[0]
	for _, text := range texts {
		n := 0
		for n < min(len(common), len(text)) && common[n] == text[n] {
			n++
		}
		common = common[:n]
	}
	common = common[:strings.LastIndexAny(common, ends)+1]
	if word := strings.LastIndexByte(common, ' ') + 1; strings.Contains(common[word:], "=") {
		common = common[:word]
	}
	return common
}

// withoutShared returns texts in whose words … stands for what those at the same place all begin or end with.
func withoutShared(texts []string) []string {
	words := make([][]string, len(texts))
	for i, text := range texts {
		if words[i] = strings.Fields(text); len(words[i]) != len(words[0]) {
			return texts
		}
	}
	for place := range words[0] {
		head, tail := sharedEnds(words, place)
		for i := range words {
			word := words[i][place]
			if head+tail >= len(word) { // nothing would be left
				head, tail = 0, 0
			}
			name := strings.IndexByte(word[:head], '=') + 1 // of a setting
			words[i][place] = word[:name] + dotted(word[name:head]) + word[head:len(word)-tail] + dotted(word[len(word)-tail:])
		}
	}
	return Texts(words, func(of []string) string { return strings.Join(of, " ") })
}

// dotted returns … for a part that is longer than that.
func dotted(part string) string {
	if len(part) > 1 {
		return "…"
	}
	return part
}

// sharedEnds returns how many bytes of the words at a place all begin and end with, up to a seam between parts of a name: none of short
// words.
func sharedEnds(texts [][]string, place int) (head, tail int) {
	const short = 8
	first, least := texts[0][place], len(texts[0][place])
	head, tail = least, least
	for _, words := range texts {
		word := words[place]
		least = min(least, len(word))
		n := 0
		for n < min(head, len(word)) && word[n] == first[n] {
			n++
		}
		head, n = n, 0
		for n < min(tail, len(word)) && word[len(word)-1-n] == first[len(first)-1-n] {
			n++
		}
		tail = n
	}
	if least <= short || head == len(first) {
		return 0, 0
	}
	for head > 0 && !seam(texts, place, head) {
		head--
	}
	for tail = min(tail, least-head); tail > 0 && !strings.ContainsRune(separators, rune(first[len(first)-tail])); {
		tail--
	}
	return head, tail
}

const (
	separators = " /:.,_=-["
	scopes     = "/:" // behind the package, the file or the class of a name
)

// seam tells whether a part of a name ends before a place of all words: at a separator, or before the capital of a new word.
func seam(texts [][]string, place, at int) bool {
	before := texts[0][place][at-1]
	if strings.IndexByte(separators, before) >= 0 {
		return true
	}
	return before >= 'a' && before <= 'z' && !slices.ContainsFunc(texts, func(words []string) bool {
		word := words[place]
		return at >= len(word) || word[at] < 'A' || word[at] > 'Z'
	})
}

// withoutUsual removes the words that at least half of the texts have.
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

// laid is a table as it is printed on a page: padded texts of the columns that are shown.
type laid struct {
	view   View
	shown  []int // columns of the view
	header []string
	rows   [][]string
	lost   bool // names that differ look the same
	marked bool // a column tells every row from the others
}

// lay fits the table of a view into a page.
func (v View) lay(page Page) laid {
	shown, widths, _ := v.fit(page)
	if page.Whole {
		_, _, widths = v.measure()
	}
	t := laid{view: v, shown: shown, rows: make([][]string, len(v.Rows))}
	for _, c := range shown {
		column := v.Columns[c]
		t.header = append(t.header, Pad(Cut(column.Header, widths[c]), widths[c], column.Right))
		short := v.cutColumn(c, widths[c])
		for n, text := range short {
			t.rows[n] = append(t.rows[n], Pad(text, widths[c], column.Right))
		}
		if !column.Right || column.Fixed {
			different := CountDistinct(short)
			t.lost = t.lost || different < CountDistinct(v.texts(c))
			t.marked = t.marked || different == len(v.Rows)
		}
	}
	return t
}

// distinct fits the table into a page so that no two rows look the same that are not: where cuts and columns that were left out
// make them so, a column says which point each is, or else its number.
func (v View) distinct(page Page) laid {
	const enough = 8 // characters of a point's id
	t := v.lay(page)
	if !t.ambiguous() {
		return t
	}
	if len(v.Points) == len(v.Rows) {
		ids := Texts(v.Points, func(id string) string { return id[:min(len(id), enough)] })
		if marked := v.behind(Column{Header: "POINT", Fixed: true}, ids).lay(page); !marked.ambiguous() {
			return marked
		}
	}
	numbers := make([]string, len(v.Rows))
	for i := range numbers {
		numbers[i] = strconv.Itoa(i + 1)
	}
	return v.behind(Column{Header: "#", Right: true, Fixed: true}, numbers).lay(page)
}

// behind returns the view with its columns behind another one.
func (v View) behind(first Column, texts []string) View {
	v.Columns = append([]Column{first}, v.Columns...)
	if v.least != nil {
		v.least = append([]int{0}, v.least...)
	}
	rows := make([][]Cell, len(v.Rows))
	for i, row := range v.Rows {
		rows[i] = append([]Cell{{Text: texts[i]}}, row...)
	}
	v.Rows = rows
	return v
}

// ambiguous tells whether rows look the same that are not, or points do, although their values differ.
func (t laid) ambiguous() bool {
	if t.lost && !t.marked && len(t.view.Points) == len(t.view.Rows) {
		return true
	}
	first := make(map[string]int, len(t.rows))
	for n, row := range t.rows {
		look := strings.Join(row, Gap)
		other, seen := first[look]
		if seen && t.view.differ(other, n) {
			return true
		}
		first[look] = n
	}
	return false
}

// differ reports whether two rows are of different points or have different texts.
func (v View) differ(a, b int) bool {
	if len(v.Points) == len(v.Rows) && v.Points[a] != v.Points[b] {
		return true
	}
	return !slices.Equal(v.Rows[a], v.Rows[b])
}

// CountDistinct returns the number of different texts.
func CountDistinct(texts []string) int {
	seen := map[string]bool{}
	for _, text := range texts {
		seen[text] = true
	}
	return len(seen)
}
