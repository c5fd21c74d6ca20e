package duck

import (
	"database/sql/driver"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/neurolens/neurolens/schema"
)

// TestAmong: the SQL of Among is what a join with the ids gives, in whatever order rows come, on several threads and of several lists at
// once. What is no id is not among them.
func TestAmong(t *testing.T) {
	t.Parallel()
	e, err := Open(0, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	const rows = 50_000
	id := func(i int) schema.ULID { return schema.ULIDFrom(time.UnixMilli(int64(i)), [10]byte{9: byte(i)}) }
	var wg sync.WaitGroup
	for step := 2; step < 5; step++ {
		wg.Go(func() {
			c, err := e.Connect(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			var ids []schema.ULID
			var texts []string
			for i := range rows {
				if texts = append(texts, id(i).String()); i%step == 0 {
					ids = append(ids, id(i))
				}
			}
			among, err := c.Among(t.Context(), ids)
			if err != nil {
				t.Error(err)
				return
			}
			for _, order := range []string{"run_id", "run_id DESC", "hash(run_id)"} {
				_, err := c.Exec(t.Context(), "CREATE OR REPLACE TEMP TABLE all_rows AS SELECT unnest(string_split($1::VARCHAR, ',')) AS run_id, 0 AS more ORDER BY "+order, strings.Join(texts, ","))
				if err != nil {
					t.Error(err)
				}
				row, err := c.One(t.Context(), Statement{SQL: "SELECT count(*), count(*) FILTER (" + among + "), bit_xor(hash(run_id)) FILTER (" + among + ") = (SELECT bit_xor(hash(x)) FROM (SELECT unnest(string_split($1::VARCHAR, ',')) AS x)) " +
					"FROM (SELECT run_id FROM all_rows UNION ALL SELECT unnest([NULL, '', 'no id', lower($2::VARCHAR), $2::VARCHAR || '0']))", Args: []any{strings.Join(textsOf(ids), ","), id(12).String()}})
				if got, want := fmt.Sprint(row, err), fmt.Sprint([]any{rows + 5, len(ids), true}, nil); got != want {
					t.Errorf("every %d, by %s: %s, want %s", step, order, got, want)
				}
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(e.lists.all) > 0 {
		t.Errorf("%d lists are kept of closed connections", len(e.lists.all))
	}
}

func textsOf(ids []schema.ULID) []string {
	var all []string
	for _, id := range ids {
		all = append(all, id.String())
	}
	return all
}

// counted is the function of Among, which counts its calls.
type counted struct {
	*lists
	calls *atomic.Int64
}

func (c counted) Executor() duckdb.ScalarFuncExecutor {
	has := c.lists.Executor().RowExecutor
	return duckdb.ScalarFuncExecutor{RowExecutor: func(row []driver.Value) (any, error) {
		c.calls.Add(1)
		return has(row)
	}}
}

// TestAmongBounds: the function is not called for rows before the first and after the last of the ids.
func TestAmongBounds(t *testing.T) {
	t.Parallel()
	e, err := Open(0, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var calls atomic.Int64
	e.lists.defined.Do(func() { e.lists.failed = e.define(t.Context(), amongName, counted{&e.lists, &calls}) })
	c, err := e.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var ids []schema.ULID
	for i := range 10_000 {
		ids = append(ids, schema.ULIDFrom(time.UnixMilli(int64(i)), [10]byte{}))
	}
	if _, err := c.Exec(t.Context(), "CREATE TEMP TABLE all_rows AS SELECT unnest(string_split($1::VARCHAR, ',')) AS run_id", strings.Join(textsOf(ids), ",")); err != nil {
		t.Fatal(err)
	}
	among, err := c.Among(t.Context(), ids[4000:4100])
	if err != nil {
		t.Fatal(err)
	}
	row, err := c.One(t.Context(), Statement{SQL: "SELECT count(*) FROM all_rows WHERE NOT " + among})
	if got, want := fmt.Sprint(row, err, calls.Load()), fmt.Sprint([]any{9900}, nil, 100); got != want {
		t.Errorf("rows and calls: %s, want %s", got, want)
	}
}
