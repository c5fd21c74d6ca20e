package scan

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// Up to so many files are read without DuckDB, which takes longer for each live file, and may have packs in place of sealed ones.
const (
	directLive   = 16_384
	directSealed = 1024
)

// readsSooner reports whether columns of so many runs are read sooner than DuckDB starts and reads them. Some tens of runs of each file take
// about as long as its footer. Of the others, a row takes as long as some values.
func readsSooner(live, sealed, runs, columns int) bool {
	const (
		runsOfFile  = 32
		valuesOfRow = 6
		values      = 1 << 16
	)
	return live <= directLive && sealed <= directSealed && (runs-runsOfFile*(live+sealed))*(columns+valuesOfRow) <= values
}

// WithoutDuckDB finds the newest n matching runs (0: all), and counts all, without DuckDB. It is not ok if the question has an order or
// conditions that need DuckDB, or if it reads the files sooner.
func (r *Reader) WithoutDuckDB(ctx context.Context, sel Selection, n int) (found Chosen, ok bool, err error) {
	if sel.OnlySQL || len(sel.Order) > 0 || len(sel.Src.sealed) > fewFiles {
		return Chosen{}, false, nil
	}
	t, ok, err := sel.Src.direct(nil, WithRunID(sel.Columns))
	if !ok || err != nil {
		return Chosen{}, false, err
	}
	found.NotNumbers = map[string]int{}
	for _, row := range t.Rows {
		if sel.Passes(func(c *schema.Column) any { return row[t.Index(c.Name)] }) {
			if found.IDs, err = AppendID(found.IDs, row[t.Index("run_id")]); err != nil {
				return Chosen{}, false, err
			}
		}
	}
	found.keep(0) // before its number is known: a run may be in two files
	if found.keep(n); found.Total == 0 {
		err = r.Nothing(ctx, sel)
	}
	return found, true, err
}

// textsOf are the different texts of a column of all runs for which is holds, in descending order. It is not ok if DuckDB reads them sooner.
func (r *Reader) textsOf(column string, is func(text string) bool) (texts []string, ok bool, err error) {
	if len(r.Src.sealed) > fewFiles {
		return nil, false, nil
	}
	t, ok, err := r.Src.direct(nil, WithRunID([]*schema.Column{schema.RunColumn(column)}))
	at := t.Index(column)
	for _, row := range t.Rows {
		if text, some := row[at].(string); some && is(text) {
			texts = append(texts, text)
		}
	}
	slices.Sort(texts)
	slices.Reverse(texts)
	return slices.Compact(texts), ok, err
}

// direct reads columns, including run_id, of the runs with these ids without DuckDB, if they are in few small files; ids nil: of all runs. If it
// is not ok, DuckDB has to read them. The error is that of a file that does not match its hash.
func (s *Sources) direct(ids []schema.ULID, columns []*schema.Column) (t answer.Table, ok bool, err error) {
	lists := [][]file{s.Live, s.sealed}
	if len(s.sealed) == 0 {
		lists[1] = s.Read // of Parts
	}
	if !readsSooner(len(s.Live), len(lists[1]), 0, 0) || s.noTags != "" || len(s.doubled) > 0 {
		return answer.Table{}, false, nil
	}
	var files []DirectFile
	var stores []int // that have them
	runs := 0
	for _, list := range lists {
		for i := range list {
			f := &list[i]
			files = append(files, DirectFile{
				Store: schema.Dir(s.Stores[f.store].path), Name: s.name(f), Run: f.live.Run, Rows: f.sealed.Rows, Live: f.zone == "",
			})
			stores, runs = append(stores, f.store), runs+max(f.sealed.Rows, 1)
		}
	}
	if !readsSooner(len(s.Live), len(lists[1]), runs, len(columns)) {
		return answer.Table{}, false, nil
	}
	t, err = DirectRows(files, ids, columns, s.Said)
	if damaged, is := errors.AsType[*DamagedError](err); is {
		return answer.Table{}, false, answer.StoreError(s.Stores[stores[damaged.File]].dir, fmt.Errorf("%s: %w", files[damaged.File].Name, err))
	}
	return t, err == nil, nil
}
