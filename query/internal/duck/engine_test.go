package duck

import (
	"database/sql/driver"
	"errors"
	"testing"
)

// TestTrim: giving memory back changes no limit, whether Raise set one or not, and not while a result is still being read.
func TestTrim(t *testing.T) {
	t.Parallel()
	e, err := Open(OwnMemory, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	c, err := e.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, limit := range []int64{0, 100 << 20} {
		if limit > 0 {
			if err := c.Raise(t.Context(), limit); err != nil {
				t.Fatal(err)
			}
		}
		before := limitOf(t, c)
		rows, err := c.Run(t.Context(), Statement{SQL: "SELECT i % 1000, list(i) FROM range(100000) AS r(i) GROUP BY 1"})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Trim(t.Context()); err != nil {
			t.Error(err)
		}
		n := 0
		err = EachRow(rows, func(row []driver.Value) error {
			n += len(List(row[1]))
			return nil
		})
		if err := errors.Join(err, rows.Close()); err != nil || n != 100_000 {
			t.Errorf("%d values, %v", n, err)
		}
		if after := limitOf(t, c); after != before {
			t.Errorf("the limit is %s, want %s", after, before)
		}
	}
}

// limitOf returns the memory limit of the engine.
func limitOf(t *testing.T, c *Conn) string {
	t.Helper()
	row, err := c.One(t.Context(), Statement{SQL: "SELECT current_setting('memory_limit')"})
	if err != nil {
		t.Fatal(err)
	}
	return Text(row[0])
}
