// Package term formats text for a terminal or a file: tables with as many columns as fit, lines that break at words, a
// block that is redrawn, words for a shell, and escapes for text that could control the terminal.
//
// A caller makes a View of texts and says only which columns may be dropped first. Render fits it to a width: the least
// important columns are dropped, then headers are cut, then the longest texts, keeping the parts that distinguish rows.
// Markdown writes the same View in full. Screen is for content that changes while it is shown.
//
// It knows nothing about runs, points or results, and returns no errors: a text that does not fit is cut.
package term
