package ingest

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// openSealed opens the file of a table in a sealed file, to be closed; nil where there is none.
func openSealed(t testing.TB, dir string, f schema.SealedFile, of *schema.Table) (*table.File, io.Closer) {
	t.Helper()
	opened, err := os.Open(filepath.Join(dir, f.Path(schema.TableFolders[of])))
	if of != schema.Runs && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	valuetest.OK(t, err)
	info := must(opened.Stat())
	if err := schema.CheckFileHashAt(opened, info.Size()); err != nil {
		t.Fatalf("%s: %v", opened.Name(), err)
	}
	file, err := table.Open(opened, info.Size(), of)
	if err != nil {
		t.Fatalf("%s: %v", opened.Name(), err)
	}
	return file, opened
}

// sealedRows reads the rows of a table in a sealed file by run, and the runs in the order of the file.
func sealedRows(t testing.TB, dir string, f schema.SealedFile, of *schema.Table) (map[string][][]any, []string) {
	t.Helper()
	rows := map[string][][]any{}
	var runs []string
	file, closer := openSealed(t, dir, f, of)
	if file == nil {
		return rows, nil
	}
	defer closer.Close()
	reader := file.Reader()
	defer reader.Close()
	for {
		row, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return rows, runs
		}
		if err != nil {
			t.Fatalf("%s: %v", f.Path(schema.TableFolders[of]), err)
		}
		run, _ := row[0].(string)
		rows[run] = append(rows[run], row)
		runs = append(runs, run)
	}
}

// checkSealed reads a sealed file and gives the runs in it: it is in order, is what its name says, and what it says of
// each run has the digest that the run had when it was appended.
func checkSealed(t testing.TB, dir string, f schema.SealedFile) []string {
	t.Helper()
	runs, ids := sealedRows(t, dir, f, schema.Runs)
	samples, sampled := sealedRows(t, dir, f, schema.Samples)
	ops, _ := sealedRows(t, dir, f, schema.Ops)
	if !slices.IsSorted(ids) || !slices.IsSorted(sampled) {
		t.Fatalf("%s is not in order", f.Name())
	}
	var named []schema.ULID
	for _, id := range ids {
		run := must(schema.ParseULID(id))
		named = append(named, run)
		row := runs[id][0]
		if digest := schema.DigestOfRows(row, samples[id], ops[id]); digest != row[runfile.DigestPlace] {
			t.Fatalf("%s: run %s has the digest %s and says %v", f.Name(), id, digest, row[runfile.DigestPlace])
		}
	}
	if want := schema.NewSealedFile(f.ID, named); want != f || f.ID.Time().UnixMilli() < f.Last {
		t.Fatalf("%s should be called %s", f.Name(), want.Name())
	}
	for _, of := range []map[string][][]any{samples, ops} {
		for id := range of {
			if runs[id] == nil {
				t.Fatalf("%s has rows of %s, which is not in it", f.Name(), id)
			}
		}
	}
	return ids
}

// whereRuns lists what is in a store: the runs in each zone, and the claims.
func whereRuns(t testing.TB, dir string) (live, sealed []string, claims []schema.Claim) {
	t.Helper()
	listed := must(schema.List(os.DirFS(dir), schema.Scope{}))
	for _, f := range listed.Live {
		live = append(live, f.Run.String())
	}
	for _, f := range listed.Sealed {
		sealed = append(sealed, checkSealed(t, dir, f)...)
	}
	claims = must(disk.ListClaims(os.DirFS(dir)))
	return live, sealed, claims
}
