package table

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// groupsFile returns a file of a table with two row groups, and the rows of each.
func groupsFile(t *testing.T, table *schema.Table) (content []byte, groups [2][][]any) {
	t.Helper()
	out := &memory{}
	w := NewWriter(out, table, "test", nil)
	for g := range groups {
		for _, r := range variety(1) {
			for _, row := range rowsOf(r)[table] {
				groups[g] = append(groups[g], row)
				valuetest.OK(t, w.Write(row))
			}
		}
		valuetest.OK(t, w.endGroup())
	}
	valuetest.OK(t, w.Close())
	return out.content, groups
}

// salvaged returns the rows that are left of a file; nil where there are none.
func salvaged(t testing.TB, content []byte, table *schema.Table) (rows [][]any) {
	t.Helper()
	s, err := OpenSalvage(bytes.NewReader(content), int64(len(content)), table)
	if errors.Is(err, schema.ErrDamaged) {
		return nil
	}
	valuetest.OK(t, err)
	defer s.Close()
	return allRows(t, s.Read)
}

// allRows reads rows to the end.
func allRows(t testing.TB, read func() ([]any, error)) (rows [][]any) {
	t.Helper()
	for {
		row, err := read()
		if errors.Is(err, io.EOF) {
			return rows
		}
		valuetest.OK(t, err)
		rows = append(rows, row)
	}
}

func sameRows(a, b [][]any) bool {
	return slices.EqualFunc(a, b, func(a, b []any) bool { return same(any(a), any(b)) })
}

// TestSalvageFlips changes bytes of a file, one at a time (with NEUROLENS_LONG=all every one), and cuts the file off there: the rows of the row group
// that the byte is not of are there, and a byte behind the pages costs none.
func TestSalvageFlips(t *testing.T) {
	step := 997
	switch {
	case os.Getenv("NEUROLENS_LONG") == "all":
		step = 1
	case os.Getenv("NEUROLENS_LONG") != "":
		step = 61
	}
	for _, table := range []*schema.Table{schema.Runs, schema.Samples, schema.Ops} {
		t.Run(table.Name, func(t *testing.T) {
			t.Parallel()
			content, groups := groupsFile(t, table)
			whole := slices.Concat(groups[0], groups[1])
			if !sameRows(salvaged(t, content, table), whole) {
				t.Fatal("a whole file is not read whole")
			}
			r, _, err := rebuild(bytes.NewReader(content), int64(len(content)), table)
			valuetest.OK(t, err)
			end := int(r.file.(*twoParts).end)
			for at := 0; at < len(content); at += step {
				damaged := slices.Clone(content)
				damaged[at] ^= 1 << (at % 8)
				got := salvaged(t, damaged, table)
				if at >= end && !sameRows(got, whole) {
					t.Fatalf("byte %d of the footer: %d rows of %d", at, len(got), len(whole))
				}
				for g := range groups {
					if g == groupOf(t, content, table, at) {
						continue
					}
					if !slices.ContainsFunc(got, func(row []any) bool { return same(any(row), any(groups[g][0])) }) {
						t.Fatalf("byte %d: row group %d is lost, of %d rows %d are left", at, g, len(whole), len(got))
					}
				}
				cut := salvaged(t, content[:at], table)
				if at >= end && !sameRows(cut, whole) {
					t.Fatalf("cut at byte %d, behind the pages: %d rows of %d", at, len(cut), len(whole))
				}
			}
		})
	}
}

// groupOf returns the row group that a byte of a whole file is in; -1 where it is in none.
func groupOf(t *testing.T, content []byte, table *schema.Table, at int) int {
	t.Helper()
	file := valuetest.Must(Open(bytes.NewReader(content), int64(len(content)), table))
	for g, group := range file.file.Metadata().RowGroups {
		from := group.Columns[0].MetaData.DataPageOffset
		if int64(at) >= from && int64(at) < from+group.TotalCompressedSize {
			return g
		}
	}
	return -1
}

// TestSalvagePages damages one page of a row group that has many: it costs the rows of that page alone.
func TestSalvagePages(t *testing.T) {
	t.Parallel()
	out := &memory{}
	w := NewWriter(out, schema.Runs, "test", nil)
	const runs = 6000
	run := runtest.Small()
	for i := range runs {
		row := schema.RunRow(&run, "")
		row[0] = schema.ULIDFrom(run.StartedAt, [10]byte{8: byte(i >> 8), 9: byte(i)}).String()
		valuetest.OK(t, w.Write(row))
	}
	valuetest.OK(t, w.Close())
	out.content[100_000] ^= 1 // of run_id, the second page
	rows := salvaged(t, out.content, schema.Runs)
	if lost := runs - len(rows); lost < 1000 || lost > 3000 {
		t.Errorf("%d of %d rows are lost", lost, runs)
	}
	if !slices.IsSortedFunc(rows, func(a, b []any) int { return bytes.Compare([]byte(a[0].(string)), []byte(b[0].(string))) }) {
		t.Error("the rows are not in order")
	}
}

// TestCodecs: a file whose footer names another codec than those of the format is refused before a page of it is read. A salvage still finds
// the rows of pages that are whole.
func TestCodecs(t *testing.T) {
	content, groups := groupsFile(t, schema.Runs)
	changed := 0
	for at := len(content) / 2; at < len(content); at++ {
		if content[at] != 2*byte(format.Zstd) {
			continue
		}
		damaged := slices.Clone(content)
		damaged[at] = 2 * byte(format.Lz4Raw) // Thrift doubles numbers that are not negative
		opened, err := parquet.OpenFile(bytes.NewReader(damaged), int64(len(damaged)), parquet.SkipPageIndex(true), parquet.SkipMagicBytes(true))
		if err != nil || !slices.ContainsFunc(opened.Metadata().RowGroups, namesLz4) {
			continue
		}
		changed++
		if _, err := Open(bytes.NewReader(damaged), int64(len(damaged)), schema.Runs); !errors.Is(err, schema.ErrDamaged) {
			t.Errorf("byte %d changed: error %v", at, err)
		}
		if rows := salvaged(t, damaged, schema.Runs); !sameRows(rows, slices.Concat(groups[:]...)) {
			t.Errorf("byte %d changed: %d rows are salvaged, of %d", at, len(rows), len(groups[0])+len(groups[1]))
		}
	}
	if changed == 0 {
		t.Error("no column names the other codec")
	}
}

func namesLz4(group format.RowGroup) bool {
	return slices.ContainsFunc(group.Columns, func(c format.ColumnChunk) bool { return c.MetaData.Codec == format.Lz4Raw })
}
