// Package check verifies and repairs stores. Verify reads every file of a store and reports what is wrong with it. Repair
// sets damaged files aside in quarantine/, keeps the rows that are intact, and records what is lost. Inspect counts
// files.
//
// The package works beside package ingest, on the same internal packages. It does not need a store that can be opened:
// even the header may be damaged.
package check
