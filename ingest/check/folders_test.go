package check_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// TestFolderSizes: damaged sizes of folders are found and set aside, and the runs are there. Sizes of the folders of another store are no
// damage.
func TestFolderSizes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		damage func(content []byte) []byte
		want   string // in the problem; empty: there is none
	}{
		"right":   {func(content []byte) []byte { return content }, ""},
		"a byte":  {func(content []byte) []byte { content[9] ^= 1; return content }, "does not match"},
		"cut off": {func(content []byte) []byte { return content[:len(content)-1] }, "does not end"},
		"more":    {func(content []byte) []byte { return append(content, 0) }, "more than one line"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, f := sealedStore(t, smallRun(), smallRun())
			times := schema.FolderTimes{Inode: 1, Changed: 2, Modified: 3}
			sizes := []schema.FolderSize{{Folder: filepath.Dir(f.Path(schema.RunsDir)), FolderTimes: times, Files: 7, Bytes: 8}}
			file := schema.FolderSizesFile(schema.NewULID(time.Now()))
			mustDo(t, os.MkdirAll(filepath.Join(dir, schema.PacksDir), 0o777))
			writeFile(t, filepath.Join(dir, file), c.damage(must(schema.EncodeFolderSizes(sizes))))
			found := findings(t, dir)
			if c.want == "" && len(found) > 0 || c.want != "" && (len(found) != 1 || found[0].Path != file || !strings.Contains(found[0].Problem, c.want)) {
				t.Fatalf("found %+v", found)
			}
			mustRepair(t, dir, false)
			wholeStore(t, dir)
			if _, err := os.Stat(filepath.Join(dir, file)); (err == nil) != (c.want == "") {
				t.Errorf("after the repair: %v", err)
			}
			if got := contents(t, dir); len(got) != 2 {
				t.Errorf("%d runs are left", len(got))
			}
		})
	}
}
