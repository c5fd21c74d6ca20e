package sealing

import (
	"cmp"
	"io"
	"slices"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
)

// packInput is a file that is to be packed.
type packInput struct {
	file   schema.SealedFile // only its time range and number of rows matter
	path   string
	covers []schema.ULID // ids of the sealed files whose rows it has
}

func filesOf(inputs []packInput) []schema.SealedFile {
	files := make([]schema.SealedFile, len(inputs))
	for i, in := range inputs {
		files[i] = in.file
	}
	return files
}

// write packs the inputs, which are in the order of their first runs. If too many of them overlap, it first merges some
// into temporary files.
func (p *Packer) write(inputs []packInput) error {
	if err := disk.MakeDirs(p.Files, schema.TmpDir); err != nil {
		return err
	}
	var covers []schema.ULID
	for _, in := range inputs {
		covers = append(covers, in.covers...)
	}
	slices.SortFunc(covers, schema.ULID.Compare)
	var temps []string
	defer func() {
		for _, name := range temps {
			_ = p.Files.Remove(name)
		}
	}()
	for len(inputs) > 2 && runfile.Overlapping(filesOf(inputs)) > p.Rules.Memory {
		var next []packInput
		for _, length := range runfile.Batches(filesOf(inputs), p.Rules.Memory) {
			name := disk.TempName()
			temps = append(temps, name)
			merged, err := p.merge(inputs[:length], name, nil)
			if err != nil {
				return err
			}
			next, inputs = append(next, packInput{file: merged, path: name}), inputs[length:]
		}
		inputs = next
	}
	name := disk.TempName()
	temps = append(temps, name)
	pack, err := p.merge(inputs, name, covers)
	if err != nil {
		return err
	}
	return p.packed(name, pack.Path(schema.PacksDir))
}

// merge writes the rows of the inputs to a file, fsyncs it, and returns the resulting input.
func (p *Packer) merge(inputs []packInput, name string, covers []schema.ULID) (schema.SealedFile, error) {
	out, err := p.Files.Create(name)
	if err != nil {
		return schema.SealedFile{}, err
	}
	w := table.NewWriter(out, schema.Runs, p.Version, covers)
	sources := make([]table.Source, len(inputs))
	for i, in := range inputs {
		sources[i] = table.Source{From: runfile.IDBound(in.file.First), Open: func() (*table.File, io.Closer, error) {
			return runfile.OpenTable(p.Files, in.path, schema.Runs)
		}}
	}
	first, last := "", ""
	err = table.Merge(w, sources, func(run string) bool {
		first, last = cmp.Or(first, run), run
		return true
	})
	if err == nil {
		err = w.Close()
	}
	if err == nil {
		err = out.Sync()
	}
	if err = cmp.Or(err, out.Close()); err != nil {
		return schema.SealedFile{}, err
	}
	firstID, err := schema.ParseULID(first)
	if err != nil {
		return schema.SealedFile{}, err
	}
	lastID, err := schema.ParseULID(last)
	if err != nil {
		return schema.SealedFile{}, err
	}
	return schema.SealedFile{
		ID: schema.NewClaim(p.Now, []schema.ULID{lastID}), First: firstID.Time().UnixMilli(), Last: lastID.Time().UnixMilli(),
		Rows: int(w.Rows()),
	}, nil
}
