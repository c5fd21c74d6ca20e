package table

import (
	"bytes"
	"errors"
	"testing"

	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// liveContent returns the live file of a run.
func liveContent(t *testing.T, r schema.Run) []byte {
	t.Helper()
	stat.Complete(&r)
	content := valuetest.Must(testEncoder().Encode(&r, schema.DigestOf(&r)))
	return content
}

// narrowRows reads some columns of a narrow file.
func narrowRows(t *testing.T, content []byte, live bool, columns ...string) [][]any {
	t.Helper()
	file, size, err := Narrow(content, schema.Runs, columns...)
	if err != nil {
		t.Fatal(columns, live, err)
	}
	open := func() (*File, error) { return Open(file, size, schema.Runs) }
	if live {
		open = func() (*File, error) { return OpenLive(file, size) }
	}
	f := valuetest.Must(open())
	return allRows(t, f.Reader().Read)
}

// TestNarrow: of each column, a file that is opened for it alone has what the whole file has, and of the others nothing: also where there are
// several row groups, and with a page index.
func TestNarrow(t *testing.T) {
	t.Parallel()
	_, many, _ := sweepRows(runtest.NewSweep(1, 30), 1500)
	out := &memory{}
	w := NewWriter(out, schema.Runs, "test", nil)
	for i, row := range many[schema.Runs] {
		valuetest.OK(t, w.Write(row))
		if i == 700 {
			valuetest.OK(t, w.endGroup())
		}
	}
	valuetest.OK(t, w.Close())
	check := func(name string, content []byte, live bool, want [][]any) {
		t.Helper()
		for at, c := range schema.Runs.Columns {
			got := narrowRows(t, content, live, "run_id", c.Name)
			if len(got) != len(want) {
				t.Fatalf("%s: %d rows, want %d", name, len(got), len(want))
			}
			for i, row := range got {
				for k, value := range row[:len(schema.Runs.Columns)] {
					if asked := k == 0 || k == at; asked && !same(value, want[i][k]) || !asked && value != nil {
						t.Fatalf("%s, column %s, row %d: value %d is %v, want %v", name, c.Name, i, k, value, want[i][k])
					}
				}
			}
		}
	}
	check("two row groups", out.content, false, many[schema.Runs])
	for _, r := range variety(30) {
		rows := rowsOf(r)[schema.Runs]
		check("sealed", write(t, schema.Runs, rows).content, false, rows)
		check("live", liveContent(t, r), true, rows)
	}
}

// TestNarrowDamaged: what is no file is an error.
func TestNarrowDamaged(t *testing.T) {
	t.Parallel()
	r := runtest.Full()
	content := liveContent(t, r)
	for n := range len(content) {
		if _, _, err := Narrow(content[:n], schema.Runs, "run_id"); err != nil && !errors.Is(err, schema.ErrDamaged) {
			t.Fatalf("the first %d bytes: %v", n, err)
		}
	}
	for at := len(content) - 1; at >= len(content)/2; at-- {
		broken := bytes.Clone(content)
		broken[at] ^= 0x10
		file, size, err := Narrow(broken, schema.Runs, "run_id", "params")
		if err != nil {
			if !errors.Is(err, schema.ErrDamaged) {
				t.Fatalf("byte %d: %v", at, err)
			}
			continue
		}
		if f, err := OpenLive(file, size); err == nil {
			_, _ = f.Reader().Read() // whatever it gives, it comes back
		}
	}
}
