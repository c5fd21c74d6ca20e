package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/screens"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/ingest/check"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/schema"
)

func runStoreInfo(a *app, ctx context.Context) error {
	format, err := a.outputFormat()
	if err != nil {
		return err
	}
	var infos []*screens.StoreInfo
	var failed error
	for _, dir := range a.readStores() {
		i, err := inspectStore(ctx, dir)
		if i == nil {
			return storeError{fmt.Errorf("store %s: %w", dir, err)}
		}
		infos, failed = append(infos, i), errors.Join(failed, err)
	}
	t := screens.StoreTable(infos)
	return errors.Join(a.print(format, t, func() term.View { return output.RecordsView(t) }), failed)
}

// inspectStore counts from names and sizes, and reads the runs for the rest. Where that fails, what names say
// is given all the same.
func inspectStore(ctx context.Context, dir string) (*screens.StoreInfo, error) {
	i := &screens.StoreInfo{Dir: dir}
	var err error
	if i.Header, err = schema.ReadHeader(schema.Dir(dir)); err != nil {
		return nil, err
	}
	if i.Listing, err = schema.List(schema.Dir(dir), schema.Scope{}); err != nil {
		return nil, err
	}
	files, err := check.Inspect(dir)
	if err != nil {
		return nil, err
	}
	i.Unfinished, i.Temporary, i.Foreign = files.Unfinished, files.Temporary, files.Foreign
	for _, z := range files.Zones {
		i.Zones = append(i.Zones, screens.StoreZone{Name: z.Name, Files: z.Files, Bytes: z.Bytes})
	}
	db, err := query.Open(ctx, []string{dir}, query.Options{})
	if err != nil {
		return i, err
	}
	defer db.Close()
	census, err := db.Census(ctx)
	if err != nil {
		return i, err
	}
	i.Census = &census
	return i, nil
}
