package ingest

// For the tests that read stores with DuckDB, which this package itself does not use.
var (
	FullRun  = fullRun
	SmallRun = smallRun
)
