package main

import (
	"cmp"
	"context"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/fileside"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/compare"
)

// askSides is askWithin for a comparison. A side that is a file has a store of its own, which is gone afterwards.
func (a *app) askSides(cmd *cobra.Command, req *compare.Request, answer func(db *query.DB, format string) error) error {
	format, err := a.outputFormat()
	if err != nil {
		return err
	}
	debug.SetGCPercent(800) // as askWithin
	debug.SetMemoryLimit(compareMemory)
	base, err := a.readSide(cmd.Context(), &req.Base, &req.BaseFile)
	if err != nil {
		return err
	}
	defer closeSide(base)
	head, err := a.readSide(cmd.Context(), &req.Head, &req.HeadFile)
	if err != nil {
		return err
	}
	defer closeSide(head)
	one := req.Head == "" && head == nil // both sides are in it
	switch {
	case head != nil && base != nil:
		req.BaseDB = base
		return answer(head, format)
	case base != nil && one:
		return answer(base, format)
	}
	db, err := a.open(cmd.Context(), a.readStores())
	if err != nil {
		return err
	}
	defer closeSide(db)
	if head != nil {
		req.BaseDB = db
		return answer(head, format)
	}
	req.BaseDB = base
	return answer(db, format)
}

// readSide reads the file that a side is, and leaves the filter of its runs as the side, and what was typed as its name; nil where
// the side is no file.
func (a *app) readSide(ctx context.Context, side, name *string) (*query.DB, error) {
	file, is, err := fileside.Parse(*side)
	if !is || err != nil {
		return nil, usageOr(err)
	}
	private, err := a.temporary.make()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(private.Path, "side-")
	if err != nil {
		return nil, err
	}
	store, err := file.Read(ctx, dir, version)
	if err != nil {
		return nil, cmp.Or(ctx.Err(), usageOr(err))
	}
	*side, *name = file.Filter, *side
	return a.open(ctx, []string{store})
}

func usageOr(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

// closeSide lets go of stores whose answer is there.
func closeSide(db *query.DB) {
	if db != nil {
		_ = db.Close() // in memory: there is nothing to lose
	}
}
