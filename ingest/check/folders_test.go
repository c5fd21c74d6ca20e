package check_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// TestFolderNames: names in folders that are wrong are found and set aside, and the runs are there.
func TestFolderNames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		damage func(content []byte) []byte
		want   string // in the problem; empty: there is none
	}{
		"right":      {func(content []byte) []byte { return content }, ""},
		"a byte":     {func(content []byte) []byte { content[len(content)-1] ^= 1; return content }, "do not match"},
		"cut off":    {func(content []byte) []byte { return content[:len(content)-1] }, "cut off"},
		"more":       {func(content []byte) []byte { return append(content, 0) }, "its size"},
		"other rows": {nil, "differs from the folder"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, f := sealedStore(t, smallRun(), smallRun())
			states := must(schema.StableFolders(schema.Dir(dir), time.Now().AddDate(0, 2, 0)))
			if len(states) == 0 {
				t.Skip("the times of folders do not show changes on this file system")
			}
			names := []schema.SealedFile{f}
			if c.damage == nil {
				names[0].Rows++
			}
			content := must(schema.EncodeFolderNames(states, nil, names))
			if c.damage != nil {
				content = c.damage(content)
			}
			file := schema.FolderNames(schema.NewULID(time.Now()))
			mustDo(t, os.MkdirAll(filepath.Join(dir, schema.PacksDir), 0o777))
			writeFile(t, filepath.Join(dir, file), content)
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

// TestFolderNamesCopy: what is told of the folders of another store is no damage.
func TestFolderNamesCopy(t *testing.T) {
	t.Parallel()
	dir, f := sealedStore(t, smallRun(), smallRun())
	state := schema.FolderState{Month: schema.MonthOf(f.ID.Time()), FolderTimes: schema.FolderTimes{Inode: 1, Changed: 2, Modified: 3}}
	mustDo(t, os.MkdirAll(filepath.Join(dir, schema.PacksDir), 0o777))
	writeFile(t, filepath.Join(dir, schema.FolderNames(schema.NewULID(time.Now()))), must(schema.EncodeFolderNames([]schema.FolderState{state}, nil, nil)))
	wholeStore(t, dir)
}
