package topics

import (
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/wording"
	"github.com/neurolens/neurolens/docs"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/schema"
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
	if text := wording.WarningMeaning(word); text != "" {
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
		all = append(all, meaning{"metric", []string{withUnit(k.Meaning, k.Unit)}})
	}
	return append(all, columnMeanings(word)...), nil
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

// words are all that answers say and that are explained: of warnings, verdicts, metrics and columns.
func words() []string {
	all := wording.WarningWords()
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
	slices.Sort(all)
	return slices.Compact(all)
}
