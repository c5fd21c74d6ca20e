package sealing

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/schema"
)

// names repeats the names in folders that no longer change, if there are many that no file repeats yet. The states of the
// folders are from before the files were listed.
func (p *Packer) names(folders []schema.FolderState, sealed []schema.SealedFile) error {
	after, err := schema.StableFolders(p.Files, p.Now)
	if err != nil {
		return err
	}
	folders = slices.DeleteFunc(folders, func(f schema.FolderState) bool { return !slices.Contains(after, f) })
	if len(folders) > 0 && schema.UnknownNames(p.Files, folders, sealed) >= p.Rules.MinNames {
		if err := p.writeNames(folders, sealed); err != nil {
			return err
		}
	}
	return p.removeOldNames()
}

func (p *Packer) writeNames(folders []schema.FolderState, sealed []schema.SealedFile) error {
	sizes, err := schema.StableSizes(p.Files, p.Now)
	if err != nil {
		return err
	}
	content, err := schema.EncodeFolderNames(folders, sizes, sealed)
	if err != nil {
		return err
	}
	t, err := disk.CreateTemp(p.Files)
	if err != nil {
		return err
	}
	defer t.Remove()
	if err := t.Fill(content); err != nil {
		return err
	}
	return p.packed(t.Name, schema.FolderNames(schema.NewClaim(p.Now, nil)))
}

// removeOldNames removes all but the latest names in folders, once those have existed for a while.
func (p *Packer) removeOldNames() error {
	ids, err := listed(p.Files, schema.PacksDir, schema.ParseFolderNames)
	if err != nil || len(ids) < 2 || p.Now.Sub(ids[len(ids)-1].Time()) < packGrace {
		return err
	}
	for _, id := range ids[:len(ids)-1] {
		if err := p.Files.Remove(schema.FolderNames(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
