package main

import (
	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/notebook"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/plotting"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/compare"
)

// notebookHost is what notebooks need of it.
func (a *app) notebookHost() notebook.Host {
	p := a.plotHost()
	return notebook.Host{Query: p.Query, Stores: a.readStores, Formatted: p.Formatted, Print: p.Print, Stdout: p.Stdout, NotNumbers: p.NotNumbers, Wrong: p.Wrong}
}

// plotHost is what charts need of the program.
func (a *app) plotHost() plotting.Host {
	return plotting.Host{
		Query: func(cmd *cobra.Command, answer func(db *query.DB) error) error {
			return a.queryStoresWithin(cmd, reportMemory, func(db *query.DB, _ string) error { return answer(db.Kept()) })
		},
		QuerySides: func(cmd *cobra.Command, req *compare.Request, answer func(db *query.DB) error) error {
			req.Usual = a.project.Usual("compare")
			return a.querySides(cmd, req, func(db *query.DB, _ string) error { return answer(db) })
		},
		Format: &a.format, Formatted: a.outputFormat, Print: a.print, Stdout: a.stdout, Stderr: a.stderr, Terminal: a.terminal,
		Page: a.page, Reader: a.reader, Getenv: func(name string) string { return a.getenv(name) },
		NotNumbers: a.reportNotNumbers, Wrong: func(err error) error { return usageError{err} }, NoKind: noArguments,
	}
}
