// Package storetest has what the tests of ingest and of its packages share: file operations that fail or stay in memory,
// stores with every kind of file or with damage, and what is left in one. It is part of no program.
package storetest
