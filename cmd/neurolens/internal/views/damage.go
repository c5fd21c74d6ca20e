package views

import (
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/ingest/check"
	"github.com/neurolens/neurolens/query/answer"
)

// DamageOf is what is wrong with a store that was verified; nil where nothing is.
func DamageOf(dir string, done check.Verified) error {
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
			more = slices.Insert(more, 0, LossText(done.Loss, "lost:"))
		}
		more = append(more, "store repair sets damaged files aside and keeps the rest")
		return fmt.Errorf("store %s is damaged: %s found in %s; %s",
			dir, term.Count(done.Damage, "problem"), read, strings.Join(more, "; "))
	case len(more) > 0:
		return fmt.Errorf("store %s: %s; all other files are intact: %s", dir, strings.Join(more, "; "), read)
	}
	return nil
}

// LossFields are the columns that say how much was lost to damage.
func LossFields[Row any](of func(*Row) check.Loss) []answer.Field[Row] {
	field := func(name, meaning string, n func(check.Loss) int) answer.Field[Row] {
		return answer.Field[Row]{
			Column: answer.Column{Name: name, Type: answer.TypeInteger}, Meaning: meaning,
			Of: func(row *Row) any { return int64(n(of(row))) },
		}
	}
	return []answer.Field[Row]{
		field("runs_lost", "runs that are lost", func(l check.Loss) int { return l.Runs }),
		field("samples_lost", "runs whose samples are lost, while the runs are kept", func(l check.Loss) int { return l.Samples }),
		field("ops_lost", "runs whose operators are lost, while the runs are kept", func(l check.Loss) int { return l.Ops }),
	}
}

// FindingFields are the columns of store verify.
func FindingFields() []answer.Field[check.Finding] {
	return append([]answer.Field[check.Finding]{
		text("severity", "notice (the data is still read correctly), damage, unreadable (the system does not let the file be read) or newer (a file of a later version)",
			func(f *check.Finding) string { return string(f.Severity) }),
		text("path", "file, from the folder of the store", func(f *check.Finding) string { return f.Path }),
		text("problem", "description of the problem", func(f *check.Finding) string { return f.Problem }),
	}, LossFields(func(f *check.Finding) check.Loss { return f.Loss })...)
}

// RepairFields are the columns of store repair.
func RepairFields() []answer.Field[check.Repair] {
	return append([]answer.Field[check.Repair]{
		text("action", "set aside (in quarantine/), kept (intact rows of a damaged file), found (lost rows that are back), restored (an event) or removed (an empty folder of a claim); taken over or finished (sealing); left (not repaired)",
			func(r *check.Repair) string { return string(r.Action) }),
		text("path", "file, from the folder of the store", func(r *check.Repair) string { return r.Path }),
		text("reason", "why it was done", func(r *check.Repair) string { return r.Reason }),
	}, LossFields(func(r *check.Repair) check.Loss { return r.Loss })...)
}

// text is a column with words.
func text[Row any](name, meaning string, of func(*Row) string) answer.Field[Row] {
	return answer.Field[Row]{Column: answer.Column{Name: name, Type: answer.TypeText}, Meaning: meaning, Of: func(row *Row) any { return of(row) }}
}

// LossText says what damage costs.
func LossText(l check.Loss, verb string) string {
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
