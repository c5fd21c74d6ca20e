// Package schema defines the agreement between the writer of a store and its readers: runs, metrics, units, the identity of runs and
// points, the columns of the Parquet tables with their field ids, and the names of the files in a store directory. It also has the one
// function that lists such a directory.
//
// FORMAT.md, in the same folder, specifies the store directory. The package reads directories through fs.FS and writes nothing.
package schema
