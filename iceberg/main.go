// Command neurolens-iceberg makes tables of Apache Iceberg over the sealed files of a store, and brings them up to date:
//
//	neurolens-iceberg STORE [--location URL]
//
// The tables runs, samples, ops and tags are in STORE/iceberg. They name the Parquet files of the store where they are: nothing is
// copied. The columns have the field ids of schema/FORMAT.md. Rows of removed runs are hidden by position deletes. The table tags has the tags
// that events set and took away, since tags in files of runs never change. docs/iceberg.md says how engines read the tables.
//
// It is a module of its own, so that NeuroLens itself depends on nothing of Iceberg.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"
)

const usage = `Makes tables of Apache Iceberg over the sealed files of a store, in STORE/iceberg,
or brings them up to date. No data is copied.

Usage: neurolens-iceberg STORE [--location URL]

`

// Exit statuses, which are those of neurolens.
const (
	exitError = 1
	exitUsage = 2
)

// errUsage is part of the error of a wrong command line.
var errUsage = errors.New("usage: neurolens-iceberg STORE [--location URL]")

func main() {
	err := run(context.Background(), os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case err == nil || errors.Is(err, pflag.ErrHelp):
		return
	case errors.Is(err, errUsage):
		fmt.Fprintln(os.Stderr, "neurolens-iceberg:", err)
		os.Exit(exitUsage)
	default:
		fmt.Fprintln(os.Stderr, "neurolens-iceberg:", err)
		os.Exit(exitError)
	}
}

// run carries out a command line. It prints a line for each table, and says on stderr what the tables lack.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := pflag.NewFlagSet("neurolens-iceberg", pflag.ContinueOnError)
	location := flags.String("location", "", "where engines find the store, such as s3://bench/compact (default: its path here)")
	flags.Usage = func() { fmt.Fprint(stdout, usage, flags.FlagUsages()) }
	if err := flags.Parse(args); errors.Is(err, pflag.ErrHelp) {
		return err
	} else if err != nil {
		return fmt.Errorf("%w: %w", err, errUsage)
	}
	if flags.NArg() != 1 {
		return fmt.Errorf("want one store, got %q: %w", flags.Args(), errUsage)
	}
	s, err := openStore(flags.Arg(0))
	if err != nil {
		return err
	}
	w, err := openWarehouse(s.dir, *location)
	if err != nil {
		return err
	}
	defer w.close()
	if s.live > 0 {
		fmt.Fprintf(stderr, "%d runs are not sealed, and in no table: neurolens --store %s store seal --now\n", s.live, s.dir)
	}
	all, err := s.sources()
	if err != nil {
		return fmt.Errorf("reading store %s: %w", s.dir, err)
	}
	for _, of := range all {
		done, err := w.update(ctx, of)
		if err != nil {
			return fmt.Errorf("updating the table %s of %s: %w", of.name, s.dir, err)
		}
		fmt.Fprintln(stdout, done)
	}
	return nil
}
