package views

import (
	"fmt"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/compare"
)

// done says what a kind of event did.
var done = map[string]string{
	"remove": "removed; restore brings them back", "restore": "restored", "tag": "tagged", "untag": "untagged", "note": "noted", "bless": "blessed",
}

// Annotations says what was said about how many runs.
func Annotations(t answer.Table) term.View {
	var v term.View
	for _, row := range t.Rows {
		kind, _ := row[1].(string)
		n, _ := row[4].(int64)
		text := term.Count(int(n), "run") + " " + done[kind]
		if key, ok := row[2].(string); ok {
			text += " " + key
		}
		if value, ok := row[3].(string); ok && kind == "tag" {
			text += "=" + value
		}
		v.Below = append(v.Below, term.OneLine(fmt.Sprint(text)))
	}
	return v
}

// Blessed says what was written into a file of a baseline.
func Blessed(w *compare.BaselineWritten) term.View {
	text := fmt.Sprintf("%s of session %s written to %s", term.Count(w.Points, "point"), ShortRun(w.Session), w.File)
	if w.Replaced > 0 {
		text += fmt.Sprintf(", %s replaced", term.Thousands(w.Replaced))
	}
	if w.Kept > 0 {
		text += "; " + term.Count(w.Kept, "other point") + " kept"
	}
	lines := []string{term.OneLine(text)}
	if w.Few > 0 {
		lines = append(lines, fmt.Sprintf("%s fewer than 5 runs: a gate needs 5", term.Count(w.Few, "point")+" with"))
	}
	return term.View{Below: lines}
}
