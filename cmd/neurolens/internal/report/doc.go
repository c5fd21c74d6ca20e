// Package report writes a report: Markdown for people (markdown.go, and a file for each part), JSON for programs (document.go) with a
// JSON Schema (report.schema.json), and one page of HTML (html.go, page.go).
//
// It computes nothing; package query/summary does. It adds words: a hint for each status, a sentence for each
// finding, and a command to type next (all in findings.go). Every number in the Markdown is in the JSON as well, or
// is the length of a list there. WriteHTML chooses the charts of the page: which are informative, for which points, and which command
// draws each again (pictures.go).
package report
