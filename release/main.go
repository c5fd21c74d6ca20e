// Command release packs a built program for people who do not compile: into an archive with completions, manual pages, and the licences
// of everything that is linked. `.ci/release` builds the program and calls it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/neurolens/neurolens/release/bundle"
)

func main() {
	o, out := bundle.Options{}, ""
	flag.StringVar(&o.Program, "program", "", "pack this program `FILE`")
	flag.StringVar(&out, "out", "dist", "write the archive into `DIR`")
	flag.StringVar(&o.Stage, "stage", "", "put the files of the archive into `DIR`, and leave them there")
	flag.StringVar(&o.Tag, "tag", "", "refuse a program that was not built from this `TAG`")
	flag.StringVar(&o.DuckDB, "duckdb", "", "take the licences of DuckDB's own libraries from its source in `DIR`")
	flag.Parse()
	b, err := bundle.Stage(o)
	archive := filepath.Join(out, b.Name+".tar.gz")
	if err == nil {
		err = pack(b, archive)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "release: %v\n", err)
		os.Exit(1)
	}
	fmt.Println(archive)
}

// pack writes the archive, and its folder where there is none. It replaces an older one.
func pack(b bundle.Bundle, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	file, err := os.Create(to)
	if err != nil {
		return err
	}
	return errors.Join(b.Write(file), file.Close())
}
