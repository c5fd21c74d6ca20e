package views

import (
	"fmt"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/query/answer"
)

// IngestTable has a row for each file.
func IngestTable(reports []ingest.FileReport) answer.Table {
	return answer.TableOf(IngestFields(), reports)
}

// IngestFields are the columns of ingest.
func IngestFields() []answer.Field[ingest.FileReport] {
	field := answer.NewField[ingest.FileReport]
	return []answer.Field[ingest.FileReport]{
		field("file", answer.TypeText, "path of the file", func(r *ingest.FileReport) any { return r.Name }),
		field("state", answer.TypeText, "read, partly (some entries were refused), side (read only together with another file), unknown (no format), store (it is a store) or failed (it cannot be read)", func(r *ingest.FileReport) any { return string(r.State) }),
		field("source", answer.TypeText, "format of the file, as ingest --list-formats names it", func(r *ingest.FileReport) any { return answer.Text(r.Format) }),
		field("version", answer.TypeText, "version of the tool that wrote the file, if the file has it", func(r *ingest.FileReport) any { return answer.Text(r.Version) }),
		field("runs", answer.TypeInteger, "runs that were stored", func(r *ingest.FileReport) any { return int64(r.Runs) }),
		field("sessions", answer.TypeInteger, "sessions of the stored runs", func(r *ingest.FileReport) any { return int64(r.Sessions) }),
		field("samples", answer.TypeInteger, "samples of the stored runs", func(r *ingest.FileReport) any { return r.Samples }),
		field("undated", answer.TypeInteger, "new runs without a start time: they have no place in history, gates and session=last; --at gives it", func(r *ingest.FileReport) any { return int64(r.Undated) }),
		field("replaced", answer.TypeInteger, "runs that were stored before without a start time, or with another one, and now have the one of --at", func(r *ingest.FileReport) any { return int64(len(r.Replaced)) }),
		field("left_out", answer.TypeInteger, "entries of the file that are no measurements of their own, such as means of repetitions; reason names them", func(r *ingest.FileReport) any {
			left := 0
			for _, n := range r.LeftOut {
				left += n
			}
			return int64(left)
		}),
		field("refused", answer.TypeInteger, "entries of the file that cannot be stored; reason names the first", func(r *ingest.FileReport) any { return int64(r.Refused) }),
		field("reason", answer.TypeText, "what was not stored and why, and notes about the file", func(r *ingest.FileReport) any { return answer.Text(reasonOf(*r)) }),
	}
}

// reasonOf says in one line what was not stored of a file, and why.
func reasonOf(r ingest.FileReport) string {
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
		there := fmt.Sprintf("%d already there", r.Known)
		if name := otherName(r); name != "" {
			there += ": its content is already stored under " + name
		}
		parts = append(parts, there)
	}
	for _, left := range foreign.LeftOuts(&r.Report) {
		parts = append(parts, left.String())
	}
	parts = append(parts, noted(&r.Report)...)
	return strings.Join(parts, "; ")
}

// noted are the notes of a report, each with how often it is true.
func noted(r *foreign.Report) []string {
	var lines []string
	for _, what := range r.Noted() {
		lines = append(lines, fmt.Sprintf("note (%s): %s", term.Count(r.Notes[what], "time"), what))
	}
	return lines
}
