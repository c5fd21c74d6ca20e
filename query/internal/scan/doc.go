// Package scan makes SQL of stores: which files hold the runs that a question is about, and the statement that reads them.
//
// A question goes this way. Stores.Ask lists the files (Sources), opens a connection, takes out what stands in two files
// or was removed (Reader.Settle), and hands over a Reader. That compiles a filter to a condition (Reader.Selected, a
// Selection), finds the ids of the runs that match (Newest, NewestOf, Find: Chosen), and reads columns of these (Rows).
// Sources.Scan is the subquery over the rows of runs that every other question builds on, Sources.Nested the one over
// their samples and ops. Where a file goes away meanwhile, because it was sealed into another one, the question is asked
// again of a new listing.
//
// DuckDB trusts files: it leaves out what a footer does not mention. So the footers of all files that a question reads
// are compared with their names beside it (footers.go), and an error that comes from a file is traced to that file
// (damage.go).
package scan
