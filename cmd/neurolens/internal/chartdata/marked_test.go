package chartdata_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/history"
	"github.com/neurolens/neurolens/schema"
)

// annotated returns a store of runs about which something was said.
func annotated(t *testing.T, runs []schema.Run, said ...ingest.Annotation) *query.DB {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "runs_store")
	ok(t, ingest.Init(dir))
	s, err := ingest.Open(dir, "test")
	ok(t, err)
	if _, err := s.AppendAll(runtest.Each(runs...)); err != nil {
		t.Fatal(err)
	}
	for _, a := range said {
		if _, err := s.Annotate(a); err != nil {
			t.Fatal(err)
		}
	}
	ok(t, s.Close())
	db, err := query.Open(ctx, []string{dir}, query.Options{})
	ok(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// saying is said of all runs of a session.
func saying(runs []schema.Run, session int, a ingest.Annotation) ingest.Annotation {
	for i := range runs {
		if runs[i].SessionID == sessionID(session) {
			a.Runs = append(a.Runs, runs[i].RunID)
		}
	}
	return a
}

// TestMarked: what was said about a session stands in every panel, at the mark of the session where there is one, in the words of that mark and
// below the chart; what was said of a session in which all failed, too.
func TestMarked(t *testing.T) {
	runs := twelve()
	one := saying(runs, 3, ingest.Annotation{Kind: schema.EventNote, Value: "fan <b>\x1b[2J\nbroken"})
	one.Runs = one.Runs[:1] // a run of one point
	db := annotated(t, runs, one,
		saying(runs, 7, ingest.Annotation{Kind: schema.EventTag, Key: "release", Value: "2.0"}),
		saying(runs, 10, ingest.Annotation{Kind: schema.EventTag, Key: "cooling", Value: "water"}))
	f, _, err := maker.History(ctx, db, history.Request{})
	sound(t, f, err)
	said, err := query.Annotations(ctx, db, "")
	if err != nil || len(said) != 3 {
		t.Fatal(said, err)
	}
	for _, p := range f.Panels {
		guides := map[string]float64{}
		for _, g := range p.Guides {
			guides[g.Text] = g.At
		}
		for session, text := range map[int]string{3: "note: fan <b>·[2J broken", 7: "release 2.0", 10: "cooling=water"} {
			at, is := guides[term.Cut(text, 15)]
			if !is {
				t.Errorf("%s: %q is not among %v", p.Title, text, guides)
				continue
			}
			found := false
			for _, k := range append(marks(p, "sessions"), marks(p, "failed")...) {
				if strings.Contains(k.Text, text) {
					found = k.X == at && time.UnixMicro(int64(k.X*1e6)).UTC().YearDay() == began.AddDate(0, 0, session).YearDay()
				}
			}
			if !found {
				t.Errorf("%s: no mark at %v says %q", p.Title, at, text)
			}
		}
	}
	notes := strings.Join(f.Notes, "\n")
	contains(t, notes, "vertical lines mark sessions with a note, a tag or a release (neurolens note, neurolens tag): ", " note: fan <b>·[2J broken; ", " release 2.0; ", " cooling=water")
}

// TestMarkedMany: of many the newest have lines, and a note counts all; what was said before the first session that is drawn is none of them.
func TestMarkedMany(t *testing.T) {
	runs := twelve()
	var said []ingest.Annotation
	for session := range 12 {
		said = append(said, saying(runs, session, ingest.Annotation{Kind: schema.EventNote, Value: fmt.Sprint(session, strings.Repeat(" long", 30))}))
	}
	db := annotated(t, runs, said...)
	f, _, err := maker.History(ctx, db, history.Request{Filter: "batch_size=1", Since: began.AddDate(0, 0, 2)})
	ok(t, err)
	var texts []string
	for _, g := range f.Guides {
		texts = append(texts, strings.TrimPrefix(g.Text, "note: ")[:2])
	}
	if got := strings.Join(texts, ""); got != "4 5 6 7 8 9 1011" {
		t.Error(got)
	}
	if notes := strings.Join(f.Notes, "\n"); !strings.Contains(notes, "the newest 8 of 10 notes, tags and releases") || !strings.Contains(notes, "note: 11 long") {
		t.Errorf("%q", f.Notes)
	}
	for _, note := range f.Notes {
		if len(note) > 300 {
			t.Errorf("%d characters: %s", len(note), note)
		}
	}
}
