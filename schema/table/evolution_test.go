package table

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// handmade makes a file of the columns, whose rows have their values in order, as another version would.
func handmade(t *testing.T, name string, version int, columns []*schema.Column, rows ...[]any) []byte {
	t.Helper()
	var out bytes.Buffer
	fields := newFields(columns)
	w := parquet.NewGenericWriter[any](&out, append(metadata("other"),
		parquet.NewSchema(name, group(fields, liveProfile)), parquet.KeyValueMetadata(formatKey, strconv.Itoa(version)))...)
	for _, row := range rows {
		leaves := newLeaves(fields)
		for _, f := range fields {
			put(&leaves, f, row[f.place], level{})
		}
		for i, column := range w.ColumnWriters() {
			valuetest.Must(column.WriteRowValues(leaves[i]))
		}
	}
	valuetest.OK(t, w.Close())
	valuetest.OK(t, schema.PutFileHash(out.Bytes()))
	return out.Bytes()
}

// clone copies columns, so that a test may change them.
func clone(columns []*schema.Column) []*schema.Column {
	var all []*schema.Column
	for _, c := range columns {
		copied := *c
		copied.Children = clone(c.Children)
		all = append(all, &copied)
	}
	return all
}

// column finds one by its name.
func column(columns []*schema.Column, name string) *schema.Column {
	return columns[slices.IndexFunc(columns, func(c *schema.Column) bool { return c.Name == name })]
}

// extra returns a column that this version does not know.
func extra() *schema.Column {
	return &schema.Column{ID: 7777, Name: "mood", Kind: schema.KindMap, Children: []*schema.Column{
		{ID: 7778, Name: "key", Kind: schema.KindString, Required: true}, {ID: 7779, Name: "value", Kind: schema.KindInt},
	}}
}

// otherVersions change the columns of live files as other versions may, and as none does.
var otherVersions = map[string]struct {
	change func(columns []*schema.Column) []*schema.Column
	want   error
}{
	"nothing": {func(columns []*schema.Column) []*schema.Column { return columns }, nil},
	"a column more": {func(columns []*schema.Column) []*schema.Column {
		return append(columns, extra())
	}, ErrNewer},
	"a field of samples more": {func(columns []*schema.Column) []*schema.Column {
		element := column(columns, "samples").Children[0]
		element.Children = append(element.Children, &schema.Column{ID: 107777, Name: "mood", Kind: schema.KindInt})
		return columns
	}, ErrNewer},
	"a field of artifacts more": {func(columns []*schema.Column) []*schema.Column {
		element := column(columns, "artifacts").Children[0]
		element.Children = append(element.Children, &schema.Column{ID: 7777, Name: "mood", Kind: schema.KindInt})
		return columns
	}, ErrNewer},
	"another name": {func(columns []*schema.Column) []*schema.Column {
		column(columns, "suite").Name = "sweet"
		return columns
	}, schema.ErrDamaged},
	"an optional key": {func(columns []*schema.Column) []*schema.Column {
		columns[0].Required = false
		return columns
	}, schema.ErrDamaged},
	"no key": {func(columns []*schema.Column) []*schema.Column {
		columns[0], columns[1] = columns[1], columns[0]
		return columns
	}, schema.ErrDamaged},
	"another type": {func(columns []*schema.Column) []*schema.Column {
		column(columns, "batch_size").Kind = schema.KindTime
		return columns
	}, schema.ErrDamaged},
	"a map for a list": {func(columns []*schema.Column) []*schema.Column {
		c := column(columns, "warnings")
		c.Kind, c.Children = schema.KindMap, extra().Children
		return columns
	}, schema.ErrDamaged},
}

// TestReadLiveOther: what another version wrote is told from what is damaged.
func TestReadLiveOther(t *testing.T) {
	r := runtest.Full()
	row := liveRow(&r, schema.DigestOf(&r))
	for name, test := range otherVersions {
		t.Run(name, func(t *testing.T) {
			row = liveRow(&r, schema.DigestOf(&r))
			columns := test.change(clone(schema.LiveColumns()))
			values := append(slices.Clone(row), map[string]string{"today": "7"})
			values[slices.IndexFunc(schema.LiveColumns(), func(c *schema.Column) bool { return c.Name == "warnings" })] = nil
			for i := range values { // rows of structs have one value for each of their fields
				if rows, ok := values[i].([][]any); ok {
					for j := range rows {
						rows[j] = append(rows[j], int64(1))
					}
				}
			}
			if name == "another type" {
				values[slices.IndexFunc(columns, func(c *schema.Column) bool { return c.Name == "batch_size" })] = r.StartedAt
			}
			values[len(values)-1] = nil
			_, err := ReadLive(handmade(t, "run", schema.Format, columns, values))
			if !errors.Is(err, test.want) || err != nil && errors.Is(err, schema.ErrDamaged) != (test.want == schema.ErrDamaged) {
				t.Errorf("%v, want %v", err, test.want)
			}
		})
	}
	if _, err := ReadLive(handmade(t, "run", schema.Format+8, schema.LiveColumns(), row)); !errors.Is(err, ErrNewer) {
		t.Errorf("another format: %v", err)
	}
	if _, err := ReadLive(handmade(t, "run", schema.Format, schema.LiveColumns(), row, row)); !errors.Is(err, schema.ErrDamaged) {
		t.Errorf("two rows: %v", err)
	}
}

// TestOtherColumns reads and merges sealed files with more and with fewer columns than those of this version.
func TestOtherColumns(t *testing.T) {
	r := runtest.Full()
	want := rowsOf(r)[schema.Runs][0]
	more := slices.Insert(clone(schema.Runs.Columns), 5, extra())
	newer := handmade(t, "runs", schema.Format, more, slices.Insert(slices.Clone(want), 5, any(nil)))
	f, err := Open(bytes.NewReader(newer), int64(len(newer)), schema.Runs)
	if err != nil || !errors.Is(f.Newer(), ErrNewer) {
		t.Fatalf("%v, %v", err, f)
	}
	mustBeSame(t, schema.Runs, readAll(t, schema.Runs, newer)[0], want)
	var files opened
	w := NewWriter(&memory{}, schema.Runs, "test", nil)
	if err := Merge(w, []Source{files.source("", schema.Runs, newer)}, func(string) bool { return true }); !errors.Is(err, ErrNewer) || files.now != 0 {
		t.Errorf("merged with %v", err)
	}

	// An older version had no suite and no bytes of artifacts, and its columns stood in another order.
	old := clone(schema.Runs.Columns)
	place := func(name string) int {
		return schema.Runs.Place(name)
	}
	short := slices.Clone(want)
	artifacts := [][]any{}
	for _, a := range want[place("artifacts")].([][]any) {
		artifacts = append(artifacts, a[:3])
	}
	short[place("artifacts")] = artifacts
	element := old[place("artifacts")].Children[0]
	element.Children = element.Children[:3]
	old, short = slices.Delete(old, place("suite"), place("suite")+1), slices.Delete(short, place("suite"), place("suite")+1)
	last := len(old) - 1
	old[last], old[1], short[last], short[1] = old[1], old[last], short[1], short[last]
	older := handmade(t, "runs", schema.Format, old, short)

	expected := slices.Clone(want)
	expected[place("suite")] = nil
	expected[place("artifacts")] = [][]any{{"log", "a/b", "ff", nil}, {"log", nil, nil, nil}}
	got := readAll(t, schema.Runs, older)[0]
	mustBeSame(t, schema.Runs, got, expected)
	out := &memory{}
	w = NewWriter(out, schema.Runs, "test", nil)
	valuetest.OK(t, Merge(w, []Source{files.source("", schema.Runs, older)}, func(string) bool { return true }))
	valuetest.OK(t, w.Close())
	mustBeSame(t, schema.Runs, readAll(t, schema.Runs, out.content)[0], expected)
}

// FuzzReadLive: whatever stands in a file, it is read as it is or refused with an error of this package.
func FuzzReadLive(f *testing.F) {
	for _, r := range variety(1) {
		content := valuetest.Must(testEncoder().Encode(&r, schema.DigestOf(&r)))
		f.Add(bytes.Clone(content), uint32(0), byte(0))
	}
	f.Fuzz(func(t *testing.T, content []byte, at uint32, mask byte) {
		content = bytes.Clone(content)
		if len(content) > 0 {
			content[int(at)%len(content)] ^= mask
		}
		if place, err := schema.FileHashPlace(content); err == nil { // go beyond the hash
			copy(content[place:], schema.EmptyFileHash)
			_ = schema.PutFileHash(content)
		}
		live, err := ReadLive(content)
		if (live == nil) != (err != nil) || err != nil && !errors.Is(err, schema.ErrDamaged) && !errors.Is(err, ErrNewer) {
			t.Errorf("%v, %v", live, err)
		}
	})
}

// FuzzFile does the same for sealed files.
func FuzzFile(f *testing.F) {
	for table, rows := range rowsOf(runtest.Full()) {
		out := &memory{}
		w := NewWriter(out, table, "test", nil)
		for _, row := range rows {
			valuetest.OK(f, w.Write(row))
		}
		valuetest.OK(f, w.Close())
		f.Add(out.content, uint32(0), byte(0))
	}
	f.Fuzz(func(t *testing.T, content []byte, at uint32, mask byte) {
		content = bytes.Clone(content)
		if len(content) > 0 {
			content[int(at)%len(content)] ^= mask
		}
		for table := range schema.TableFolders {
			file, err := Open(bytes.NewReader(content), int64(len(content)), table)
			if err != nil {
				if !errors.Is(err, schema.ErrDamaged) && !errors.Is(err, ErrNewer) {
					t.Error(err)
				}
				continue
			}
			for r := file.Reader(); err == nil; {
				_, err = r.Read()
			}
			if !errors.Is(err, io.EOF) && !errors.Is(err, schema.ErrDamaged) {
				t.Error(err)
			}
		}
	})
}
