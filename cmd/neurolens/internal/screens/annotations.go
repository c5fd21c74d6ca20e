package screens

import (
	"fmt"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/answer"
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
