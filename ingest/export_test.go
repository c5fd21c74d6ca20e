package ingest

import (
	"path/filepath"

	"github.com/neurolens/neurolens/schema"
)

// pathIn returns where a file of a directory is, wherever links lead.
func pathIn(dir schema.Dir, name string) string {
	return filepath.Join(string(dir), filepath.FromSlash(name))
}
