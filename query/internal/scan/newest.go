package scan

import (
	"cmp"
	"context"
	"database/sql/driver"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
)

// listNewest lists the files of the only store that may have its newest n runs. With count, it lists all files if their names do not
// determine the number of runs.
func (s *Stores) listNewest(n int, count bool) (*Sources, error) {
	st := s.dirs[0]
	l, events, err := listScoped(schema.Dir(st.path), n)
	if err != nil {
		return nil, answer.StoreError(st.dir, err)
	}
	mayLack := MayLackRemoved(events, st.created)
	if !(count && mayLack) && len(l.Sealed) > fewFiles { // many of the newest runs are removed, or their files are small: packs have them in fewer files
		src, err := s.list(time.UnixMilli(oldest(l)))
		if err != nil || !count || !src.MayLack {
			return src, err
		}
		mayLack = true
	}
	if count && mayLack {
		return s.list(time.Time{})
	}
	src := &Sources{Stores: s.dirs, footers: newFooterChecks(), contents: newContents()}
	src.add(0, l)
	src.Read = src.sealed
	src.annotate(events)
	return src, nil
}

// NameCount is the number of runs of a store according to the names of its files.
type NameCount struct {
	Runs int  // including removed runs
	Sure bool // no run can be in two files, so that Runs is exact
	Err  error
}

// CountNames counts the runs of the only store by file names, in the background. The returned function waits for the result.
func (s *Stores) CountNames() func() NameCount {
	st := s.dirs[0]
	counted := make(chan NameCount, 1)
	go func() {
		l, err := schema.List(schema.Dir(st.path), schema.Scope{})
		if err != nil {
			counted <- NameCount{Err: answer.StoreError(st.dir, err)}
			return
		}
		var src Sources
		src.add(0, l)
		src.annotate(nil)
		counted <- NameCount{Runs: src.RunsByName, Sure: !src.doubtful()}
	}()
	return sync.OnceValue(func() NameCount { return <-counted })
}

// doubtful reports whether a live run may be in a sealed file too.
func (s *Sources) doubtful() bool {
	if len(s.Live) == 0 {
		return false
	}
	sealed := spansOf(s.sealed)
	return slices.ContainsFunc(s.Live, func(f file) bool { return !sealed.Miss(f.span()) })
}

// listScoped lists the files that may have the newest n runs that are not removed, and reads the events.
func listScoped(dir fs.FS, n int) (*schema.Listing, []Event, error) {
	for wanted := n; ; {
		l, err := schema.List(dir, schema.Scope{Newest: wanted})
		if err != nil {
			return nil, nil, err
		}
		events, err := ReadEvents(dir, l.Events)
		if err != nil || len(l.Sealed) == 0 {
			return l, events, err
		}
		removed, err := IndexEvents(events).Removed.CountSince(FirstID(oldest(l)))
		if err != nil || n+removed <= wanted {
			return l, events, err
		}
		wanted = max(n+removed, 2*wanted) // or each listing would only find the next few of very many removed runs
	}
}

// oldest returns the time of the first run of the sealed files of a listing, which must have at least one, in Unix milliseconds.
func oldest(l *schema.Listing) int64 {
	return slices.MinFunc(l.Sealed, func(a, b schema.SealedFile) int { return cmp.Compare(a.First, b.First) }).First
}

// timeOf returns the time in a run's id, in Unix milliseconds.
func timeOf(id string) int64 {
	run, err := schema.ParseULID(id)
	if err != nil {
		return 0
	}
	return run.Time().UnixMilli()
}

// newestIDs finds the newest n runs, or all if n is 0. Total is computed from file names: see Sources.MayLack.
func (r *Reader) newestIDs(ctx context.Context, n int) (Chosen, error) {
	s := r.Src
	narrow, found, whole, err := s.sinceSome(n)
	if err != nil {
		return Chosen{}, err
	}
	for _, f := range narrow.Live {
		found.IDs = append(found.IDs, f.live.Run)
	}
	if len(narrow.Read) > 0 {
		narrow.Live = nil
		ids, err := r.ListIDs(ctx, duck.Statement{SQL: "SELECT run_id FROM " + narrow.Scan([]*schema.Column{schema.RunColumn("run_id")}, "")})
		if err != nil {
			return Chosen{}, err
		}
		found.IDs = append(found.IDs, ids...)
	}
	if found.keep(n); len(found.IDs) == n || whole {
		return found, nil
	}
	if found, err = r.newestIDs(ctx, 0); err == nil { // several stores have the same runs
		found.keep(n)
	}
	return found, err
}

// Count returns the number of runs where events may remove runs that are in no file: that by names, less the removed runs that the files
// have.
func (r *Reader) Count(ctx context.Context) (int, error) {
	s := r.Src
	all := s.RunsByName - s.removedLive
	removed, err := s.Events.Removed.In(s.reach())
	if err != nil || len(removed) == 0 {
		return all, err
	}
	within := s.Of(removed)
	within.Live = nil
	q := duck.Statement{SQL: "SELECT count(*) FROM " + within.Scan([]*schema.Column{schema.RunColumn("run_id")}, "") +
		" SEMI JOIN (SELECT unnest($1::VARCHAR[]) AS run_id) USING (run_id)", Args: []any{IDTexts(removed)}}
	err = r.Conn.Query(ctx, q, func(row []driver.Value) error {
		n, _ := row[0].(int64)
		all -= int(n)
		return nil
	})
	return all, err
}

// sinceSome narrows the sources to the files that may have the newest n runs (0: all), and counts all runs. If whole is false, the files
// may have fewer than n, and the caller has to read all files.
func (s *Sources) sinceSome(n int) (narrow *Sources, found Chosen, whole bool, err error) {
	removed, err := s.Events.Removed.Count()
	found.Total = s.RunsByName - removed
	if err != nil || n == 0 {
		copied := *s
		return &copied, found, true, err
	}
	since, err := s.sinceNewest(n)
	copied := *s.Within(Period{Since: since})
	if len(copied.sealed) <= fewFiles {
		copied.Read = copied.sealed
	}
	return &copied, found, since == 0, err
}

// keep sorts the ids, removes repetitions and keeps the newest n.
func (c *Chosen) keep(n int) {
	slices.SortFunc(c.IDs, func(a, b schema.ULID) int { return CompareIDs(b, a) })
	c.IDs = slices.Compact(c.IDs)
	if n == 0 || len(c.IDs) < n {
		c.Total = len(c.IDs)
		return
	}
	c.IDs = c.IDs[:n]
}

// NewestRows is newestIDs plus the rows of these runs, if they are in so few files that they can be read completely. Then the files need
// not be opened twice.
func (r *Reader) NewestRows(ctx context.Context, n int, columns []*schema.Column) (Chosen, *answer.Table, error) {
	narrow, found, whole, err := r.Src.sinceSome(n)
	if err != nil {
		return Chosen{}, nil, err
	}
	if n == 0 || narrow.Runs() > PageRows {
		found, err = r.newestIDs(ctx, n)
		return found, nil, err
	}
	read := WithRunID(columns)
	t, err := (&Reader{r.Conn, narrow}).rowsOf(ctx, nil, read)
	if err != nil {
		return Chosen{}, nil, err
	}
	for _, row := range t.Rows {
		if found.IDs, err = AppendID(found.IDs, row[t.Index("run_id")]); err != nil {
			return Chosen{}, nil, err
		}
	}
	if found.keep(n); len(found.IDs) < n && !whole {
		found, err = r.newestIDs(ctx, n)
		return found, nil, err
	}
	t, err = ArrangeRows(&t, found.IDs, columns)
	return found, &t, err
}

// fewFiles is the number of files up to which packs do not help.
const fewFiles = 64

// sinceNewest returns a time since which there are at least n runs that are not removed; 0: there are fewer.
func (s *Sources) sinceNewest(n int) (int64, error) {
	var all []*file
	for _, files := range [][]file{s.Live, s.sealed} {
		for i := range files {
			all = append(all, &files[i])
		}
	}
	slices.SortFunc(all, func(a, b *file) int {
		x, _ := a.span()
		y, _ := b.span()
		return cmp.Compare(y, x)
	})
	runs := 0
	for _, f := range all {
		runs += max(f.sealed.Rows, 1)
		if runs < n {
			continue
		}
		first, _ := f.span()
		removed, err := s.Events.Removed.CountSince(FirstID(first))
		if err != nil || runs-removed >= n {
			return first, err
		}
	}
	return 0, nil
}

// Choose finds the first matching runs of a selection in its order, at most limit (0: all). It always counts all matching runs if count is
// set, if there is an order or no limit, and if it reads all runs anyway.
func (r *Reader) Choose(ctx context.Context, sel Selection, limit int, count bool) (Chosen, error) {
	found, ok, err := r.withoutDuckDB(ctx, sel, limit)
	switch {
	case ok || err != nil:
		return found, err
	case len(sel.Order) > 0 || limit == 0 || limit > PageRows:
		return r.Sorted(ctx, sel, limit)
	case count || len(sel.NotNumbers) > 0 || r.Src.Runs() < manyRuns:
		return r.newestCounted(ctx, sel, limit)
	}
	if found.IDs, err = r.newestAmong(ctx, sel, limit, manyRuns); err == nil && len(found.IDs) == 0 {
		err = r.ExplainEmpty(ctx, sel)
	}
	return found, err
}

// manyRuns is the minimum number of runs for which reading all their ids takes longer than a second query for a part of them.
const manyRuns = 50_000

// newestCounted finds the newest n matching runs, and counts all. If there are few runs, both are done in one query. If there are many,
// that query looks for the newest ones only if it reads the ids anyway.
func (r *Reader) newestCounted(ctx context.Context, sel Selection, n int) (Chosen, error) {
	conditions := []string{"true"} // of the aggregates
	if len(sel.NotNumbers) > 0 {   // the scan also returns rows that do not match
		conditions = []string{sel.Matches()}
	}
	results := []string{"count(*) FILTER (" + conditions[0] + ")"}
	for _, c := range sel.NotNumbers {
		results = append(results, "count(*) FILTER ("+c.SQL+")")
	}
	few, columns := sel.Src.Runs() < manyRuns, sel.Columns
	looks := few || sel.Src.removed != ""
	if !few {
		since, err := sel.Src.sinceNewest(manyRuns)
		if err != nil {
			return Chosen{}, err
		}
		conditions = append(conditions, "run_id >= "+duck.Literal(firstID(since)))
	}
	if looks {
		results = append(results, fmt.Sprintf("max(run_id, %d) FILTER (%s)", n, strings.Join(conditions, " AND ")))
	}
	if looks || len(columns) == 0 {
		columns = WithRunID(columns)
	}
	row, err := r.Conn.One(ctx, duck.Statement{SQL: "SELECT " + strings.Join(results, ", ") + " FROM " + sel.Src.Scan(columns, sel.where()), Args: sel.Args})
	if err != nil {
		return Chosen{}, err
	}
	found := sel.tally(row[0], row[1:])
	if found.Total == 0 {
		return found, r.ExplainEmpty(ctx, sel)
	}
	n = min(n, found.Total)
	if looks {
		found.IDs, err = idsOf(row[len(row)-1])
	}
	if err == nil && len(found.IDs) < n {
		found.IDs, err = r.newestAmong(ctx, sel, n, 4*max(n*sel.Src.Runs()/found.Total, 1000))
	}
	return found, err
}

// newestAmong finds the newest n matching runs, first among the newest look runs, then among more.
func (r *Reader) newestAmong(ctx context.Context, sel Selection, n, look int) ([]schema.ULID, error) {
	for all := sel.Src.Runs(); ; look *= 8 {
		since := int64(0)
		if look < all {
			var err error
			if since, err = sel.Src.sinceNewest(look); err != nil {
				return nil, err
			}
		}
		part := sel
		part.Restrict(Period{Since: since})
		part.Src = sel.Src.Within(Period{Since: since})
		text := fmt.Sprintf("SELECT max(run_id, %d) FROM %s", n, part.Src.Scan(WithRunID(sel.Columns), part.SQL))
		row, err := r.Conn.One(ctx, duck.Statement{SQL: text, Args: part.Args})
		if err != nil {
			return nil, err
		}
		ids, err := idsOf(row[0])
		if err != nil || since == 0 || len(ids) == n {
			return ids, err
		}
	}
}

// Runs returns the number of runs by file names, including removed ones.
func (s *Sources) Runs() int {
	n := len(s.Live)
	for i := range s.sealed {
		n += s.sealed[i].sealed.Rows
	}
	return n
}

// idsOf reads a list of ids.
func idsOf(list any) (ids []schema.ULID, err error) {
	texts, _ := list.([]any)
	for _, text := range texts {
		if ids, err = AppendID(ids, text); err != nil {
			return nil, err
		}
	}
	return slices.Compact(ids), nil
}

// Sorted finds and counts the matching runs, and lists the first ones in the order of the selection; limit 0: all. It makes the temporary
// table found with the columns run_id, matches, and the values of the sort keys.
func (r *Reader) Sorted(ctx context.Context, sel Selection, limit int) (Chosen, error) {
	results := []string{"run_id", sel.Matches() + " AS matches"}
	counts := []string{"count(*) FILTER (matches)"}
	for i, n := range sel.NotNumbers {
		results = append(results, fmt.Sprintf("%s AS not_number_%d", n.SQL, i))
		counts = append(counts, fmt.Sprintf("count(*) FILTER (not_number_%d)", i))
	}
	for i, k := range sel.Order {
		results = append(results, fmt.Sprintf("%s AS key_%d", k.Value, i))
		counts = append(counts, fmt.Sprintf("count(key_%d)", i))
	}
	text := "SELECT " + strings.Join(results, ", ") + " FROM " + sel.Src.Scan(WithRunID(sel.Columns), sel.where())
	if _, err := r.Conn.Exec(ctx, "CREATE OR REPLACE TEMP TABLE found AS "+text, sel.Args...); err != nil {
		return Chosen{}, err
	}
	row, err := r.Conn.One(ctx, duck.Statement{SQL: "SELECT " + strings.Join(counts, ", ") + " FROM found"})
	if err != nil {
		return Chosen{}, err
	}
	found := sel.tally(row[0], row[1:])
	switch keyed := row[1+len(sel.NotNumbers):]; {
	case found.Total == 0:
		err = r.ExplainEmpty(ctx, sel)
	case slices.Contains(keyed, driver.Value(int64(0))):
		err = r.Check(ctx, sel.PossibleTypos)
	}
	if err != nil {
		return found, err
	}
	list := "SELECT run_id FROM found WHERE matches ORDER BY " + sel.foundOrder()
	if limit > 0 {
		list += fmt.Sprintf(" LIMIT %d", limit)
	}
	found.IDs, err = r.ListIDs(ctx, duck.Statement{SQL: list})
	return found, err
}

// foundOrder returns the terms of ORDER BY for the table found.
func (s *Selection) foundOrder() string {
	var by []string
	for i, k := range s.Order {
		by = append(by, k.By(fmt.Sprintf("key_%d", i))...)
	}
	return strings.Join(append(by, "run_id DESC"), ", ")
}

// ListIDs reads a result of ids, and removes consecutive repetitions.
func (r *Reader) ListIDs(ctx context.Context, q duck.Statement) ([]schema.ULID, error) {
	var ids []schema.ULID
	var bad error
	err := r.Conn.Query(ctx, q, func(row []driver.Value) error {
		ids, bad = AppendID(ids, row[0])
		return bad
	})
	return slices.Compact(ids), err
}

// CountNotNumbers counts, per key, the values that < or > in a filter could not compare because they are not numbers.
func (r *Reader) CountNotNumbers(ctx context.Context, sel Selection) (map[string]int, error) {
	if len(sel.NotNumbers) == 0 {
		return nil, nil
	}
	counts := make([]string, len(sel.NotNumbers))
	for i, n := range sel.NotNumbers {
		counts[i] = "count(*) FILTER (" + n.SQL + ")"
	}
	var values string // not needed, but each argument has to be in the statement
	for _, k := range sel.Order {
		values += ", " + k.Value
	}
	runs := "(SELECT *" + values + " FROM " + sel.Src.Scan(sel.Columns, sel.where()) + ")"
	row, err := r.Conn.One(ctx, duck.Statement{SQL: "SELECT " + strings.Join(counts, ", ") + " FROM " + runs, Args: sel.Args})
	if err != nil {
		return nil, err
	}
	return sel.tally(nil, row).NotNumbers, nil
}
