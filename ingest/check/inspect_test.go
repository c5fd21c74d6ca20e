package check_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest/check"
	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/schema"
)

// TestWalkAtOnce: several workers meet the files that one meets, each once and with the same kind.
func TestWalkAtOnce(t *testing.T) {
	t.Parallel()
	dir := everything(t)
	writeFile(t, filepath.Join(dir, schema.RunsDir, "2026-11", "x.parquet"), []byte("x"))
	writeFile(t, filepath.Join(dir, schema.RunsDir, "old", "a", "x.parquet"), []byte("x"))
	type met struct {
		path string
		kind disk.Kind
	}
	var want []met
	mustDo(t, disk.Walk(os.DirFS(dir), func(s disk.StoreFile) error {
		want = append(want, met{s.Path, s.Kind})
		return nil
	}))
	order := func(a, b met) int { return slices.Compare([]byte(a.path), []byte(b.path)) }
	slices.SortFunc(want, order)
	noneKnown := func(int, disk.StoreFile) bool { return false }
	for workers := range 5 {
		var mu sync.Mutex
		var got []met
		mustDo(t, disk.WalkAtOnce(os.DirFS(dir), workers+1, noneKnown, func(_ int, s disk.StoreFile) error {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, met{s.Path, s.Kind})
			return nil
		}))
		slices.SortFunc(got, order)
		if !slices.Equal(got, want) {
			t.Errorf("%d workers met %v, want %v", workers+1, got, want)
		}
	}
	stop := errors.New("stop")
	if err := disk.WalkAtOnce(os.DirFS(dir), 2, noneKnown, func(int, disk.StoreFile) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("the error is %v", err)
	}
}

// TestInspectKnown: what is counted with the sizes of folders that a writer has measured is what is counted file by file. A file whose size
// is another one shows which of both it was.
func TestInspectKnown(t *testing.T) {
	t.Parallel()
	dir, f := sealedStore(t, smallRun(), smallRun())
	later := time.Now().AddDate(0, 2, 0)
	sizes, _, err := schema.StableSizes(schema.Dir(dir), later)
	if mustDo(t, err); len(sizes) == 0 {
		t.Skip("the times of folders do not show changes on this file system")
	}
	zones := func() map[string]check.Zone {
		all := map[string]check.Zone{}
		for _, z := range must(check.Inspect(dir)).Zones {
			all[z.Name] = z
		}
		delete(all, schema.PacksDir)
		return all
	}
	walked := zones()
	if z := walked[schema.SamplesDir]; z.Files != 1 || z.Bytes == 0 {
		t.Fatalf("samples: %+v", z)
	}
	mustDo(t, os.MkdirAll(filepath.Join(dir, schema.PacksDir), 0o777))
	writeFile(t, filepath.Join(dir, schema.FolderSizesFile(schema.NewULID(time.Now()))), must(schema.EncodeFolderSizes(sizes)))
	if got := zones(); !maps.Equal(got, walked) {
		t.Errorf("with known sizes %+v, want %+v", got, walked)
	}
	mustDo(t, os.Truncate(filepath.Join(dir, f.Path(schema.SamplesDir)), 1))
	if got := zones(); !maps.Equal(got, walked) {
		t.Error("files of folders that are known are looked at")
	}
	writeFile(t, filepath.Join(dir, f.Path(schema.SamplesDir)+"~"), []byte("a change"))
	if got := zones()[schema.SamplesDir]; got.Files != 2 || got.Bytes != 9 {
		t.Errorf("after a change samples has %+v", got)
	}
}
