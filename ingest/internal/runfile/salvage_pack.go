package runfile

import (
	"errors"
	"io"
	"io/fs"
	"slices"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
)

// packedRows are the rows of a pack that a sealed file has as well.
type packedRows struct {
	reader *table.Reader
	file   io.Closer
	of     map[schema.ULID]bool
}

// usePack takes the rows of damaged runs from a pack that has copies of all of them, if there is one.
func (s *Salvager) usePack(runs *salvagePart) error {
	packs, err := schema.ListZone(s.fsys, schema.PacksDir)
	if err != nil {
		return err
	}
	for _, pack := range packs {
		ids, err := s.packedIDs(pack)
		if err != nil && !AboutContent(err) && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err != nil || len(ids) != s.sealed.Rows {
			continue
		}
		opened, file, err := OpenTable(s.fsys, pack.Path(schema.PacksDir), schema.Runs)
		if err != nil {
			return err
		}
		_ = runs.end()
		s.packed = &packedRows{opened.Reader(), file, ids}
		runs.rows, runs.close = s.packed, func() error { return nil }
		return nil
	}
	return nil
}

// packedIDs gives the runs of the sealed file that a pack has: those of its time that are in none of the other files that
// the pack covers. There are none if the pack does not cover this file. Errors that are refusable are about the content
// of a file.
func (s *Salvager) packedIDs(pack schema.SealedFile) (map[schema.ULID]bool, error) {
	covers, err := schema.PackCovers(s.fsys, pack)
	if err != nil || !slices.Contains(covers, s.sealed.ID) {
		return nil, err
	}
	if err := CheckHash(s.fsys, pack.Path(schema.PacksDir)); err != nil {
		return nil, err
	}
	ids := map[schema.ULID]bool{}
	if err := eachDigestIn(s.fsys, pack.Path(schema.PacksDir), func(run schema.ULID, _ string) {
		if ms := run.Time().UnixMilli(); s.sealed.First <= ms && ms <= s.sealed.Last {
			ids[run] = true
		}
	}); err != nil {
		return nil, err
	}
	files, err := schema.ListZone(s.fsys, schema.RunsDir)
	if err != nil {
		return nil, err
	}
	for _, id := range covers {
		at := slices.IndexFunc(files, func(f schema.SealedFile) bool { return f.ID == id })
		if id == s.sealed.ID {
			continue
		}
		if at < 0 {
			return nil, nil
		}
		if f := files[at]; f.First <= s.sealed.Last && s.sealed.First <= f.Last {
			if err := EachDigest(s.fsys, f, func(run schema.ULID, _ string) { delete(ids, run) }); err != nil {
				return nil, err
			}
		}
	}
	return ids, nil
}

// Read gives the next row.
func (p *packedRows) Read() ([]any, error) {
	for {
		row, err := p.reader.Read()
		if err != nil {
			return nil, err
		}
		id, _ := row[RunIDPlace].(string)
		if run, err := schema.ParseULID(id); err == nil && p.of[run] {
			return row, nil
		}
	}
}

// Close ends reading.
func (p *packedRows) Close() error { return errors.Join(p.reader.Close(), p.file.Close()) }

func (p *packedRows) close() {
	if p != nil {
		_ = p.Close()
	}
}
