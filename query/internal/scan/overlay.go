package scan

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
)

// overlay turns the rows of files into the runs that a store holds: a run that is in several files counts once, removed runs are left
// out, and tags and env_missing have the values that the last events about a run set. Reader.overlay builds it before the first scan,
// except the tables of tags and of lost rows, which Reader.applyEvents adds when a statement reads these columns. Sources.Scan and
// Sources.Nested apply it in SQL, applyOverlay does the same to rows that were read without DuckDB, and the views of package sql use the
// same expressions (TagsSQL, EnvMissingSQL).
type overlay struct {
	Tables      string       // prefix of the names of its tables: a schema with its dot, or a text for temporary tables of the connection
	TagsSQL     string       // name of an SQL function of run_id to use instead of tags; empty: tags are read
	duplicates  map[int]bool // stores with sealed runs that an earlier store has too, which the table doubles lists
	removed     string       // SQL after a subquery that leaves out removed runs; empty: there are none
	removedLive int          // number of live runs that were removed
	tagJoin     string       // SQL that joins the changes of tags; empty: there are none
	tagKeys     []string     // the only tags whose changes are joined; nil: all, or no table was made
	lost        bool         // the table lost_rows has the runs that lost samples or ops
}

// EnvMissingSQL is the SQL of env_missing plus the samples or ops that the run has lost, from the table lost_rows.
const EnvMissingSQL = `CASE WHEN lost IS NULL THEN env_missing ELSE map_concat(coalesce(env_missing, MAP {}), lost) END`

// TagsSQL is the SQL of tags as changed by events, from the table tag_changes.
const TagsSQL = `CASE WHEN tags_set IS NULL OR tags IS NULL AND cardinality(tags_set) = 0 THEN tags ELSE map_concat(map_from_entries(
	list_filter(map_entries(coalesce(tags, MAP {})), lambda e: NOT list_contains(tags_gone, e.key))), tags_set) END`

// changes returns the SQL of the columns that events change and the joins that it needs; empty if events change none of the columns.
func (o *overlay) changes(columns []*schema.Column) (replaced, joined string) {
	has := func(name string) bool {
		return slices.ContainsFunc(columns, func(c *schema.Column) bool { return c.Name == name })
	}
	var values []string
	if o.TagsSQL != "" && has(tags) {
		values = append(values, o.TagsSQL+"(run_id) AS tags")
	} else if o.tagJoin != "" && has(tags) {
		values = append(values, TagsSQL+" AS tags")
		joined += o.tagJoin
	}
	if o.lost && has("env_missing") {
		values = append(values, EnvMissingSQL+" AS env_missing")
		joined += " LEFT JOIN " + o.Tables + "lost_rows USING (run_id)"
	}
	return strings.Join(values, ", "), joined
}

// withoutDuplicates returns the SQL after a scan of sealed files of a store that leaves out the runs that an earlier store has.
func (o *overlay) withoutDuplicates(store int) string {
	if !o.duplicates[store] {
		return ""
	}
	return fmt.Sprintf(" ANTI JOIN (SELECT run_id FROM %sdoubles WHERE store = %d) USING (run_id)", o.Tables, store)
}

// Overlay builds the overlay before the first scan. It only opens files that may share a run according to their names.
func (r *Reader) Overlay(ctx context.Context) error {
	if err := r.dropSealedLive(ctx); err != nil {
		return err
	}
	if err := r.findDuplicates(ctx); err != nil {
		return err
	}
	return r.hideRemoved(ctx)
}

// dropSealedLive drops the live files of runs that are also in sealed files. That occurs while a claim is being sealed, and if one store
// has sealed a run and another has not.
func (r *Reader) dropSealedLive(ctx context.Context) error {
	s := r.Src
	if len(s.Live) == 0 || len(s.sealed) == 0 {
		return nil
	}
	ids := s.liveRuns()
	doubtful := s.Of(ids)
	if len(doubtful.sealed) == 0 {
		return nil
	}
	doubtful.Live, doubtful.Events = nil, IndexEvents(nil) // removed runs too
	t, err := (&Reader{r.Conn, doubtful}).rowsOf(ctx, ids, []*schema.Column{schema.RunColumn("run_id")})
	if err != nil {
		return err
	}
	sealed := make(map[any]bool, len(t.Rows))
	for _, row := range t.Rows {
		sealed[row[0]] = true
	}
	s.Live = slices.DeleteFunc(s.Live, func(f file) bool { return sealed[f.live.Run.String()] })
	s.RunsByName -= len(ids) - len(s.Live)
	return nil
}

// findDuplicates finds sealed runs that several stores have in files of different names, for example because a store was copied before the
// runs were sealed.
func (r *Reader) findDuplicates(ctx context.Context) error {
	s := r.Src
	s.duplicates = map[int]bool{}
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
	if err := r.table(ctx, "doubles", "AS "+strings.Join(selects, " UNION ALL ")); err != nil {
		return err
	}
	return r.Conn.Query(ctx, duck.Statement{SQL: "SELECT store, count(*) FROM " + s.Tables + "doubles GROUP BY store"}, func(row []driver.Value) error {
		store, _ := row[0].(int32)
		n, _ := row[1].(int64)
		s.duplicates[int(store)] = true
		s.RunsByName -= int(n)
		return nil
	})
}

// overlapping returns the files of a store, and the files of the stores before it, that may have a run in common.
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

// spansOf returns the periods in which files may have runs.
func spansOf(files []file) Spans {
	all := make([][2]int64, len(files))
	for i := range files {
		all[i][0], all[i][1] = files[i].span()
	}
	return NewSpans(all)
}

// Up to namedRemoved removed runs are named in each statement, so that DuckDB is not started for a table of them. Up to fewRemoved, a
// table takes less time than a function.
const (
	namedRemoved = 64
	fewRemoved   = 4096
)

// hideRemoved drops the live files of removed runs, and sets the SQL that leaves out the removed runs of sealed files.
func (r *Reader) hideRemoved(ctx context.Context) error {
	s := r.Src
	live := s.liveRuns()
	gone, err := s.Events.Removed.Among(live)
	if err != nil {
		return err
	}
	s.Live = slices.DeleteFunc(s.Live, func(f file) bool { return gone[f.live.Run] })
	s.removedLive = len(live) - len(s.Live)
	removed, err := s.Events.Removed.In(s.reach())
	if err != nil {
		return err
	}
	switch {
	case len(removed) == 0:
		s.removed = ""
	case len(removed) <= namedRemoved:
		s.removed = " ANTI JOIN (VALUES ('" + strings.Join(IDTexts(removed), "'), ('") + "')) AS removed(run_id) USING (run_id)"
	case len(removed) > fewRemoved:
		among, err := r.Conn.Among(ctx, removed)
		s.removed = " WHERE NOT " + among
		return err
	default:
		s.removed = " ANTI JOIN " + s.Tables + "removed USING (run_id)"
		return r.IDTable(ctx, "removed", []ChangedRuns{{Runs: removed}})
	}
	return nil
}

// liveRuns returns the ids of the live runs.
func (s *Sources) liveRuns() []schema.ULID {
	ids := make([]schema.ULID, len(s.Live))
	for i := range s.Live {
		ids[i] = s.Live[i].live.Run
	}
	return ids
}

// reach returns the range of the ids that the files may have.
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

// tags is the column that events about tags change.
const tags = "tags"

// ApplyEvents makes the tables that apply events to all columns of runs.
func (r *Reader) ApplyEvents(ctx context.Context) error {
	return r.applyEvents(ctx, schema.Runs.Columns)
}

// applyEvents makes the tables that apply events to columns.
func (r *Reader) applyEvents(ctx context.Context, columns []*schema.Column) error {
	for _, c := range columns {
		var err error
		switch {
		case c.Name == tags && r.Src.TagsSQL == "":
			err = r.changeTags(ctx, nil)
		case c.Name == "env_missing":
			err = r.changeLost(ctx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// applyEventsFor is applyEvents for the columns that a condition reads. An event may have changed a tag of all runs, so it only makes the
// tables of the tags that conditions on these sources have read so far, unless those of all tags exist.
func (r *Reader) applyEventsFor(ctx context.Context, cond *filter.Condition) error {
	s := r.Src
	if len(cond.Tags) == 0 || slices.Contains(cond.Tags, "") || s.tagJoin != "" && s.tagKeys == nil {
		return r.applyEvents(ctx, cond.Columns)
	}
	keys := slices.Compact(slices.Sorted(slices.Values(slices.Concat(s.tagKeys, cond.Tags))))
	if len(keys) > len(s.tagKeys) {
		if err := r.changeTags(ctx, keys); err != nil {
			return err
		}
	}
	return r.applyEvents(ctx, slices.DeleteFunc(slices.Clone(cond.Columns), func(c *schema.Column) bool { return c.Name == tags }))
}

// changeLost makes the table of the runs that have lost samples or ops, if the sources may have such runs.
func (r *Reader) changeLost(ctx context.Context) error {
	s := r.Src
	type lostRow struct {
		RunID string            `json:"run_id"`
		Lost  map[string]string `json:"lost"` // by table: why
	}
	var rows []lostRow
	canHold := s.holding()
	for id, lost := range s.Events.Lost {
		if run, err := schema.ParseULID(id); err == nil && canHold(run) {
			rows = append(rows, lostRow{id, lost})
		}
	}
	if s.lost = len(rows) > 0; !s.lost {
		return nil
	}
	return r.tableOf(ctx, "lost_rows", rows, `{"run_id": "VARCHAR", "lost": "MAP(VARCHAR, VARCHAR)"}`)
}

// fewTagged is the number of runs up to which the changed tags are stored with each run.
const fewTagged = 4096

// tagChange is a row of the table tag_changes or, if there are many runs, of tag_groups.
type tagChange struct {
	RunID string            `json:"run_id"`
	Place int               `json:"place"` // of the group
	Set   map[string]string `json:"tags_set"`
	Gone  []string          `json:"tags_gone"`
}

// changeTags makes the table tag_changes of the runs whose tags were changed by events, if the sources may have such runs; keys nil: of
// all tags. With more than fewTagged runs, the table only has the group of each run, and tag_groups has the tags that all runs of a
// group share.
func (r *Reader) changeTags(ctx context.Context, keys []string) error {
	s := r.Src
	s.tagKeys, s.tagJoin = keys, ""
	if !s.Events.Tagged() {
		return nil
	}
	groups, err := s.Events.TagsIn(s.reach(), keys...)
	if err != nil {
		return err
	}
	changed, canHold := 0, s.holding()
	for i := range groups {
		groups[i].Runs = slices.DeleteFunc(groups[i].Runs, func(id schema.ULID) bool { return !canHold(id) })
		changed += len(groups[i].Runs)
	}
	if changed == 0 {
		return nil
	}
	prefix := ""
	if keys != nil { // a copy of the sources may read the table of all keys, or of fewer
		prefix = fmt.Sprintf("some%d_", len(keys))
	}
	name, shared := prefix+"tag_changes", changed > fewTagged
	s.tagJoin = " LEFT JOIN " + s.Tables + name + " USING (run_id)"
	if shared {
		if err := r.IDTable(ctx, name, groups); err != nil {
			return err
		}
		name = prefix + "tag_groups"
		s.tagJoin += " LEFT JOIN (SELECT place, tags_set, tags_gone FROM " + s.Tables + name + ") USING (place)"
	}
	var rows []tagChange
	for place, g := range groups {
		c := tagChange{Place: place, Set: g.Tags(), Gone: g.Untagged()}
		if shared {
			rows = append(rows, c)
			continue
		}
		for _, id := range g.Runs {
			c.RunID = id.String()
			rows = append(rows, c)
		}
	}
	return r.tableOf(ctx, name, rows, `{"run_id": "VARCHAR", "place": "BIGINT", "tags_set": "MAP(VARCHAR, VARCHAR)", "tags_gone": ["VARCHAR"]}`)
}

// table makes or replaces a table of the overlay. rest is the SQL after the name.
func (r *Reader) table(ctx context.Context, name, rest string, args ...any) error {
	create := "CREATE OR REPLACE TEMP TABLE "
	if strings.HasSuffix(r.Src.Tables, ".") {
		create = "CREATE OR REPLACE TABLE "
	}
	_, err := r.Conn.Exec(ctx, create+r.Src.Tables+name+" "+rest, args...)
	return err
}

// tableOf makes or replaces a table of rows, whose type is the structure that DuckDB's from_json takes.
func (r *Reader) tableOf(ctx context.Context, name string, rows any, structure string) error {
	text, err := json.Marshal(rows)
	if err != nil {
		return fmt.Errorf("making the table %s: %w", name, err)
	}
	return r.table(ctx, name, `AS SELECT unnest(from_json($1::JSON, '[`+structure+`]'), max_depth := 2)`, string(text))
}

// IDTable makes or replaces a table of the runs of groups: run_id, and in place the index of the group.
func (r *Reader) IDTable(ctx context.Context, name string, groups []ChangedRuns) error {
	if err := r.table(ctx, name, "(run_id VARCHAR, place BIGINT)"); err != nil {
		return err
	}
	const batch = 1 << 16 // a parameter is copied several times
	var ids, places []string
	insert := func() error {
		_, err := r.Conn.Exec(ctx, "INSERT INTO "+r.Src.Tables+name+" SELECT unnest(string_split($1::VARCHAR, ',')), unnest(string_split($2::VARCHAR, ','))::BIGINT",
			strings.Join(ids, ","), strings.Join(places, ","))
		ids, places = ids[:0], places[:0]
		return err
	}
	for i := range groups {
		place := strconv.Itoa(i)
		for _, id := range groups[i].Runs {
			if ids, places = append(ids, id.String()), append(places, place); len(ids) == batch {
				if err := insert(); err != nil {
					return err
				}
			}
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return insert()
}

// IDTexts returns ids as texts.
func IDTexts(ids []schema.ULID) []string {
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = id.String()
	}
	return all
}

// applyOverlay does in Go what the SQL of overlay does: it drops the rows of removed runs, and applies events to tags and env_missing.
func applyOverlay(t *answer.Table, events *EventIndex) error {
	byID := make(map[schema.ULID][][]any, len(t.Rows))
	for _, row := range t.Rows {
		id, err := idOf(t, row)
		if err != nil {
			return err
		}
		byID[id] = append(byID[id], row)
	}
	ids := slices.SortedFunc(maps.Keys(byID), schema.ULID.Compare)
	removed, err := events.Removed.Among(ids)
	if err != nil {
		return err
	}
	t.Rows = slices.DeleteFunc(t.Rows, func(row []any) bool {
		id, _ := idOf(t, row)
		return removed[id]
	})
	if at := t.Index("env_missing"); at >= 0 {
		for id, rows := range byID {
			changeEntries(rows, at, nil, events.Lost[id.String()])
		}
	}
	at := t.Index("tags")
	if at < 0 || len(ids) == 0 {
		return nil
	}
	groups, err := events.TagsIn(IDRange{First: ids[0], Last: ids[len(ids)-1]})
	for i := range groups {
		for _, id := range groups[i].Runs {
			changeEntries(byID[id], at, groups[i].Untagged(), groups[i].Tags())
		}
	}
	return err
}

// idOf returns the id of the run of a row.
func idOf(t *answer.Table, row []any) (schema.ULID, error) {
	text, _ := row[t.Index("run_id")].(string)
	id, err := schema.ParseULID(text)
	if err != nil {
		return schema.ULID{}, fmt.Errorf("run %q: %w", text, err)
	}
	return id, nil
}

// changeEntries takes entries of a map away and sets others, in a column of rows.
func changeEntries(rows [][]any, column int, gone []string, set map[string]string) {
	for _, row := range rows {
		old, _ := row[column].(map[string]any)
		if old == nil && len(set) == 0 {
			continue
		}
		entries := make(map[string]any, len(old)+len(set))
		maps.Copy(entries, old)
		for _, key := range gone {
			delete(entries, key)
		}
		for key, value := range set {
			entries[key] = value
		}
		row[column] = entries
	}
}
