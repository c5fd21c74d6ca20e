package querytest

import (
	"crypto/sha256"
	stdsql "database/sql"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// Annotate adds annotations to runs of a store.
func Annotate(t *testing.T, dir string, said ...ingest.Annotation) {
	t.Helper()
	s := valuetest.Must(ingest.Open(dir, "test"))
	for _, a := range said {
		valuetest.NoError(t, valuetest.Error(s.Annotate(a)))
	}
	valuetest.OK(t, s.Close())
}

// SayMuch writes events about runs, in files and in a pack: the newest run is removed.
func SayMuch(t testing.TB, dir string, runs []schema.Run) {
	t.Helper()
	id := func(i int) string { return runs[i].RunID }
	var packed []byte
	for i, e := range []schema.Event{
		{Kind: schema.EventTag, Key: "kept", Value: "yes", Runs: []string{id(1), id(2), id(30), id(59)}},
		{Kind: schema.EventRemove, Runs: []string{id(59), id(30), id(12)}},
		{Kind: schema.EventRestore, Runs: []string{id(30)}},
		{Kind: schema.EventUntag, Key: "who", Runs: []string{id(2), id(44)}},
		{Kind: schema.EventNote, Value: "seen", Runs: []string{id(4)}},
		{Kind: schema.EventBless, Key: "good", Runs: []string{id(6), id(12), id(50)}},
		{Kind: schema.EventNote, Value: "seen again", Runs: []string{id(4)}},
	} {
		e.At = Start.Add(time.Duration(i) * time.Hour)
		event := schema.ULIDFrom(e.At, [10]byte{9: byte(i)})
		if packed = append(packed, WriteEvent(t, dir, event, e)...); i == 3 {
			WriteFile(t, filepath.Join(dir, schema.PackedEvents(event)), packed)
		}
	}
}

// WriteEvent writes the file of an event with an id, and returns its content.
func WriteEvent(t testing.TB, dir string, id schema.ULID, e schema.Event) []byte {
	t.Helper()
	e.EventID = id.String()
	content := valuetest.Must(e.Encode())
	WriteFile(t, filepath.Join(dir, schema.EventFile(id)), content)
	return content
}

// IDsWhere returns the ids of runs.
func IDsWhere(runs []schema.Run, holds func(r *schema.Run) bool) (all []string) {
	for i := range runs {
		if holds(&runs[i]) {
			all = append(all, runs[i].RunID)
		}
	}
	return all
}

// Long reports whether tests run all their cases, which takes minutes, or a small part of them.
func Long() bool { return os.Getenv("NEUROLENS_LONG") != "" }

// NeedsLong skips a test unless Long is true.
func NeedsLong(t *testing.T) {
	t.Helper()
	if !Long() {
		t.Skip("left out: NEUROLENS_LONG is not set")
	}
}

// DuckDB runs a text in a DuckDB without stores and returns the answer.
func DuckDB(t *testing.T, text string) string {
	t.Helper()
	db := valuetest.Must(stdsql.Open("duckdb", ""))
	defer db.Close()
	db.SetMaxOpenConns(1)
	valuetest.Must(db.Exec("SET TimeZone = 'UTC'"))
	var answer any
	valuetest.OK(t, db.QueryRow(text).Scan(&answer), text)
	return fmt.Sprint(answer)
}

// Snapshot is everything that is in a directory: names, modes, times and contents.
func Snapshot(t testing.TB, dir string) string {
	t.Helper()
	var all strings.Builder
	valuetest.OK(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(&all, path, info.Mode(), info.ModTime())
		if d.Type().IsRegular() {
			content, err := os.ReadFile(path)
			fmt.Fprintf(&all, "%x\n", sha256.Sum256(content))
			return err
		}
		return nil
	}))
	return all.String()
}

// Protect takes the right to write from a directory until the test ends.
func Protect(t *testing.T, dir string) {
	t.Helper()
	valuetest.OK(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			t.Cleanup(func() { _ = os.Chmod(path, 0o755) })
			err = os.Chmod(path, 0o555)
		}
		return err
	}))
}
