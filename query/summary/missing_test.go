package summary_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestMissingSamples: a report whose runs have lost their file of samples is an error, and one of other runs is not.
func TestMissingSamples(t *testing.T) {
	t.Parallel()
	dir := querytest.NewStore(t)
	var files []schema.SealedFile
	for n := range 2 {
		files = append(files, querytest.Seal(t, dir, querytest.NewRun(n*100, 100, func(r *schema.Run) { r.SessionID = querytest.SessionID(n) })))
	}
	valuetest.OK(t, os.Remove(filepath.Join(dir, files[0].Path(schema.SamplesDir))))
	db := querytest.Open(t, dir)
	for n, want := range []error{schema.ErrDamaged, nil} {
		_, _, err := summary.Read(t.Context(), db, summary.Request{Filter: "session=" + querytest.SessionID(n)})
		if !errors.Is(err, want) {
			t.Errorf("session %d: %v, want %v", n, err, want)
		}
	}
}
