package storetest

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/ingest/internal/sealing"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// MakeClaim creates a claim of this process without segments.
func MakeClaim(t testing.TB, dir string, c schema.Claim) {
	t.Helper()
	WriteFile(t, filepath.Join(dir, c.Path(), schema.OwnerFile), valuetest.Must(sealing.Self("", time.Now()).Encode()))
}

// PackSealed writes a pack of sealed files that do not overlap.
func PackSealed(t testing.TB, dir string, sealed []schema.SealedFile) string {
	t.Helper()
	var covers, runs []schema.ULID
	var rows [][]any
	slices.SortFunc(sealed, func(a, b schema.SealedFile) int { return a.ID.Compare(b.ID) })
	for _, f := range sealed {
		covers = append(covers, f.ID)
		r := runfile.ReadSealed(os.DirFS(dir), f)
		for live, err := r.Next(); err == nil; live, err = r.Next() {
			rows, runs = append(rows, live.Run), append(runs, valuetest.Must(schema.ParseULID(live.RunID)))
		}
		r.Close()
	}
	slices.SortFunc(rows, func(a, b []any) int { return strings.Compare(a[0].(string), b[0].(string)) })
	name := filepath.Join(dir, schema.NewSealedFile(schema.NewClaim(time.Now(), runs), runs).Path(schema.PacksDir))
	valuetest.OK(t, os.MkdirAll(filepath.Dir(name), 0o777))
	out := valuetest.Must(os.Create(name))
	w := table.NewWriter(out, schema.Runs, "test", covers)
	for _, row := range rows {
		valuetest.OK(t, w.Write(row))
	}
	valuetest.OK(t, w.Close())
	valuetest.OK(t, out.Close())
	return name
}

// Rewrite replaces a file of a sealed file by one with other rows and a matching hash.
func Rewrite(t testing.TB, dir string, f schema.SealedFile, of *schema.Table, change func(rows [][]any) [][]any) {
	t.Helper()
	name := filepath.Join(dir, f.Path(schema.TableFolders[of]))
	rows := rowsOf(t, os.DirFS(dir), f.Path(schema.TableFolders[of]), of)
	valuetest.OK(t, os.Remove(name))
	out := valuetest.Must(os.Create(name))
	w := table.NewWriter(out, of, "test", nil)
	for _, row := range change(rows) {
		valuetest.OK(t, w.Write(row))
	}
	valuetest.OK(t, w.Close())
	valuetest.OK(t, out.Close())
}

func rowsOf(t testing.TB, f fs.FS, name string, of *schema.Table) [][]any {
	t.Helper()
	r := valuetest.Must(runfile.OpenRows(f, name, of))
	defer r.Close()
	var rows [][]any
	for r.Row != nil {
		rows = append(rows, r.Row)
		valuetest.OK(t, r.Advance())
	}
	return rows
}
