// Package damage describes damage of a store, and what was lost.
package damage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/ingest/check"
	"github.com/neurolens/neurolens/query/answer"
)

// Of is what is wrong with a store that was verified; nil where nothing is.
func Of(dir string, done check.Verified) error {
	read := fmt.Sprintf("%s in %s", term.Count(done.Runs+done.Loss.Runs, "run"), term.Count(done.Files, "file"))
	var more []string
	if done.Unreadable > 0 {
		more = append(more, fmt.Sprintf("%s could not be read", term.Count(done.Unreadable, "file")))
	}
	if done.Newer > 0 {
		more = append(more, fmt.Sprintf("%s of a newer version", term.Count(done.Newer, "file")))
	}
	switch {
	case done.Damage > 0:
		if done.Loss != (check.Loss{}) {
			more = slices.Insert(more, 0, Text(done.Loss, "lost:"))
		}
		more = append(more, "store repair sets damaged files aside and keeps the rest")
		return fmt.Errorf("store %s is damaged: %s found in %s; %s",
			dir, term.Count(done.Damage, "problem"), read, strings.Join(more, "; "))
	case len(more) > 0:
		return fmt.Errorf("store %s: %s; all other files are intact: %s", dir, strings.Join(more, "; "), read)
	}
	return nil
}

// Columns are the columns of what damage costs.
func Columns() []answer.Column {
	return []answer.Column{
		{Name: "runs_lost", Type: answer.TypeInteger}, {Name: "samples_lost", Type: answer.TypeInteger}, {Name: "ops_lost", Type: answer.TypeInteger},
	}
}

// Values are the cells of those columns.
func Values(l check.Loss) []any { return []any{int64(l.Runs), int64(l.Samples), int64(l.Ops)} }

// Text says what damage costs.
func Text(l check.Loss, verb string) string {
	var parts []string
	if l.Runs > 0 {
		parts = append(parts, term.Count(l.Runs, "run"))
	}
	if l.Samples > 0 {
		parts = append(parts, "the samples of "+term.Count(l.Samples, "run"))
	}
	if l.Ops > 0 {
		parts = append(parts, "the ops of "+term.Count(l.Ops, "run"))
	}
	return verb + " " + strings.Join(parts, ", ")
}
