package sealing

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
)

// PackRules determine when rows are packed, and how many at once.
type PackRules struct {
	MinFiles int // files that are worth a pack
	MaxRows  int // rows of a pack at most: several packs are read at a time, and fewer where time bounds them
	MinSizes int // files in folders for which a file of sizes is worth it
	Memory   int // of the files that are merged at a time, about, in bytes
}

// StandardPackRules returns the rules of every program. Tests use others.
func StandardPackRules() PackRules {
	const rowGroup = 122_880
	return PackRules{MinFiles: 100, MaxRows: 2 * rowGroup, MinSizes: 1000, Memory: 96 << 20}
}

const (
	packRows  = 10_000           // a file with this number of rows needs no pack
	packFan   = 8                // number of packs of one size that become one of the next size
	packGrace = 10 * time.Minute // how long a replaced pack stays, for readers that have it open
)

// Packer packs a store once.
type Packer struct {
	Files   disk.Files
	Version string // of this program
	Now     time.Time
	Rules   PackRules
	Written int // packs
}

// Pack writes the packs that are worth it, and removes those that others replace.
func (p *Packer) Pack() error {
	disk.RemoveOldTemps(p.Files, p.Now)
	err := p.sizes()
	if err != nil {
		return err
	}
	var l schema.Listing
	if l.Sealed, err = schema.ListZone(p.Files, schema.RunsDir); err != nil {
		return err
	}
	if l.Packs, err = schema.ListZone(p.Files, schema.PacksDir); err != nil {
		return err
	}
	if err := p.runs(&l); err != nil {
		return err
	}
	return p.events()
}

// runs packs files of runs.
func (p *Packer) runs(l *schema.Listing) error {
	covers := map[schema.ULID][]schema.ULID{}
	for _, pack := range l.Packs {
		ids, err := schema.PackCovers(p.Files, pack)
		switch {
		case err == nil:
			covers[pack.ID] = ids
		case !errors.Is(err, schema.ErrDamaged) && !errors.Is(err, fs.ErrNotExist): // a damaged or missing pack is ignored
			return err
		}
	}
	packs, files := schema.PlanPacks(l, covers)
	files = slices.DeleteFunc(files, func(f schema.SealedFile) bool { return f.Rows >= packRows })
	if len(files) >= p.Rules.MinFiles {
		if err := p.packRuns(files, packs, covers); err != nil {
			return err
		}
	}
	return p.removeOld(l, covers, packs)
}

// packRuns writes packs of files, and of the packs that the new ones replace.
func (p *Packer) packRuns(files, packs []schema.SealedFile, covers map[schema.ULID][]schema.ULID) error {
	inputs, err := p.readable(files, schema.RunsDir)
	if err != nil || len(inputs) < p.Rules.MinFiles {
		return err
	}
	for i := range inputs {
		inputs[i].covers = []schema.ULID{inputs[i].file.ID}
	}
	merged, err := p.readable(p.joining(packs, covers, len(inputs)), schema.PacksDir)
	if err != nil {
		return err
	}
	for i := range merged {
		merged[i].covers = covers[merged[i].file.ID]
	}
	for _, part := range p.parts(append(merged, inputs...)) {
		if err := p.write(part); err != nil {
			return err
		}
	}
	return nil
}

// parts divides inputs, in the order of their first runs, into packs. All except the last are full.
func (p *Packer) parts(inputs []packInput) [][]packInput {
	slices.SortStableFunc(inputs, func(a, b packInput) int {
		return cmp.Or(cmp.Compare(a.file.First, b.file.First), a.file.ID.Compare(b.file.ID))
	})
	var all [][]packInput
	from, rows := 0, 0
	for i, in := range inputs {
		if i > from && rows+in.file.Rows > p.Rules.MaxRows {
			all = append(all, inputs[from:i])
			from, rows = i, 0
		}
		rows += in.file.Rows
	}
	return append(all, inputs[from:])
}

// joining returns the packs that a new pack of the given number of files replaces: the packs of its size and below, if there are enough
// of them, and again for the size that it then has. So each row is copied once per size, until its pack is more than half full.
func (p *Packer) joining(packs []schema.SealedFile, covers map[schema.ULID][]schema.ULID, files int) []schema.SealedFile {
	packs = slices.DeleteFunc(slices.Clone(packs), func(pack schema.SealedFile) bool { return pack.Rows > p.Rules.MaxRows/2 })
	var taken []schema.SealedFile
	for {
		size := p.Rules.MinFiles * packFan // packs of this size cover fewer files
		for size <= files {
			size *= packFan
		}
		small := func(pack schema.SealedFile) bool { return len(covers[pack.ID]) < size }
		first := len(taken)
		for _, pack := range packs {
			if small(pack) {
				taken = append(taken, pack)
			}
		}
		if len(taken)-first+1 < packFan {
			return taken[:first]
		}
		for _, pack := range taken[first:] {
			files += len(covers[pack.ID])
		}
		packs = slices.DeleteFunc(slices.Clone(packs), small)
	}
}

// readable returns the files that match their hash and have no unknown columns. The others stay unchanged.
func (p *Packer) readable(files []schema.SealedFile, zone string) ([]packInput, error) {
	var inputs []packInput
	for _, f := range files {
		in := packInput{file: f, path: f.Path(zone)}
		err := p.check(in)
		switch {
		case err == nil:
			inputs = append(inputs, in)
		case !errors.Is(err, schema.ErrDamaged) && !errors.Is(err, table.ErrNewer):
			return nil, err
		}
	}
	return inputs, nil
}

// check reads a file and compares it with its hash.
func (p *Packer) check(in packInput) error {
	closer, content, size, err := schema.OpenAt(p.Files, in.path)
	if err != nil {
		return err
	}
	defer closer.Close()
	if err := schema.CheckFileHashAt(content, size); err != nil {
		return err
	}
	file, err := table.Open(content, size, schema.Runs)
	if err != nil {
		return err
	}
	if file.Rows() != int64(in.file.Rows) {
		return runfile.Damagedf(in.path, "it has %d rows, but its name says otherwise", file.Rows())
	}
	return file.Newer()
}

// removeOld removes packs whose replacement has existed for a while.
func (p *Packer) removeOld(l *schema.Listing, covers map[schema.ULID][]schema.ULID, used []schema.SealedFile) error {
	young := func(f schema.SealedFile) bool { return p.Now.Sub(f.ID.Time()) < packGrace }
	if slices.ContainsFunc(used, young) {
		return nil
	}
	for _, pack := range l.Packs {
		if len(covers[pack.ID]) == 0 || young(pack) || slices.Contains(used, pack) {
			continue
		}
		if err := p.Files.Remove(pack.Path(schema.PacksDir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// packed gives a finished temporary file its name in packs/.
func (p *Packer) packed(temp, name string) error {
	if err := disk.PlaceDurably(p.Files, temp, name); err != nil {
		return err
	}
	p.Written++
	return nil
}
