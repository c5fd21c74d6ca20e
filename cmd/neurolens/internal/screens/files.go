package screens

import (
	"fmt"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/artifacts"
)

// Files are the files that a run left: a line each.
func Files(all []artifacts.Artifact) term.View {
	if len(all) == 0 {
		return term.View{Below: []string{"the run has no stored files"}}
	}
	return term.View{Below: fileLines(all)}
}

// fileLines name each file, with its size and what became of it.
func fileLines(all []artifacts.Artifact) []string {
	rows := make([][2]string, len(all))
	for i, a := range all {
		size := term.Unknown
		if a.Bytes != nil {
			size = output.Quantity(*a.Bytes, "B")
		}
		rows[i] = [2]string{term.OneLine(a.Path), size + became(&a)}
	}
	return term.Pairs(rows)
}

// became is what became of a file, after a comma; nothing where it is stored.
func became(a *artifacts.Artifact) string {
	switch {
	case a.State == artifacts.StatePruned:
		return fmt.Sprintf(", pruned %s", a.Pruned.Local().Format("2006-01-02"))
	case a.State == artifacts.StateMissing:
		return ", missing from the store"
	case a.State == artifacts.StateNotKept && a.Reason != "":
		return ", not stored: " + term.OneLine(a.Reason)
	case a.State == artifacts.StateNotKept:
		return ", not stored"
	}
	return ""
}
