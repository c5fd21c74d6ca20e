// Package storetest has helpers for the tests of ingest and its packages: file operations that fail or stay in memory,
// stores with every kind of file or of damage, and readers of their content. It is not part of any program.
package storetest
