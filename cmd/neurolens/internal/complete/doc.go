// Package complete says what a shell offers at each place of a command line: words that are always the same, the keys and values of
// filters, the axes of the sweep file on the line, runs and sessions. Where something cannot be read (no store, a damaged one, a
// sweep file that somebody is still writing) less is offered, and no error is printed: the line that is being typed is no place for it.
//
// A shell asks at each press of a key, so what is stored is read of the newest runs alone (see recent).
package complete
