package query

import (
	"cmp"
	"context"
	"database/sql/driver"
	"slices"
	"time"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// releaseTag is the tag whose value names a release.
const releaseTag = "release"

// AnnotationKind is the kind of an annotation.
type AnnotationKind string

// The kinds.
const (
	Release AnnotationKind = "release" // Text is its name
	Tag     AnnotationKind = "tag"     // Key is its key, Text its value
	Note    AnnotationKind = "note"    // Text is the note
)

// Annotation is an annotation of runs of a session that no run of the session before has.
type Annotation struct {
	SessionID string
	At        time.Time // start of the first matching run of the session
	Runs      int       // number of matching runs of the session that have it
	saying
}

// saying is the content of an annotation.
type saying struct {
	Kind      AnnotationKind
	Key, Text string
}

// session is a session with its annotations.
type session struct {
	id   string
	at   time.Time
	said map[saying]int // number of runs per annotation
}

// Annotations lists the annotations of the sessions of the runs that match a filter, oldest session first; within a session releases first,
// then tags, then notes. Runs without a session are left out.
func Annotations(ctx context.Context, db *DB, filter string) ([]Annotation, error) {
	var all []session
	err := db.Stores().Query(ctx, func(r *scan.Reader) (err error) {
		all, err = sessions(ctx, r, filter)
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b session) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.id, b.id)) })
	var begun []Annotation
	before := map[saying]int{}
	for _, s := range all {
		first := len(begun)
		for what, runs := range s.said {
			if before[what] == 0 {
				begun = append(begun, Annotation{SessionID: s.id, At: s.at, Runs: runs, saying: what})
			}
		}
		slices.SortFunc(begun[first:], func(a, b Annotation) int {
			return cmp.Or(a.Kind.rank()-b.Kind.rank(), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Text, b.Text))
		})
		before = s.said
	}
	return begun, nil
}

// rank orders kinds.
func (k AnnotationKind) rank() int { return slices.Index([]AnnotationKind{Release, Tag, Note}, k) }

// sessions reads the sessions of the matching runs with their annotations.
func sessions(ctx context.Context, r *scan.Reader, filter string) ([]session, error) {
	if err := r.ApplyEvents(ctx); err != nil { // so that tags include the changes by events
		return nil, err
	}
	sel, err := r.Selected(ctx, scan.Question{Filter: filter})
	if err != nil {
		return nil, err
	}
	columns, err := scan.RunColumns([]string{"run_id", "session_id", "started_at", "tags"})
	if err != nil {
		return nil, err
	}
	groups, sayings, err := annotated(r.Src.Events)
	if err != nil {
		return nil, err
	}
	if err := r.IDTable(ctx, "annotated", groups); err != nil {
		return nil, err
	}
	text := `WITH chosen AS MATERIALIZED (SELECT run_id, session_id, started_at, tags['` + releaseTag + `'] AS release FROM ` +
		sel.Src.Scan(scan.WithColumns(columns, sel.Columns), sel.RestrictedTo("session_id IS NOT NULL")) + `),
	said AS (SELECT session_id, place, NULL AS release, count(*) AS n FROM chosen JOIN ` + r.Src.Tables + `annotated USING (run_id) GROUP BY session_id, place
		UNION ALL SELECT session_id, NULL, release, count(*) FROM chosen WHERE release IS NOT NULL GROUP BY session_id, release)
SELECT session_id, epoch_us(began), place, release, n FROM (SELECT session_id, min(started_at) AS began FROM chosen GROUP BY session_id) LEFT JOIN said USING (session_id)
ORDER BY session_id`
	var all []session
	err = r.Conn.Query(ctx, duck.Statement{SQL: text, Args: sel.Args}, func(row []driver.Value) error {
		id := duck.Text(row[0])
		if len(all) == 0 || all[len(all)-1].id != id {
			all = append(all, session{id: id, at: startOf(row[1], id), said: map[saying]int{}})
		}
		n := int(duck.Integer(row[4]))
		switch place, of := row[2].(int64); {
		case of:
			for _, what := range sayings[place] {
				all[len(all)-1].said[what] += n
			}
		case row[3] != nil:
			all[len(all)-1].said[saying{Kind: Release, Text: duck.Text(row[3])}] = n
		}
		return nil
	})
	return all, err
}

// startOf returns the start of a session: the start of its first run or, if unknown, the time in its id.
func startOf(began driver.Value, id string) time.Time {
	if us, known := began.(int64); known {
		return time.UnixMicro(us).UTC()
	}
	if made, err := schema.ParseULID(id); err == nil {
		return made.Time()
	}
	return time.Time{}
}

// annotated groups the runs of events by their tags and notes: the annotations of each group. Releases are left out, because they
// are read from the tags.
func annotated(all *scan.EventIndex) (groups []scan.ChangedRuns, of [][]saying, err error) {
	tags, err := all.TagsIn(scan.AllIDs())
	if err != nil {
		return nil, nil, err
	}
	notes, err := all.NotesIn(scan.AllIDs())
	if err != nil {
		return nil, nil, err
	}
	for _, g := range tags {
		var says []saying
		for key, value := range g.Tags() {
			if key != releaseTag {
				says = append(says, saying{Tag, key, value})
			}
		}
		groups, of = append(groups, g), append(of, says)
	}
	for _, g := range notes {
		var says []saying
		for _, note := range g.Notes() {
			if what := (saying{Kind: Note, Text: note.Text}); !slices.Contains(says, what) {
				says = append(says, what)
			}
		}
		groups, of = append(groups, g), append(of, says)
	}
	return groups, of, nil
}
