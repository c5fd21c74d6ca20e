package query

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// pageValues is the maximum number of values of a listing in memory.
const pageValues = 1 << 18

// rowsOfPage returns the number of rows of a page with these columns. A map counts as its usual number of entries.
func rowsOfPage(columns []*schema.Column) int {
	values := 1
	for _, c := range columns {
		switch c.Kind {
		case schema.KindMap:
			values += 16
		case schema.KindList:
			values += 4
		default:
			values++
		}
	}
	return min(scan.PageRows, pageValues/values)
}

// pages runs a runLister.
func (db *DB) pages(ctx context.Context, l runLister, columns []string, page func(part) error) error {
	var err error
	if l.columns, err = scan.RunColumns(columns); err != nil {
		return err
	}
	l.page = page
	l.question = scan.Question{Filter: l.req.Filter, Bounds: scan.NewPeriod(l.req.Since, l.req.Until), Sort: l.req.Sort}
	if len(l.req.Metrics) == 1 {
		l.question.Metric = l.req.Metrics[0]
	}
	if l.question.Everything() && l.req.Limit > 0 && db.stores.Single() {
		if err := db.newestPages(ctx, l); !errors.Is(err, errCountUnknown) {
			return err
		}
	}
	since := time.Time{}
	if strings.TrimSpace(l.req.Filter) == "" {
		since = l.req.Since
	}
	err = db.stores.QueryScope(ctx, scan.Scope{Since: since, Lazy: true}, func(r *scan.Reader) error { return l.list(ctx, r) })
	if err == nil && len(l.ids) == 0 {
		err = db.noneWithin(ctx, l.req)
	}
	return err
}

// newestPages lists the newest runs of the only store. If counting all runs would require opening files, it fails with errCountUnknown
// before any page.
func (db *DB) newestPages(ctx context.Context, l runLister) error {
	if l.counts {
		l.names = db.stores.CountNames()
	}
	return db.stores.QueryScope(ctx, scan.Scope{Newest: l.req.Limit, Count: l.counts}, func(r *scan.Reader) error { return l.list(ctx, r) })
}

// errCountUnknown means that the number of runs cannot be computed from the names of files.
var errCountUnknown = errors.New("a run may be in two files, or a removed one in none")

// part is a page with access to more data of its runs.
type part struct {
	Page
	columns []*schema.Column
	reader  *scan.Reader
	ids     []schema.ULID
	beside  [][]RunMetric // per run: the requested metrics, if there are several
}

// runLister reads the pages of a listing.
type runLister struct {
	req      ListRequest
	question scan.Question
	columns  []*schema.Column
	counts   bool                  // compute Total although there is a Limit
	names    func() scan.NameCount // counts all runs by file names, if the sources only have the newest ones
	page     func(part) error

	ids    []schema.ULID
	head   Found
	only   *answer.Table // the rows of all ids, if they were read together with the ids
	stored int           // number of leading ids whose rows are, or were, in the temporary table listed
	shown  int           // number of ids whose rows were passed to page; after an interruption it continues from there
}

// list hands over the rest of the listing.
func (l *runLister) list(ctx context.Context, r *scan.Reader) error {
	if l.shown == 0 {
		if err := l.choose(ctx, r); err != nil {
			return err
		}
	}
	for {
		end := min(l.shown+rowsOfPage(l.columns), len(l.ids))
		t, err := l.read(ctx, r, end)
		if err != nil {
			return err
		}
		page := part{Page: Page{l.head, t}, columns: l.columns, reader: r, ids: l.ids[l.shown:end]}
		if err := metricsOf(ctx, l.req.Metrics, &page); err != nil {
			return err
		}
		if err := l.page(page); err != nil {
			return err
		}
		if l.shown = end; end == len(l.ids) {
			return nil
		}
	}
}

// choose finds the ids of the runs, in order.
func (l *runLister) choose(ctx context.Context, r *scan.Reader) error {
	var found scan.Chosen
	var err error
	if l.question.Everything() {
		found, l.only, err = r.NewestRows(ctx, l.req.Limit, l.columns)
	} else {
		found, err = l.match(ctx, r)
	}
	if err == nil && len(l.question.Sort) == 0 {
		err = l.orderUntimed(ctx, r, &found)
	}
	if err == nil && l.counts && l.question.Everything() {
		found.Total, err = l.all(ctx, r, found)
	}
	if err != nil {
		return err
	}
	if l.req.Limit > 0 && !l.counts {
		found.Total = 0
	}
	l.ids, l.head = found.IDs, Found{Total: found.Total, NotNumbers: found.NotNumbers}
	l.stored = 0
	return nil
}

// all returns the number of all runs, the newest of which were found: from the file names if they contain it.
func (l *runLister) all(ctx context.Context, r *scan.Reader, newest scan.Chosen) (int, error) {
	switch found := len(newest.IDs); {
	case l.names == nil && (l.req.Limit == 0 || found < l.req.Limit): // these are all
		return found, nil
	case r.Src.MayLack || l.names == nil && newest.Total < found:
		return r.Count(ctx)
	case l.names == nil:
		return newest.Total, nil
	}
	n := l.names()
	removed, err := r.Src.Events.Removed.Count()
	if all := n.Runs - removed; n.Err == nil && (!n.Sure || all < len(newest.IDs) || len(newest.IDs) < min(all, l.req.Limit)) {
		n.Err = errCountUnknown
	}
	return n.Runs - removed, cmp.Or(n.Err, err)
}

// match finds the runs of a question with a filter, bounds or an order.
func (l *runLister) match(ctx context.Context, r *scan.Reader) (scan.Chosen, error) {
	sel, err := r.Selected(ctx, l.question)
	if err != nil {
		return scan.Chosen{}, err
	}
	return r.Choose(ctx, sel, l.req.Limit, l.counts)
}

// read reads the rows of the next ids, up to end. If they are not in the order of the files, the rows of the next few pages are read
// into a temporary table, because reading scattered rows means reading all files.
func (l *runLister) read(ctx context.Context, r *scan.Reader, end int) (answer.Table, error) {
	ids := l.ids[l.shown:end]
	if l.only != nil {
		page := *l.only
		page.Rows = page.Rows[l.shown:end]
		return page, nil
	}
	byTime := len(l.question.Sort) == 0 && !slices.ContainsFunc(ids, untimed)
	if byTime || len(l.ids) <= scan.PageRows {
		return r.Rows(ctx, ids, l.columns)
	}
	if end > l.stored {
		next := min(l.shown+4*rowsOfPage(l.columns), len(l.ids))
		q, err := r.Some(ctx, l.ids[l.shown:next], scan.WithRunID(l.columns))
		if err != nil {
			return answer.Table{}, err
		}
		if _, err := r.Conn.Exec(ctx, "CREATE OR REPLACE TEMP TABLE listed AS "+q.SQL, q.Args...); err != nil {
			return answer.Table{}, err
		}
		l.stored = next
	}
	t, err := r.Conn.Table(ctx, duck.Statement{SQL: "SELECT * FROM listed SEMI JOIN (SELECT unnest($1::VARCHAR[]) AS run_id) USING (run_id)", Args: []any{scan.IDTexts(ids)}})
	if err != nil {
		return answer.Table{}, err
	}
	return scan.ArrangeRows(&t, ids, l.columns)
}
