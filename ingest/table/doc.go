// Package table writes and reads the Parquet files of a store: live files, which hold one run with its samples and ops
// (Encoder, ReadLive), and sealed files and packs, which hold rows of many runs (Writer, File, Merge). Rows are lists of
// values in the order of the columns of a schema.Table, with the Go types that schema.Kind names and nil for NULL.
//
// Writing and reading a sealed file takes bounded memory, however many rows it has.
//
// It refuses a file that does not match its own hash or digest, or whose columns are not those of the format
// (schema.ErrDamaged), and a file with columns that this version does not know (ErrNewer): such a file is whole, but
// would lose something if it were written anew. The package knows nothing about directories and names.
package table
