package wording

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWarningsPage: the page about warnings has each of them, with its meaning, and no others.
func TestWarningsPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "warnings.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for line := range strings.Lines(string(page)) {
		if row, ok := strings.CutPrefix(strings.TrimSpace(line), "| `"); ok {
			word, meaning, _ := strings.Cut(strings.TrimSuffix(row, " |"), "` | ")
			rows[word] = meaning
		}
	}
	for _, word := range WarningWords() {
		if got, want := rows[word], WarningMeaning(word); got != want {
			t.Errorf("docs/warnings.md says of %s\n%q, want\n%q", word, got, want)
		}
		delete(rows, word)
	}
	delete(rows, computedIn+"FORMAT")
	if len(rows) > 0 {
		t.Errorf("docs/warnings.md has %v, which no run is given", rows)
	}
}
