package query

import (
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

// pageValues bounds what is in memory of a listing.
const pageValues = 1 << 18

// rowsOfPage is how many rows with these columns a page has. A map counts for what it usually holds.
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

// pages hands over what a lister is to list.
func (db *DB) pages(ctx context.Context, l lister, columns []string, page func(part) error) error {
	var err error
	if l.columns, err = scan.RunColumns(columns); err != nil {
		return err
	}
	l.page = page
	l.question = scan.Question{Filter: l.req.Filter, Bounds: scan.NewBounds(l.req.Since, l.req.Until), Sort: l.req.Sort}
	if len(l.req.Metrics) == 1 {
		l.question.Metric = l.req.Metrics[0]
	}
	if l.question.Everything() && l.req.Limit > 0 && db.stores.Single() {
		if err := db.newestPages(ctx, l); !errors.Is(err, errUnsure) {
			return err
		}
	}
	since := time.Time{}
	if strings.TrimSpace(l.req.Filter) == "" {
		since = l.req.Since
	}
	err = db.stores.AskSince(ctx, since, func(r *scan.Reader) error { return l.list(ctx, r) })
	if err == nil && len(l.ids) == 0 {
		err = db.noneWithin(ctx, l.req)
	}
	return err
}

// newestPages hands over the newest runs of the only store. It fails with errUnsure, before anything is handed over,
// where files would have to be opened to count all.
func (db *DB) newestPages(ctx context.Context, l lister) error {
	if l.counts {
		l.names = db.stores.CountNames()
	}
	return db.stores.AskNewest(ctx, l.req.Limit, func(r *scan.Reader) error { return l.list(ctx, r) })
}

// errUnsure says that names do not tell how many runs there are.
var errUnsure = errors.New("a run may stand in two files")

// part is a page, with what else can be read of its runs.
type part struct {
	Page
	columns []*schema.Column
	reader  *scan.Reader
	ids     []schema.ULID
	beside  [][]RunMetric // of each run, of the metrics that were asked for, where these are several
}

// lister hands the pages of a listing over.
type lister struct {
	req      ListRequest
	question scan.Question
	columns  []*schema.Column
	counts   bool                  // Total is wanted where there is a Limit
	names    func() scan.NameCount // counts all runs, where the sources are those of the newest alone
	page     func(part) error

	ids    []schema.ULID
	head   Found
	only   *answer.Table // the rows of all ids, where they were read with them
	stored int           // so many ids from the beginning have their rows in the temporary table listed, or had
	shown  int           // ids whose rows were handed over: what follows an interruption goes on from there
}

// list hands over what is left of the listing.
func (l *lister) list(ctx context.Context, r *scan.Reader) error {
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
func (l *lister) choose(ctx context.Context, r *scan.Reader) error {
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
	if err == nil && l.names != nil {
		found.Total, err = l.all(r)
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

// all is how many runs there are, by names.
func (l *lister) all(r *scan.Reader) (int, error) {
	n := l.names()
	if n.Err == nil && !n.Sure {
		n.Err = errUnsure
	}
	return n.Runs - len(r.Src.Said.Removed), n.Err
}

// match finds the runs of a question that not all runs answer.
func (l *lister) match(ctx context.Context, r *scan.Reader) (scan.Chosen, error) {
	sel, err := r.Selected(ctx, l.question)
	if err != nil {
		return scan.Chosen{}, err
	}
	if len(sel.Order) == 0 && l.req.Limit > 0 && l.req.Limit <= scan.PageRows {
		if l.counts || len(sel.NotNumbers) > 0 || r.Src.Runs() < scan.ManyRuns {
			return r.NewestOf(ctx, sel, l.req.Limit)
		}
		return r.NewestAlone(ctx, sel, l.req.Limit)
	}
	found, err := r.Find(ctx, sel)
	if err != nil {
		return scan.Chosen{}, err
	}
	found.IDs, err = r.ListFound(ctx, sel, l.req.Limit)
	return found, err
}

// read reads the rows of the ids that come next, up to end. Where their order is not that of the files, those of the
// next pages are kept on the side: to read some rows from everywhere means to read all files.
func (l *lister) read(ctx context.Context, r *scan.Reader, end int) (answer.Table, error) {
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
