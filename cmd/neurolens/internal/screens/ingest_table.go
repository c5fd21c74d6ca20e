package screens

import (
	"fmt"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/ingest/imports"
	"github.com/neurolens/neurolens/query/answer"
)

// IngestTable has a row for each file.
func IngestTable(reports []imports.Report) answer.Table {
	t := answer.Table{Columns: []answer.Column{
		{Name: "file", Type: answer.TypeText},
		{Name: "state", Type: answer.TypeText},
		{Name: "source", Type: answer.TypeText},
		{Name: "version", Type: answer.TypeText},
		{Name: "runs", Type: answer.TypeInteger},
		{Name: "sessions", Type: answer.TypeInteger},
		{Name: "samples", Type: answer.TypeInteger},
		{Name: "left_out", Type: answer.TypeInteger},
		{Name: "refused", Type: answer.TypeInteger},
		{Name: "reason", Type: answer.TypeText},
	}}
	for _, r := range reports {
		left := 0
		for _, n := range r.LeftOut {
			left += n
		}
		t.Rows = append(t.Rows, []any{
			r.Name, string(r.State), answer.Text(r.Format), answer.Text(r.Version), int64(r.Runs), int64(r.Sessions), r.Samples, int64(left), int64(r.Refused), answer.Text(reasonOf(r)),
		})
	}
	return t
}

// reasonOf says in one line what was not stored of a file, and why.
func reasonOf(r imports.Report) string {
	var parts []string
	if r.Why != "" {
		parts = append(parts, r.Why)
	}
	for _, refusal := range r.Refusals {
		parts = append(parts, refusal.String())
	}
	if more := r.Unnamed(); more > 0 {
		parts = append(parts, fmt.Sprintf("%d more refused", more))
	}
	if r.NoParams && r.Runs > 0 {
		parts = append(parts, "--param-from-path does not match its path")
	}
	if r.Known > 0 {
		parts = append(parts, fmt.Sprintf("%d already there", r.Known))
	}
	for _, why := range r.Reasons() {
		parts = append(parts, fmt.Sprintf("%d left out: %s", r.LeftOut[why], why))
	}
	parts = append(parts, noted(&r.Report)...)
	return strings.Join(parts, "; ")
}

// noted are the notes of a report, each with how often it is true.
func noted(r *foreign.Report) []string {
	var lines []string
	for _, what := range r.Noted() {
		lines = append(lines, fmt.Sprintf("note (%s): %s", term.Thousands(r.Notes[what]), what))
	}
	return lines
}
