package main

import (
	"debug/buildinfo"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// options say what is packed.
type options struct {
	Program string // the file of the program, which has to run on this machine
	Stage   string // the folder of the files, which must not exist
	Tag     string // empty, or the tag of the release, v0.1.0
	DuckDB  string // empty, or a clone of DuckDB's source of the linked version
}

// bundle is the staged files of an archive.
type bundle struct {
	Name string    // neurolens-0.1.0-linux-amd64: of the archive, and of the folder in it
	Dir  string    // the folder where they are staged
	Date time.Time // of every file in the archive: the commit's
}

// stage puts the files of an archive into a folder.
func stage(o options) (bundle, error) {
	info, err := buildinfo.ReadFile(o.Program)
	if err != nil {
		return bundle{}, fmt.Errorf("reading %s: %w", o.Program, err)
	}
	facts, err := ask(o.Program)
	if err != nil {
		return bundle{}, err
	}
	if err := facts.check(o.Tag); err != nil {
		return bundle{}, err
	}
	if err := os.Mkdir(o.Stage, 0o755); err != nil {
		return bundle{}, err
	}
	b := bundle{Name: facts.name(), Dir: o.Stage, Date: facts.date()}
	program := filepath.Join(o.Stage, "neurolens")
	for _, step := range []func() error{
		func() error { return copyFile(o.Program, program, 0o755) },
		func() error { return texts(o.Stage) },
		func() error { return completions(program, filepath.Join(o.Stage, "completions")) },
		func() error { return manual(program, filepath.Join(o.Stage, "man")) },
		func() error { return licenses(info, facts, o.DuckDB, filepath.Join(o.Stage, "licenses")) },
	} {
		if err := step(); err != nil {
			return bundle{}, err
		}
	}
	return b, nil
}

// texts copies the documents that every archive has, from the working directory: the root of the repository.
func texts(dir string) error {
	for _, name := range []string{"README.md", "LICENSE", "CHANGELOG.md"} {
		if err := copyFile(name, filepath.Join(dir, name), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// copyFile copies a file, and makes the folder that it goes into.
func copyFile(from, to string, mode fs.FileMode) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return writeFile(to, content, mode)
}

func writeFile(path string, content []byte, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, content, mode); err != nil {
		return err
	}
	return os.Chmod(path, mode) // the umask of a packager does not matter
}
