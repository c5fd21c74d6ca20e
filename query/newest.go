package query

import (
	"cmp"
	"context"
	"io/fs"
	"slices"
	"sync"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/fault"
	"github.com/neurolens/neurolens/schema"
)

// listNewest is list for a question about the newest n runs of the only store: it names no other files than those that
// can hold them.
func (db *DB) listNewest(n int) (*sources, error) {
	st := db.stores[0]
	l, events, err := listScoped(schema.Dir(st.path), n)
	if err != nil {
		return nil, fault.Store(st.dir, err)
	}
	s := &sources{stores: db.stores, footers: newFooterChecks()}
	s.add(0, l)
	s.read = s.sealed
	s.annotate(events)
	return s, nil
}

// nameCount is how many runs a store has by the names of its files.
type nameCount struct {
	runs int  // also those that are removed
	sure bool // no run can stand in two files
	err  error
}

// countNames counts the runs of the only store by names, while its caller does something else.
func (db *DB) countNames() func() nameCount {
	st := db.stores[0]
	counted := make(chan nameCount, 1)
	go func() {
		l, err := schema.List(schema.Dir(st.path), schema.Scope{})
		if err != nil {
			counted <- nameCount{err: fault.Store(st.dir, err)}
			return
		}
		var s sources
		s.add(0, l)
		s.annotate(nil)
		counted <- nameCount{runs: s.counted, sure: !s.doubtful()}
	}()
	return sync.OnceValue(func() nameCount { return <-counted })
}

// doubtful tells whether a live run can be in a sealed file too.
func (s *sources) doubtful() bool {
	if len(s.live) == 0 {
		return false
	}
	sealed := spansOf(s.sealed)
	return slices.ContainsFunc(s.live, func(f file) bool { return !sealed.miss(f) })
}

// listScoped lists a store for its newest n runs that are not removed, and reads its events.
func listScoped(dir fs.FS, n int) (*schema.Listing, []schema.Event, error) {
	for wanted := n; ; {
		l, err := schema.List(dir, schema.Scope{Newest: wanted})
		if err != nil {
			return nil, nil, err
		}
		events, err := readEvents(dir, l.Events)
		if err != nil || len(l.Sealed) == 0 {
			return l, events, err
		}
		oldest := slices.MinFunc(l.Sealed, func(a, b schema.SealedFile) int { return cmp.Compare(a.First, b.First) }).First
		needed := n
		for id := range schema.Annotate(events).Removed {
			if timeOf(id) >= oldest {
				needed++
			}
		}
		if needed <= wanted {
			return l, events, nil
		}
		wanted = needed
	}
}

// timeOf is the time in a run's id, in Unix milliseconds.
func timeOf(id string) int64 {
	run, err := schema.ParseULID(id)
	if err != nil {
		return 0
	}
	return run.Time().UnixMilli()
}

// newest finds the newest n runs, or all where n is 0, and counts all by the names of their files.
func (r *reader) newest(ctx context.Context, n int) (chosen, error) {
	s := r.src
	found := chosen{total: s.counted - len(s.said.Removed)}
	narrow := s.sinceSome(n)
	for _, f := range narrow.live {
		found.ids = append(found.ids, f.live.Run)
	}
	if len(narrow.read) > 0 {
		narrow.live = nil
		ids, err := r.listIDs(ctx, duck.Statement{SQL: "SELECT run_id FROM " + narrow.scan([]*schema.Column{schema.RunColumn("run_id")}, "")})
		if err != nil {
			return chosen{}, err
		}
		found.ids = append(found.ids, ids...)
	}
	found.keep(n)
	return found, nil
}

// sinceSome are the sources that hold the newest n runs; 0 is all of them. They are a copy, also where they are all.
func (s *sources) sinceSome(n int) *sources {
	narrow := *s
	if n == 0 {
		return &narrow
	}
	narrow = *s.within(bounds{since: s.sinceNewest(n)})
	if len(narrow.sealed) <= fewFiles {
		narrow.read = narrow.sealed
	}
	return &narrow
}

// keep orders the ids and keeps the newest n of them, each once.
func (c *chosen) keep(n int) {
	slices.SortFunc(c.ids, func(a, b schema.ULID) int { return compareIDs(b, a) })
	c.ids = slices.Compact(c.ids)
	if n == 0 || len(c.ids) < n {
		c.total = len(c.ids)
		return
	}
	c.ids = c.ids[:n]
}

// newestRows is newest and the rows of what it finds, where these are in so few files that they are read whole: then
// they need not be opened twice.
func (r *reader) newestRows(ctx context.Context, n int, columns []*schema.Column) (chosen, *answer.Table, error) {
	narrow := r.src.sinceSome(n)
	if n == 0 || narrow.runs() > pageRows {
		found, err := r.newest(ctx, n)
		return found, nil, err
	}
	read := withRunID(columns)
	some := &reader{r.conn, narrow}
	if err := some.changeOf(ctx, read); err != nil {
		return chosen{}, nil, err
	}
	t, err := r.conn.Table(ctx, duck.Statement{SQL: "SELECT * FROM " + narrow.scan(read, "")})
	if err != nil {
		return chosen{}, nil, err
	}
	found := chosen{total: r.src.counted - len(r.src.said.Removed)}
	for _, row := range t.Rows {
		if found.ids, err = appendID(found.ids, row[t.Index("run_id")]); err != nil {
			return chosen{}, nil, err
		}
	}
	found.keep(n)
	keepRows(&t, found.ids)
	t, err = arrangeRows(&t, found.ids, columns)
	return found, &t, err
}

// fewFiles are not worth a pack.
const fewFiles = 64

// sinceNewest gives a time since which there are at least n runs that are not removed; 0 where there are not so many.
func (s *sources) sinceNewest(n int) int64 {
	var removed []int64
	for id := range s.said.Removed {
		removed = append(removed, timeOf(id))
	}
	slices.SortFunc(removed, func(a, b int64) int { return cmp.Compare(b, a) })
	var all []*file
	for _, files := range [][]file{s.live, s.sealed} {
		for i := range files {
			all = append(all, &files[i])
		}
	}
	slices.SortFunc(all, func(a, b *file) int {
		x, _ := a.span()
		y, _ := b.span()
		return cmp.Compare(y, x)
	})
	for _, f := range all {
		first, _ := f.span()
		n -= max(f.sealed.Rows, 1)
		for len(removed) > 0 && removed[0] >= first {
			n, removed = n+1, removed[1:]
		}
		if n <= 0 {
			return first
		}
	}
	return 0
}
