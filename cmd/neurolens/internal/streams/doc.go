// Package streams describes the standard streams of the program: whether each is a terminal, its width, and whether it has
// colours.
package streams
