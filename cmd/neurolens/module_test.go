package main

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestModulePaths: every file has a name that the zip of a module takes, or else `go install MODULE@VERSION` refuses all of it. The
// rules are those of golang.org/x/mod/module.CheckFilePath: no name that a file system somewhere reserves, few signs, and no two
// that differ by case alone.
func TestModulePaths(t *testing.T) {
	reserved := regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)`)
	taken := regexp.MustCompile(`^[\p{L}0-9!#$%&()+,\-.=@\[\]^_{}~ ]+$`)
	folded := map[string]string{}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil || path == root:
			return err
		case name == ".git":
			return filepath.SkipDir
		case reserved.MatchString(name), !taken.MatchString(name), strings.HasSuffix(name, "."):
			t.Errorf("%s: the zip of a module takes no file of this name", path)
		case folded[strings.ToLower(path)] != "":
			t.Errorf("%s and %s differ by case alone", folded[strings.ToLower(path)], path)
		}
		folded[strings.ToLower(path)] = path
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
