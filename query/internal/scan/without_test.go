package scan_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// bothWays has the runs of a store twice: as rows that were read without DuckDB, and as a table of DuckDB.
type bothWays struct {
	conn *duck.Conn
	rows answer.Table
}

// readBothWays reads the runs of a store.
func readBothWays(t testing.TB, dir string) bothWays {
	t.Helper()
	both := bothWays{conn: querytest.Connect(t)}
	err := querytest.Open(t, dir).Stores().Query(context.Background(), func(r *scan.Reader) error {
		var ok bool
		var err error
		if both.rows, ok, err = scan.Direct(r.Src, nil, schema.Runs.Columns); !ok {
			return errors.Join(errors.New("not read"), err)
		}
		ours := &scan.Reader{Conn: both.conn, Src: r.Src}
		if err := ours.ApplyEvents(context.Background()); err != nil {
			return err
		}
		_, err = both.conn.Exec(context.Background(), "CREATE TABLE same AS "+r.Src.RunsSQL())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return both
}

// check compares the runs that pass the tests of a condition with those that its SQL selects.
func (b *bothWays) check(t *testing.T, text string, cond filter.Condition) {
	t.Helper()
	var passing, selected []string
	for _, row := range b.rows.Rows {
		if cond.Passes(func(c *schema.Column) any { return row[b.rows.Index(c.Name)] }) {
			passing = append(passing, row[0].(string))
		}
	}
	statement := "SELECT run_id FROM same"
	if cond.SQL != "" {
		statement += " WHERE " + cond.SQL
	}
	err := b.conn.Query(context.Background(), duck.Statement{SQL: statement, Args: cond.Args}, func(row []driver.Value) error {
		selected = append(selected, row[0].(string))
		return nil
	})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if slices.Sort(passing); !slices.Equal(passing, slices.Sorted(slices.Values(selected))) {
		t.Errorf("%s: %d runs pass the tests, and SQL selects %d", text, len(passing), len(selected))
	}
}

// plainLookups stand for ids as they are.
var plainLookups = filter.Lookups{
	IDs:     func(_, value string) ([]string, error) { return []string{value}, nil },
	Counted: func(string) ([]string, error) { return nil, nil },
}

// TestTests: for each value that a column of some run has, its tests are what its SQL is.
func TestTests(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{directStore(t), querytest.MixedStore(t)} {
		both := readBothWays(t, dir)
		compared := 0
		for _, text := range plainFilters(&both.rows) {
			cond, err := filter.Compile(text, plainLookups)
			if err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			if cond.OnlySQL {
				t.Errorf("%s needs SQL", text)
			}
			both.check(t, text, cond)
			compared++
		}
		if compared < 300 {
			t.Errorf("only %d filters are compared", compared)
		}
	}
}

// plainFilters returns filters for some values of each column.
func plainFilters(rows *answer.Table) []string {
	var all []string
	for at, c := range schema.Runs.Columns {
		seen := map[string]bool{}
		add := func(key, value string, operators ...string) {
			for _, op := range operators {
				if text := key + op + value; !seen[text] && len(seen) < 30 {
					seen[text] = true
					all = append(all, text)
				}
			}
		}
		for _, row := range rows.Rows {
			switch value := row[at].(type) {
			case string:
				add(c.Name, filter.Quote(value), "=")
			case int64:
				add(c.Name, fmt.Sprint(value), "=", "<", "<=", ">", ">=")
				add(c.Name, fmt.Sprint(float64(value)+0.5), "<", ">=")
				add(c.Name, fmt.Sprint(value, ".."), "=")
			case float64:
				unit := c.Unit
				if unit == schema.UnitOfRow {
					unit, _ = row[rows.Index("unit")].(string)
				}
				if unit != "ratio" && unit != "" {
					add(c.Name, fmt.Sprint(value)+unit, "=", "<", "<=", ">", ">=")
				}
			case map[string]any:
				for name, entry := range value {
					if text, ok := entry.(string); ok {
						add(filter.PrefixOf(c.Name)+"."+name, filter.Quote(text), "=")
					}
				}
			}
		}
	}
	return all
}

// TestOnlySQL: conditions that tests do not have are left to SQL.
func TestOnlySQL(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"status!=ok", "not status=ok", "status=ok or dim=64", "dim=64,128", "dim=null", "dim<10", "status~ok", "dim=1..9", "spread<5", "started_at>2026-01-01",
		"started_at=2026-01-01", "git_dirty=true", "warnings=drift", "latency.p99<1ms", "backend=x dim<10",
	} {
		cond, err := filter.Compile(text, filter.Lookups{Metric: func(_, _ string) (string, error) { return "metric", nil }})
		if err != nil || !cond.OnlySQL {
			t.Errorf("%s does not need SQL: %v", text, err)
		}
	}
	if cond, err := filter.Compile("", filter.Lookups{}); err != nil || cond.OnlySQL || len(cond.Tests) > 0 {
		t.Errorf("an empty filter: %v, %v", cond, err)
	}
}

// TestWithoutDuckDB: questions about few files give what DuckDB gives. Those that read no tags do not start it.
func TestWithoutDuckDB(t *testing.T) {
	t.Parallel()
	dir := directStore(t)
	since, until := querytest.Start.Add(10*time.Second).UnixMilli(), querytest.Start.Add(35*time.Second).UnixMilli()
	for _, q := range []scan.Question{
		{Filter: "status=ok"},
		{Filter: "status=ok dim=64"},
		{Filter: "tag.kept=yes"},
		{Filter: "tag.who=me"},
		{Filter: "p50>=20us"},
		{Filter: "batch_size=1..8 metric=latency"},
		{Filter: "status=error", Bounds: scan.Period{Since: since}},
		{Bounds: scan.Period{Since: since}},
		{Bounds: scan.Period{Until: until}},
		{Bounds: scan.Period{Since: since, Until: until}},
	} {
		for _, limit := range []int{0, 3, 1000} {
			var want, got scan.Chosen
			err := querytest.Open(t, dir).Stores().Query(t.Context(), func(r *scan.Reader) error {
				sel, err := r.Selected(t.Context(), q)
				if err == nil {
					want, err = r.Sorted(t.Context(), sel, limit)
				}
				return err
			})
			if err != nil {
				t.Fatal(q, err)
			}
			stores := querytest.Open(t, dir).Stores()
			if !strings.HasPrefix(q.Filter, "tag.") {
				stores.StartBy(func() (*duck.Engine, error) { return nil, errors.New("DuckDB is started") })
			}
			err = stores.QueryScope(t.Context(), scan.Scope{Lazy: true}, func(r *scan.Reader) error {
				sel, err := r.Selected(t.Context(), q)
				if err != nil {
					return err
				}
				var ok bool
				if got, ok, err = scan.WithoutDuckDB(r, t.Context(), sel, limit); !ok {
					t.Errorf("%v: needs DuckDB", q)
				}
				return err
			})
			if err != nil {
				t.Errorf("%v: %v", q, err)
			}
			if got.Total != want.Total || !slices.Equal(got.IDs, want.IDs) || want.Total == 0 {
				t.Errorf("%v, at most %d: %d runs, %d of them listed; want %d, %d", q, limit, got.Total, len(got.IDs), want.Total, len(want.IDs))
			}
		}
	}
}

// TestDoubledWithoutDuckDB: a run that is in two sealed files counts once.
func TestDoubledWithoutDuckDB(t *testing.T) {
	t.Parallel()
	runs := querytest.VariousRuns()[:10]
	dir := querytest.LiveStore(t, querytest.FullRun(300))
	querytest.Seal(t, dir, runs...)
	querytest.Seal(t, dir, runs[5:]...)
	err := querytest.Open(t, dir).Stores().QueryScope(t.Context(), scan.Scope{Lazy: true}, func(r *scan.Reader) error {
		sel, err := r.Selected(t.Context(), scan.Question{Filter: "batch_size>0"})
		if err != nil {
			return err
		}
		for limit, listed := range map[int]int{0: 11, 3: 3, 11: 11, 50: 11} {
			if found, ok, err := scan.WithoutDuckDB(r, t.Context(), sel, limit); !ok || err != nil || found.Total != 11 || len(found.IDs) != listed {
				t.Errorf("at most %d: %d of %d runs, %t, %v", limit, len(found.IDs), found.Total, ok, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestNeedsDuckDB: an order, conditions that are only SQL, and more files than DuckDB needs packs for are left to DuckDB.
func TestNeedsDuckDB(t *testing.T) {
	t.Parallel()
	many := querytest.LiveStore(t, querytest.FullRun(0))
	for i := range scan.FewFiles + 1 {
		querytest.Seal(t, many, querytest.FullRun(i+1))
	}
	for _, test := range []struct {
		dir string
		q   scan.Question
	}{
		{directStore(t), scan.Question{Filter: "status=ok", Sort: []string{"p50"}}},
		{directStore(t), scan.Question{Filter: "status!=error"}},
		{many, scan.Question{Filter: "status=ok"}},
	} {
		err := querytest.Open(t, test.dir).Stores().QueryScope(t.Context(), scan.Scope{Lazy: true}, func(r *scan.Reader) error {
			sel, err := r.Selected(t.Context(), test.q)
			if err != nil {
				return err
			}
			if _, ok, err := scan.WithoutDuckDB(r, t.Context(), sel, 0); ok || err != nil {
				t.Errorf("%v: answered, %v", test.q, err)
			}
			return nil
		})
		if err != nil {
			t.Error(test.q, err)
		}
	}
}

// TestReadsSooner: a file of few runs, and few columns of more runs, are read without DuckDB.
func TestReadsSooner(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		live, sealed, runs, columns int
		sooner                      bool
	}{
		{0, 1, 24, 61, true},
		{0, 1024, 24 * 1024, 61, true},
		{0, 1025, 1025, 1, false},
		{0, 8, 2000, 2, true},
		{0, 8, 8000, 2, true},
		{0, 8, 2000, 61, false},
		{0, 64, 16_384, 2, false},
		{16_384, 8, 18_000, 2, true},
		{16_385, 0, 16_385, 2, false},
	} {
		if got := scan.ReadsSooner(test.live, test.sealed, test.runs, test.columns); got != test.sooner {
			t.Errorf("%d live files, %d sealed ones, %d runs, %d columns: %t", test.live, test.sealed, test.runs, test.columns, got)
		}
	}
}
