package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strings"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/google/uuid"
	"github.com/parquet-go/parquet-go"
)

// updated says what a table has after an update.
type updated struct {
	name           string
	files          int
	rows           int64
	hidden         int // of the rows
	added, dropped int // files
}

// String returns a line for people.
func (u updated) String() string {
	return fmt.Sprintf("%s: %d rows in %d files, %d of them hidden; %d files added, %d dropped", u.name, u.rows, u.files, u.hidden, u.added, u.dropped)
}

// content is the files of a table.
type content struct{ data, deletes map[string]iceberg.DataFile }

// update makes a table, or brings it up to date, by one commit. A table that is up to date gets no new version.
func (w *warehouse) update(ctx context.Context, of source) (done updated, err error) {
	tbl, has, err := w.load(ctx, of)
	if err != nil {
		return done, err
	}
	want, err := w.wanted(of, has.data)
	if err != nil {
		return done, err
	}
	data, err := w.change(ctx, tbl, has.data, want)
	if err != nil {
		return done, err
	}
	done = updated{of.name, len(want), data.rows, len(of.hidden), len(data.added), len(data.dropped)}
	deletes, err := w.deletes(of, has.deletes)
	if err != nil || len(data.added)+len(data.dropped)+len(deletes.added)+len(deletes.dropped) == 0 {
		return done, err
	}
	tx := tbl.NewTransaction()
	switch {
	case tbl.CurrentSnapshot() == nil:
		err = tx.AddDataFiles(ctx, data.added, nil)
	case len(data.added)+len(data.dropped)+len(deletes.dropped) > 0:
		err = tx.ReplaceFiles(ctx, data.dropped, data.added, deletes.dropped, nil)
	}
	if err == nil && len(deletes.added) > 0 {
		err = tx.NewRowDelta(nil).AddDeletes(deletes.added...).Commit(ctx)
	}
	if err == nil {
		_, err = tx.Commit(ctx)
	}
	return done, err
}

// load reads a table, which it makes if there is none, and its files.
func (w *warehouse) load(ctx context.Context, of source) (*table.Table, content, error) {
	has := content{map[string]iceberg.DataFile{}, map[string]iceberg.DataFile{}}
	n, err := w.latest(of.name)
	if err == nil && n == 0 {
		err = w.create(of.name, of.schema)
	}
	if err != nil {
		return nil, has, err
	}
	if err := w.isHere(of.name); err != nil {
		return nil, has, fmt.Errorf("%w: %s", err, w.again())
	}
	tbl, err := w.LoadTable(ctx, table.Identifier{of.name})
	if err != nil {
		return nil, has, fmt.Errorf("%w: %s", err, w.again())
	}
	if !tbl.Schema().Equals(of.schema) {
		return nil, has, fmt.Errorf("it has other columns than those of this version: %s", w.again())
	}
	snapshot := tbl.CurrentSnapshot()
	if snapshot == nil {
		return tbl, has, nil
	}
	manifests, err := snapshot.Manifests(w)
	if err != nil {
		return nil, has, err
	}
	for _, m := range manifests {
		for e, err := range m.Entries(w, true) {
			if err != nil {
				return nil, has, err
			}
			if f := e.DataFile(); f.ContentType() == iceberg.EntryContentData {
				has.data[f.FilePath()] = f
			} else {
				has.deletes[f.FilePath()] = f
			}
		}
	}
	return tbl, has, nil
}

// change is files that a table gets and loses.
type change struct {
	added, dropped []iceberg.DataFile
	rows           int64 // of the files that it has then
}

// change compares the files of a table with those that it has to have.
func (w *warehouse) change(ctx context.Context, tbl *table.Table, has map[string]iceberg.DataFile, want []string) (c change, err error) {
	wanted := make(map[string]bool, len(want))
	for _, name := range want {
		wanted[name] = true
		f, is := has[name]
		if !is {
			if f, err = table.FileToDataFile(ctx, w, name, tbl.Schema(), tbl.Spec(), 0, tbl.Properties()); err != nil {
				return c, fmt.Errorf("%s: %w", name, err)
			}
			c.added = append(c.added, f)
		}
		if size, err := w.size(name); err != nil {
			return c, err
		} else if size != f.FileSizeBytes() {
			return c, fmt.Errorf("%s was repaired: it has %d bytes, not %d: %s", name, size, f.FileSizeBytes(), w.again())
		}
		c.rows += f.Count()
	}
	for name, f := range has {
		if !wanted[name] {
			c.dropped = append(c.dropped, f)
		}
	}
	return c, nil
}

// again says what to do with tables that cannot be updated.
func (w *warehouse) again() string {
	return fmt.Sprintf("remove %s and make the tables again", path.Join(w.dir, tablesDir))
}

// wanted returns the locations of the files that a table has to have. That of tags is written first.
func (w *warehouse) wanted(of source, has map[string]iceberg.DataFile) ([]string, error) {
	if len(of.tags) > 0 {
		name, err := write(w, of.name, "tags", of.tags, has)
		return []string{name.location}, err
	}
	want := make([]string, len(of.files))
	for i, file := range of.files {
		want[i] = w.url(file)
	}
	return want, nil
}

// deletes returns the changes of position deletes. All are in one file, which is written anew if they change.
func (w *warehouse) deletes(of source, has map[string]iceberg.DataFile) (c change, err error) {
	kept := ""
	if len(of.hidden) > 0 {
		at := make([]position, len(of.hidden)) // by file and row, as Iceberg wants it
		for i, p := range of.hidden {
			at[i] = position{w.url(p.File), p.Row}
		}
		file, err := write(w, of.name, "deletes", at, has)
		if err != nil {
			return c, err
		}
		if _, is := has[file.location]; !is {
			b, err := iceberg.NewDataFileBuilder(*iceberg.UnpartitionedSpec, iceberg.EntryContentPosDeletes, file.location, iceberg.ParquetFile, nil, nil, nil, int64(len(at)), file.size)
			if err != nil {
				return c, err
			}
			c.added = append(c.added, b.Build())
		}
		kept = file.location
	}
	for name, f := range has {
		if name != kept {
			c.dropped = append(c.dropped, f)
		}
	}
	return c, nil
}

// written is a file of a table that is none of the store.
type written struct {
	location string
	size     int64
}

// write writes rows as a file of a table, unless one of its files has the same. The name has the hash of the content, and is never used again.
func write[T any](w *warehouse, name, kind string, rows []T, has map[string]iceberg.DataFile) (written, error) {
	var content bytes.Buffer
	out := parquet.NewGenericWriter[T](&content)
	if _, err := out.Write(rows); err != nil {
		return written{}, err
	}
	if err := out.Close(); err != nil {
		return written{}, err
	}
	hash := sha256.Sum256(content.Bytes())
	begin := kind + "-" + hex.EncodeToString(hash[:16]) + "-"
	for location, f := range has {
		if strings.HasPrefix(path.Base(location), begin) {
			return written{location, f.FileSizeBytes()}, nil
		}
	}
	file := tablesDir + "/" + name + "/data/" + begin + uuid.NewString() + ".parquet"
	return written{w.url(file), int64(content.Len())}, w.replace(file, content.Bytes())
}
