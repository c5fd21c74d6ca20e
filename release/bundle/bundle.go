// Package bundle makes the archive of a release from a program that was built already.
//
// Everything is asked of the program: its version, platform and commit, the modules that are linked into it, its completions and its
// manual. So an archive cannot say something else than the program in it. The same program gives the same bytes.
//
// It refuses a program with a linked module that has no licence, one that cannot find a GPU, and, given a tag, one that was not built
// from it.
package bundle

import (
	"debug/buildinfo"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Options say what is packed, and where it goes.
type Options struct {
	Program string // the file of the program, which has to run on this machine
	Stage   string // the folder of the files, which must not exist
	Out     string // the folder of the archive, which is made
	Tag     string // empty, or the tag of the release, v0.1.0
	DuckDB  string // empty, or a clone of DuckDB's source of the linked version
}

// Make stages the files and packs them. It returns the path of the archive, which replaces an older one.
func Make(o Options) (string, error) {
	b, err := stage(o)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(o.Out, 0o755); err != nil {
		return "", err
	}
	return filepath.Join(o.Out, b.Name+".tar.gz"), b.pack(filepath.Join(o.Out, b.Name+".tar.gz"))
}

// staged are the files of an archive.
type staged struct {
	Name string    // neurolens-0.1.0-linux-amd64: of the archive, and of the folder in it
	Dir  string    // the folder where they are staged
	Date time.Time // of every file in the archive: the commit's
}

// stage puts the files of an archive into a folder.
func stage(o Options) (staged, error) {
	info, err := buildinfo.ReadFile(o.Program)
	if err != nil {
		return staged{}, fmt.Errorf("reading %s: %w", o.Program, err)
	}
	facts, err := ask(o.Program)
	if err != nil {
		return staged{}, err
	}
	if err := facts.check(o.Tag); err != nil {
		return staged{}, err
	}
	if err := checkNVML(o.Program); err != nil {
		return staged{}, err
	}
	if err := os.Mkdir(o.Stage, 0o755); err != nil {
		return staged{}, err
	}
	b := Bundle{Name: facts.name(), Dir: o.Stage, Date: facts.date()}
	program := filepath.Join(o.Stage, "neurolens")
	for _, step := range []func() error{
		func() error { return copyFile(o.Program, program, 0o755) },
		func() error { return texts(o.Stage) },
		func() error { return completions(program, filepath.Join(o.Stage, "completions")) },
		func() error { return manual(program, filepath.Join(o.Stage, "man")) },
		func() error { return licenses(info, facts, o.DuckDB, filepath.Join(o.Stage, "licenses")) },
	} {
		if err := step(); err != nil {
			return staged{}, err
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
	return os.WriteFile(path, content, mode)
}
