package ingest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/table"
	"github.com/neurolens/neurolens/schema"
)

// sealedDigests gives the digests of those runs, ascending, that sealed files hold. The names of the files say which of
// them can hold one, so that hardly ever one is opened. What is found is on disk, also where the one who sealed it did
// not come to the last fsync.
func sealedDigests(f disk.Files, runs []schema.ULID) (map[schema.ULID]string, error) {
	known := map[schema.ULID]string{}
	near, err := sealedNear(f, runs)
	if err != nil {
		return nil, err
	}
	for _, sealed := range near {
		before := len(known)
		if err := readDigests(f, sealed, runs, known); err != nil {
			return nil, err
		}
		if len(known) == before {
			continue
		}
		if err := syncSealed(f, sealed); err != nil {
			return nil, err
		}
	}
	return known, nil
}

// sealedNear lists the sealed files that are of the time of one of the runs, ascending.
func sealedNear(f disk.Files, runs []schema.ULID) ([]schema.SealedFile, error) {
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
		if folder.Name() < oldest { // holds no run that is later than its month
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

// sealedOf lists the sealed files of a folder that are of the time of one of the runs, ascending. Of the many others
// no more is looked at than the letters for their times, which are in the order of the times.
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

// find looks for a run whose appending failed after it may have got its name: its segment may be in a claim by now, or
// sealed. It fails where another run of this id is there. A run that is found is on disk.
func (s *sealer) find(run schema.ULID, content []byte) (bool, error) {
	want, err := table.ReadLive(content)
	if err != nil {
		return false, err
	}
	listed, err := schema.List(s.files, schema.Scope{Since: run.Time()})
	if err != nil {
		return false, err
	}
	digest := ""
	if at := slices.IndexFunc(listed.Live, func(f schema.LiveFile) bool { return f.Run == run }); at >= 0 {
		there, err := s.readLive(listed.Live[at])
		if err == nil {
			digest, err = there.Digest, disk.SyncDir(s.files, path.Dir(listed.Live[at].Path()))
		}
		if err != nil {
			return false, err
		}
	} else {
		known, err := sealedDigests(s.files, []schema.ULID{run})
		if err != nil {
			return false, err
		}
		if digest = known[run]; digest == "" {
			return false, nil
		}
	}
	if digest != want.Digest {
		return false, errors.New("the store holds another run with this id")
	}
	return true, nil
}

// overlaps tells whether one of the runs, ascending, is of the time of the sealed file.
func overlaps(f schema.SealedFile, runs []schema.ULID) bool {
	at, _ := slices.BinarySearchFunc(runs, f.First, func(run schema.ULID, ms int64) int {
		return int(min(max(run.Time().UnixMilli()-ms, -1), 1))
	})
	return at < len(runs) && runs[at].Time().UnixMilli() <= f.Last
}

// readDigests adds the digests of those runs, ascending, that a sealed file holds.
func readDigests(f fs.FS, sealed schema.SealedFile, runs []schema.ULID, known map[schema.ULID]string) error {
	return eachDigest(f, sealed, func(run schema.ULID, digest string) {
		if _, wanted := slices.BinarySearchFunc(runs, run, schema.ULID.Compare); wanted {
			known[run] = digest
		}
	})
}

// eachDigest goes through the runs of a sealed file.
func eachDigest(f fs.FS, sealed schema.SealedFile, do func(run schema.ULID, digest string)) error {
	return eachDigestIn(f, sealed.Path(schema.RunsDir), do)
}

// eachDigestIn goes through the runs of a file of runs.
func eachDigestIn(f fs.FS, name string, do func(run schema.ULID, digest string)) error {
	return eachRowIn(f, name, []string{runIDColumn, digestColumn}, func(row []any) error {
		id, _ := row[runIDPlace].(string)
		run, err := schema.ParseULID(id)
		if err != nil {
			return fmt.Errorf("%w: %w", schema.ErrDamaged, err)
		}
		digest, _ := row[digestPlace].(string)
		do(run, digest)
		return nil
	})
}

// eachRow goes through the rows of a sealed file of runs, with some columns, until there is an error; io.EOF is none.
func eachRow(f fs.FS, sealed schema.SealedFile, columns []string, do func(row []any) error) error {
	return eachRowIn(f, sealed.Path(schema.RunsDir), columns, do)
}

// eachRowIn is eachRow of the file of that name.
func eachRowIn(f fs.FS, name string, columns []string, do func(row []any) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("looking for runs in %s: %w", name, err)
		}
	}()
	opened, content, size, err := disk.OpenAt(f, name)
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

// Columns of runs that are looked at.
const (
	runIDColumn   = "run_id"
	digestColumn  = "digest"
	sessionColumn = "session_id"
	pointColumn   = "point_id"
	samplesColumn = "n_samples"
	sourceColumn  = "source"
)

var (
	runIDPlace   = placeOf(runIDColumn)
	digestPlace  = placeOf(digestColumn)
	sessionPlace = placeOf(sessionColumn)
	pointPlace   = placeOf(pointColumn)
	samplesPlace = placeOf(samplesColumn)
	sourcePlace  = placeOf(sourceColumn)
)

// placeOf is the place of a column of runs in its rows.
func placeOf(name string) int {
	return slices.IndexFunc(schema.Runs.Columns, func(c *schema.Column) bool { return c.Name == name })
}
