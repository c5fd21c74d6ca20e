package main

import (
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/compare"
)

// querySides is queryStoresWithin for a comparison, whose sides may be files.
func (a *app) querySides(cmd *cobra.Command, req *compare.Request, answer func(db *query.DB, format string) error) error {
	format, err := a.outputFormat()
	if err != nil {
		return err
	}
	if req.Usual == nil {
		req.Usual = a.project.Usual(cmd.Name())
	}
	o := a.sides(cmd)
	return o.Query(cmd.Context(), req, func(err error) error { return usageError{err} }, func(db *query.DB) error { return answer(db.Kept(), format) })
}

// queryBase is queryStoresWithin for runs and a base, which may be a file.
func (a *app) queryBase(cmd *cobra.Command, base string, answer func(db, base *query.DB, filter string) error) error {
	if _, err := a.outputFormat(); err != nil {
		return err
	}
	return a.sides(cmd).Base(cmd.Context(), base, func(err error) error { return usageError{err} }, answer)
}

// sides opens the stores of a comparison, and files.
func (a *app) sides(cmd *cobra.Command) sideOpener {
	asking(cmd.Context(), true)
	debug.SetGCPercent(800) // as queryStoresWithin
	debug.SetMemoryLimit(compareMemory)
	private := func() (string, error) {
		dir, err := a.temporary.Dir()
		if err != nil {
			return "", err
		}
		return dir.Path, nil
	}
	return sideOpener{Stores: a.readStores(), Writer: version, Private: private, Remark: a.remarks(), Open: a.open}
}
