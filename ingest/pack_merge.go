package ingest

import (
	"cmp"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/table"
	"github.com/neurolens/neurolens/schema"
)

// What merging takes in memory, about: all files that are open at a time; one; and the part of it that grows with its
// rows, which ends where a page of each column is in memory.
const (
	packMemory  = 96 << 20
	inputMemory = 320 << 10
	rowMemory   = 1 << 10
	pagesMemory = 12 << 20
)

// packInput is a file to be packed.
type packInput struct {
	file   schema.SealedFile // of which the range and the number of rows count
	path   string
	covers []schema.ULID // the sealed files whose rows it has
}

// memory is about what the file takes while it is open.
func (in packInput) memory() int {
	return inputMemory + min(in.file.Rows*rowMemory, pagesMemory)
}

// write makes a pack of the inputs, which are in the order of their first runs. Where too many of them overlap, it first
// merges some into temporary files.
func (p *packer) write(inputs []packInput) error {
	if err := disk.MakeDirs(p.files, schema.TmpDir); err != nil {
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
			_ = p.files.Remove(name)
		}
	}()
	for len(inputs) > 2 && overlapping(inputs) > p.memory {
		var next []packInput
		for _, batch := range batches(inputs, p.memory) {
			name := disk.TempName()
			temps = append(temps, name)
			merged, err := p.merge(batch, name, nil)
			if err != nil {
				return err
			}
			next = append(next, packInput{file: merged, path: name})
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

// overlapping is the most memory that the inputs, which are in the order of their first runs, take at a time.
func overlapping(inputs []packInput) int {
	most, now := 0, 0
	open := inputs[:0:0]
	for _, in := range inputs {
		open = slices.DeleteFunc(open, func(o packInput) bool {
			over := o.file.Last < in.file.First
			if over {
				now -= o.memory()
			}
			return over
		})
		open = append(open, in)
		now += in.memory()
		most = max(most, now)
	}
	return most
}

// batches divides inputs so that each part fits into memory, or is of two.
func batches(inputs []packInput, memory int) [][]packInput {
	var all [][]packInput
	from, size := 0, 0
	for i, in := range inputs {
		size += in.memory()
		if size > memory && i-from >= 2 {
			all = append(all, inputs[from:i])
			from, size = i, in.memory()
		}
	}
	return append(all, inputs[from:])
}

// merge writes the rows of the inputs to a file, fsyncs it, and gives the name of what it has become.
func (p *packer) merge(inputs []packInput, name string, covers []schema.ULID) (schema.SealedFile, error) {
	out, err := p.files.Create(name)
	if err != nil {
		return schema.SealedFile{}, err
	}
	w := table.NewWriter(out, schema.Runs, p.version, covers)
	sources := make([]table.Source, len(inputs))
	for i, in := range inputs {
		sources[i] = table.Source{From: idBound(in.file.First), Open: func() (*table.File, io.Closer, error) {
			return openTable(p.files, in.path, schema.Runs)
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
		ID: schema.NewClaim(p.now, []schema.ULID{lastID}), First: firstID.Time().UnixMilli(), Last: lastID.Time().UnixMilli(),
		Rows: int(w.Rows()),
	}, nil
}

// idBound is not larger than any run id of that time.
func idBound(ms int64) string { return schema.ULIDFrom(time.UnixMilli(ms), [10]byte{}).String() }

// openTable opens the file of a table; errors about its content name it.
func openTable(f fs.FS, name string, t *schema.Table) (*table.File, io.Closer, error) {
	closer, content, size, err := disk.OpenAt(f, name)
	if err != nil {
		return nil, nil, err
	}
	file, err := table.Open(content, size, t)
	if err != nil {
		_ = closer.Close()
		return nil, nil, inFile(name, err)
	}
	return file, closer, nil
}
