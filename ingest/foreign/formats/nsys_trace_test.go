package formats

import (
	"bytes"
	"compress/gzip"
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
)

// made is a database that SQL makes.
func made(t *testing.T, statements ...string) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "made.sqlite")
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

const exported = `CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT)`

// TestDatabaseAnywhere: a report is the same by whatever name, and where it is compressed; nothing is left of the copy.
func TestDatabaseAnywhere(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	content, err := os.ReadFile(filepath.Join(root, "fixtures", "results", "nsys", "two_ranks.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	_, want, err := readTrace(t, "report.sqlite", content)
	if err != nil || len(want) != 2 {
		t.Fatalf("%d runs, %v", len(want), err)
	}
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := w.Write(content); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"a folder/b?c%20d#e&mode=rwc.sqlite": content, "report.sqlite.gz": zipped.Bytes()} {
		_, runs, err := readTrace(t, name, content)
		if err != nil || len(runs) != len(want) {
			t.Fatalf("%s: %d runs, %v", name, len(runs), err)
		}
		for i := range runs {
			if runs[i].RunID != want[i].RunID {
				t.Errorf("%s: run %d is %s, want %s", name, i, foreigntest.Run(&runs[i]), foreigntest.Run(&want[i]))
			}
		}
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestHostileDatabase: what computes its rows is not asked for them, and a damaged file is an error.
func TestHostileDatabase(t *testing.T) {
	endless := `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i AS start, i AS "end", i AS demangledName FROM n`
	events := `CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, "end", demangledName GENERATED ALWAYS AS (17), shortName)`
	report, runs, err := readTrace(t, "report.sqlite", made(t, exported, `CREATE VIEW CUPTI_ACTIVITY_KIND_MEMSET AS `+endless, events,
		`INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, "end", shortName) VALUES (1, 2, 5), (3, 9, 'axpy'), (3, 4, 1.5), (4, 6, NULL), (-9223372036854775807, 9223372036854775807, 5)`))
	if err != nil || len(runs) != 1 || report.Refused != 4 {
		t.Fatalf("%d runs, %d refused %v, %v", len(runs), report.Refused, report.Refusals, err)
	}
	if got := runs[0].Metric(kernelTime).Ticks; len(got) != 1 || got[0] != 7 {
		t.Errorf("kernels take %v ns, want 7", got)
	}
	content := made(t, exported, `CREATE TABLE NVTX_EVENTS (start, "end", text, globalTid)`,
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO NVTX_EVENTS SELECT i, i + 5, 'range', 77 FROM n`)
	for _, cut := range []int{120, 5000, len(content) / 2} {
		report, runs, err := readTrace(t, "report.sqlite", append(content[:cut:cut], exported...))
		if err == nil && report.Refused == 0 {
			t.Errorf("cut at %d: %d runs, nothing refused", cut, len(runs))
		}
	}
}

// TestJournal: a report that was left in another journal's mode is read, too.
func TestJournal(t *testing.T) {
	content := made(t, `PRAGMA journal_mode = WAL`, exported, `CREATE TABLE NVTX_EVENTS (start, "end", text)`, `INSERT INTO NVTX_EVENTS VALUES (5, 8, 'step')`)
	_, runs, err := readTrace(t, "report.sqlite", content)
	if err != nil || len(runs) != 1 || len(runs[0].Ops) != 1 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
}
