package check

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/sealing"
	"github.com/neurolens/neurolens/schema"
)

// Repairer repairs a store. It is for one goroutine.
type Repairer struct {
	dir    string // as the user typed it
	files  disk.Files
	sealer sealing.Sealer
}

// OpenToRepair opens a store whose header may be damaged. writer is the version of the program. It writes nothing, but fails if the
// store is clearly not writable. The error wraps schema.ErrNoStore or schema.ErrFormat, or comes from the file system.
func OpenToRepair(dir, writer string) (*Repairer, error) {
	files, err := disk.NewOS(dir)
	if err != nil {
		return nil, fmt.Errorf("opening store %s: %w", dir, err)
	}
	return openFiles(dir, writer, files)
}

// openFiles is OpenToRepair for these files; dir names them in errors.
func openFiles(dir, writer string, files disk.Files) (*Repairer, error) {
	err := headerError(files)
	if err == nil || errors.Is(err, schema.ErrDamaged) {
		err = disk.CheckWritable(files)
	}
	if err != nil {
		return nil, fmt.Errorf("opening store %s: %w", dir, err)
	}
	sealer := sealing.Sealer{Files: files, Version: writer, Rules: sealing.StandardRules()}
	return &Repairer{dir: dir, files: files, sealer: sealer}, nil
}

// Close packs the store if claims were finished. It returns the first problem with sealing or packing; all runs are on
// disk in any case.
func (r *Repairer) Close() error {
	if err := r.sealer.End(context.Background()); err != nil {
		return fmt.Errorf("sealing store %s: %w", r.dir, err)
	}
	if r.sealer.Made == 0 {
		return nil
	}
	p := sealing.Packer{Files: r.files, Version: r.sealer.Version, Now: time.Now(), Rules: sealing.StandardPackRules()}
	if err := p.Pack(); err != nil {
		return fmt.Errorf("packing store %s: %w", r.dir, err)
	}
	r.sealer.Made = 0
	return nil
}
