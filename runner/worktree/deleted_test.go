package worktree

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
)

// TestWithDeleted: the files of a working directory and those that it has lost since a commit are one file system. Neither the working tree nor
// the repository is written.
func TestWithDeleted(t *testing.T) {
	t.Parallel()
	dir, _ := folders(t)
	git(t, dir, "init", "-q")
	write(t, dir, map[string]string{
		"work/kept.py": "old\n", "work/a/gone.py": "gone\n", "work/a/kept.py": "x\n", "work/b/c/Ümläut \"x\".py": "deep\n", "work/b/c/two.py": "", "other/gone.py": "outside\n",
		"work/sub/moved.py": "moved\n", "work/gone/deep/Ü \"x\".py": "far\n",
	})
	save(t, dir)
	for _, name := range []string{"work/a/gone.py", "work/b", "work/gone", "other", "work/sub/moved.py"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, dir, map[string]string{"work/kept.py": "new\n", "work/fresh/moved.py": "moved\n", "work/b": "a file now\n"})
	work := filepath.Join(dir, "work")
	before := inventory(t, dir)
	files, err := WithDeleted(t.Context(), work, "HEAD", os.DirFS(work))
	if err != nil {
		t.Fatal(err)
	}
	if err := fstest.TestFS(files, "kept.py", "a/gone.py", "a/kept.py", "b", "gone/deep/Ü \"x\".py", "sub/moved.py", "fresh/moved.py"); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]string{"b": "a file now\n", "kept.py": "new\n", "a/gone.py": "gone\n", "b/c/Ümläut \"x\".py": "deep\n", "b/c/two.py": ""} {
		if got, err := fs.ReadFile(files, name); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
	if _, err := fs.Stat(files, "../other/gone.py"); err == nil {
		t.Error("a file outside of the working directory is in it")
	}
	unchanged(t, dir, before)
	for _, c := range []struct{ dir, ref string }{{work, "nowhere"}, {t.TempDir(), "HEAD"}, {filepath.Join(work, "fresh"), "HEAD"}} {
		if files, err := WithDeleted(t.Context(), c.dir, c.ref, os.DirFS(c.dir)); files != nil || err != nil {
			t.Errorf("%s in %s: %v, %v; want none", c.ref, c.dir, files, err)
		}
	}
}
