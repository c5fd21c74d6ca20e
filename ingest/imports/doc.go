// Package imports imports result files of other tools into a store. It connects the readers of ingest/foreign, which do
// not know stores, with ingest, which does not know formats. It reads files one after the other, and reports for each how
// far it was read, and what was left out, refused, or already stored.
package imports
