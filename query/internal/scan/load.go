package scan

import (
	"context"
	"os"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
)

// loadedLive is the table that LoadLive makes, with the columns of runs.
const loadedLive = "loaded_live"

// LoadLive reads the runs of small live files into a temporary table, which Scan reads from then on. DuckDB opens each file at least
// twice for each statement, and the many statements of a comparison or a report take three to four times as long over 1,000 live files.
// Few statements read samples or ops, and only from few files. Sealed files have many runs each, so a table of them saves nothing.
func (r *Reader) LoadLive(ctx context.Context) error {
	if len(r.Src.Live) == 0 || !r.Src.smallLive() {
		return nil
	}
	err := r.table(ctx, loadedLive, "AS "+r.Src.scanLive(schema.Runs.Columns, ""))
	if err != nil && !duck.OutOfMemory(err) {
		return err
	}
	r.Src.loaded = err == nil
	return nil
}

// smallLive reports whether the live files fit into memory and into one part: see Parts.
func (s *Sources) smallLive() bool {
	const maxLoaded = 16 << 20 // bytes of files
	if len(s.Live) > partFiles {
		return false
	}
	size := int64(0)
	for i := range s.Live {
		info, err := os.Lstat(s.path(&s.Live[i]))
		if err != nil { // the scan reports the error
			return false
		}
		size += info.Size()
	}
	return size <= maxLoaded
}
