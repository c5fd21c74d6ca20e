// Command release packs a built program for people who do not compile: into an archive with completions, manual pages, and the licences
// of everything that is linked. `.ci/release` builds the program and calls it.
//
// Everything is asked of the program: its version, platform and commit, the modules that are linked into it, its completions and its
// manual. So an archive cannot say something else than the program in it. The same program gives the same bytes.
//
// It refuses a program with a linked module that has no licence, one that cannot find a GPU, and, given a tag, one that was not built
// from it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	o, out := options{}, ""
	flag.StringVar(&o.Program, "program", "", "pack this program `FILE`")
	flag.StringVar(&out, "out", "dist", "write the archive into `DIR`")
	flag.StringVar(&o.Stage, "stage", "", "put the files of the archive into `DIR`, and leave them there")
	flag.StringVar(&o.Tag, "tag", "", "refuse a program that was not built from this `TAG`")
	flag.StringVar(&o.DuckDB, "duckdb", "", "take the licences of DuckDB's own libraries from its source in `DIR`")
	flag.Parse()
	b, err := stage(o)
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
func pack(b bundle, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	file, err := os.Create(to)
	if err != nil {
		return err
	}
	return errors.Join(b.write(file), file.Close())
}
