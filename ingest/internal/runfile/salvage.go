package runfile

import (
	"errors"
	"io"
	"io/fs"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
)

// Salvager reads what is intact in a damaged sealed file, in ascending order of the runs. It keeps every row whose file
// matches its hash or whose page matches its checksum. A run with all its rows matches its digest. A run that does not
// match is kept, with its remaining rows, if the file of its samples or ops is damaged or missing; all others are left
// out.
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

// Next gives the next run, and io.EOF after the last. Other errors are those of the file system.
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

// count counts a run, and what it loses now.
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

// judge finds out which rows of a run are lost, and reports whether the rest can be trusted.
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

// Damages gives what is wrong with the files, those of runs last.
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
