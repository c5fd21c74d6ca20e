package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadFile: a file of another commit is read as it was there, from the root or from the folder, and nothing is written.
func TestReadFile(t *testing.T) {
	t.Parallel()
	dir, _ := folders(t)
	git(t, dir, "init", "-q")
	write(t, dir, map[string]string{"reports/a b.json": "old\n"})
	save(t, dir)
	git(t, dir, "tag", "v1")
	write(t, dir, map[string]string{"reports/a b.json": "new\n"})
	save(t, dir)
	write(t, dir, map[string]string{"reports/a b.json": "dirty\n"})
	before := inventory(t, dir)
	reports := filepath.Join(dir, "reports")
	for _, c := range []struct{ dir, ref, name, want string }{
		{dir, "v1", "reports/a b.json", "old\n"},
		{dir, "HEAD", "reports/a b.json", "new\n"},
		{dir, "HEAD~1", "reports/./a b.json", "old\n"},
		{reports, "HEAD", "reports/a b.json", "new\n"},
		{reports, "v1", "./a b.json", "old\n"},
		{reports, "v1", "../reports/a b.json", "old\n"},
	} {
		got, err := ReadFile(t.Context(), c.dir, c.ref, c.name)
		if err != nil || string(got) != c.want {
			t.Errorf("%s:%s gives %q, %v; want %q", c.ref, c.name, got, err, c.want)
		}
	}
	for _, c := range []struct{ ref, name, want string }{
		{"nowhere", "reports/a b.json", `reading "reports/a b.json" of commit "nowhere": no such commit`},
		{"--help", "a", `reading "a" of commit "--help": want a branch, a tag or a commit`},
		{"", "a", `reading "a" of commit "": want a branch, a tag or a commit`},
		{"v1", "", `reading "" of commit "v1": want the path of a file`},
		{"v1", "nothing.json", `reading "nothing.json" of commit "v1": the commit has no such file`},
		{"v1", "../outside", `reading "../outside" of commit "v1": the commit has no such file`},
		{"v1", "reports", `reading "reports" of commit "v1": it is a folder: want a file`},
	} {
		if got, err := ReadFile(t.Context(), dir, c.ref, c.name); err == nil || err.Error() != c.want {
			t.Errorf("%s:%s gives %q, %v; want %s", c.ref, c.name, got, err, c.want)
		}
	}
	unchanged(t, dir, before)
	if _, err := ReadFile(t.Context(), os.TempDir(), "v1", "a"); err == nil || !strings.Contains(err.Error(), "not in a git repository") {
		t.Error(err)
	}
}
