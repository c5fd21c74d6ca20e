package ingest

import "path/filepath"

// For the tests that read stores with DuckDB, which this package itself does not use.
var (
	FullRun  = fullRun
	SmallRun = smallRun
)

// path is where a file is, wherever links lead.
func (f osFiles) path(name string) string {
	return filepath.Join(string(f.Dir), filepath.FromSlash(name))
}
