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
	return errors.Join(a.print(format, t, func() term.View {
		v := output.RecordsView(t)
		for _, i := range infos {
			v.Below = append(v.Below, i.Claims()...)
		}
		return v
	}), failed)
}

// inspectStore counts from names and sizes, and at the same time reads the runs for the rest. Where that fails, what names say
// is given all the same.
func inspectStore(ctx context.Context, dir string) (*screens.StoreInfo, error) {
	i := &screens.StoreInfo{Dir: dir}
	var err error
	if i.Header, err = schema.ReadHeader(schema.Dir(dir)); err != nil {
		return nil, err
	}
	inspected := make(chan error, 1)
	var files check.Inspected
	go func() {
		var err error
		files, err = check.Inspect(dir)
		inspected <- err
	}()
	census, failed := takeCensus(ctx, dir)
	if err := <-inspected; err != nil {
		return nil, err
	}
	i.Unfinished, i.Temporary, i.Foreign = files.Unfinished, files.Temporary, files.Foreign
	for _, z := range files.Zones {
		i.Zones = append(i.Zones, screens.StoreZone{Name: z.Name, Files: z.Files, Bytes: z.Bytes})
	}
	if failed == nil {
		i.Census, i.Listing = &census, census.Listings[0]
		return i, nil
	}
	if i.Listing, err = schema.List(schema.Dir(dir), schema.Scope{}); err != nil {
		return nil, err
	}
	return i, failed
}

func takeCensus(ctx context.Context, dir string) (query.Census, error) {
	db, err := query.Open(ctx, []string{dir}, query.Options{})
	if err != nil {
		return query.Census{}, err
	}
	defer db.Close()
	return db.Census(ctx)
}
