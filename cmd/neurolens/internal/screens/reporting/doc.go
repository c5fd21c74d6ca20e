// Package reporting writes a report: as Markdown for people (markdown.go, and a file for each part), and as JSON for programs
// (document.go), of which there is a JSON Schema (report.schema.json).
//
// It computes nothing: package query/summary has. What it adds are words: a hint for each status (hints.go), a sentence for
// each finding (findings.go), and a command for what to do next (advice.go). Every number in the Markdown stands in the JSON, or is the
// number of entries of a list there.
package reporting
