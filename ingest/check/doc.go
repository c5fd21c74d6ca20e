// Package check verifies and repairs stores. Verify reads every file of a store and reports all problems. Repair moves damaged files to
// quarantine/, keeps the rows that are intact, and records losses. Inspect counts files.
//
// The package uses the same internal packages as package ingest. It does not need a store that can be opened: even the header may be
// damaged.
package check
