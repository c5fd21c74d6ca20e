package report

import (
	"context"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
)

// maxSaid is how many rows a table of notes, tags and releases has: the newest.
const maxSaid = 50

// said is a section with what people said about the sessions of the report; none where nobody did.
func (a *artist) said(ctx context.Context) []Section {
	if a.err != nil {
		return nil
	}
	all, err := query.Annotations(ctx, a.db, a.report.Selection.Filter)
	if err != nil {
		a.err = err
	}
	if len(all) == 0 {
		return nil
	}
	t := &Table{
		ID: "notes", Title: "Notes, tags and releases", Command: "neurolens ls session=KEY" + a.reader.OfStores(),
		Text:    []string{"Notes and tags of sessions (neurolens note, neurolens tag), and releases (the tag release)."},
		Columns: []Column{{Header: "session began"}, {Header: "session"}, {Header: "runs", Right: true}, {Header: "what"}, {Header: "text"}},
	}
	for i := len(all) - 1; i >= 0 && len(t.Rows) < maxSaid; i-- {
		s := &all[i]
		text := s.Text
		if s.Kind == query.Tag {
			text = s.Key + "=" + s.Text
		}
		t.Rows = append(t.Rows, Row{Key: s.SessionID, Cells: []Cell{
			{Text: s.At.Local().Format("2006-01-02 15:04")}, {Text: s.SessionID}, {Text: term.Thousands(s.Runs)}, {Text: string(s.Kind)}, {Text: text},
		}})
	}
	if n := len(all) - len(t.Rows); n > 0 {
		t.Below = append(t.Below, term.Count(n, "earlier one")+" "+term.IsAre(n)+" left out.")
	}
	return []Section{{ID: "notes", Title: t.Title, Tables: []*Table{t}}}
}
