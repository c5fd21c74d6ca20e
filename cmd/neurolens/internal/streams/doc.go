// Package streams knows what the standard streams of the program are: whether a terminal reads one, how wide its lines are, and
// whether they have colour.
package streams
