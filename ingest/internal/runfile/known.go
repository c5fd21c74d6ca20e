package runfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
)

// Digests returns the digests of the runs, ascending, that are in sealed files. The names of the files determine which of them can
// contain a run, so that few are opened. Runs that are found are on disk, even if their sealer died before its last fsync.
func Digests(f disk.Files, runs []schema.ULID) (map[schema.ULID]string, error) {
	known := map[schema.ULID]string{}
	near, err := Near(f, runs)
	if err != nil {
		return nil, err
	}
	for _, sealed := range near {
		before := len(known)
		if err := ReadDigests(f, sealed, runs, known); err != nil {
			return nil, err
		}
		if len(known) == before {
			continue
		}
		if err := SyncSealed(f, sealed); err != nil {
			return nil, err
		}
	}
	return known, nil
}

// Near lists the sealed files whose time range includes the time of one of the runs, ascending.
func Near(f disk.Files, runs []schema.ULID) ([]schema.SealedFile, error) {
	if len(runs) == 0 {
		return nil, nil
	}
	folders, err := fs.ReadDir(f, schema.RunsDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []schema.SealedFile
	oldest := schema.MonthOf(runs[0].Time())
	for _, folder := range folders {
		if folder.Name() < oldest { // it has no run that is later than its month
			continue
		}
		found, err := sealedOf(f, folder.Name(), runs)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// sealedOf lists the sealed files of a folder whose time range includes the time of one of the runs, ascending. For all others it
// compares only the letters for the times, which are in the order of the times.
func sealedOf(f fs.FS, folder string, runs []schema.ULID) ([]schema.SealedFile, error) {
	names, err := namesIn(f, path.Join(schema.RunsDir, folder))
	if err != nil {
		return nil, err
	}
	const id, letters = len("01ARZ3NDEKTSV4RRFFQ69G5FAV"), len("01ARZ3NDEK")
	const firstAt, lastAt = id + 1, id + 1 + letters + 1
	earliest, latest := runs[0].String()[:letters], runs[len(runs)-1].String()[:letters]
	var all []schema.SealedFile
	for _, name := range names {
		if len(name) < lastAt+letters || name[firstAt:][:letters] > latest || name[lastAt:][:letters] < earliest {
			continue
		}
		if sealed, err := schema.ParseSealedFile(name); err == nil && overlaps(sealed, runs) {
			all = append(all, sealed)
		}
	}
	return all, nil
}

// namesIn lists a directory in any order, without looking at the files.
func namesIn(f fs.FS, dir string) ([]string, error) {
	opened, err := f.Open(dir)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	if d, ok := opened.(interface {
		Readdirnames(n int) ([]string, error)
	}); ok {
		return d.Readdirnames(-1)
	}
	d, ok := opened.(fs.ReadDirFile)
	if !ok {
		return nil, &fs.PathError{Op: "readdir", Path: dir, Err: errors.ErrUnsupported}
	}
	entries, err := d.ReadDir(-1)
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, err
}

// overlaps reports whether the time of one of the runs, ascending, is in the range of the sealed file.
func overlaps(f schema.SealedFile, runs []schema.ULID) bool {
	at, _ := slices.BinarySearchFunc(runs, f.First, func(run schema.ULID, ms int64) int {
		return int(min(max(run.Time().UnixMilli()-ms, -1), 1))
	})
	return at < len(runs) && runs[at].Time().UnixMilli() <= f.Last
}

// ReadDigests adds the digests of the runs, ascending, that a sealed file has.
func ReadDigests(f fs.FS, sealed schema.SealedFile, runs []schema.ULID, known map[schema.ULID]string) error {
	return EachDigest(f, sealed, func(run schema.ULID, digest string) {
		if _, wanted := slices.BinarySearchFunc(runs, run, schema.ULID.Compare); wanted {
			known[run] = digest
		}
	})
}

// EachDigest calls each for the runs of a sealed file.
func EachDigest(f fs.FS, sealed schema.SealedFile, do func(run schema.ULID, digest string)) error {
	return eachDigestIn(f, sealed.Path(schema.RunsDir), do)
}

// eachDigestIn calls each for the runs of a file of runs.
func eachDigestIn(f fs.FS, name string, do func(run schema.ULID, digest string)) error {
	return eachRowIn(f, name, []string{RunIDColumn, DigestColumn}, func(row []any) error {
		id, _ := row[RunIDPlace].(string)
		run, err := schema.ParseULID(id)
		if err != nil {
			return fmt.Errorf("%w: %w", schema.ErrDamaged, err)
		}
		digest, _ := row[DigestPlace].(string)
		do(run, digest)
		return nil
	})
}

// EachRow calls each for the rows of a sealed file of runs, with some columns, until there is an error; io.EOF ends it
// without error.
func EachRow(f fs.FS, sealed schema.SealedFile, columns []string, do func(row []any) error) error {
	return eachRowIn(f, sealed.Path(schema.RunsDir), columns, do)
}

// eachRowIn implements EachRow for the file of that name.
func eachRowIn(f fs.FS, name string, columns []string, do func(row []any) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("looking for runs in %s: %w", name, err)
		}
	}()
	opened, content, size, err := schema.OpenAt(f, name)
	if err != nil {
		return err
	}
	defer opened.Close()
	file, err := table.Open(content, size, schema.Runs)
	if err != nil {
		return err
	}
	reader := file.Reader(columns...)
	defer reader.Close()
	for {
		row, err := reader.Read()
		if err == nil {
			err = do(row)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// Columns of runs that are read.
const (
	RunIDColumn  = "run_id"
	DigestColumn = "digest"
)

var (
	RunIDPlace  = schema.Runs.Place(RunIDColumn)
	DigestPlace = schema.Runs.Place(DigestColumn)
)
