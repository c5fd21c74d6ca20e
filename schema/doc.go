// Package schema holds the nouns of NeuroLens and everything that must mean the same to the writer of a store and to
// its readers: runs, metrics, units, the identity of runs and points, the columns of the Parquet tables with their
// field ids, and the names of the files in a store directory with the one lister of them.
//
// FORMAT.md, beside this file, specifies the store directory. The package reads directories through fs.FS and writes
// nothing.
package schema
