// Command release packs a built program for people who do not compile: into an archive with completions, manual pages, and the licences
// of everything that is linked. `.ci/release` builds the program and calls it.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/neurolens/neurolens/release/bundle"
)

func main() {
	o := bundle.Options{}
	flag.StringVar(&o.Program, "program", "", "pack this program `FILE`")
	flag.StringVar(&o.Out, "out", "dist", "write the archive into `DIR`")
	flag.StringVar(&o.Stage, "stage", "", "put the files of the archive into `DIR`, and leave them there")
	flag.StringVar(&o.Tag, "tag", "", "refuse a program that was not built from this `TAG`")
	flag.StringVar(&o.DuckDB, "duckdb", "", "take the licences of DuckDB's own libraries from its source in `DIR`")
	flag.Parse()
	archive, err := bundle.Make(o)
	if err != nil {
		fmt.Fprintf(os.Stderr, "release: %v\n", err)
		os.Exit(1)
	}
	fmt.Println(archive)
}
