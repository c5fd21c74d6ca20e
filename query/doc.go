// Package query answers questions about stores of runs: listings, single runs, summaries per point and groups. Its subpackages
// compare runs, run SQL, export tables and more. Several stores are read as one; a run that is in more than one of them counts once.
//
// A query never writes to a store and takes no lock, so it works on a read-only directory. DuckDB reads the files, in memory, from the
// list that schema.List returns and with the schema of the column registry: there are no globs and no guessed types.
//
// Filters are compiled to SQL with bound parameters, so text of a user is never part of a statement. Identifiers come only from the
// registry. SQL of users is a single SELECT that runs in a sandbox: it can read only the files of the stores and change nothing.
package query
