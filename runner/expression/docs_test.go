package expression

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestPage: the page on expressions has a row for each fact and each function, in the words of the code.
func TestPage(t *testing.T) {
	page := valuetest.Must(os.ReadFile("../../docs/expressions.md"))
	var rows []string
	for _, f := range Facts() {
		unit := f.Unit
		if unit != "" {
			unit += " "
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s| %s |", f.Name, unit, f.Meaning))
	}
	for _, f := range slices.Concat(Functions(), new(Machine).Functions(nil)) {
		rows = append(rows, fmt.Sprintf("| `%s(", f.Name))
		if !strings.Contains(string(page), "| "+f.Meaning+" |") {
			t.Errorf("no row says of %s: %s", f.Name, f.Meaning)
		}
	}
	for _, row := range rows {
		if !strings.Contains(string(page), row) {
			t.Errorf("there is no row %s", row)
		}
	}
}
