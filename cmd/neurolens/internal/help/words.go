package help

import (
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/docs"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// meaning is one of the things that a word of an answer means.
type meaning struct {
	where string // warning, verdicts of compare, column of ls ...
	texts []string
}

// verdictsPage has a table for each kind of word.
const verdictsPage = "verdicts.md"

// meanings are what a word means, in each answer that has it; none where no answer has.
func meanings(word string) ([]meaning, error) {
	var all []meaning
	if text := views.WarningMeaning(word); text != "" {
		all = append(all, meaning{"warning", []string{text}})
	}
	page, err := docs.Pages.ReadFile(verdictsPage)
	if err != nil {
		return nil, err
	}
	for _, row := range rowsOf(string(page)) {
		if row.cells[0] == word {
			texts := []string{row.cells[1]}
			if row.cells[2] != "nothing" {
				texts = append(texts, "What to do: "+row.cells[2])
			}
			all = append(all, meaning{strings.ToLower(row.heading), texts})
		}
	}
	if i := slices.IndexFunc(schema.MetricKinds, func(k schema.MetricKind) bool { return k.Name == word }); i >= 0 {
		k := schema.MetricKinds[i]
		all = append(all, meaning{"metric", []string{withUnit(k.Meaning, k.Unit) + "; " + string(k.Better) + " is better"}})
	}
	all = append(all, columnMeanings(word)...)
	keys, err := sweepKeys()
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		if k.name == word {
			all = append(all, meaning{"key of sweep files", k.texts})
		}
	}
	terms, err := glossary()
	for _, t := range terms {
		if strings.EqualFold(t.name, word) {
			all = append(all, meaning{"glossary", []string{t.text}})
		}
	}
	return all, err
}

// sweepsPage has a table of all keys of sweep files: the key, its default, and what it says.
const sweepsPage = "sweeps.md"

// sweepKey is a key of sweep files with what explains it.
type sweepKey struct {
	name  string
	texts []string
}

// sweepKeys lists the keys of sweep files.
func sweepKeys() ([]sweepKey, error) {
	page, err := docs.Pages.ReadFile(sweepsPage)
	if err != nil {
		return nil, err
	}
	var keys []sweepKey
	for _, row := range rowsOf(string(page)) {
		if row.heading != "All keys" || len(row.cells) != 3 {
			continue
		}
		texts := []string{row.cells[2]}
		if row.cells[1] != "" {
			texts = append(texts, "Default: "+row.cells[1])
		}
		keys = append(keys, sweepKey{row.cells[0], append(texts, "See neurolens help sweeps.")})
	}
	return keys, nil
}

// glossaryPage explains one term per row, or several with commas between them.
const glossaryPage = "glossary.md"

// glossaryTerm is a term of the glossary with its meaning.
type glossaryTerm struct{ name, text string }

// glossary lists the terms of the glossary.
func glossary() ([]glossaryTerm, error) {
	page, err := docs.Pages.ReadFile(glossaryPage)
	if err != nil {
		return nil, err
	}
	var all []glossaryTerm
	for _, row := range rowsOf(string(page)) {
		for _, name := range strings.Split(row.cells[0], ", ") {
			all = append(all, glossaryTerm{name, row.cells[1]})
		}
	}
	return all, nil
}

// columnMeanings are what a column of that name has, in the store and in answers; answers with the same text stand together.
func columnMeanings(name string) []meaning {
	var all []meaning
	add := func(where, text string) {
		at := slices.IndexFunc(all, func(m meaning) bool { return m.texts[0] == text })
		if at >= 0 {
			all[at].where += ", " + where
		} else {
			all = append(all, meaning{"column of " + where, []string{text}})
		}
	}
	for _, table := range []*schema.Table{schema.Runs, schema.Samples, schema.Ops} {
		for _, c := range table.Columns {
			if c.Name == name {
				add(table.Name, withUnit(c.Doc, c.Unit))
			}
		}
	}
	for _, row := range rowsOf(query.ColumnsPage) {
		if row.cells[0] == name {
			add(row.heading, withUnit(row.cells[3], row.cells[2]))
		}
	}
	return all
}

// withUnit is a text with the unit of what it explains.
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

// rowsOf are the rows of the tables of a page, without their heads.
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

// explained is what a word means, for a terminal of so many columns; empty where it means nothing.
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
		fmt.Fprintf(&text, "%s (%s)\n", word, m.where)
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

// words are all words that help explains: warnings, verdicts, metrics, columns, keys of sweep files, and terms of the glossary that are
// one word.
func words() []string {
	all := views.WarningWords()
	if page, err := docs.Pages.ReadFile(verdictsPage); err == nil {
		for _, row := range rowsOf(string(page)) {
			all = append(all, row.cells[0])
		}
	}
	for _, k := range schema.MetricKinds {
		all = append(all, k.Name)
	}
	for _, table := range []*schema.Table{schema.Runs, schema.Samples, schema.Ops} {
		for _, c := range table.Columns {
			all = append(all, c.Name)
		}
	}
	for _, row := range rowsOf(query.ColumnsPage) {
		all = append(all, row.cells[0])
	}
	if keys, err := sweepKeys(); err == nil {
		for _, k := range keys {
			all = append(all, k.name)
		}
	}
	if terms, err := glossary(); err == nil {
		for _, t := range terms {
			if oneWord.MatchString(t.name) {
				all = append(all, t.name)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
