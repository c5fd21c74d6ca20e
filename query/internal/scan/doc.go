// Package scan reads stores with SQL: it chooses the files that may have the requested runs, and makes the statements that read them.
//
// A question has these steps. Stores.Query lists the files (Sources), opens a connection, builds what leaves out duplicate and removed
// runs and applies events (overlay), and provides a Reader. The Reader compiles a filter to a condition (Reader.Selected, a Selection), finds the ids
// of the matching runs (Choose, or NewestRows without a condition: Chosen), and reads columns of these runs (Rows). Sources.Scan is the subquery over the
// rows of runs on which every other query is based; Sources.Nested is the one over their samples and ops. If a file disappears
// meanwhile, because its runs were sealed into another file, the question is repeated with a new listing.
//
// DuckDB trusts files: it silently leaves out rows that a footer does not mention. So the footers of all files that a question reads are
// checked in parallel, and an error that comes from a file is traced to that file (damage.go).
//
// EventIndex has what events change: tags, notes, removed runs. Events of very many runs (see schema.Event.HasRunSet) are never spread over
// a map of runs: only the part is read that a question needs. Sources.direct reads the runs of a few small files without DuckDB, which takes
// longer to start than to read them.
package scan
