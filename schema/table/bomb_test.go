package table

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// packedLive returns the live file of a run with dictionaries and zstd, which no writer of the format makes.
func packedLive(tb testing.TB, r schema.Run) []byte {
	tb.Helper()
	row := liveRow(&r, schema.DigestOf(&r))
	fields := shapeOf(row).fields()
	values := newLeaves(fields)
	for _, f := range fields {
		put(&values, f, row[f.place], level{})
	}
	packed := func(c *schema.Column, element bool) parquet.Node {
		if element && c.Kind == schema.KindInt {
			return parquet.Encoded(leafNode(c), &parquet.DeltaBinaryPacked)
		}
		if c.Kind == schema.KindString && c.Name != runIDColumn {
			return parquet.Compressed(parquet.Encoded(leafNode(c), &parquet.RLEDictionary), &parquet.Zstd)
		}
		return parquet.Encoded(leafNode(c), &parquet.Plain)
	}
	var out bytes.Buffer
	options := metadata("test")
	for _, f := range fields {
		eachLeaf(f, nil, func(path ...string) { options = append(options, parquet.SkipPageBounds(path...)) })
	}
	w := parquet.NewGenericWriter[any](&out, append(options, parquet.NewSchema(liveRoot, group(fields, packed)))...)
	for i, column := range w.ColumnWriters() {
		valuetest.Must(column.WriteRowValues(values[i]))
	}
	valuetest.OK(tb, w.Close())
	valuetest.OK(tb, schema.PutFileHash(out.Bytes()))
	return out.Bytes()
}

// TestUnpackedSize: a small file of runs that unpacks to much more than runs have is damage. One that unpacks to what a run may have is not, and
// neither is a large file.
func TestUnpackedSize(t *testing.T) {
	for size, damaged := range map[int]bool{1 << 20: false, 20 << 20: true} {
		r := runtest.Small()
		r.Variant = strings.Repeat("x", size)
		r.PointID = schema.PointID(&r)
		content := packedLive(t, r)
		if len(content) > 1<<17 {
			t.Fatalf("it has %d bytes", len(content))
		}
		file := bytes.NewReader(content)
		_, footer := schema.ReadLiveFooter(file, file.Size())
		_, opened := OpenLive(file, file.Size())
		narrow, length, err := Narrow(content, schema.Runs, runIDColumn)
		valuetest.OK(t, err)
		_, narrowed := OpenLive(narrow, length)
		_, read := ReadLive(content)
		for what, err := range map[string]error{"footer": footer, "opened": opened, "narrowed": narrowed, "read": read} {
			if errors.Is(err, schema.ErrDamaged) != damaged || damaged && !strings.Contains(err.Error(), "bytes when they are unpacked, and may take") {
				t.Errorf("%s of %d bytes: %v", what, size, err)
			}
		}
		if name := os.Getenv("NEUROLENS_TEST_KEEP"); name != "" && damaged {
			valuetest.OK(t, os.WriteFile(name+"/"+r.RunID+".parquet", content, 0o666))
		}
		sealed := write(t, schema.Runs, [][]any{schema.RunRow(&r, schema.DigestOf(&r))}).content
		file = bytes.NewReader(sealed)
		f := valuetest.Must(schema.ReadFooter(file, file.Size()))
		_, opened = Open(file, file.Size(), schema.Runs)
		for what, err := range map[string]error{"footer": f.Check(schema.Runs, 1), "opened": opened} {
			if errors.Is(err, schema.ErrDamaged) != damaged {
				t.Errorf("sealed, %s of %d bytes: %v", what, size, err)
			}
		}
		if err := r.Validate(); (err != nil) != damaged {
			t.Errorf("a run of %d bytes: %v", size, err)
		}
	}
	r := runtest.Small()
	r.Variant = strings.Repeat("x", 20<<20) // an earlier version took it
	content := valuetest.Must(testEncoder().Encode(&r, schema.DigestOf(&r)))
	file := bytes.NewReader(content)
	if _, err := schema.ReadLiveFooter(file, file.Size()); err != nil {
		t.Error(err)
	}
	if _, err := OpenLive(file, file.Size()); err != nil {
		t.Error(err)
	}
}

// TestLargestRun: readers take the file of a run whose texts are the most that a run may have, whether they are one text or many short ones.
func TestLargestRun(t *testing.T) {
	for _, length := range []int{1 << 20, 8} {
		var texts []string
		run := func(n int) *schema.Run {
			for len(texts) < n {
				texts = append(texts, fmt.Sprintf("%0*x", length, len(texts)))
			}
			r := runtest.Small()
			r.Warnings = texts[:n]
			return &r
		}
		const most = 16 << 20
		n := sort.Search(most/length, func(n int) bool { return run(n).Validate() != nil }) - 1
		if n < most/length/3 || n >= most/length {
			t.Fatalf("%d texts of %d bytes are valid", n, length)
		}
		r := run(n)
		sealed := write(t, schema.Runs, [][]any{schema.RunRow(r, schema.DigestOf(r))}).content
		if _, err := Open(bytes.NewReader(sealed), int64(len(sealed)), schema.Runs); err != nil {
			t.Errorf("%d texts of %d bytes: %v", n, length, err)
		}
	}
}
