package runfile

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/layout"
	"github.com/neurolens/neurolens/schema"
)

// CheckHash compares a Parquet file with the hash in its metadata.
func CheckHash(f fs.FS, name string) error {
	file, content, size, err := disk.OpenAt(f, name)
	if err != nil {
		return err
	}
	defer file.Close()
	return InFile(name, schema.CheckFileHashAt(content, size))
}

// CheckArtifact compares a file with the hash in its name.
func CheckArtifact(f fs.FS, name string) error {
	file, err := f.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != layout.ArtifactHash(name) {
		return fmt.Errorf("%w: its SHA-256 is %s, not its name", schema.ErrDamaged, got)
	}
	return nil
}
