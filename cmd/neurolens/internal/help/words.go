package help

import (
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/docs"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// meaning is one of the things that a word of an answer means.
type meaning struct {
	word  string
	where string // warning, verdicts of compare, column of ls ...
	texts []string
}

// The pages with a table for each kind of verdict, of all keys of sweep files, and of terms, of which a row may have several.
const (
	verdictsPage = "verdicts.md"
	sweepsPage   = "sweeps.md"
	glossaryPage = "glossary.md"
)

// In what a meaning is told apart from others.
const (
	inWarnings = "warning"
	inGlossary = "glossary"
	inColumn   = "column of "
)

// allMeanings lists all meanings in the order in which help shows them.
func allMeanings() ([]meaning, error) {
	var all []meaning
	add := func(word, where string, texts ...string) { all = append(all, meaning{word, where, texts}) }
	for _, word := range views.WarningWords() {
		add(word, inWarnings, views.WarningMeaning(word))
	}
	pages := map[string][]tableRow{}
	for _, name := range []string{verdictsPage, sweepsPage, glossaryPage} {
		page, err := docs.Pages.ReadFile(name)
		if err != nil {
			return nil, err
		}
		pages[name] = rowsOf(string(page))
	}
	for _, row := range pages[verdictsPage] {
		texts := []string{row.cells[1]}
		if row.cells[2] != "nothing" {
			texts = append(texts, "What to do: "+row.cells[2])
		}
		add(row.cells[0], strings.ToLower(row.heading), texts...)
	}
	for _, k := range schema.MetricKinds {
		add(k.Name, "metric", withUnit(k.Meaning, k.Unit)+"; "+string(k.Better)+" is better")
	}
	for _, table := range []*schema.Table{schema.Runs, schema.Samples, schema.Ops} {
		for _, c := range table.Columns {
			add(c.Name, inColumn+table.Name, withUnit(c.Doc, c.Unit))
		}
	}
	for _, row := range rowsOf(query.ColumnsPage) {
		add(row.cells[0], inColumn+row.heading, withUnit(row.cells[3], row.cells[2]))
	}
	for _, row := range pages[sweepsPage] {
		if row.heading != "All keys" || len(row.cells) != 3 {
			continue
		}
		texts := []string{row.cells[2]}
		if row.cells[1] != "" {
			texts = append(texts, "Default: "+row.cells[1])
		}
		add(row.cells[0], "key of sweep files", append(texts, "See neurolens help sweeps.")...)
	}
	for _, row := range pages[glossaryPage] {
		for _, name := range strings.Split(row.cells[0], ", ") {
			add(name, inGlossary, row.cells[1])
		}
	}
	return all, nil
}

// A confidence level, and the offset of times, vary in the heading of a column.
var (
	levelHeading  = regexp.MustCompile(`^(± )?>?[0-9.]+ ?%$`)
	offsetHeading = regexp.MustCompile(`^(when|since) (utc|[+-][0-9:]+)$`)
)

// ofHeading returns the word that explains the heading of a table.
func ofHeading(heading string) string {
	if m := levelHeading.FindStringSubmatch(heading); m != nil {
		return m[1] + "95 %"
	}
	if m := offsetHeading.FindStringSubmatch(heading); m != nil {
		return m[1]
	}
	return heading
}

// meanings returns the meanings of a word, or else of the column of runs that it heads or stands for in a filter. Columns with the same text
// are one.
func meanings(word string) ([]meaning, error) {
	word = ofHeading(word)
	found, err := meaningsOf(word)
	if column := filter.FieldOf(word); len(found) == 0 && err == nil {
		if name := views.ColumnOfHead(word); name != "" {
			return meaningsOf(name)
		}
		if !column.Bare && column.Entry+column.Metric == "" {
			return meaningsOf(column.Column.Name)
		}
	}
	return found, err
}

func meaningsOf(word string) ([]meaning, error) {
	all, err := allMeanings()
	var found []meaning
	if text := views.WarningMeaning(word); text != "" && !slices.Contains(views.WarningWords(), word) { // one with a name in it
		found = append(found, meaning{word, inWarnings, []string{text}})
	}
	for _, m := range all {
		if m.word != word && !(m.where == inGlossary && strings.EqualFold(m.word, word)) {
			continue
		}
		m.word = word
		column, is := strings.CutPrefix(m.where, inColumn)
		same := func(other meaning) bool {
			return strings.HasPrefix(other.where, inColumn) && other.texts[0] == m.texts[0]
		}
		if at := slices.IndexFunc(found, same); is && at >= 0 {
			found[at].where += ", " + column
		} else {
			found = append(found, m)
		}
	}
	return found, err
}

// withUnit returns a text with the unit of what it explains.
func withUnit(text, unit string) string {
	switch unit {
	case "":
		return text
	case schema.UnitOfRow:
		return text + " (in the unit of the row)"
	}
	return text + " (in " + unit + ")"
}

// tableRow is one of a table of a page, below a heading.
type tableRow struct {
	heading string
	cells   []string
}

// rowsOf returns the rows of the tables of a page, without their heads.
func rowsOf(page string) []tableRow {
	var all []tableRow
	heading, inside := "", false
	for line := range strings.Lines(page) {
		text := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(text, "## "):
			heading = inline(text[3:])
		case ruler.MatchString(text):
			inside = true
		case !strings.HasPrefix(text, "|"):
			inside = false
		case inside:
			all = append(all, tableRow{heading, cells(text)})
		}
	}
	return all
}

// explained returns what a word means, for a terminal of so many columns; empty where it means nothing.
func explained(word string, width int) (string, error) {
	all, err := meanings(word)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for i, m := range all {
		if i > 0 {
			text.WriteString("\n")
		}
		fmt.Fprintf(&text, "%s (%s)\n", m.word, m.where)
		for _, paragraph := range m.texts {
			for _, line := range wrapped(paragraph, "    ", width) {
				text.WriteString(line + "\n")
			}
		}
	}
	return text.String(), nil
}

// oneWord matches a term that you can type without quotes.
var oneWord = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)

// words returns all words that help explains, in alphabetical order; terms of the glossary only if they are one word.
func words() []string {
	all, err := allMeanings()
	if err != nil {
		return nil // an answer says why
	}
	var words []string
	for _, m := range all {
		if m.where != inGlossary || oneWord.MatchString(m.word) {
			words = append(words, m.word)
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}
