// Package complete offers completions for each place of a command line: fixed words, keys and values of filters, axes of
// the sweep file on the line, runs and sessions. If something cannot be read (no store, a damaged one, a half-written
// sweep file), it offers less and prints no error, because the user is in the middle of typing.
//
// The shell asks at each key press, so only the newest runs are read (see recent).
package complete
