package views

import (
	"bytes"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/answer"
)

// TestCareView: on a narrow terminal no path is cut and no word of a problem or a remedy is lost; a document has a table.
func TestCareView(t *testing.T) {
	path := "samples/2026-11/01M7ZTFDJT59048HP5BRKV224V-01M7ZTFDHY-01M7ZTFDJM-122880-and-more-than-80-columns.parquet"
	problem := "it is ignored (122880 runs), because runs/ has no file of this name: an import was interrupted, or the file was removed"
	table := answer.Table{
		Columns: []answer.Column{{Name: "severity"}, {Name: "path"}, {Name: "problem"}},
		Rows:    [][]any{{"damage", path, problem}, {"notice", "notes.txt", "it is not a file of the store, and is ignored"}},
	}
	page := term.Page{Width: 80}
	var b bytes.Buffer
	StoreProblems(term.FormatTable, table, []string{"store repair sets it aside in quarantine/", ""}, page).Render(&b, page)
	lines := strings.Split(b.String(), "\n")
	if lines[0] != "damage  "+path {
		t.Errorf("the first line is %q", lines[0])
	}
	for _, line := range lines[1:] {
		if ansi.StringWidth(line) > page.Width {
			t.Errorf("%q is too wide", line)
		}
	}
	text := strings.Join(strings.Fields(b.String()), " ")
	contains(t, text, problem+" store repair sets it aside in quarantine/ notice notes.txt it is not a file of the store, and is ignored", "2 rows")
	if strings.Contains(lines[1], "its name") && !strings.HasPrefix(lines[1], "    its name") {
		t.Errorf("the problem is not indented: %q", lines[1])
	}
	b.Reset()
	StoreProblems(term.FormatMD, table, nil, page).Markdown(&b)
	if !strings.Contains(b.String(), "| damage | "+path+" | "+problem+" |") {
		t.Errorf("the document is\n%s", b.String())
	}
}
