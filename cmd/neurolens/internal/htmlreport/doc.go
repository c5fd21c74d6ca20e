// Package htmlreport writes a report as one self-contained HTML file. It needs no network and no other file, and can be
// read without its script.
//
// Package reporting builds a Page of sections with plain texts, figures and tables. page.go and table.go write it together
// with the style and the script beside these files. The script sorts, filters, copies, zooms and highlights; it computes
// nothing.
//
// Names come from files of other people. Every text is escaped, and cut if it is very long. A Content-Security-Policy
// forbids every source except the style and script of the page.
package htmlreport
