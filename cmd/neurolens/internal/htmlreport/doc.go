// Package htmlreport writes a report as one HTML file that needs nothing else: no network, no other file, and no script to be read.
//
// A report goes this way: what was read of the store, with its words, becomes a Page (document.go), which is sections of plain texts,
// figures and tables; a Page is written (page.go, table.go) with the style and the script beside these files. The script sorts,
// filters, copies, zooms and points out what belongs together; it computes nothing.
//
// Names come from files of others. Every text is escaped, and cut where it is very long; the page forbids itself every source but its
// own style and script (Content-Security-Policy).
package htmlreport
