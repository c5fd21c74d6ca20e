package sealing

import (
	"errors"
	"io/fs"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/schema"
)

// sizes writes the sizes of folders that no longer change, if they have many files that no earlier file counts. It then removes all but the
// latest file of sizes, once that has existed for a while.
func (p *Packer) sizes() error {
	sizes, fresh, err := schema.StableSizes(p.Files, p.Now)
	if err != nil {
		return err
	}
	if fresh > 0 && fresh >= p.Rules.MinSizes {
		content, err := schema.EncodeFolderSizes(sizes)
		if err != nil {
			return err
		}
		if err := p.writePack(content, schema.FolderSizesFile(schema.NewClaim(p.Now, nil))); err != nil {
			return err
		}
	}
	ids, err := listed(p.Files, schema.PacksDir, schema.ParseFolderSizesFile)
	if err != nil || len(ids) < 2 || p.Now.Sub(ids[len(ids)-1].Time()) < packGrace {
		return err
	}
	for _, id := range ids[:len(ids)-1] {
		if err := p.Files.Remove(schema.FolderSizesFile(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// writePack writes a derived file that is small enough to be in memory.
func (p *Packer) writePack(content []byte, name string) error {
	return disk.WithTemp(p.Files, content, func(temp string) error { return p.packed(temp, name) })
}
