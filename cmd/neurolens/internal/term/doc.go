// Package term formats text for a terminal or a file: tables with as many columns as fit, lines that break at words, a
// block that is redrawn, words for a shell, and escapes for text that could control the terminal.
//
// A caller makes a View of texts and says only which columns may be dropped first. Render fits it to a width: the least
// important columns are dropped, then headers are cut, then the longest texts, keeping the parts that distinguish rows.
// Markdown writes the same View in full. Screen is for content that changes while it is shown.
//
// A Printer prints the answer of a command in the requested format: the view for people, or the table itself for programs, with every
// row, full ids and stored units. TerminalWidth, Colored and their like describe the standard streams, and a Pager shows long answers.
//
// The package knows nothing about runs or points. A text that does not fit is cut.
package term
