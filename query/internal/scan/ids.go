package scan

import (
	"context"
	"database/sql/driver"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
)

// ids finds the ids for a value of a key. For run= and session= the value is a whole id, or a unique prefix or suffix of it in upper or
// lower case; no match is not an error. A baseline has to exist.
func (r *Reader) ids(ctx context.Context, key, value string) ([]string, error) {
	switch key {
	case filter.KeyRun:
		return r.RunsLike(ctx, value)
	case filter.KeyBaseline:
		runs, ok := r.Src.Events.Baselines[value]
		if !ok {
			return nil, answer.InputError("there is no baseline %q%s", answer.Brief(value), nearestBaseline(value, r.Src.Events.Baselines))
		}
		return runs, nil
	}
	if key == filter.KeyCommit {
		return r.commitsLike(ctx, strings.ToLower(value))
	}
	if back, ok := filter.LastButN(value); ok {
		return r.sessionFromLast(ctx, back)
	}
	return r.like(ctx, likeness{what: "sessions", column: "session_id", text: value})
}

func nearestBaseline(name string, baselines map[string][]string) string {
	if near := schema.Nearest(name, slices.Sorted(maps.Keys(baselines))); near != "" {
		return fmt.Sprintf("; did you mean %s?", near)
	}
	return ": neurolens bless makes one"
}

// sessionFromLast returns the id of the session that has back newer ones.
func (r *Reader) sessionFromLast(ctx context.Context, back int) ([]string, error) {
	if len(r.Src.lastSessions) <= back { // both sides of a comparison may ask
		var err error
		if r.Src.lastSessions, err = r.newestSessions(ctx, back+1, FirstStep); err == nil && len(r.Src.lastSessions) == 0 && back == 0 {
			r.Src.lastSessions, err = r.onlySession(ctx)
		}
		if err != nil || len(r.Src.lastSessions) <= back {
			return nil, err
		}
	}
	id := r.Src.lastSessions[back]
	if same := tied(r.Src.lastSessions, id); len(same) > 1 {
		ordered, err := r.byStart(ctx, same)
		if err != nil {
			return nil, err
		}
		if len(ordered) == 0 {
			began := time.UnixMilli(timeOf(id)).UTC().Format(time.RFC3339)
			return nil, answer.InputError("%d sessions began at the same time (%s) and have no order: %s; select one with session=ID", len(same), began, someOf(same))
		}
		id = ordered[slices.Index(same, id)]
	}
	if began := time.UnixMilli(timeOf(id)); r.Conn.Remark != nil && time.Until(began) > clockSkew {
		r.Conn.Remark(fmt.Sprintf("session %s starts in the future (%s) and counts as session=last until then; select another with session=ID",
			id[len(id)-shortID:], began.UTC().Format(time.RFC3339)))
	}
	return []string{id}, nil
}

// byStart orders sessions whose ids have the same time by the starts of their first runs, newest first. The order is empty if some of these
// starts are equal or unknown.
func (r *Reader) byStart(ctx context.Context, sessions []string) ([]string, error) {
	quoted := make([]string, len(sessions))
	for i, id := range sessions {
		quoted[i] = duck.Literal(id)
	}
	columns := []*schema.Column{schema.RunColumn("session_id"), schema.RunColumn("started_at")}
	return r.texts(ctx, duck.Statement{SQL: fmt.Sprintf("SELECT session_id FROM (SELECT session_id, min(started_at) AS began FROM %s GROUP BY session_id) "+
		"QUALIFY count(DISTINCT began) OVER () = %d ORDER BY began DESC", r.Src.Scan(columns, "session_id IN ("+strings.Join(quoted, ", ")+")"), len(sessions))})
}

// tied returns the sessions that began in the same millisecond as one of them: the time in an id has no smaller unit.
func tied(sessions []string, as string) []string {
	return slices.DeleteFunc(slices.Clone(sessions), func(id string) bool { return timeOf(id) != timeOf(as) })
}

// onlySession returns the id of the only session, which is the last one even without a start, or nothing if there are several.
func (r *Reader) onlySession(ctx context.Context) ([]string, error) {
	ids, err := r.texts(ctx, duck.Statement{SQL: fmt.Sprintf("SELECT DISTINCT session_id FROM %s WHERE session_id IS NOT NULL LIMIT 2",
		r.Src.Scan([]*schema.Column{schema.RunColumn("session_id")}, ""))})
	if len(ids) != 1 {
		return nil, err
	}
	return ids, err
}

// newestSessions returns the ids of the newest n sessions, and of the sessions that began at the same time as the last of them, newest
// first; all if there are fewer. Sessions without a start are left out, because their ids are not ordered by time. About step runs are
// read first.
func (r *Reader) newestSessions(ctx context.Context, n, step int) (ids []string, err error) {
	if all, ok, err := r.directTexts("session_id", func(id string) bool { return id >= firstID(schema.FirstDated) }); ok || err != nil {
		for n < len(all) && timeOf(all[n]) == timeOf(all[n-1]) {
			n++
		}
		return all[:min(n, len(all))], err
	}
	// All files are searched for sessions since a time, and DuckDB skips row groups that have none by their statistics. So it does not
	// matter whether a session has runs of that time.
	err = r.Src.FromNewest(Period{}, step, func(b Period) (bool, error) {
		where := "session_id >= '" + firstID(max(b.Since, schema.FirstDated)) + "'"
		ids, err = r.texts(ctx, duck.Statement{SQL: fmt.Sprintf("SELECT session_id FROM (SELECT DISTINCT session_id FROM %s) "+
			"QUALIFY rank() OVER (ORDER BY left(session_id, 10) DESC) <= %d ORDER BY session_id DESC", // 10 characters are the time
			r.Src.Scan([]*schema.Column{schema.RunColumn("session_id")}, where), n)})
		return len(ids) >= n, err
	})
	return ids, err
}

// clockSkew is the tolerated difference between the clocks of machines that share a store. shortID is the number of characters at the
// end of an id that are shown.
const (
	clockSkew = 10 * time.Minute
	shortID   = 8
)

// RunsLike finds a run by its id, or by a unique prefix or suffix of it. It returns at most one id; an ambiguous text is an error. Files
// are only opened if their names do not contain the ids.
func (r *Reader) RunsLike(ctx context.Context, text string) ([]string, error) {
	var known []string
	sealed := *r.Src
	sealed.Live = nil
	if id, err := schema.ParseULID(strings.ToUpper(text)); err == nil {
		of := r.Src.Of([]schema.ULID{id})
		sealed.Read, sealed.sealed = of.Read, of.sealed
	}
	for _, f := range r.Src.Live {
		known = append(known, f.live.Run.String())
	}
	return (&Reader{r.Conn, &sealed}).like(ctx, likeness{"runs", "run_id", text, known})
}

// likeness is a search for an id by a part of it.
type likeness struct {
	what, column string
	text         string
	known        []string // ids to search, in addition to those in the column
}

// like finds the id that equals, begins with or ends with a text, in upper or lower case. It returns at most one; if there are
// several, the error lists them.
func (r *Reader) like(ctx context.Context, l likeness) ([]string, error) {
	text := strings.ToUpper(l.text)
	if text == "" {
		return nil, nil
	}
	is := func(id string) bool { return strings.HasPrefix(id, text) || strings.HasSuffix(id, text) }
	ids := slices.DeleteFunc(l.known, func(id string) bool { return !is(id) })
	more, ok, err := r.directTexts(l.column, is)
	if !ok && err == nil {
		more, err = r.alike(ctx, l.column, text)
	}
	ids = append(ids, more...)
	switch {
	case err != nil:
		return nil, err
	case slices.Contains(ids, text):
		return []string{text}, nil
	case len(ids) > 1:
		return nil, ambiguous(l.what, l.text, ids)
	}
	return ids, nil
}

// alike returns the ids in a column that equal, begin with or end with a text, or enough of them for an error.
func (r *Reader) alike(ctx context.Context, column, text string) ([]string, error) {
	x := duck.Identifier(column)
	is := fmt.Sprintf("(starts_with(%s, $1::VARCHAR) OR ends_with(%s, $1::VARCHAR))", x, x)
	if _, err := schema.ParseULID(text); err == nil { // a whole id: DuckDB can skip files by their statistics
		is = x + " = $1::VARCHAR"
	}
	return r.texts(ctx, duck.Statement{SQL: fmt.Sprintf("SELECT DISTINCT x FROM (SELECT %s AS x FROM %s) ORDER BY x = $1::VARCHAR DESC, x DESC LIMIT 1000", x,
		r.Src.Scan([]*schema.Column{schema.RunColumn(column)}, is)), Args: []any{text}})
}

// texts returns the texts that a statement selects, without NULL.
func (r *Reader) texts(ctx context.Context, q duck.Statement) (texts []string, err error) {
	err = r.Conn.Query(ctx, q, func(row []driver.Value) error {
		if text, some := row[0].(string); some {
			texts = append(texts, text)
		}
		return nil
	})
	return texts, err
}

// commitsLike finds the commit that equals or begins with a text. It returns at most one; if there are several, the error lists them.
func (r *Reader) commitsLike(ctx context.Context, text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	commits, ok, err := r.directTexts("git_commit", func(commit string) bool { return strings.HasPrefix(commit, text) })
	if !ok && err == nil {
		column := []*schema.Column{schema.RunColumn("git_commit")}
		commits, err = r.texts(ctx, duck.Statement{
			SQL:  "SELECT DISTINCT git_commit FROM " + r.Src.Scan(column, "starts_with(git_commit, $1::VARCHAR)") + " ORDER BY git_commit DESC",
			Args: []any{text},
		})
	}
	switch {
	case err != nil:
		return nil, err
	case slices.Contains(commits, text):
		return []string{text}, nil
	case len(commits) > 1:
		return nil, ambiguous("commits", text, commits)
	}
	return commits, nil
}

func ambiguous(what, text string, ids []string) error {
	return answer.InputError("%s is ambiguous, %d %s have an id that begins or ends with it: %s", answer.Brief(text), len(ids), what, someOf(ids))
}

// someOf returns the first of some ids.
func someOf(ids []string) string {
	const shown = 3
	more := ""
	if len(ids) > shown {
		more = " ..."
	}
	return strings.Join(ids[:min(shown, len(ids))], " ") + more
}

// Removed reports whether a run was removed whose id begins or ends with a text, in upper or lower case.
func (s *Sources) Removed(text string) (bool, error) {
	text = strings.ToUpper(text)
	removed, err := s.Events.Removed.In(AllIDs())
	return text != "" && slices.ContainsFunc(removed, func(id schema.ULID) bool {
		whole := id.String()
		return strings.HasPrefix(whole, text) || strings.HasSuffix(whole, text)
	}), err
}

// counted finds the ids of the runs of earlier sessions that a session counts as its own, without repetition. It remarks if the session
// continues another one and does not name such runs: it was stored by an older version, or the run that names them was removed. It also
// remarks how many of them are no longer there.
func (r *Reader) counted(ctx context.Context, session string) ([]string, error) {
	if known, ok := r.Src.resumedRuns[session]; ok { // both sides of a comparison may ask
		return known, nil
	}
	own, resumes, err := r.resuming(ctx, session)
	if err != nil {
		return nil, err
	}
	var ids []string
	var named []schema.ULID
	if len(own) > 0 {
		q, err := r.Some(ctx, own, []*schema.Column{schema.RunColumn("run_id"), schema.RunColumn("env")})
		if err != nil {
			return nil, err
		}
		q.SQL = "SELECT env['" + schema.FactCounted + "'] AS runs FROM (" + q.SQL + ") WHERE runs IS NOT NULL ORDER BY runs"
		lists, err := r.texts(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, id := range strings.Fields(strings.Join(lists, " ")) {
			if run, err := schema.ParseULID(id); err == nil {
				named = append(named, run)
			}
		}
		slices.SortFunc(named, CompareIDs)
		named = slices.Compact(named)
		ids = IDTexts(named)
		if err := r.missing(ctx, session, named); err != nil {
			return nil, err
		}
		if len(ids) == 0 && r.Conn.Remark != nil {
			r.Conn.Remark(fmt.Sprintf("session %s continues session %s, and which of its runs it counts is not stored: session=%[1]s,%[2]s selects all runs of both",
				shortened(session), shortened(resumes)))
		}
	}
	if r.Src.resumedRuns == nil {
		r.Src.resumedRuns = map[string][]string{}
	}
	r.Src.resumedRuns[session] = ids
	return ids, nil
}

// missing remarks how many of the runs that a session counts are no longer there.
func (r *Reader) missing(ctx context.Context, session string, counted []schema.ULID) error {
	if len(counted) == 0 || r.Conn.Remark == nil {
		return nil
	}
	of := r.Src.Of(counted)
	of.removed = r.Src.removed // some may have been removed
	q := of.scanSome(counted, []*schema.Column{schema.RunColumn("run_id")})
	q.SQL = "SELECT DISTINCT run_id FROM (" + q.SQL + ")"
	there, err := r.texts(ctx, q)
	if gone := len(counted) - len(there); gone > 0 && err == nil {
		r.Conn.Remark(fmt.Sprintf("of the runs of earlier sessions that session %s counts, %d of %d were removed", shortened(session), gone, len(counted)))
	}
	return err
}

// shortened returns the end of an id, the part that is shown.
func shortened(id string) string { return id[max(len(id)-shortID, 0):] }

// resuming finds the runs of a session that continues another one, and that other session; nothing if it continues none.
func (r *Reader) resuming(ctx context.Context, session string) (ids []schema.ULID, resumes string, err error) {
	columns := WithRunID([]*schema.Column{schema.RunColumn("session_id"), schema.RunColumn("resumes")})
	t, ok, err := r.Src.direct(nil, columns)
	if !ok && err == nil {
		t, err = r.Conn.Table(ctx, duck.Statement{SQL: "SELECT * FROM " + r.Src.Scan(columns, "session_id = "+duck.Literal(session)+" AND resumes IS NOT NULL")})
	}
	for _, row := range t.Rows {
		of, _ := row[t.Index("session_id")].(string)
		other, _ := row[t.Index("resumes")].(string)
		if err != nil || of != session || other == "" {
			continue
		}
		ids, err = AppendID(ids, row[t.Index("run_id")])
		resumes = other
	}
	return ids, resumes, err
}
