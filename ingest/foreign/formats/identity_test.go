package formats_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
	"github.com/neurolens/neurolens/ingest/foreign/formats"
)

// TestIdentities: the runs of each fixture have the ids and points in testdata/identities.txt, which earlier versions gave them too. With
// others, a file that they imported would be stored twice. Only runs of vllm had ids with the time of their end: see TestEarlierVersions.
func TestIdentities(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	all, folder := formats.All(), os.DirFS(fixtures)
	err := fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "README.md" || d.Name() == "want.txt" {
			return err
		}
		_, _, runs, _ := foreigntest.One(all, folder, name)
		if len(runs) == 0 {
			return nil
		}
		sum := sha256.New()
		for i := range runs {
			fmt.Fprintln(sum, runs[i].RunID, runs[i].PointID)
		}
		fmt.Fprintf(&b, "%s %d %x\n", name, len(runs), sum.Sum(nil)[:6])
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	foreigntest.Compare(t, filepath.Join("testdata", "identities.txt"), b.String())
}
