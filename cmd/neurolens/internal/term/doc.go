// Package term puts text on a terminal or on paper: tables of as many columns as there is room for, lines that break at words, a
// block that is redrawn, words of a shell, and what must be written in another way so that it steers no terminal.
//
// A caller makes a View of texts, and says nothing of widths but which columns may go first. Render fits it into a terminal: the
// columns that matter least go, then headers are cut, then the longest texts, and of these what does not tell rows apart.
// Markdown writes the same View whole. Screen is for what changes while it is looked at.
//
// It knows nothing of runs, points or answers, and nothing here has an error: a text that does not fit is cut.
package term
