package table

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

func testEncoder() *Encoder { return NewEncoder("test") }

// TestFlippedBits finds every single changed bit of a file, wherever it is.
func TestFlippedBits(t *testing.T) {
	run := runtest.Small()
	content := valuetest.Must(testEncoder().Encode(&run, schema.DigestOf(&run)))
	valuetest.OK(t, schema.CheckFileHash(content))
	for i := range content {
		for _, mask := range []byte{0x01, 0x10, 0x80, 0xff} {
			content[i] ^= mask
			if schema.CheckFileHash(content) == nil {
				t.Fatalf("byte %d of %d changed by %#x is not found", i, len(content), mask)
			}
			content[i] ^= mask
		}
	}
}

// TestDeterministic encodes one run with new and used writers. Appending a run again relies on equal bytes.
func TestDeterministic(t *testing.T) {
	e := testEncoder()
	run := runtest.Full()
	first := valuetest.Must(e.Encode(&run, schema.DigestOf(&run)))
	first = bytes.Clone(first)
	for _, e := range []*Encoder{e, e, testEncoder()} {
		other := runtest.Realistic()
		valuetest.Must(e.Encode(&other, schema.DigestOf(&other)))
		again := valuetest.Must(e.Encode(&run, schema.DigestOf(&run)))
		if !bytes.Equal(first, again) {
			t.Fatalf("the same run gives %d bytes, then %d others", len(first), len(again))
		}
	}
}

// TestEncodeAllocations holds that nothing is made anew for each leaf: a row of values, and the keys of maps in order, remain.
func TestEncodeAllocations(t *testing.T) {
	const most = 200
	e, run := testEncoder(), runtest.Realistic()
	digest := schema.DigestOf(&run)
	n := testing.AllocsPerRun(10, func() {
		valuetest.Must(e.Encode(&run, digest))
	})
	if n > most {
		t.Errorf("%v allocations for a run, want at most %d", n, most)
	}
}

// TestPageChecksums changes a bit of the samples, which a reader that checks pages finds without the hash of the file.
func TestPageChecksums(t *testing.T) {
	run := runtest.Small()
	content := valuetest.Must(testEncoder().Encode(&run, schema.DigestOf(&run)))
	file := valuetest.Must(parquet.OpenFile(bytes.NewReader(content), int64(len(content))))
	for _, chunk := range file.Metadata().RowGroups[0].Columns {
		m := chunk.MetaData
		content[m.DataPageOffset+m.TotalCompressedSize-1] ^= 1
	}
	row := []parquet.Row{nil}
	if n, err := parquet.NewReader(bytes.NewReader(content)).ReadRows(row); !errors.Is(err, parquet.ErrCorrupted) {
		t.Errorf("read %d rows with error %v, want corrupted", n, err)
	}
}

// TestLayoutsBounded encodes runs of many shapes.
func TestLayoutsBounded(t *testing.T) {
	e := testEncoder()
	for i := range 4 * maxLayouts {
		run := runtest.Small()
		for bit, field := range []*string{&run.Suite, &run.Error, &run.Signal, &run.ErrorKind, &run.SessionID} {
			if i>>bit&1 == 1 {
				*field = "x"
			}
		}
		valuetest.Must(e.Encode(&run, schema.DigestOf(&run)))
		if n := len(e.layouts); n > maxLayouts {
			t.Fatalf("%d layouts are kept, want at most %d", n, maxLayouts)
		}
	}
}

// TestProfile holds the encodings of a live file: what FORMAT.md promises of it.
func TestProfile(t *testing.T) {
	run := runtest.Full()
	content := valuetest.Must(testEncoder().Encode(&run, schema.DigestOf(&run)))
	file := valuetest.Must(parquet.OpenFile(bytes.NewReader(content), int64(len(content))))
	for key, want := range map[string]string{formatKey: strconv.Itoa(schema.Format), writerKey: "test"} {
		if got, _ := file.Lookup(key); got != want {
			t.Errorf("metadata %s is %q, want %q", key, got, want)
		}
	}
	groups := file.Metadata().RowGroups
	if len(groups) != 1 || groups[0].NumRows != 1 {
		t.Fatalf("%d row groups, want one of one row", len(groups))
	}
	for _, chunk := range groups[0].Columns {
		m := chunk.MetaData
		path := fmt.Sprint(m.PathInSchema)
		want := format.Plain
		if m.Type == format.Int64 && m.PathInSchema[len(m.PathInSchema)-1] == "element" {
			want = format.DeltaBinaryPacked
		}
		if m.Codec != format.Uncompressed {
			t.Errorf("%s has codec %v", path, m.Codec)
		}
		for _, s := range m.EncodingStats {
			if s.PageType != format.DataPageV2 || s.Encoding != want {
				t.Errorf("%s has a page of type %v, encoding %v; want %v", path, s.PageType, s.Encoding, want)
			}
		}
	}
}
