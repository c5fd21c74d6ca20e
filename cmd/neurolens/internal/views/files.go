package views

import (
	"fmt"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
)

// Files are the files that a run left: a line each.
func Files(all []query.Artifact) term.View {
	if len(all) == 0 {
		return term.View{Below: []string{"the run has no stored files"}}
	}
	return term.View{Below: fileLines(all)}
}

// fileLines name each file, with its size and what became of it.
func fileLines(all []query.Artifact) []string {
	rows := make([][2]string, len(all))
	for i, a := range all {
		size := term.Unknown
		if a.Bytes != nil {
			size = term.Quantity(*a.Bytes, "B")
		}
		rows[i] = [2]string{term.OneLine(a.Path), size + became(&a)}
	}
	return term.Pairs(rows)
}

// became is what became of a file, after a comma; nothing where it is stored.
func became(a *query.Artifact) string {
	switch {
	case a.State == query.ArtifactPruned:
		return fmt.Sprintf(", pruned %s", a.Pruned.Local().Format("2006-01-02"))
	case a.State == query.ArtifactMissing:
		return ", missing from the store"
	case a.State == query.ArtifactNotKept && a.Reason != "":
		return ", not stored: " + term.OneLine(a.Reason)
	case a.State == query.ArtifactNotKept:
		return ", not stored"
	}
	return ""
}
