package runfile

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"slices"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
)

// Salvager reads the intact rows of a damaged sealed file, in ascending order of the runs. It keeps every row whose file matches its
// hash or whose page matches its checksum. A run with all its rows matches its digest. A run that does not match is kept, with its
// remaining rows, if the file of its samples or ops is damaged or missing; all others are left out.
type Salvager struct {
	fsys   fs.FS
	sealed schema.SealedFile
	name   func(t *schema.Table) string // path of the file of a table
	packed *packedRows                  // copies of damaged runs in a pack; nil if there are none
	known  Lost                         // rows that were lost before
	parts  map[*schema.Table]*salvagePart
	Kept   int  // number of runs so far
	Loss   Loss // complete after the last run
}

// Salvaged is a run that may have lost rows in the tables Lost.
type Salvaged struct {
	*table.Live
	Lost []*schema.Table
}

// NewSalvager opens a sealed file. known has the runs that lost rows before. The error is one of the file system, or
// wraps table.ErrNewer.
func NewSalvager(in Input, known Lost) (*Salvager, error) {
	f, name := in.FS, in.Name
	s := &Salvager{fsys: f, sealed: in.Sealed, name: name, known: known, parts: map[*schema.Table]*salvagePart{}}
	for _, t := range Tables {
		part, err := openPart(f, name(t), t)
		if err != nil {
			s.Close()
			return nil, err
		}
		s.parts[t] = part
	}
	if runs := s.parts[schema.Runs]; runs.damage != nil {
		if err := s.usePack(runs); err != nil {
			s.Close()
			return nil, err
		}
	}
	for _, part := range s.parts {
		if err := part.advance(); err != nil {
			s.Close()
			return nil, err
		}
	}
	return s, nil
}

// Close closes the files.
func (s *Salvager) Close() {
	for _, part := range s.parts {
		_ = part.end()
	}
	s.packed.close()
}

// Next returns the next run, and io.EOF after the last. Other errors come from the file system.
func (s *Salvager) Next() (Salvaged, error) {
	runs := s.parts[schema.Runs]
	for runs.row != nil {
		r := Salvaged{Live: &table.Live{RunID: runs.runID(), Run: runs.row}}
		r.Digest, _ = runs.row[DigestPlace].(string)
		var err error
		if r.Samples, err = s.parts[schema.Samples].of(r.RunID); err != nil {
			return r, err
		}
		if r.Ops, err = s.parts[schema.Ops].of(r.RunID); err != nil {
			return r, err
		}
		if err := runs.advance(); err != nil {
			return r, err
		}
		if s.judge(&r) {
			s.count(&r)
			return r, nil
		}
	}
	s.Loss.Runs = max(s.sealed.Rows-s.Kept, 0)
	return Salvaged{}, io.EOF
}

// count counts a run, and its newly lost rows.
func (s *Salvager) count(r *Salvaged) {
	s.Kept++
	for _, t := range r.Lost {
		_, before := s.known[r.RunID][t.Name]
		switch {
		case before && s.parts[t].damage == nil:
		case t == schema.Ops:
			s.Loss.Ops++
		default:
			s.Loss.Samples++
		}
	}
}

// judge determines which rows of a run are lost, and reports whether the rest can be trusted.
func (s *Salvager) judge(r *Salvaged) bool {
	id, err := schema.ParseULID(r.RunID)
	late := s.sealed.ID != (schema.ULID{}) && id.Time().After(s.sealed.ID.Time())
	if err != nil || late || !sameInstant(id, r.Run[startedPlace]) {
		return false
	}
	if schema.DigestOfRows(r.Run, r.Samples, r.Ops) == r.Digest && CheckRow(r.Live) == nil {
		return true
	}
	for _, t := range []*schema.Table{schema.Samples, schema.Ops} {
		if _, before := s.known[r.RunID][t.Name]; before || s.parts[t].damage != nil {
			r.Lost = append(r.Lost, t)
		}
	}
	runs := s.parts[schema.Runs]
	if len(r.Lost) == 0 && (runs.damage == nil || s.packed != nil) {
		for _, t := range []*schema.Table{schema.Samples, schema.Ops} {
			if len(r.Lost) == 0 && s.parts[t].absent {
				r.Lost = append(r.Lost, t)
			}
		}
	}
	r.keepTrusted()
	return len(r.Lost) > 0
}

// keepTrusted drops rows of samples that contradict themselves or the summary of the run.
func (r *Salvaged) keepTrusted() {
	var kept [][]any
	for _, row := range r.Samples {
		if CheckRow(&table.Live{RunID: r.RunID, Run: r.Run, Samples: [][]any{row}}) == nil {
			kept = append(kept, row)
		}
	}
	r.Samples = kept
}

// Lacks reports whether the file of a table is missing.
func (s *Salvager) Lacks(t *schema.Table) bool { return s.parts[t].absent }

// Damages returns the errors of the files, errors of the file of runs last.
func (s *Salvager) Damages() (all []error) {
	for _, t := range Tables {
		part := s.parts[t]
		switch {
		case part.damage != nil:
			all = append(all, part.damage)
		case part.absent && (t == schema.Samples && s.Loss.Samples > 0 || t == schema.Ops && s.Loss.Ops > 0):
			all = append(all, Damagedf(part.path, "it is missing, but its runs are not"))
		}
	}
	return all
}

// Salvage calls each for every run that can be saved of a sealed file. The Salvager that it returns has the loss.
func Salvage(in Input, known Lost, each func(Salvaged) error) (s *Salvager, err error) {
	if s, err = NewSalvager(in, known); err != nil {
		return nil, err
	}
	defer s.Close()
	for {
		r, err := s.Next()
		if errors.Is(err, io.EOF) {
			return s, nil
		}
		if err == nil {
			err = each(r)
		}
		if err != nil {
			return nil, err
		}
	}
}

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

// packedIDs returns the runs of the sealed file that a pack has: runs of its time that are in none of the other files that the pack
// covers. There are none if the pack does not cover this file. Errors that are refusable are about the content of a file.
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

// Read returns the next row.
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

// salvagePart is one file of the sealed file.
type salvagePart struct {
	path   string
	table  *schema.Table
	absent bool
	damage error        // why rows may be missing; nil if the file matches its hash
	close  func() error // closes the file
	rows   rowSource    // nil if there are none
	row    []any        // the next one; nil at the end
}

// rowSource gives rows in order, and io.EOF after the last.
type rowSource interface {
	Read() ([]any, error)
	Close() error
}

// openPart opens the file of a table, even if it is damaged.
func openPart(f fs.FS, name string, t *schema.Table) (*salvagePart, error) {
	p := &salvagePart{path: name, table: t}
	whole, err := openChecked(f, name)
	if err == nil {
		var opened *table.File
		if opened, err = whole.table(t); err == nil {
			if err := opened.Newer(); err != nil {
				return nil, errors.Join(InFile(name, err), whole.close())
			}
			p.close, p.rows = whole.close, opened.Reader()
			return p, nil
		}
		err = errors.Join(err, whole.close())
	}
	if t != schema.Runs && errors.Is(err, fs.ErrNotExist) {
		p.absent = true
		return p, nil
	}
	if at, ok := errors.AsType[*fs.PathError](err); !errors.Is(err, schema.ErrDamaged) || ok && at.Path != name { // a file, not a directory
		return nil, InFile(name, err)
	}
	p.damage = InFile(name, err)
	file, content, size, err := schema.OpenAt(f, name)
	if errors.Is(err, schema.ErrDamaged) { // no plain file
		return p, nil
	}
	if err != nil {
		return nil, InFile(name, err)
	}
	rows, err := table.OpenSalvage(content, size, t)
	if err != nil {
		err = cmp.Or(err, file.Close())
		if errors.Is(err, schema.ErrDamaged) {
			return p, nil
		}
		return nil, InFile(name, err)
	}
	p.close, p.rows = file.Close, rows
	return p, nil
}

// advance reads the next row that comes after the one before it. Rows that are out of order are skipped.
func (p *salvagePart) advance() error {
	for p.rows != nil {
		row, err := p.rows.Read()
		switch {
		case errors.Is(err, io.EOF):
			p.row = nil
			return p.end()
		case errors.Is(err, schema.ErrDamaged):
			p.damage, p.row = cmp.Or(p.damage, InFile(p.path, err)), nil
			return p.end()
		case err != nil:
			return InFile(p.path, err)
		case p.follows(row):
			p.row = row
			return nil
		}
		p.damage = cmp.Or(p.damage, Damagedf(p.path, "the row of run %q is out of order", row[RunIDPlace]))
	}
	return nil
}

// follows reports whether a row comes after the last one in the order of the format.
func (p *salvagePart) follows(row []any) bool {
	id, _ := row[RunIDPlace].(string)
	if _, err := schema.ParseULID(id); err != nil {
		return false
	}
	if p.row == nil {
		return true
	}
	before, _ := p.row[RunIDPlace].(string)
	return before < id || before == id && p.table != schema.Runs && lessKey(p.row[1], row[1])
}

func (p *salvagePart) runID() string {
	if p.row == nil {
		return ""
	}
	id, _ := p.row[RunIDPlace].(string)
	return id
}

// of returns the rows of a run, and skips rows of earlier runs.
func (p *salvagePart) of(run string) (rows [][]any, err error) {
	for p.row != nil && p.runID() <= run {
		if p.runID() == run {
			rows = append(rows, p.row)
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

func (p *salvagePart) end() error {
	if p.rows == nil {
		return nil
	}
	err := errors.Join(p.rows.Close(), p.close())
	p.rows = nil
	return err
}
