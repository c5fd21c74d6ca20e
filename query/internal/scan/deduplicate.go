package scan

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
)

// Deduplicate makes sure that each run counts once. It drops live files whose run is sealed too, and makes a table of the sealed runs of
// a store that an earlier store has as well. It only opens files that may have a run in common according to their names. It also
// prepares that runs which events removed are left out.
func (r *Reader) Deduplicate(ctx context.Context) error {
	if err := r.dropSealedLive(ctx); err != nil {
		return err
	}
	if err := r.findDoubles(ctx); err != nil {
		return err
	}
	return r.hideRemoved(ctx)
}

// hideRemoved drops the live files of removed runs, and sets the SQL that leaves out those that sealed files may have.
func (r *Reader) hideRemoved(ctx context.Context) error {
	s := r.Src
	live := make([]schema.ULID, len(s.Live))
	for i, f := range s.Live {
		live[i] = f.live.Run
	}
	gone, err := s.Said.Removed.Among(live)
	if err != nil {
		return err
	}
	s.Live = slices.DeleteFunc(s.Live, func(f file) bool { return gone[f.live.Run] })
	s.hidden = len(live) - len(s.Live)
	removed, err := s.Said.Removed.In(s.reach())
	if err != nil {
		return err
	}
	switch {
	case len(removed) == 0:
		s.hides = ""
	case len(removed) <= namedRemoved: // no table, so that DuckDB is not started for it
		s.hides = " ANTI JOIN (VALUES ('" + strings.Join(IDTexts(removed), "'), ('") + "')) AS removed(run_id) USING (run_id)"
	case len(removed) > fewRemoved:
		among, err := r.Conn.Among(ctx, removed)
		s.hides = " WHERE NOT " + among
		return err
	default:
		s.hides = " ANTI JOIN " + s.Tables + "removed USING (run_id)"
		return r.IDTable(ctx, "removed", []ChangedRuns{{Runs: removed}})
	}
	return nil
}

// Up to namedRemoved removed runs are named in each statement. Up to fewRemoved, a table of them takes less time than a function.
const (
	namedRemoved = 64
	fewRemoved   = 4096
)

// reach is the ids that the files may have.
func (s *Sources) reach() IDRange {
	of := IDRange{First: AllIDs().Last}
	for _, files := range [][]file{s.Live, s.Read} {
		for i := range files {
			first, last := files[i].span()
			if from := FirstID(first); from.Compare(of.First) < 0 {
				of.First = from
			}
			if to := LastID(last); to.Compare(of.Last) > 0 {
				of.Last = to
			}
		}
	}
	return of
}

// tables makes tables for the question.
func (r *Reader) tables() EventTables { return EventTables{Conn: r.Conn, Prefix: r.Src.Tables} }

// IDTable makes a table of the runs of groups: run_id and place, that of the group in groups.
func (r *Reader) IDTable(ctx context.Context, name string, groups []ChangedRuns) error {
	return r.tables().IDs(ctx, name, groups)
}

// dropSealedLive drops the live files of runs that are also in sealed files. This happens while a claim is being sealed, and if one
// store has sealed a run and another has not.
func (r *Reader) dropSealedLive(ctx context.Context) error {
	s := r.Src
	if len(s.Live) == 0 || len(s.sealed) == 0 {
		return nil
	}
	ids := make([]schema.ULID, len(s.Live))
	for i, f := range s.Live {
		ids[i] = f.live.Run
	}
	doubtful := s.Of(ids)
	if len(doubtful.sealed) == 0 {
		return nil
	}
	doubtful.Live, doubtful.Said = nil, IndexEvents(nil) // removed runs too
	t, err := (&Reader{r.Conn, doubtful}).rowsOf(ctx, ids, []*schema.Column{schema.RunColumn("run_id")})
	if err != nil {
		return err
	}
	sealed := make(map[any]bool, len(t.Rows))
	for _, row := range t.Rows {
		sealed[row[0]] = true
	}
	s.Live = slices.DeleteFunc(s.Live, func(f file) bool { return sealed[f.live.Run.String()] })
	s.Counted -= len(ids) - len(s.Live)
	return nil
}

// IDTexts are ids as texts.
func IDTexts(ids []schema.ULID) []string {
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = id.String()
	}
	return all
}

// findDoubles finds sealed runs that several stores have in files with different names, for example because a store was copied before
// the runs were sealed.
func (r *Reader) findDoubles(ctx context.Context) error {
	s := r.Src
	s.doubled = map[int]bool{}
	var selects []string
	for store := 1; store < len(s.Stores); store++ {
		theirs, ours := overlapping(s.Read, store)
		if len(ours) == 0 {
			continue
		}
		column := []*schema.Column{schema.RunColumn("run_id")}
		earlier, later := s.scanSealed(column, theirs, ""), s.scanSealed(column, ours, "")
		selects = append(selects, fmt.Sprintf("SELECT %d AS store, run_id FROM (%s) SEMI JOIN (%s) USING (run_id)",
			store, strings.Join(later, " UNION ALL "), strings.Join(earlier, " UNION ALL ")))
	}
	if len(selects) == 0 {
		return nil
	}
	if err := r.tables().Table(ctx, "doubles", "AS "+strings.Join(selects, " UNION ALL ")); err != nil {
		return err
	}
	return r.Conn.Query(ctx, duck.Statement{SQL: "SELECT store, count(*) FROM " + s.Tables + "doubles GROUP BY store"}, func(row []driver.Value) error {
		store, _ := row[0].(int32)
		n, _ := row[1].(int64)
		s.doubled[int(store)] = true
		s.Counted -= int(n)
		return nil
	})
}

// overlapping are the files of a store, and those of the stores before it, that may have a run in common.
func overlapping(files []file, store int) (before, own []file) {
	var b, o []file
	for _, f := range files {
		switch {
		case f.store < store:
			b = append(b, f)
		case f.store == store:
			o = append(o, f)
		}
	}
	inBefore, inOwn := spansOf(b), spansOf(o)
	return slices.DeleteFunc(b, func(f file) bool { return inOwn.Miss(f.span()) }), slices.DeleteFunc(o, func(f file) bool { return inBefore.Miss(f.span()) })
}

// spansOf are the periods in which the files may have runs.
func spansOf(files []file) Spans {
	all := make([][2]int64, len(files))
	for i := range files {
		all[i][0], all[i][1] = files[i].span()
	}
	return NewSpans(all)
}

// changeOf makes the tables that are needed to apply events to columns.
func (r *Reader) changeOf(ctx context.Context, columns []*schema.Column) error {
	for _, c := range columns {
		var err error
		switch c.Name {
		case tags:
			err = r.changeTags(ctx, nil)
		case "env_missing":
			err = r.nameLost(ctx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tags is the column that events about tags change.
const tags = "tags"

// changeFor is changeOf for the columns that a condition reads. Of tags, which an event may have changed in all runs, it makes those alone
// that a condition on these sources has read so far, unless all were made before.
func (r *Reader) changeFor(ctx context.Context, cond *filter.Condition) error {
	s := r.Src
	if len(cond.Tags) == 0 || slices.Contains(cond.Tags, "") || s.joinTags != "" && s.tagKeys == nil {
		return r.changeOf(ctx, cond.Columns)
	}
	keys := slices.Compact(slices.Sorted(slices.Values(slices.Concat(s.tagKeys, cond.Tags))))
	if len(keys) > len(s.tagKeys) {
		if err := r.changeTags(ctx, keys); err != nil {
			return err
		}
	}
	return r.changeOf(ctx, slices.DeleteFunc(slices.Clone(cond.Columns), func(c *schema.Column) bool { return c.Name == tags }))
}

// ChangeAll makes the tables that are needed to apply events to all columns of runs.
func (r *Reader) ChangeAll(ctx context.Context) error { return r.changeOf(ctx, schema.Runs.Columns) }

// ChangeAllBut is ChangeAll without making the tables of tags: an SQL function of run_id stands in for tags.
func (r *Reader) ChangeAllBut(ctx context.Context, tags string) error {
	r.Src.noTags = tags
	return r.nameLost(ctx)
}

// nameLost makes the table of the runs that have lost samples or ops, if the sources may have such runs.
func (r *Reader) nameLost(ctx context.Context) error {
	s := r.Src
	if len(s.Said.Lost) == 0 {
		return nil
	}
	held, canHold := map[string]map[string]string{}, s.holding()
	for id, lost := range s.Said.Lost {
		if run, err := schema.ParseULID(id); err == nil && canHold(run) {
			held[id] = lost
		}
	}
	if s.lossy = len(held) > 0; !s.lossy {
		return nil
	}
	return r.tables().Lost(ctx, held)
}

// changeTags makes the tables of the tags that events changed, if the sources may have such runs; keys nil: of all tags. Only queries that
// read tags need them.
func (r *Reader) changeTags(ctx context.Context, keys []string) error {
	s := r.Src
	s.tagKeys = keys
	if !s.Said.Tagged() {
		return nil
	}
	groups, err := s.Said.TagsIn(s.reach(), keys...)
	if err != nil {
		return err
	}
	canHold := s.holding()
	for i := range groups {
		groups[i].Runs = slices.DeleteFunc(groups[i].Runs, func(id schema.ULID) bool { return !canHold(id) })
	}
	if s.tagged = slices.ContainsFunc(groups, func(g ChangedRuns) bool { return len(g.Runs) > 0 }); s.tagged {
		made := r.tables()
		if keys != nil { // a copy of the sources may read the table of all keys, or that of fewer
			made.Prefix += fmt.Sprintf("some%d_", len(keys))
		}
		s.joinTags, err = made.Tags(ctx, groups)
	}
	return err
}

// holding returns a function that reports whether a run may be in one of the files.
func (s *Sources) holding() func(run schema.ULID) bool {
	live := make(map[schema.ULID]bool, len(s.Live))
	for _, f := range s.Live {
		live[f.live.Run] = true
	}
	sealed := spansOf(s.Read)
	return func(run schema.ULID) bool {
		at := run.Time().UnixMilli()
		return live[run] || !sealed.Miss(at, at)
	}
}
