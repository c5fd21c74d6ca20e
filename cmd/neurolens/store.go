package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/schema"
)

func newStoreCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "store",
		Short: "Make a store, or say what is in it",
		Args:  noArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		&cobra.Command{
			Use:   "init",
			Short: "Make an empty store; one that is there already stays as it is",
			Args:  noArguments,
			RunE:  func(*cobra.Command, []string) error { return runStoreInit(a) },
		},
		&cobra.Command{
			Use:   "info",
			Short: "Count what is in the store, from its directory alone",
			Args:  noArguments,
			RunE:  func(*cobra.Command, []string) error { return runStoreInfo(a) },
		},
	)
	return cmd
}

func runStoreInit(a *app) error {
	dir, err := a.writeStore()
	if err != nil {
		return err
	}
	if err := ingest.Init(dir); err != nil {
		return storeError{err}
	}
	fmt.Fprintf(a.stderr, "store %s is ready\n", dir)
	return nil
}

func runStoreInfo(a *app) error {
	format, err := a.outputFormat()
	if err != nil {
		return err
	}
	t := query.Table{Columns: []query.Column{
		{Name: "store", Type: query.TypeText},
		{Name: "format", Type: query.TypeInteger},
		{Name: "store_id", Type: query.TypeText},
		{Name: "created", Type: query.TypeTime},
		{Name: "runs", Type: query.TypeInteger},
		{Name: "segments", Type: query.TypeInteger},
		{Name: "bytes", Unit: "B", Type: query.TypeInteger},
		{Name: "oldest", Type: query.TypeTime},
		{Name: "newest", Type: query.TypeTime},
	}}
	for _, dir := range a.readStores() {
		row, err := storeRow(dir)
		if err != nil {
			return storeError{fmt.Errorf("store %s: %w", dir, err)}
		}
		t.Rows = append(t.Rows, row)
	}
	return a.print(format, t, func() view { return a.recordsView(t) })
}

// storeRow counts from names and sizes; no run is opened.
func storeRow(dir string) ([]any, error) {
	store := os.DirFS(dir)
	header, err := schema.ReadHeader(store)
	if err != nil {
		return nil, err
	}
	files, err := schema.List(store)
	if err != nil {
		return nil, err
	}
	segments := map[schema.ULID]bool{}
	var bytes int64
	for _, f := range files {
		segments[f.Segment] = true
		info, err := fs.Stat(store, f.Path())
		if errors.Is(err, fs.ErrNotExist) {
			continue // moved by a writer since it was listed
		}
		if err != nil {
			return nil, err
		}
		bytes += info.Size()
	}
	var oldest, newest any
	if n := len(files); n > 0 {
		newest, oldest = files[0].Run.Time(), files[n-1].Run.Time()
	}
	path := filepath.ToSlash(dir)
	return []any{path, int64(header.Format), header.StoreID, header.Created, int64(len(files)), int64(len(segments)), bytes, oldest, newest}, nil
}

// recordsView shows each row as lines of column and value.
func (a *app) recordsView(t query.Table) view {
	var v view
	for i, row := range t.Rows {
		if i > 0 {
			v.below = append(v.below, "")
		}
		var lines [][2]string
		for j, c := range t.Columns {
			lines = append(lines, [2]string{c.Name, a.anyText(c, row[j], "")})
		}
		v.below = append(v.below, pairs(lines)...)
	}
	return v
}
