package layout

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// program returns a run that has no document, so that only its row in the table knows it.
func program(n byte) schema.Run {
	r := measured(n)
	r.Backend, r.Model, r.Params = "", "", map[string]string{"n": string('a' + rune(n))}
	r.PointID = schema.PointID(&r)
	return r
}

// TestChangedTable: a table that somebody changed keeps each row that can be read. If there is anything else in it, the table is kept too, once.
func TestChangedTable(t *testing.T) {
	add3 := func(dir string) {
		b := open(t, dir)
		add(t, b, program(1), program(2), program(3))
	}
	good := t.TempDir()
	add3(good)
	header, _, _ := bytes.Cut(read(t, good, "summary.csv"), []byte("\n"))
	for name, c := range map[string]struct {
		change func(text string) string
		rows   int
		unread string // the reason in the warning; empty: no warning
	}{
		"a byte order mark":    {func(text string) string { return "\ufeff" + text }, 3, ""},
		"empty rows":           {func(text string) string { return text + strings.Repeat(",", 14) + "\r\n\r\n,,\r\n" }, 3, ""},
		"an empty file":        {func(string) string { return "" }, 0, ""},
		"only a header":        {func(string) string { return string(header) }, 0, ""},
		"Unix line ends":       {func(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }, 3, ""},
		"a short row":          {func(text string) string { return text + "x,y\r\n" }, 3, "line 5: 2 fields, want 15"},
		"a row without an id":  {func(text string) string { return text + strings.Repeat(",x", 14) + "\r\n" }, 3, "line 5: no run_id"},
		"a quote in a row":     {func(text string) string { return strings.Replace(text, ",ok,", ",o\"k,", 1) }, 2, `line 2: bare " in non-quoted-field`},
		"a quote that is open": {func(text string) string { return text + "\"x\r\n" }, 3, `line 5: extraneous or missing " in quoted-field`},
		"another column":       {func(text string) string { return strings.Replace(text, "seq_len", "length", 1) }, 0, "it has no column seq_len"},
		"another separator":    {func(text string) string { return strings.ReplaceAll(text, ",", ";") }, 0, "it has no column run_id"},
	} {
		dir := t.TempDir()
		add3(dir)
		path, old := filepath.Join(dir, "summary.csv"), filepath.Join(dir, "summary.csv.old")
		changed := []byte(c.change(string(read(t, path))))
		valuetest.OK(t, os.WriteFile(path, changed, 0o666))
		b := open(t, dir)
		add(t, b, program(4))
		if n := len(rows(t, dir)); n != c.rows+1 {
			t.Errorf("%s: %d rows, want %d:\n%s", name, n, c.rows+1, read(t, path))
		}
		warnings := slices.DeleteFunc(b.Warnings(), func(line string) bool { return strings.Contains(line, noDocument) })
		if c.unread == "" {
			if _, err := os.Lstat(old); err == nil || len(warnings) > 0 {
				t.Errorf("%s: %v, %q", name, err, warnings)
			}
			continue
		}
		if len(warnings) != 1 || !strings.Contains(warnings[0], "("+c.unread+")") || !bytes.Equal(read(t, old), changed) {
			t.Errorf("%s: %q, want %q, and\n%s", name, warnings, c.unread, read(t, old))
		}
		open(t, dir) // the new table is whole
		valuetest.OK(t, os.WriteFile(path, changed, 0o666))
		again, err := OpenBenchRuns(dir)
		if err == nil {
			err = again.Begin(nil, nil)
		}
		if err == nil || !strings.HasSuffix(err.Error(), c.unread+"; move it or summary.csv.old away") || !bytes.Equal(read(t, path), changed) {
			t.Errorf("%s, again: %v", name, err)
		}
	}
	dir := t.TempDir()
	valuetest.OK(t, os.Mkdir(filepath.Join(dir, "summary.csv"), 0o777))
	b, err := OpenBenchRuns(dir)
	if err == nil {
		err = b.Begin(nil, nil)
	}
	if err == nil || !strings.HasPrefix(err.Error(), "reading the rows of "+dir+": ") {
		t.Errorf("a folder in place of the table: %v", err)
	}
}

// TestRowOfDocument: the row of a document, made anew, is the row that its run had: a measured run with operators of its own has a latency, and
// a profiled run has none.
func TestRowOfDocument(t *testing.T) {
	dir := t.TempDir()
	own, profiled := measured(1), onGPU(2)
	own.Ops = onGPU(1).Ops
	add(t, open(t, dir), own, profiled)
	before := read(t, dir, "summary.csv")
	valuetest.OK(t, os.Remove(filepath.Join(dir, "summary.csv")))
	open(t, dir)
	if after := read(t, dir, "summary.csv"); !bytes.Equal(after, before) || rows(t, dir)[0]["total_latency_ms"] != "2" || rows(t, dir)[1]["total_latency_ms"] != "" {
		t.Errorf("the rows are\n%swant\n%s", after, before)
	}
}
