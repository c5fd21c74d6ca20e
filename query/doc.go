// Package query answers questions about stores of runs: listings, one run in full, a summary by point, SQL, exports.
// Several stores answer as one; a run that stands in more than one of them counts once.
//
// It reads and never writes in a store, takes no lock, and works on a read-only directory. DuckDB does the reading, in
// memory, over the explicit list of files that schema.List gives, with the explicit schema of the column registry: no
// glob, no guessed type.
//
// Filters are compiled to SQL with bound parameters, so that no text of a user is ever part of a statement, and
// identifiers come from the registry alone. SQL of a user is one SELECT, run where nothing outside the files of the
// stores can be reached and nothing can be changed.
package query
