package scan_test

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// TestDamagedUnderPack: an error about a damaged sealed file names it, also if a pack has its runs.
func TestDamagedUnderPack(t *testing.T) {
	t.Parallel()
	dir := querytest.NewStore(t)
	var runs []schema.Run
	var files []schema.SealedFile
	for n := range 70 { // with fewer files, packs are not read
		runs = append(runs, querytest.NewRun(n, 100, func(r *schema.Run) { r.StartedAt = querytest.Start.Add(time.Duration(n) * time.Hour) }))
		files = append(files, querytest.Seal(t, dir, runs[n]))
	}
	querytest.Pack(t, dir, files, runs...)
	broken := filepath.Join(dir, files[66].Path(schema.RunsDir))
	content, err := os.ReadFile(broken)
	if err != nil {
		t.Fatal(err)
	}
	const tail = 8 // the length of the footer, and a mark
	footer := int(binary.LittleEndian.Uint32(content[len(content)-tail:]))
	for at := 4; at < len(content)-tail-footer; at++ { // all pages
		content[at] ^= 0xff
	}
	if err := os.WriteFile(broken, content, 0o600); err != nil {
		t.Fatal(err)
	}
	err = querytest.Open(t, dir).Stores().Query(t.Context(), func(r *scan.Reader) error {
		if len(r.Src.Read) != 1 {
			t.Errorf("%d files are read in place of the pack", len(r.Src.Read))
		}
		since := runs[66].StartedAt.UnixMilli()
		narrow := r.Src.Within(scan.Period{Since: since, Until: since + 1})
		_, err := r.Conn.Table(t.Context(), duck.Statement{SQL: "SELECT * FROM " + narrow.Scan(schema.Runs.Columns, "")})
		return err
	})
	if !errors.Is(err, query.ErrStore) || !strings.Contains(err.Error(), files[66].Path(schema.RunsDir)) {
		t.Errorf("error %v", err)
	}
}
