package project

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// state returns what is in a folder: paths, modes and contents.
func state(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		b.WriteString(rel + " " + info.Mode().String() + " " + string(text) + "\n")
		return err
	})
	ok(t, err)
	return b.String()
}

// two returns two files to write.
func two(text string) []WorkflowFile {
	return []WorkflowFile{{"ci/a.sh", []byte(text), 0o755}, {"deep/er/b.yml", []byte(text), 0o644}}
}

// TestWrite: files are written with their modes; what is there and differs is replaced with force alone.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	check := func(text string, force bool, want string) {
		t.Helper()
		states, err := WriteWorkflow(dir, two(text), force)
		got := strings.Join(states, " ")
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	check("1", false, "written written")
	want := "ci/a.sh -rwxr-xr-x 1\ndeep/er/b.yml -rw-r--r-- 1\n"
	if got := state(t, dir); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	check("1", false, "unchanged unchanged")
	check("2", false, "ci/a.sh exists and differs: --force replaces it")
	if got := state(t, dir); got != want {
		t.Errorf("a refusal leaves\n%s", got)
	}
	check("2", true, "replaced replaced")
	ok(t, os.Remove(filepath.Join(dir, "ci", "a.sh")))
	check("3", false, "deep/er/b.yml exists and differs: --force replaces it")
	if got := state(t, dir); got != "deep/er/b.yml -rw-r--r-- 2\n" {
		t.Errorf("a refusal of one writes the other:\n%s", got)
	}
}

// TestWriteFaults: whatever cannot be written, nothing is: not the other files, no part of one, and what was there is back.
func TestWriteFaults(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(dir string) error
		says    string
	}{
		"a folder is a file": {func(dir string) error { return os.WriteFile(filepath.Join(dir, "deep"), nil, 0o644) }, "writing deep/er/b.yml: not a directory"},
		"a file is a folder": {func(dir string) error { return os.MkdirAll(filepath.Join(dir, "deep", "er", "b.yml"), 0o755) }, "deep/er/b.yml exists and is not a file"},
		"a link": {func(dir string) error {
			return os.Symlink("/nowhere", filepath.Join(dir, "deep"))
		}, "writing deep/er/b.yml: "},
	} {
		dir := t.TempDir()
		ok(t, os.MkdirAll(filepath.Join(dir, "ci"), 0o755))
		ok(t, os.WriteFile(filepath.Join(dir, "ci", "a.sh"), []byte("old"), 0o600))
		ok(t, c.prepare(dir))
		_, err := WriteWorkflow(dir, two("new"), true)
		if err == nil || !strings.HasPrefix(err.Error(), c.says) {
			t.Errorf("%s: %v, want %s", name, err, c.says)
		}
		text, _ := os.ReadFile(filepath.Join(dir, "ci", "a.sh"))
		entries, _ := os.ReadDir(filepath.Join(dir, "ci"))
		if string(text) != "old" || len(entries) != 1 {
			t.Errorf("%s: the other file is %q beside %v", name, text, entries)
		}
	}
}

// TestUndo: a file that cannot be placed takes back those that were.
func TestUndo(t *testing.T) {
	dir := t.TempDir()
	ok(t, os.MkdirAll(filepath.Join(dir, "ci"), 0o755))
	ok(t, os.WriteFile(filepath.Join(dir, "ci", "a.sh"), []byte("old"), 0o600))
	files := two("new")
	files = append(files, WorkflowFile{"deep/er/b.yml/inside", []byte("new"), 0o644}) // the second file is no folder
	if _, err := WriteWorkflow(dir, files, true); err == nil {
		t.Fatal("a file within a file was written")
	}
	if got := state(t, dir); got != "ci/a.sh -rw------- old\n" {
		t.Errorf("it leaves\n%s", got)
	}
}

// TestFilesRefusals: what would be something else to a shell, or is of one machine, is refused.
func TestFilesRefusals(t *testing.T) {
	for says, o := range map[string]WorkflowOptions{
		`"githib": want github, gitlab, jenkins, plain; did you mean github?`:                               {"githib", "s.yaml", "cache"},
		`--sweep "/home/me/s.yaml": want a path relative to the root of the repository`:                     {"github", "/home/me/s.yaml", "cache"},
		`--sweep "../s.yaml": want a path relative to the root of the repository`:                           {"github", "../s.yaml", "cache"},
		`--sweep "a b.yaml": want a path of letters, digits and . _ / @ + -`:                                {"github", "a b.yaml", "cache"},
		`--sweep "$(x)": want a path of letters`:                                                            {"github", "$(x)", "cache"},
		`--sweep "-s": want a path of letters`:                                                              {"github", "-s", "cache"},
		`--history "cash": want artifact, branch, cache, none, or a folder, as ./`:                          {"github", "s.yaml", "cash"},
		`--history "a/'b": want artifact, branch, cache, none, a bucket as s3://bench/team, or a folder of`: {"github", "s.yaml", "a/'b"},
		`--history "": want artifact, branch, cache, none, a bucket as s3://bench/team, or a folder of`:     {"github", "s.yaml", ""},
		`--history "s3://bench//x": want a bucket and a prefix`:                                             {"github", "s.yaml", "s3://bench//x"},
		`--history "s3://": want a bucket and a prefix`:                                                     {"github", "s.yaml", "s3://"},
		`--history "s3://me:x@y/$(z)": want a bucket and a prefix`:                                          {"github", "s.yaml", "s3://me:x@y/$(z)"},
	} {
		if files, err := WorkflowFiles(o); err == nil || !strings.HasPrefix(err.Error(), says) {
			t.Errorf("%+v: %v, %v, want %s", o, files, err, says)
		}
	}
}
