package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
)

var (
	// legal are names of files that have to be handed on.
	legal = regexp.MustCompile(`(?i)^(licen[cs]e|copying|copyright|notices?|patents|unlicense)([-._].*)?$`)
	// license are those of them that say under which terms.
	license = regexp.MustCompile(`(?i)^(licen[cs]e|copying|unlicense)([-._].*)?$`)
	// unshipped are folders of a module with files of others that no program has in it.
	unshipped = regexp.MustCompile(`^(testdata|vendor|node_modules|_.*|\..*)$`)
)

// duckdbBindings is the module with the libraries of DuckDB, a module for each platform below it.
const duckdbBindings = "github.com/duckdb/duckdb-go-bindings/lib/"

// licenses writes the licences of all that is linked into a program below a folder: one folder for each module, for Go, and for DuckDB.
func licenses(info *debug.BuildInfo, f facts, duckdbSource, dir string) error {
	places, err := modules()
	if err != nil {
		return err
	}
	libraries := ""
	for _, m := range info.Deps {
		if m.Replace != nil {
			return fmt.Errorf("licences: the module %s is replaced by %s", m.Path, m.Replace.Path)
		}
		from := places[m.Path+"@"+m.Version]
		if from == "" {
			return fmt.Errorf("licences: the linked module %s %s is not in the module cache", m.Path, m.Version)
		}
		if err := copyLegal(from, filepath.Join(dir, filepath.FromSlash(m.Path))); err != nil {
			return fmt.Errorf("licences of the linked module %s %s: %w", m.Path, m.Version, err)
		}
		if strings.HasPrefix(m.Path, duckdbBindings) {
			libraries = from
		}
	}
	root, err := output("go", "env", "GOROOT")
	if err != nil {
		return err
	}
	if err := copyFile(filepath.Join(strings.TrimSpace(string(root)), "LICENSE"), filepath.Join(dir, "go", "LICENSE"), 0o644); err != nil {
		return fmt.Errorf("licence of Go: %w", err)
	}
	return duckdbLicenses(libraries, duckdbSource, f["duckdb"], filepath.Join(dir, "duckdb"))
}

// modules returns the folders of modules, by path@version.
func modules() (map[string]string, error) {
	text, err := output("go", "list", "-m", "-json=Path,Version,Dir", "all")
	if err != nil {
		return nil, err
	}
	places := map[string]string{}
	for d := json.NewDecoder(strings.NewReader(string(text))); ; {
		var m struct{ Path, Version, Dir string }
		switch err := d.Decode(&m); {
		case errors.Is(err, io.EOF):
			return places, nil
		case err != nil:
			return nil, fmt.Errorf("reading go list -m: %w", err)
		}
		places[m.Path+"@"+m.Version] = m.Dir
	}
}

// copyLegal copies the files below a folder that have to be handed on, and those of its folder licenses. One of those at its top has to
// be a licence.
func copyLegal(from, to string) error {
	licensed := false
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if rel != "." && unshipped.MatchString(d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || isCode(rel) || !legal.MatchString(d.Name()) && filepath.Base(filepath.Dir(rel)) != "licenses" {
			return nil
		}
		licensed = licensed || rel == d.Name() && license.MatchString(rel)
		return copyFile(path, filepath.Join(to, rel), 0o644)
	})
	if err == nil && !licensed {
		err = errors.New("it has no licence")
	}
	return err
}

// isCode tells whether a file is a program, such as license.go.
func isCode(name string) bool {
	switch filepath.Ext(name) {
	case ".go", ".py", ".sh", ".c", ".h", ".cpp", ".hpp", ".s":
		return true
	}
	return false
}
