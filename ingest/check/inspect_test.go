package check_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/neurolens/neurolens/ingest/internal/layout"
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
		kind layout.Kind
	}
	var want []met
	mustDo(t, layout.Walk(os.DirFS(dir), func(s layout.File) error {
		want = append(want, met{s.Path, s.Kind})
		return nil
	}))
	order := func(a, b met) int { return slices.Compare([]byte(a.path), []byte(b.path)) }
	slices.SortFunc(want, order)
	for workers := range 5 {
		var mu sync.Mutex
		var got []met
		mustDo(t, layout.WalkAtOnce(os.DirFS(dir), workers+1, func(_ int, s layout.File) error {
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
	if err := layout.WalkAtOnce(os.DirFS(dir), 2, func(int, layout.File) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("the error is %v", err)
	}
}
