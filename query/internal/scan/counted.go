package scan

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
)

// counted finds the ids of the runs of earlier sessions that a session counts as its own, without repetition. It remarks if the session
// continues another one and does not name such runs: it was stored by an older version, or the run that names them was removed. It also
// remarks how many of them are no longer there.
func (r *Reader) counted(ctx context.Context, session string) ([]string, error) {
	if known, ok := r.Src.counted[session]; ok { // both sides of a comparison may ask
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
	if r.Src.counted == nil {
		r.Src.counted = map[string][]string{}
	}
	r.Src.counted[session] = ids
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

// shortened is the end of an id, which is shown.
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
