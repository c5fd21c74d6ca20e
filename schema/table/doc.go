// Package table writes and reads the Parquet files of a store: live files, which have one run with its samples and ops (Encoder,
// ReadLive), and sealed files and packs, which have rows of many runs (Writer, File, Merge). A row is a list of values in the order of
// the columns of a schema.Table, with the Go types that schema.Kind names, and nil for NULL.
//
// Writing and reading a sealed file takes bounded memory, however many rows it has.
//
// The package refuses a file that does not match its hash or digest, or whose columns have other types (schema.ErrDamaged). It also
// refuses to copy a file with columns that this version does not know (ErrNewer): such a file is intact, but would lose these columns.
// The package does not depend on directories and names.
package table
